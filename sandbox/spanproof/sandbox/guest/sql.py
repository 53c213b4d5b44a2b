"""SQL: each statement of a script in order, rows on stdout as `a|b`, the last rows as the result.

In: the script, and what it runs against. Out: output, a report, an exit code. The engine is locked down
before the script is seen: what would reach outside of the database, load code, or undo the lock is refused by
the engine itself, and the class of a failure comes from the engine's error type.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from spanproof.sandbox.guest.reporter import Reporter, encode_exception

_ENGINES = {"sqlite": "sqlite", "duckdb": "duck"}
# Of the last rows: a frame of the guest holds a megabyte, and a character may take twelve bytes in it.
_RESULT_CHARACTERS = 64_000


class Trouble(Enum):
    """What an engine's error means; the value is the kind of report or the flag in it."""

    SYNTAX = "syntax"
    DENIED = "denied"
    MEMORY = "memory"
    OTHER = "other"


class Problem(Exception):  # noqa: N818 - carries the engine's own error
    """A statement failed; the engine's error is the cause."""

    def __init__(self, trouble: Trouble, line: int | None) -> None:
        super().__init__()
        self.trouble = trouble
        self.line = line


@dataclass(frozen=True, slots=True)
class Answer:
    """What one statement gave."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]


class Engine(Protocol):
    """An engine, as a module of the guest gives it."""

    def open_database(self, path: str | None, *, writable: bool, memory_bytes: int) -> Any:
        """Open a locked-down connection; None is an empty database in memory."""

    def run(self, connection: Any, script: str, *, writable: bool) -> Iterator[Answer]:
        """Run a script; an answer for each statement that gives rows. Raises `Problem`."""


@dataclass(slots=True)
class _Result:
    """The rows of one statement, as far as they may leave as JSON."""

    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    cut: bool = False
    spent: int = 0

    def add(self, row: Sequence[Any]) -> None:
        if self.cut:
            return
        cells = [_encode_cell(value) for value in row]
        self.spent += sum(len(cell) if isinstance(cell, str) else 16 for cell in cells) + 1
        if self.spent > _RESULT_CHARACTERS:
            self.cut = True
        else:
            self.rows.append(cells)


def run_sql(source: str, database: dict[str, Any], reporter: Reporter) -> int:
    """Run a script; returns the exit code.

    Args:
        source: the script.
        database: `engine`, `file`, `writable`, `memory_bytes`, as the host checked them.
        reporter: takes the result, or what failed.
    """
    name = _ENGINES[database["engine"]]
    engine: Any = import_module(f"spanproof.sandbox.guest.sql_{name}")
    writable = database["file"] is None or database["writable"]
    try:
        path = _load_database(engine, database)
        connection = engine.open_database(path, writable=writable, memory_bytes=database["memory_bytes"])
    except Problem as problem:
        reporter.send("fixture", raised=_encode_problem(problem))
        return 1
    last: _Result | None = None
    try:
        for answer in engine.run(connection, source, writable=writable):
            last = _handle_rows(answer)
        connection.close()
    except Problem as problem:
        print(f"{type(problem.__cause__).__name__}: {problem.__cause__}", file=sys.stderr)
        kind = "syntax" if problem.trouble is Trouble.SYNTAX else "raised"
        reporter.send(kind, raised=_encode_problem(problem))
        return 1
    rows = {"columns": last.columns, "rows": last.rows, "cut": last.cut} if last is not None else None
    reporter.send("finished", result=rows)
    return 0


def _load_database(engine: Engine, database: dict[str, Any]) -> str | None:
    """Return the database file: the program's own, or one its script makes, out of the work directory."""
    file = database["file"]
    if file is None or not file.lower().endswith(".sql"):
        return file if file is None else str(file)
    try:
        with open(file, encoding="utf-8") as script:  # noqa: PTH123
            text = script.read()
    except (OSError, UnicodeDecodeError) as failure:
        raise Problem(Trouble.OTHER, None) from failure
    memory_bytes = database["memory_bytes"]
    prepared = f"{Path.cwd().parent}/code/database"
    connection = engine.open_database(prepared, writable=True, memory_bytes=memory_bytes)
    for _answer in engine.run(connection, text, writable=True):
        continue
    connection.close()
    return prepared


def _handle_rows(answer: Answer) -> _Result:
    """Print the rows as they come, and keep what may leave."""
    result = _Result(list(answer.columns))
    for row in answer.rows:
        print("|".join("" if value is None else str(value) for value in row))
        result.add(row)
    return result


def _encode_cell(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and value.bit_length() <= 64:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def _encode_problem(problem: Problem) -> dict[str, Any]:
    cause = problem.__cause__
    assert cause is not None
    described = encode_exception(cause, "<sql>")
    described |= {"line": problem.line, "denied": problem.trouble is Trouble.DENIED}
    return described | {"memory": problem.trouble is Trouble.MEMORY}
