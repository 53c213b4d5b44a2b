"""Databases that Python programs open, and the statements that they send.

In: the call of a driver and its argument. Out: findings, and the connections that a driver's functions made.
Statements on a server are judged by the policy's verbs and tables, those in the program's own memory by what
reaches out of the database alone.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import re
from typing import Final

from spanproof.sandbox.scanners.boundary import Action, Pieces
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pieces import ENTRY, merge_pieces
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import SINKS
from spanproof.sandbox.scanners.reader.effects import FILE, NETWORK, Call, Check, remember, to_whole_text
from spanproof.sandbox.scanners.reader.values import (
    NAME,
    UNKNOWN,
    Const,
    Items,
    Mapping,
    Ref,
    Text,
    Value,
    build_text,
    collect_taint,
    list_options,
    to_pieces,
)
from spanproof.sandbox.scanners.sql_connections import (
    IN_FILE,
    IN_MEMORY,
    Connection,
    Database,
    is_held,
    parse_connection_url,
)
from spanproof.sandbox.words import split_words

# The server in a connection string of keys and values.
_SERVER: Final = re.compile(r"(?i)(?:^|[\s;])(?:host|hostaddr|server|data source)\s{0,4}=\s{0,4}([^\s;,]+)")


_DATABASE: Final = re.compile(r"(?i)(?:^|[\s;])(?:dbname|database|initial catalog)\s{0,4}=\s{0,4}([^\s;,]+)")
# Arguments that name a database of the server.
_NAMES: Final = ("dbname", "database", "db")


_GIVEN_A_CONNECTION: Final = split_words(
    "pandas.read_sql pandas.read_sql_query pandas.read_sql_table ?.to_sql polars.read_database"
    " polars.read_database_uri pandas.DataFrame().to_sql"
)


def _judge_db_server(call: Call[Machine], value: Value) -> Value | None:
    arguments = call.arguments
    host = arguments.named.get("host") or arguments.named.get("server")
    is_host_given = host is not None or arguments.get(call.effect.position, call.effect.keyword) is not None
    host = host or value
    text = to_pieces(host)[0]
    if text is not None and "://" in text:
        return _judge_db_url(call, host)
    names = [arguments.named[key] for key in _NAMES if key in arguments.named]
    database = names[0] if names else Const("")
    if text is not None and "=" in text:
        server, base = _SERVER.search(text), _DATABASE.search(text)
        is_host_given = server is not None
        host = Const(server[1] if server is not None else "localhost")
        database = Const(base[1] if base is not None else "")
    if is_host_given or not to_whole_text(database):
        # A database that is named without a host is one of the machine's own server, behind its socket.
        call.judge_host(host)
    for option in list_options(host):
        remember(call, Connection(Database.SERVER, to_whole_text(option), to_whole_text(database)))
    return Ref(f"{call.name}()", NETWORK)


def _judge_db_url(call: Call[Machine], value: Value) -> Value | None:
    pieces = to_pieces(value)
    head = pieces[0]
    connection = parse_connection_url(to_whole_text(value))
    remember(call, connection)
    if head is not None and head.startswith(("sqlite", "duckdb")):
        path = head.partition("://")[2].removeprefix("/")
        if path and not path.startswith(":memory:"):
            call.judge_path(Action.WRITE, build_text((path, *pieces[1:]), value.taint))
    else:
        call.crossed(call.boundary.url(pieces))
    kind = parse_connection_url(head or "").kind
    end = {Database.MEMORY: IN_MEMORY, Database.FILE: IN_FILE}.get(kind, "()")
    return Ref(f"{call.name}{end}")


def _build_db_url(call: Call[Machine], value: Value) -> Value | None:
    """Return the URL of a database that is put together from a driver, a host, a port and a database."""
    host, port, database = (
        to_pieces(call.arguments.get(position, keyword) or Const(""))
        for position, keyword in ((3, "host"), (4, "port"), (5, "database"))
    )
    port = (":", *port) if port != ("",) else ()
    return build_text((*to_pieces(value), "://", *host, *port, "/", *database), value.taint)


def _judge_db_connection(call: Call[Machine], value: Value) -> Value | None:
    """Judge a connection, or the URL of one."""
    if isinstance(value, Const | Text):
        _judge_db_url(call, value)
    return None


def _judge_sql(call: Call[Machine], value: Value) -> Value | None:
    for connection in _find_connections(call):
        _judge_sent_statement(call, value, connection)
    return None


def _judge_sent_statement(call: Call[Machine], value: Value, connection: Connection) -> None:
    pieces = _bind_file(to_pieces(value), call.arguments.get(1, "parameters"))
    if is_held(call.m.context, connection):
        call.m.run_sql(pieces, call.name, call.node, connection)
    elif isinstance(value, Const | Text):
        # A number or a plain name leads out of no directory.
        names = collect_taint(value) == NAME
        named = tuple(ENTRY if one is None else one for one in pieces) if names else pieces
        call.m.run_sql(named, call.name, call.node, connection)
        if pieces[0] is None and not names:
            _judge_unknown_script(call, value)
        if len(pieces) > 1 and "any" in collect_taint(value):
            call.add("query.dynamic", f"{call.who} takes a statement built from text")
    else:
        _judge_unknown_script(call, value)


def _judge_unknown_script(call: Call[Machine], value: Value) -> None:
    """Judge a script of statements of which not even the first is known, unless it comes from a file."""
    if call.name.endswith(".executescript") and not collect_taint(value) & FILE:
        call.add("query.dynamic", f"{call.who} runs a script that is not known", Verdict.REVIEW)


# The file of an `ATTACH` or a `VACUUM INTO` as a parameter: `?`, `?1`, `:path`, `$path`.
_BOUND_FILE: Final = re.compile(
    r"(?i)\A\s*+(?:attach\s++(?:database\s++)?|vacuum\s++(?:\S{1,64}\s++)?into\s++)(\?\d*|[:@$]\w+)"
)


def _bind_file(pieces: Pieces, parameters: Value | None) -> Pieces:
    """Return a statement with the file that it gets as a parameter, where the program says which."""
    bound = _BOUND_FILE.match(pieces[0] or "")
    if bound is None or pieces[0] is None:
        return pieces
    file: Value | None = None
    if isinstance(parameters, Items) and parameters.items:
        file = parameters.items[0]
    elif isinstance(parameters, Mapping):
        file = parameters.entries.get(bound[1][1:])
    end = pieces[0][bound.end() :]
    return merge_pieces(
        (pieces[0][: bound.start(1)] + "'", *to_pieces(file or UNKNOWN), "'" + end, *pieces[1:])
    )


def _pass_sql_text(call: Call[Machine], value: Value) -> Value | None:
    """Return a statement as an object, which is judged where it is sent."""
    return value


def _judge_table(call: Call[Machine], value: Value) -> Value | None:
    """Judge a table that is read or written as a whole, by what the keyword says is done."""
    if call.name.rpartition(".")[2].startswith("read"):
        verb = "SELECT * FROM"
    else:
        verb = "INSERT INTO"
    replaces = call.arguments.named.get("if_exists")
    if isinstance(replaces, Const) and replaces.value == "replace":
        verb = "DROP TABLE"
    end = " VALUES (1)" if verb == "INSERT INTO" else ""
    for connection in _find_connections(call):
        if is_held(call.m.context, connection):
            statement = (f'{verb} "', *to_pieces(value), f'"{end}')
            call.m.run_sql(merge_pieces(statement), call.name, call.node, connection)
    return None


def _find_connections(call: Call[Machine]) -> list[Connection]:
    """Return where a call may go, by the name of what it is called on, or of the connection it is given.

    Connections that one function of a driver makes are taken together: each of them counts.
    """
    given = call.arguments.get(1, "con") if call.name in _GIVEN_A_CONNECTION else None
    for keyword in ("con", "connection", "conn", "uri", "connection_uri"):
        given = given or call.arguments.named.get(keyword)
    if given is None:
        return _find_made_connections(call, call.name)
    return [one for option in list_options(given) for one in _resolve_connections(call, option)]


def _resolve_connections(call: Call[Machine], connection: Value) -> list[Connection]:
    if isinstance(connection, Ref):
        return _find_made_connections(call, connection.name)
    text = to_pieces(connection)[0]
    return [parse_connection_url(to_whole_text(connection) or text) if text and "://" in text else _SOMEWHERE]


_SOMEWHERE: Final = Connection(Database.UNKNOWN)


def _find_made_connections(call: Call[Machine], name: str) -> list[Connection]:
    """Return the connections that a driver's function made, where they are of the kind the name says."""
    kind = _determine_database_kind(name)
    made = call.m.connections.get(name.partition("()")[0], set())
    return sorted((one for one in made if one.kind is kind), key=str) or [Connection(kind)]


def _determine_database_kind(name: str) -> Database:
    if IN_MEMORY in name or (name.startswith(("duckdb.", "polars.sql")) and "()" not in name):
        return Database.MEMORY
    kinds = {effect.kind for effect in SINKS.get(name.partition("()")[0], ())}
    if "dbfile" in kinds or IN_FILE in name:
        return Database.FILE
    if kinds & {"dbserver", "dburl"}:
        return Database.SERVER
    return Database.UNKNOWN


CHECKS: Final[dict[str, Check]] = {
    "dbserver": _judge_db_server, "dburl": _judge_db_url, "dbconn": _judge_db_connection, "sql": _judge_sql,
    "dburlparts": _build_db_url,
    "sqltext": _pass_sql_text, "table": _judge_table,
}  # fmt: skip
"""What judges each kind of effect on a database."""
