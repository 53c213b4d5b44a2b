"""From a call that reaches outside to findings, for JavaScript."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners import nested
from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.javascript.sinks import (
    DATABASES,
    DENIED_MODULES,
    INERT,
    INERT_METHODS,
    ROUTED,
    SENDING,
    SINKS,
    TARGETS,
)
from spanproof.sandbox.scanners.javascript.values import (
    PLACE,
    UNDEFINED,
    UNKNOWN,
    Array,
    Function,
    Object,
    OneOf,
    Ref,
    Text,
    Unknown,
    Value,
    options_of,
    pieces_of,
    text,
    text_of,
    written,
)
from spanproof.sandbox.scanners.javascript.walk import Script
from spanproof.sandbox.scanners.literals import find_place
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.rules import explain_call
from spanproof.sandbox.scanners.sql import (
    IN_MEMORY,
    Connection,
    Database,
    connection_of_url,
    is_held,
    scan_given,
    scan_sent,
    without_database,
)
from spanproof.sandbox.words import words

_ACTIONS = {
    "read": Action.READ,
    "write": Action.WRITE,
    "delete": Action.DELETE,
    "permission": Action.PERMISSION,
}


def apply(script: Script, name: str, arguments: Sequence[Value], node: Node) -> Value | None:
    """Judge a call by its resolved name; gives the result where an effect decides it."""
    top = name.partition(".")[0].partition("(")[0]
    if top in DENIED_MODULES:
        script.add("module.denied", node, f"calls {name}, in a module that reaches the host")
    result: Value | None = None
    is_sent = _send(script, name, arguments, node)
    if all(kind == "none" for kind, _ in SINKS.get(name, ())):
        judge_unknown_call(script, name, arguments, node, is_sent=is_sent)
    for kind, detail in SINKS.get(name, ()):
        if kind in {"deny", "review"}:
            verdict = Verdict.DENY if kind == "deny" else Verdict.REVIEW
            script.add(detail, node, explain_call(name, detail), verdict)
            continue
        index = int(detail) if detail else 0
        value = arguments[index] if index < len(arguments) else None
        for option in options_of(value) if value is not None else ():
            found = _judge(script, kind, name, option, arguments, node)
            result = found if found is not None else result
        if kind == "envall":
            crossing = script.context.boundary.environment("")
            script.context.crossed("javascript", crossing, script.place(node), f"{name}:")
    return result


def judge_unknown_call(
    script: Script, name: str, arguments: Sequence[Value], node: Node, *, is_sent: bool = False
) -> None:
    """Review a place outside that a call gets whose effects are not known, and judge a statement.

    Args:
        script: what is read.
        name: of the call.
        arguments: what it gets.
        node: the call.
        is_sent: whether it is a driver's, and a statement was judged by its connection.
    """
    top, method = name.partition(".")[0].partition("(")[0], name.rpartition(".")[2]
    if top in INERT or (method in INERT_METHODS and method not in SENDING):
        return
    if not is_sent:
        _judge_statements(script, name, arguments, node)
    if method in SENDING:
        return
    is_routed = method in ROUTED
    for value in arguments:
        for named in _named_places(script, value):
            if named == PLACE:
                script.add(
                    "call.unknown", node, f"{name} gets one of many targets, of which some are outside"
                )
            place = find_place(
                script.context.boundary, pieces_of(named), paths=not is_routed, hosts=not name.startswith("?")
            )
            if place is not None:
                script.add("call.unknown", node, f"{name}, which is not in the catalogue: {place.message}")


def _judge_statements(script: Script, name: str, arguments: Sequence[Value], node: Node) -> None:
    """Judge what reads as a statement among the arguments of a call that is not known."""
    inner = script.context.nested(script.place(node), f"{name.removeprefix('?.')} gets a statement: ")
    for option in (option for value in arguments for option in options_of(value)):
        held = option.entries if isinstance(option, Object) else {}
        for given in (option, *(held[key] for key in _STATEMENT_KEYS & held.keys())):
            if isinstance(given, Text):
                scan_given(inner, given.pieces)


_STATEMENT_KEYS: Final = words("query sql statement text")
"""Entries of an argument that may be a statement."""


def _named_places(script: Script, value: Value) -> Iterator[Value]:
    """The texts of an argument that may name a place: itself, its items, or what it says to go to."""
    pending, seen = [value], set[int]()
    while pending:
        one = pending.pop()
        script.steps += 1
        if isinstance(one, Text) or one == PLACE:
            yield one
        elif isinstance(one, Array | Object | OneOf) and id(one) not in seen:
            seen.add(id(one))
            pending.extend(_held_places(one))


def _held_places(value: Array | Object | OneOf) -> Iterable[Value]:
    if isinstance(value, OneOf):
        return value.options
    if isinstance(value, Array):
        return value.items
    return [
        entry for key, entry in value.entries.items() if key in TARGETS or key in {"connection", "options"}
    ]


def _judge(
    script: Script, kind: str, name: str, value: Value, arguments: Sequence[Value], node: Node
) -> Value | None:
    boundary, place = script.context.boundary, script.place(node)
    if kind in _ACTIONS:
        _path(script, _ACTIONS[kind], value, name, node)
    elif kind == "openflags":
        flags = text_of(arguments[1]) if len(arguments) > 1 else "r"
        _path(script, Action.READ if flags in {"r", "rs"} else Action.WRITE, value, name, node)
    elif kind == "url":
        _url(script, value, name, node)
        return Unknown("network")
    elif kind in {"address", "host", "hostat"}:
        _address(script, kind, value, name, arguments, node)
        return Unknown("network")
    elif kind == "shell":
        run_command(script, value, name, node)
    elif kind in {"argv", "spawnlist"}:
        _argv(script, kind, value, name, arguments, node)
    elif kind == "env":
        script.context.crossed("javascript", boundary.environment(text_of(value) or ""), place, f"{name}:")
    elif kind in {"code", "codelast", "codetext"}:
        source = arguments[-1] if kind == "codelast" else value
        if kind == "codetext" and not isinstance(source, Text):
            return None
        return script.run_source(source, name, node)
    elif kind == "tempdir":
        _path(script, Action.WRITE, value, name, node)
        return text([*pieces_of(value), "XXXXXX"])
    elif kind == "dbfile":
        return _database_file(script, value, name, node)
    elif kind == "dbserver":
        _url(script, value, name, node)
        script.connections.setdefault(name, []).append(_connection_of(value))
    elif kind == "require":
        return require(script, value, node)
    return None


def _database_file(script: Script, value: Value, name: str, node: Node) -> Value | None:
    if text_of(value) in {"", ":memory:"}:
        return Ref(f"{name}{IN_MEMORY}")
    _path(script, Action.WRITE, value, name, node)
    script.connections.setdefault(name, []).append(Connection(Database.FILE, file=text_of(value) or ""))
    return None


def _connection_of(value: Value) -> Connection:
    if not isinstance(value, Object):
        return connection_of_url(text_of(value) or "")
    given = value.entries
    url = text_of(given.get("connectionString") or given.get("uri"))
    if url is not None:
        return connection_of_url(url)
    host = text_of(given.get("host") or given.get("server")) or ""
    return Connection(Database.SERVER, host, text_of(given.get("database")) or "")


def _send(script: Script, name: str, arguments: Sequence[Value], node: Node) -> bool:
    """Judge a statement that is sent through a connection, or by a tagged template; whether this is one."""
    module, made, rest = name.partition("()")
    kind = DATABASES.get(module) or DATABASES.get(module.rpartition(".")[0])
    sends = DATABASES.get(rest.rpartition(".")[2]) == "methods" or (module == "postgres" and not rest)
    if not arguments or not made or kind not in {"files", "servers"} or not sends:
        return False
    database = Connection(Database.SERVER if kind == "servers" else Database.FILE)
    if IN_MEMORY in name:
        database = Connection(Database.MEMORY)
    made_here = script.connections.get(module, [])
    connections = [one for one in made_here if one.kind is database.kind] or [database]
    context = script.context.nested(
        script.place(node), f"{without_database(name).replace('()', '')} runs a statement: "
    )
    for option in options_of(arguments[0]):
        if isinstance(option, Object):
            option = option.entries.get("text") or option.entries.get("sql") or UNKNOWN
        pieces = pieces_of(option)
        for connection in connections:
            if pieces != (None,) or is_held(context, connection):
                scan_sent(context, pieces, connection)
    return True


def _path(script: Script, action: Action, value: Value, name: str, node: Node) -> None:
    if isinstance(value, Function):
        return
    crossing = script.context.boundary.path(action, pieces_of(value))
    script.context.crossed("javascript", crossing, script.place(node), f"{name}:")


def _url(script: Script, value: Value, name: str, node: Node) -> None:
    boundary, place = script.context.boundary, script.place(node)
    value = written(value)
    if isinstance(value, Object):
        entries = value.entries
        base = entries.get("baseURL") or entries.get("baseUrl") or entries.get("prefixUrl")
        proxy = entries.get("proxy") or entries.get("agent")
        if isinstance(proxy, Text | Object):
            _url(script, proxy, name, node)
        target = base or entries.get("url") or entries.get("uri") or entries.get("connectionString")
        host = entries.get("hostname") or entries.get("host") or entries.get("server")
        if target is None and host is not None:
            _address(script, "host", host, name, [host], node)
            return
        value = target if target is not None else Unknown()
    for option in options_of(value):
        if option == UNDEFINED:
            continue  # a variable before what is assigned to it
        pieces = pieces_of(option)
        if (
            pieces[0] is not None
            and pieces[0].startswith(("/", "./", "data:", "blob:"))
            and not pieces[0].startswith("//")
        ):
            continue  # relative to the page, which is no host of ours
        script.context.crossed("javascript", boundary.url(pieces), place, f"{name}:")


def _address(
    script: Script, kind: str, value: Value, name: str, arguments: Sequence[Value], node: Node
) -> None:
    host: Value | None = value
    if kind == "hostat":
        host = next((one for one in arguments[2:] if (text_of(one) or "").strip("0123456789")), None)
    elif isinstance(value, Object):
        host = value.entries.get("host") or value.entries.get("hostname") or Text(("localhost",))
        if "path" in value.entries:
            return
    elif kind == "address":
        host = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], Text) else Text(("localhost",))
    crossing = script.context.boundary.host_in_pieces(pieces_of(host) if host is not None else (None,))
    script.context.crossed("javascript", crossing, script.place(node), f"{name}:")


def run_command(script: Script, value: Value, name: str, node: Node) -> None:
    """Scan a command line; holes in it become variables that nothing sets."""
    pieces = pieces_of(value)
    if pieces[0] is None:
        network = isinstance(value, Unknown) and value.origin == "network"
        script.add(
            "exec.download" if network else "command.dynamic",
            node,
            f"{name} runs a command that is not known",
        )
        return
    line = "".join("$__unknown" if piece is None else piece for piece in pieces)
    nested.scan("bash", script.context.nested(script.place(node), f"{name} runs a command: "), line)


def _argv(script: Script, kind: str, value: Value, name: str, arguments: Sequence[Value], node: Node) -> None:
    items: list[Value] = list(value.items) if isinstance(value, Array) else [value]
    rest = arguments[1] if len(arguments) > 1 else None
    if isinstance(rest, Object):
        rest = rest.entries.get("args")
    if kind == "argv" and isinstance(rest, Array):
        items.extend(rest.items)
    pieces: list[str | None] = []
    for index, item in enumerate(items):
        if index:
            pieces.append(" ")
        parts = pieces_of(item)
        # `spawn('ls -la', {shell: true})` hands a line on; one word needs no quotes either way.
        quote = len(items) > 1
        pieces.extend(piece if piece is None or not quote else shlex.quote(piece) for piece in parts)
    run_command(script, text(pieces), name, node)


def require(script: Script, value: Value, node: Node) -> Value:
    """What `require(value)` gives."""
    name = text_of(value)
    if name is None:
        script.add("attribute.dynamic", node, "loads a module that is not known")
        return UNKNOWN
    if name.startswith(("/", "../")):
        apply(script, "fs.readFile", [value], node)
    name = name.removeprefix("node:")
    if name.startswith(("http://", "https://")):
        apply(script, "fetch", [value], node)
        script.add("exec.download", node, "runs a module from the network")
    return Ref({"fs/promises": "fs", "dns/promises": "dns"}.get(name, name))
