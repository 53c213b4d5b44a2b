"""The sqlite engine, locked down: no extension, no other file, no switch that would undo the lock."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from spanproof.sandbox.guest.sql import Answer, Problem, Trouble

_DENIED_FUNCTIONS = frozenset(("load_extension", "fts3_tokenizer"))
_DENIED_PRAGMAS = frozenset(
    """
    data_store_directory hard_heap_limit mmap_size query_only soft_heap_limit temp_store
    temp_store_directory trusted_schema writable_schema
    """.split()  # noqa: SIM905 - a table
)
# sqlite has one code for all it cannot prepare; these are its parser's own messages, whole.
_SYNTAX = re.compile(r'near "(?:.|\n)*": syntax error|incomplete input|unrecognized token: (?:.|\n)*')

_DENIED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN)
_HEAP_PART = 0.75
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 256 * 1024 * 1024),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 4),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 100),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 1000),
)


class Guarded(sqlite3.Connection):
    """A connection that knows whether anything was denied on it: not every error of a denial says so."""

    denied = False

    def handle_authorization(
        self, action: int, first: str | None, second: str | None, _database: str | None, _inner: str | None
    ) -> int:
        """Return whether the engine may prepare a part of a statement, as it calls this before each."""
        refused = False
        if action == sqlite3.SQLITE_ATTACH:
            refused = first not in ("", ":memory:")
        elif action == sqlite3.SQLITE_PRAGMA:
            refused = (first or "").lower() in _DENIED_PRAGMAS
        elif action == sqlite3.SQLITE_FUNCTION:
            refused = (second or "").lower() in _DENIED_FUNCTIONS
        self.denied |= refused
        return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def open_database(path: str | None, *, writable: bool, memory_bytes: int) -> Guarded:
    """Open a locked-down connection.

    Raises:
        Problem: the file cannot be opened.
    """
    heap_bytes = int(memory_bytes * _HEAP_PART)
    address = _build_uri(path, writable=writable)
    with _convert_errors(None, None):
        connection = sqlite3.connect(address, uri=True, isolation_level=None, factory=Guarded)
        connection.execute("select count(*) from sqlite_schema").fetchall()  # opening alone reads nothing
        for switch in ("trusted_schema = off", "temp_store = memory", f"hard_heap_limit = {heap_bytes}"):
            connection.execute(f"pragma {switch}")
    for limit, value in _LIMITS:
        connection.setlimit(limit, value)
    connection.set_authorizer(connection.handle_authorization)
    return connection


def run(connection: Guarded, script: str, *, writable: bool) -> Iterator[Answer]:  # noqa: ARG001
    """Run a script, statement by statement; a read-only file is sqlite's own to guard."""
    with _convert_errors(connection, None):
        statements = list(_iter_statements(script))
    for statement, line in statements:
        with _convert_errors(connection, line):
            cursor = connection.execute(statement)
        if cursor.description is not None:
            yield Answer([column[0] for column in cursor.description], _fetch_rows(connection, cursor, line))


def _fetch_rows(connection: Guarded, cursor: sqlite3.Cursor, line: int) -> Iterator[tuple[Any, ...]]:
    with _convert_errors(connection, line):
        yield from cursor


@contextmanager
def _convert_errors(connection: Guarded | None, line: int | None) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, MemoryError, ValueError) as failure:
        denied = connection is not None and connection.denied
        raise Problem(Trouble.DENIED if denied else _classify_error(failure), line) from failure


def _build_uri(path: str | None, *, writable: bool) -> str:
    if path is None:
        return ":memory:"
    return f"file:{quote(str(Path(path).absolute()))}?" + ("mode=rwc" if writable else "mode=ro&immutable=1")


def _iter_statements(script: str) -> Iterator[tuple[str, int]]:
    """Split where sqlite says a statement is complete: not at semicolons inside strings or triggers."""
    statement, line = "", 1
    for piece in script.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            if statement.strip(" \t\r\n;"):
                yield statement, _compute_first_line(statement, line)
            line += statement.count("\n")
            statement = ""
    if statement.strip(" \t\r\n;"):
        yield statement.removesuffix(";"), _compute_first_line(statement, line)


def _compute_first_line(statement: str, line: int) -> int:
    return line + statement[: len(statement) - len(statement.lstrip())].count("\n")


def _classify_error(failure: Exception) -> Trouble:
    if isinstance(failure, MemoryError):
        return Trouble.MEMORY
    if isinstance(failure, ValueError):
        return Trouble.SYNTAX  # NUL bytes, lone surrogates
    code = getattr(failure, "sqlite_errorcode", 0) & 0xFF
    if code in _DENIED:
        return Trouble.DENIED
    if code == sqlite3.SQLITE_ERROR and _SYNTAX.fullmatch(str(failure)):
        return Trouble.SYNTAX
    return Trouble.OTHER
