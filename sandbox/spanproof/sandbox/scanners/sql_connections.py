"""Where programs send statements: databases of drivers and URLs, and the rules of the policy that hold there.

In: what a driver's function or a URL names. Out: connections, and whether statements on one are held to the
policy's verbs and tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final
from urllib.parse import urlsplit

from spanproof.sandbox.policy import READ_VERBS, SqlRule
from spanproof.sandbox.scanners.context import Context


class Database(Enum):
    """Where a program sends a statement, as far as the program shows."""

    MEMORY = auto()
    """In the program's own memory: what it does there is its own affair."""
    FILE = auto()
    SERVER = auto()
    UNKNOWN = auto()


MEMORY_FILE: Final = ":memory:"
"""The name by which SQLite and DuckDB open an empty database in the program's own memory."""

IN_MEMORY: Final = "().memory()"
IN_FILE: Final = "().file()"
"""What the names of connections hold whose database is in the program's own memory, or in a file."""


def strip_database(name: str) -> str:
    """Return the name of a connection as people write it."""
    return name.replace(IN_MEMORY, "").replace(IN_FILE, "")


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a statement goes, as far as the program shows; what is not known is empty."""

    kind: Database
    host: str = ""
    database: str = ""
    file: str = ""


def parse_connection_url(url: str) -> Connection:
    """Return the connection that a database's URL makes."""
    try:
        split = urlsplit(url)
        host, path = split.hostname or "", split.path.removeprefix("/")
    except ValueError:
        return Connection(Database.SERVER)
    if not url.startswith(("sqlite", "duckdb")):
        return Connection(Database.SERVER, host, path)
    in_memory = not path or path.startswith(":memory:")
    if in_memory:
        return Connection(Database.MEMORY)
    return Connection(Database.FILE, file=path)


def is_held(context: Context, connection: Connection) -> bool:
    """Whether a statement is held to verbs and tables, and not only to what reaches out.

    By the first of the policy's rules for the connection. Without one: on a server always; elsewhere, but in
    memory, where the policy states verbs or tables. By default a file of a database may be changed like any
    other file that may be written.
    """
    policy, database = context.boundary.policy, connection.kind
    if find_rule_for(context, connection) is not None:
        return True
    stated = policy.sql_tables is not None or policy.sql_verbs != READ_VERBS
    return database is Database.SERVER or (stated and database is not Database.MEMORY)


def find_rule_for(context: Context, connection: Connection) -> SqlRule | None:
    """Return the first of the policy's rules that is for a connection; None where none is."""
    in_memory = connection.kind is Database.MEMORY
    file = context.boundary.work_path(connection.file) if connection.file else ""
    for rule in context.boundary.policy.sql_rules:
        if rule.concerns(connection.host, connection.database, file, memory=in_memory):
            return rule
    return None
