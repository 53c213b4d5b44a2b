"""Calls of scripts that reach outside, in as far as they are not the same in each language."""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import base64
import binascii
import urllib.parse
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.javascript.script import (
    DATABASES,
    DENIED_MODULES,
    INERT,
    INERT_METHODS,
    OWN_FILE,
    ROUTED,
    SENDING,
    SINKS,
    WORKER_DATA,
    Script,
)
from spanproof.sandbox.scanners.javascript.values import (
    TRUE,
    UNDEFINED,
    Object,
    concatenate,
    is_text,
    unwrap_file_url,
    unwrap_url,
)
from spanproof.sandbox.scanners.reader.effects import CHECKS as COMMON
from spanproof.sandbox.scanners.reader.effects import (
    NETWORK,
    Call,
    Check,
    Effect,
    apply_effects,
    build_command_line,
    check_effects,
    remember,
    to_whole_text,
)
from spanproof.sandbox.scanners.reader.state import Arguments, Kind
from spanproof.sandbox.scanners.reader.values import (
    UNKNOWN,
    Const,
    Function,
    Items,
    Mapping,
    Ref,
    Unknown,
    Value,
    are_equal,
    collect_taint,
    join_all,
    list_options,
    read_constant_text,
    to_pieces,
)
from spanproof.sandbox.scanners.rules import explain_call
from spanproof.sandbox.scanners.sql_connections import (
    IN_MEMORY,
    Connection,
    Database,
    parse_connection_url,
    strip_database,
)
from spanproof.sandbox.words import split_words


def apply(script: Script, name: str, arguments: Sequence[Value], node: Node) -> Value | None:
    """Judge a call by its resolved name; gives the result where an effect decides it."""
    top = name.partition(".")[0].partition("(")[0]
    if top in DENIED_MODULES and name not in SINKS:
        script.add("module.denied", node, f"calls {name}, in a module that reaches the host")
    effects = SINKS.get(name, ())
    is_sent = _sends_statement(script, name, arguments, node)
    script.makes_server = script.makes_server or f"{name}().listen" in SINKS
    if all(effect.kind == "none" for effect in effects):
        judge_unknown_call(script, name, arguments, node, is_sent=is_sent)
    return apply_effects(script, Ref(name), effects, Arguments(list(arguments)), node, CHECKS)


def judge_unknown_call(
    script: Script, name: str, arguments: Sequence[Value], node: Node, *, is_sent: bool = False
) -> None:
    """Report a place outside that a call with unknown effects gets, for review, and judge a statement.

    Args:
        script: what is read.
        name: of the call.
        arguments: what it gets.
        node: the call.
        is_sent: whether it is a driver's, and a statement was judged by its connection.
    """
    top, method = name.partition(".")[0].partition("(")[0], name.rpartition(".")[2]
    if method == "listen" and script.makes_server and name not in SINKS:
        _judge_listen(
            Call(script, Ref(name), _LISTEN, Arguments(list(arguments)), node), _get_first(arguments)
        )
    if top in INERT or (method in INERT_METHODS and method not in SENDING):
        return
    if not is_sent:
        _check_statements(script, name, arguments, node)
    if method not in SENDING:
        kind = Kind(paths=method not in ROUTED, hosts=not name.startswith("?"))
        for value in arguments:
            script.judge_literal(value, name, node, kind)


_LISTEN: Final = Effect("listen", 0)


def _get_first(arguments: Sequence[Value]) -> Value:
    return arguments[0] if arguments else Const("")


# Entries of an argument that may be a statement.
_STATEMENT_KEYS: Final = split_words("query sql statement text")


def _check_statements(script: Script, name: str, arguments: Sequence[Value], node: Node) -> None:
    """Judge what may be a statement: each argument, and what it holds under a name of one."""
    for option in (option for value in arguments for option in list_options(value)):
        held = option.entries if isinstance(option, Mapping) else {}
        for given in (option, *(held[key] for key in _STATEMENT_KEYS & held.keys())):
            script.judge_statement(given, name, node)


def _find_entry(owner: Object, *names: str) -> Value | None:
    """Return the entry by the first of these names that an object has."""
    return next((owner.entries[name] for name in names if name in owner.entries), None)


def _judge_open(call: Call[Script], value: Value) -> Value | None:
    if len(call.arguments.positional) > 1:
        flags = read_constant_text(call.arguments.get(1))
    else:
        flags = "r"
    if flags in {"r", "rs"}:
        call.judge_path(Action.READ, value)
        return None
    return _judge_write(call, value)


def _judge_temporary_directory(call: Call[Script], value: Value) -> Value | None:
    call.judge_path(Action.WRITE, value)
    return concatenate([value, Const("XXXXXX")])


def _judge_url(call: Call[Script], value: Value) -> Value | None:
    value = unwrap_url(value)
    if isinstance(value, Object):
        proxy = _find_entry(value, "proxy", "agent")
        if proxy is not None and (is_text(proxy) or isinstance(proxy, Object)):
            _judge_url(call, proxy)
        target = _find_entry(value, "baseURL", "baseUrl", "prefixUrl", "url", "uri", "connectionString")
        if target is None and _find_entry(value, *_HOSTS) is not None:
            return _judge_host(call, value)
        value = target or UNKNOWN
    options = call.arguments.get(1)
    if call.name.startswith(_HTTP) and isinstance(options, Object):
        _judge_options(call, value, options)
    for option in list_options(value):
        head = to_pieces(option)[0] or ""
        # A variable before what is assigned to it; a URL relative to the page, which is no host of ours.
        is_relative = head.startswith(("/", "./", "data:", "blob:")) and not head.startswith("//")
        if not are_equal(option, UNDEFINED) and not is_relative:
            call.crossed(call.boundary.url(to_pieces(option)))
    return Unknown(NETWORK)


# Modules whose calls take options behind the URL, which count before it.
_HTTP: Final = ("http.", "https.")


def _judge_options(call: Call[Script], url: Value, options: Object) -> None:
    """Judge the host and the port that the options of a request name in place of those of its URL."""
    own = {name: value for name, value in options.entries.items() if name in ("port", *_HOSTS)}
    if "port" in own and len(own) == 1:
        host = urllib.parse.urlsplit(to_whole_text(url)).hostname
        own["host"] = Const(host) if host else UNKNOWN
    if own:
        _judge_host(call, Object(own))


def _judge_host(call: Call[Script], value: Value, port: Value | None = None) -> Value | None:
    if isinstance(value, Object):
        port = value.entries.get("port")
        value = _find_entry(value, *_HOSTS) or _LOCAL
    for option in list_options(port or UNKNOWN):
        number = read_constant_text(option)
        call.judge_host(value, Const(int(number)) if number is not None and number.isdecimal() else None)
    return Unknown(NETWORK)


# Entries of an object that hold a host, the one that counts first.
_HOSTS: Final = ("hostname", "host", "server")


_LOCAL: Final = Const("localhost")


def _judge_address(call: Call[Script], value: Value) -> Value | None:
    """Judge a port with a host behind it, or both in an object."""
    host = call.arguments.get(1)
    if isinstance(value, Object):
        # With a path, it is a socket of this machine.
        return Unknown(NETWORK) if "path" in value.entries else _judge_host(call, value)
    return _judge_host(call, host if host is not None and is_text(host) else _LOCAL, value)


def _judge_listen(call: Call[Script], value: Value) -> Value | None:
    """Judge a server's address: a port with a host behind it, both in an object, or the path of a socket."""
    local = _LOCAL if call.effect.kind == "listenlocal" else Const("")
    if isinstance(value, Object):
        path = value.entries.get("path")
        if path is not None:
            call.judge_path(Action.WRITE, path)
            return None
        host = _find_entry(value, "host", "hostname", "address")
    elif is_text(value) and not (read_constant_text(value) or "0").isdigit():
        call.judge_path(Action.WRITE, value)
        return None
    else:
        host = call.arguments.get(1)
    if host is None or isinstance(host, Function):
        host = local
    return COMMON["listen"](call, host)


def _judge_host_behind(call: Call[Script], value: Value) -> Value | None:
    """Judge the first argument from the third on that is no number, as a host."""
    rest = call.arguments.positional[2:]
    host = next((one for one in rest if (read_constant_text(one) or "").strip("0123456789")), UNKNOWN)
    return _judge_host(call, host)


def _judge_given_environment(call: Call[Script]) -> None:
    """Judge the variables that a program is started with."""
    for one in call.arguments.all():
        environment = one.entries.get("env") if isinstance(one, Object) else None
        if isinstance(environment, Object):
            call.m.judge_variables(environment.entries.items(), call.name, call.node)


def _judge_shell(call: Call[Script], value: Value) -> Value | None:
    _judge_given_environment(call)
    return COMMON["shell"](call, value)


def _judge_argv(call: Call[Script], value: Value) -> Value | None:
    _judge_given_environment(call)
    items: list[Value] = list(value.items) if isinstance(value, Items) else [value]
    rest = call.arguments.get(1)
    if isinstance(rest, Object):
        rest = rest.entries.get("args")
    if call.effect.kind == "argv" and isinstance(rest, Items):
        items.extend(rest.items)
    # `spawn('ls -la', {shell: true})` hands a line on; one word needs no quotes either way.
    line = build_command_line(items) if len(items) > 1 else to_pieces(_get_first(items))
    call.m.run_command(line, collect_taint(value), call.name, call.node)
    return None


def _judge_code(call: Call[Script], value: Value) -> Value | None:
    """Judge code made from text: of some calls the last argument, of others only what is a text."""
    source = call.arguments.positional[-1] if call.effect.kind == "codelast" else value
    if call.effect.kind == "codetext" and not is_text(source):
        return None
    return call.m.run_source(source, call.name, call.node)


def _judge_database_server(call: Call[Script], value: Value) -> Value | None:
    _judge_url(call, value)
    remember(call, _build_connection(value))
    return None


def _build_connection(value: Value) -> Connection:
    if not isinstance(value, Object):
        return parse_connection_url(to_whole_text(value))
    given = value.entries
    url = read_constant_text(given.get("connectionString") or given.get("uri"))
    if url is not None:
        return parse_connection_url(url)
    host = to_whole_text(given.get("host") or given.get("server"))
    return Connection(Database.SERVER, host, to_whole_text(given.get("database")))


_DATABASE_KINDS: Final = {"files": Database.FILE, "servers": Database.SERVER}


def _sends_statement(script: Script, name: str, arguments: Sequence[Value], node: Node) -> bool:
    """Judge a statement that is sent through a connection, or by a tagged template; whether this is one."""
    module, made, rest = name.partition("()")
    kind = _DATABASE_KINDS.get(DATABASES.get(module) or DATABASES.get(module.rpartition(".")[0], ""))
    sends = DATABASES.get(rest.rpartition(".")[2]) == "methods" or (module == "postgres" and not rest)
    if not arguments or not made or kind is None or not sends:
        return False
    if IN_MEMORY in name:
        kind = Database.MEMORY
    made_here = sorted(script.connections.get(module, ()), key=str)
    connections = [one for one in made_here if one.kind is kind] or [Connection(kind)]
    who = strip_database(name).replace("()", "")
    for option in list_options(arguments[0]):
        if isinstance(option, Object):
            option = _find_entry(option, "text", "sql") or UNKNOWN
        for connection in connections:
            script.run_sql(to_pieces(option), who, node, connection)
    return True


def _judge_worker(call: Call[Script], value: Value) -> Value | None:
    """Judge a program that runs beside this one; the script itself is read in any case."""
    options, values = call.arguments.get(1), call.m.context.values
    if options is not None:
        data = options.entries.get("workerData", UNKNOWN) if isinstance(options, Object) else UNKNOWN
        values[WORKER_DATA] = join_all([data, *([values[WORKER_DATA]] if WORKER_DATA in values else [])])
    if isinstance(options, Object) and options.entries.get("eval") is TRUE:
        return call.m.run_source(value, call.name, call.node)
    path = call.boundary.work_path(to_whole_text(unwrap_file_url(value)))
    text = call.m.context.own_files.find_text(path)
    if text is not None:
        call.m.run_source(Const(text), call.name, call.node)
    elif value is not OWN_FILE:
        call.add("exec.dynamic", explain_call(call.who, "exec.dynamic"))
    return None


def _require(call: Call[Script], value: Value) -> Value | None:
    return require(call.m, value, call.node)


def require(script: Script, value: Value, node: Node) -> Value:
    """Return what `require(value)` gives."""
    options = list_options(unwrap_url(value))
    if len(options) > 1:
        return join_all(require(script, option, node) for option in options)
    name = read_constant_text(options[0])
    if name is None:
        script.add("attribute.dynamic", node, "loads a module that is not known")
        return UNKNOWN
    if name.startswith(("/", "../")):
        apply(script, "fs.readFile", [value], node)
    if name.startswith(("/", "./", "../")):
        _read_own_modules(script, name, node)
    name = name.removeprefix("node:")
    if name.startswith("data:"):
        return _load_data_url(script, name, node)
    if name.startswith(("http://", "https://")):
        apply(script, "fetch", [value], node)
        script.add("exec.download", node, "runs a module from the network")
    return Ref({"fs/promises": "fs", "dns/promises": "dns"}.get(name, name))


def _read_own_modules(script: Script, name: str, node: Node) -> None:
    """Read the file that a module is loaded from, if the script wrote it."""
    files, path = script.context.own_files, script.context.boundary.work_path(name)
    for written in files.list_written():
        if written.removeprefix(path) in _MODULE_ENDS and written.startswith(path):
            text = files.find_text(written)
            if text is not None:
                script.run_source(Const(text), "import", node)
            else:
                script.add("exec.dynamic", node, f"loads {name}, whose content is not known")


# What may follow the name of a module in the path of its file.
_MODULE_ENDS: Final = frozenset(("", ".js", ".cjs", ".mjs", ".ts", "/index.js", "/package.json"))


def _judge_write(call: Call[Script], value: Value) -> Value | None:
    """Judge the file that a call writes, and note what it holds then."""
    result = COMMON["write"](call, value)
    files, name = call.m.context.own_files, to_pieces(value)
    if len(name) == 1 and name[0] is not None:
        path = call.boundary.work_path(name[0])
    else:
        path = None
    text = read_constant_text(call.arguments.get(1))
    if path is not None and text is not None and call.name.endswith((".writeFile", ".outputFile")):
        files.open_new(path)
        files.add_text(path, text)
    else:
        files.forget(path)
    return result


def _load_data_url(script: Script, url: str, node: Node) -> Value:
    """Scan the module that a `data:` URL holds; what it exports is not known."""
    header, _, body = url.partition(",")
    if header.startswith("data:application/json"):
        return UNKNOWN
    text = urllib.parse.unquote(body)
    if header.endswith(";base64"):
        try:
            text = base64.b64decode(text + "==").decode("utf-8")
        except (ValueError, binascii.Error):
            script.add("exec.dynamic", node, "loads a module from a text that does not decode")
            return UNKNOWN
    script.run_source(Const(text), "import", node)
    return UNKNOWN


CHECKS: Final[dict[str, Check]] = {
    **COMMON, "openflags": _judge_open, "tempdir": _judge_temporary_directory, "url": _judge_url,
    "host": _judge_host, "hostat": _judge_host_behind, "listen": _judge_listen, "listenlocal": _judge_listen,
    "address": _judge_address, "argv": _judge_argv, "shell": _judge_shell,
    "spawnlist": _judge_argv,
    **dict.fromkeys(("code", "codelast", "codetext"), _judge_code), "dbserver": _judge_database_server,
    "require": _require, "worker": _judge_worker, "write": _judge_write,
}  # fmt: skip
"""What judges each kind of effect."""

check_effects(SINKS, CHECKS, "javascript")
