"""The database that a SQL program runs against, as options of a command and as a field of a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from spanproof.cli.input.files import read_file
from spanproof.cli.input.jsonl import BadRow
from spanproof.sandbox import Database, DatabaseEngine, Program


@dataclass(frozen=True, slots=True)
class DatabaseSetup:
    """A database, and the content of its file where there is one."""

    database: Database
    content: bytes | None

    def add_to(self, program: Program) -> Program:
        """Return the program with this database."""
        files = dict(program.files)
        if self.database.file is not None and self.content is not None:
            files[self.database.file] = self.content
        return replace(program, files=files, fixtures=replace(program.fixtures, database=self.database))


def database_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it is called with `database`."""

    @click.option(
        "--database",
        "database_file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="What SQL runs against: a database file, or a .sql script that makes one. Read-only.",
    )
    @click.option(
        "--engine",
        type=click.Choice([engine.value for engine in DatabaseEngine]),
        default=DatabaseEngine.SQLITE.value,
        show_default=True,
        help="What runs SQL.",
    )
    @click.option("--writable", is_flag=True, help="Let SQL change its copy of the database.")
    @wraps(command)
    def wrapped(*args: Any, database_file: Path | None, engine: str, writable: bool, **kwargs: Any) -> Any:
        name = database_file.name if database_file is not None else None
        database = Database(DatabaseEngine(engine), name, writable)
        content = read_file(database_file) if database_file is not None else None
        return command(*args, database=DatabaseSetup(database, content), **kwargs)

    return wrapped


def parse_database(value: object) -> Database:
    """Return the field `database` of a line.

    Raises:
        BadRow: it is not what it must be.
    """
    if isinstance(value, Mapping) and not value.keys() - {"engine", "file", "writable"}:
        engine, file, writable = (
            value.get("engine", "sqlite"),
            value.get("file"),
            value.get("writable", False),
        )
        known = engine in DatabaseEngine._value2member_map_
        if known and (file is None or isinstance(file, str)) and isinstance(writable, bool):
            return Database(DatabaseEngine(engine), file, writable)
    engines = " or ".join(DatabaseEngine)
    raise BadRow(
        f'field \'database\' must be {{"engine": {engines}, "file": one of files, "writable": boolean}},'
        f" got {str(value)[:80]}"
    )
