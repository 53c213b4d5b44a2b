"""Databases a program opens and the statements it sends them.

In: a call of a driver and its abstract arguments. Out: findings for files and servers outside the
boundary, and for statements: on a server by the policy's verbs and tables, in the program's own memory by
what reaches out of the database alone.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import re
from typing import Final

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.pieces import ENTRY, merged
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import SINKS
from spanproof.sandbox.scanners.reader.effects import NETWORK, Call, Check, remember, whole_text
from spanproof.sandbox.scanners.reader.values import (
    NAME,
    Const,
    Ref,
    Text,
    Value,
    options_of,
    pieces_of,
    taint_of,
    text_value,
)
from spanproof.sandbox.scanners.sql import (
    IN_FILE,
    IN_MEMORY,
    Connection,
    Database,
    connection_of_url,
    is_held,
)
from spanproof.sandbox.words import words

_SERVER: Final = re.compile(r"(?i)(?:^|[\s;])(?:host|hostaddr|server|data source)\s{0,4}=\s{0,4}([^\s;,]+)")
"""The server in a connection string of keys and values."""


_DATABASE: Final = re.compile(r"(?i)(?:^|[\s;])(?:dbname|database|initial catalog)\s{0,4}=\s{0,4}([^\s;,]+)")
_NAMES: Final = ("dbname", "database", "db")
"""Arguments that name a database of the server."""


_GIVEN_A_CONNECTION: Final = words(
    "pandas.read_sql pandas.read_sql_query pandas.read_sql_table ?.to_sql polars.read_database"
    " polars.read_database_uri pandas.DataFrame().to_sql"
)


def _db_server(call: Call[Machine], value: Value) -> Value | None:
    host = call.arguments.named.get("host") or call.arguments.named.get("server") or value
    text = pieces_of(host)[0]
    if text is not None and "://" in text:
        return _db_url(call, host)
    names = [call.arguments.named[key] for key in _NAMES if key in call.arguments.named]
    database = names[0] if names else Const("")
    if text is not None and "=" in text:
        named, base = _SERVER.search(text), _DATABASE.search(text)
        host = Const(named[1] if named is not None else "localhost")
        database = Const(base[1] if base is not None else "")
    call.judge_host(host)
    for option in options_of(host):
        remember(call, Connection(Database.SERVER, whole_text(option), whole_text(database)))
    return Ref(f"{call.name}()", NETWORK)


def _db_url(call: Call[Machine], value: Value) -> Value | None:
    pieces = pieces_of(value)
    head = pieces[0]
    connection = connection_of_url(whole_text(value))
    remember(call, connection)
    if head is not None and head.startswith(("sqlite", "duckdb")):
        path = head.partition("://")[2].removeprefix("/")
        if path and not path.startswith(":memory:"):
            call.judge_path(Action.WRITE, text_value((path, *pieces[1:]), value.taint))
    else:
        call.crossed(call.boundary.url(pieces))
    kind = connection_of_url(head or "").kind
    end = {Database.MEMORY: IN_MEMORY, Database.FILE: IN_FILE}.get(kind, "()")
    return Ref(f"{call.name}{end}")


def _db_connection(call: Call[Machine], value: Value) -> Value | None:
    """A connection, or the URL of one."""
    if isinstance(value, Const | Text):
        _db_url(call, value)
    return None


def _sql(call: Call[Machine], value: Value) -> Value | None:
    for connection in _connections_of(call):
        _send(call, value, connection)
    return None


def _send(call: Call[Machine], value: Value, connection: Connection) -> None:
    pieces = pieces_of(value)
    if is_held(call.m.context, connection):
        call.m.run_sql(pieces, call.name, call.node, connection)
    elif isinstance(value, Const | Text):
        # A number or a plain name leads out of no directory.
        names = taint_of(value) == NAME
        named = tuple(ENTRY if one is None else one for one in pieces) if names else pieces
        call.m.run_sql(named, call.name, call.node, connection)
        if len(pieces) > 1 and "any" in taint_of(value):
            call.add("query.dynamic", f"{call.who} takes a statement built from text")


def _sql_text(call: Call[Machine], value: Value) -> Value | None:
    """A statement as an object, which is judged where it is sent."""
    return value


def _table(call: Call[Machine], value: Value) -> Value | None:
    """A table that is read or written as a whole, by what the keyword says is done."""
    verb = "SELECT * FROM" if call.name.rpartition(".")[2].startswith("read") else "INSERT INTO"
    replaces = call.arguments.named.get("if_exists")
    if isinstance(replaces, Const) and replaces.value == "replace":
        verb = "DROP TABLE"
    end = " VALUES (1)" if verb == "INSERT INTO" else ""
    for connection in _connections_of(call):
        if is_held(call.m.context, connection):
            statement = (f'{verb} "', *pieces_of(value), f'"{end}')
            call.m.run_sql(merged(statement), call.name, call.node, connection)
    return None


def _connections_of(call: Call[Machine]) -> list[Connection]:
    """Where a call may go, by the name of what it is called on, or of the connection it is given.

    Connections that one function of a driver makes are taken together: each of them counts.
    """
    given = call.arguments.get(1, "con") if call.name in _GIVEN_A_CONNECTION else None
    for keyword in ("con", "connection", "conn", "uri", "connection_uri"):
        given = given or call.arguments.named.get(keyword)
    if given is None:
        return _made_by(call, call.name)
    return [one for option in options_of(given) for one in _connections(call, option)]


def _connections(call: Call[Machine], connection: Value) -> list[Connection]:
    if isinstance(connection, Ref):
        return _made_by(call, connection.name)
    text = pieces_of(connection)[0]
    return [connection_of_url(whole_text(connection) or text) if text and "://" in text else _SOMEWHERE]


_SOMEWHERE: Final = Connection(Database.UNKNOWN)


def _made_by(call: Call[Machine], name: str) -> list[Connection]:
    """The connections that a driver's function made, where they are of the kind that the name says."""
    kind = _kind(name)
    made = call.m.connections.get(name.partition("()")[0], set())
    return sorted((one for one in made if one.kind is kind), key=str) or [Connection(kind)]


def _kind(name: str) -> Database:
    if IN_MEMORY in name or (name.startswith("duckdb.") and "()" not in name):
        return Database.MEMORY
    kinds = {effect.kind for effect in SINKS.get(name.partition("()")[0], ())}
    if "dbfile" in kinds or IN_FILE in name:
        return Database.FILE
    return Database.SERVER if kinds & {"dbserver", "dburl"} else Database.UNKNOWN


CHECKS: Final[dict[str, Check]] = {
    "dbserver": _db_server, "dburl": _db_url, "dbconn": _db_connection, "sql": _sql,
    "sqltext": _sql_text, "table": _table,
}  # fmt: skip
"""What judges each kind of effect on a database."""
