"""SQL on sqlite: each statement of a script in order, rows on stdout as `a|b`, as sqlite's own shell prints.

The database is the one file of the work directory that ends in .db, .sqlite or .sqlite3, else one in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from spanproof.sandbox.jail.guest.reporter import Reporter, describe

_SYNTAX = ("syntax error", "incomplete input", "unrecognized token")


def run_sql(source: str, reporter: Reporter) -> int:
    """Run a script; returns the exit code."""
    import sqlite3  # costs every other run its share of the fork

    try:
        connection = sqlite3.connect(_database(), isolation_level=None)
        for statement in _statements(source, sqlite3.complete_statement):
            for row in connection.execute(statement):
                print("|".join("" if value is None else str(value) for value in row))
        connection.close()
    except Exception as problem:  # noqa: BLE001 - told as what ended the script
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        kind = "syntax" if _is_syntax(problem) else "raised"
        reporter.send(kind, raised=describe(problem, "<sql>"))
        return 1
    reporter.send("finished")
    return 0


def _database() -> str:
    found = [path for path in Path().iterdir() if path.suffix in (".db", ".sqlite", ".sqlite3")]
    return str(found[0]) if len(found) == 1 else ":memory:"


def _statements(source: str, complete: Callable[[str], bool]) -> Iterator[str]:
    """Split where sqlite says a statement is complete: not at semicolons inside strings or triggers."""
    statement = ""
    for piece in source.split(";"):
        statement += piece + ";"
        if complete(statement):
            if statement.strip(" \t\r\n;"):
                yield statement
            statement = ""
    if statement.strip(" \t\r\n;"):
        yield statement.removesuffix(";")


def _is_syntax(problem: Exception) -> bool:
    """Whether sqlite could not read the script; its message is all that tells, and SQL cannot forge it."""
    if isinstance(problem, ValueError | UnicodeError):
        return True  # NUL bytes, lone surrogates
    return type(problem).__name__ == "OperationalError" and any(word in str(problem) for word in _SYNTAX)
