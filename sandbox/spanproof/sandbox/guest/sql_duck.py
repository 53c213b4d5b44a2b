"""The duckdb engine, locked down: no file but the database, no extension, no setting that may be changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import duckdb

from spanproof.sandbox.guest.sql import Answer, Problem, Trouble

with suppress(ImportError):
    import pytz  # noqa: F401 - what duckdb loads for the first time with a zone is loaded ahead

_LOCKED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "threads": "2",
    "lock_configuration": "true",
}
_MEMORY_PART = 0.75
_LINE = re.compile(r"^LINE (\d+):", re.MULTILINE)
_KINDS = duckdb.StatementType
_CHANGES = frozenset((_KINDS.INSERT, _KINDS.UPDATE, _KINDS.DELETE, _KINDS.CREATE, _KINDS.DROP, _KINDS.ALTER))
_OUTSIDE = frozenset((_KINDS.SET, _KINDS.CALL, _KINDS.ATTACH, _KINDS.COPY))
_BATCH = 1000


def open_database(path: str | None, *, writable: bool, memory_bytes: int) -> Any:
    """Open a locked-down connection.

    Raises:
        Problem: the file cannot be opened.
    """
    settings: Any = _LOCKED | {"memory_limit": f"{int(memory_bytes * _MEMORY_PART)}B"}
    with _convert_errors(None, refused=False):
        return duckdb.connect(path or ":memory:", read_only=not writable, config=settings)


def run(connection: Any, script: str, *, writable: bool) -> Iterator[Answer]:
    """Run a script: all of it is parsed before the first statement runs."""
    try:
        script.encode()  # a lone surrogate is no text to it
        statements = duckdb.extract_statements(script)
    except (duckdb.Error, UnicodeEncodeError) as failure:
        raise Problem(Trouble.SYNTAX, _find_line(str(failure))) from failure
    offset = 0
    for statement in statements:
        text = statement.query.strip()
        offset = max(offset, script.find(text, offset))
        line = script.count("\n", 0, offset) + 1
        offset += len(text)
        refused = statement.type in _OUTSIDE or (not writable and statement.type in _CHANGES)
        with _convert_errors(line, refused=refused):
            connection.execute(statement)
        if duckdb.ExpectedResultType.QUERY_RESULT in statement.expected_result_type:
            columns = [column[0] for column in connection.description or ()]
            if columns and (columns != ["Count"] or statement.type not in _CHANGES):
                yield Answer(columns, _fetch_rows(connection, line))


def _fetch_rows(connection: Any, line: int) -> Iterator[tuple[Any, ...]]:
    with _convert_errors(line, refused=False):
        while batch := connection.fetchmany(_BATCH):
            yield from batch


@contextmanager
def _convert_errors(line: int | None, *, refused: bool) -> Iterator[None]:
    try:
        yield
    except (duckdb.Error, MemoryError) as failure:
        raise Problem(_classify_error(failure, refused=refused), line) from failure


def _find_line(message: str) -> int | None:
    found = _LINE.search(message)
    return int(found[1]) if found else None


def _classify_error(failure: Exception, *, refused: bool) -> Trouble:
    """Return what an error means.

    Args:
        failure: the engine's, or the interpreter's for memory.
        refused: whether the statement is one that the lock refuses, which duckdb calls invalid input.
    """
    if isinstance(failure, duckdb.OutOfMemoryException | MemoryError):
        return Trouble.MEMORY
    if isinstance(failure, duckdb.PermissionException):
        return Trouble.DENIED
    if isinstance(failure, duckdb.InvalidInputException) and refused:
        return Trouble.DENIED
    if isinstance(failure, duckdb.ParserException | duckdb.SyntaxException):
        return Trouble.SYNTAX
    return Trouble.OTHER
