"""What a program finds when it runs, as options of a command and as fields of a line.

In: `--http`, `--seed`, `--clock` and `--database`, or the fields `http` (a HAR document), `seed`, `clock`,
`packages` and `database`. Out: `Surroundings`; a line's field overrides the option.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from pydantic import BaseModel, ConfigDict, StrictBool, StrictFloat, StrictStr, ValidationError

from spanproof.cli.input.files import read_file
from spanproof.cli.input.jsonl import BadRow, Row
from spanproof.cli.problems import UsageProblem
from spanproof.sandbox import (
    BadFixture,
    Clock,
    Database,
    DatabaseEngine,
    Ecosystem,
    Fixtures,
    PackageSet,
    Program,
)
from spanproof.sandbox.har import load_har, read_exchanges


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Fixtures, and the content of the database's file by its name where the command has one."""

    fixtures: Fixtures
    files: Mapping[str, bytes] = field(default_factory=dict)

    def add_to(self, program: Program) -> Program:
        """Return the program with these."""
        return replace(program, fixtures=self.fixtures, files={**program.files, **self.files})


def with_fixture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it is called with `surroundings`."""

    @click.option(
        "--http",
        "tape",
        type=click.Path(path_type=Path),
        metavar="TAPE",
        help="A HAR 1.2 file. Calls that it records are answered; any other is refused and reported.",
    )
    @click.option("--seed", type=int, help="Seed of every source of randomness.")
    @click.option(
        "--clock",
        metavar="TIME[@RATE]",
        help="Time at the start: 2025-03-01T12:00:00Z, or Unix seconds. @0 stops the clock, @60 runs it 60"
        " times as fast.",
    )
    @click.option(
        "--database",
        "database_file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Database for SQL: a database file, or a .sql script that creates one. Read-only.",
    )
    @click.option(
        "--engine",
        type=click.Choice([engine.value for engine in DatabaseEngine]),
        default=DatabaseEngine.SQLITE.value,
        show_default=True,
        help="Engine that runs SQL.",
    )
    @click.option("--writable", is_flag=True, help="Let SQL change its copy of the database.")
    @wraps(command)
    def wrapped(
        *args: Any,
        tape: Path | None,
        seed: int | None,
        clock: str | None,
        database_file: Path | None,
        engine: str,
        writable: bool,
        **kwargs: Any,
    ) -> Any:
        http = load_har(tape) if tape is not None else ()
        name = database_file.name if database_file is not None else None
        database = Database(DatabaseEngine(engine), name, writable)
        if database_file is not None:
            files = {database_file.name: read_file(database_file)}
        else:
            files = {}
        start = _parse_clock(clock) if clock is not None else None
        fixtures = Fixtures(seed=seed, clock=start, http=http, database=database)
        return command(*args, surroundings=Surroundings(fixtures, files), **kwargs)

    return wrapped


class _Field(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _ClockField(_Field):
    start_s: StrictFloat
    rate: StrictFloat = 1.0


class _PackagesField(_Field):
    ecosystem: Ecosystem = Ecosystem.PIP
    pins: list[StrictStr]


class _DatabaseField(_Field):
    engine: DatabaseEngine = DatabaseEngine.SQLITE
    file: StrictStr | None = None
    writable: StrictBool = False


_FieldT = TypeVar("_FieldT", bound=_Field)


def parse_surroundings(row: Row, default: Surroundings) -> Surroundings:
    """Return what a line says, over what the options say; raises BadRow for a field of another form."""
    fixtures, files = default.fixtures, default.files
    if (seed := row.get("seed")) is not None:
        if type(seed) is not int:
            raise BadRow(f"field 'seed' must be a whole number, got {str(seed)[:80]!r}")
        fixtures = replace(fixtures, seed=seed)
    if row.get("http") is not None:
        try:
            fixtures = replace(fixtures, http=read_exchanges(row["http"], "field 'http'"))
        except BadFixture as problem:
            raise BadRow(str(problem)) from problem
    if clock := _find_field(row, "clock", _ClockField, '{"start_s": seconds, "rate": number}'):
        fixtures = replace(fixtures, clock=Clock(clock.start_s, clock.rate))
    form = f'{{"ecosystem": {" or ".join(Ecosystem)}, "pins": [strings]}}'
    if packages := _find_field(row, "packages", _PackagesField, form):
        fixtures = replace(fixtures, packages=PackageSet(packages.ecosystem, tuple(packages.pins)))
    form = f'{{"engine": {" or ".join(DatabaseEngine)}, "file": one of files, "writable": boolean}}'
    if database := _find_field(row, "database", _DatabaseField, form):
        chosen = Database(database.engine, database.file, database.writable)
        fixtures, files = replace(fixtures, database=chosen), {}
    return Surroundings(fixtures, files)


def _find_field(row: Row, name: str, model: type[_FieldT], form: str) -> _FieldT | None:
    if row.get(name) is None:
        return None
    try:
        return model.model_validate(row[name])
    except ValidationError as problem:
        raise BadRow(f"field {name!r} must be {form}, got {str(row[name])[:80]}") from problem


def _parse_clock(text: str) -> Clock:
    moment, sign, rate = text.partition("@")
    try:
        clock = Clock(_parse_seconds(moment), float(rate) if sign else 1.0)
        if math.isfinite(clock.start_s) and math.isfinite(clock.rate):
            return clock
    except (ValueError, OverflowError):
        pass
    raise UsageProblem(f"--clock {text!r} is no moment", "for example: --clock 2025-03-01T12:00:00Z@0")


def _parse_seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        moment = datetime.datetime.fromisoformat(text)
    return moment.replace(tzinfo=moment.tzinfo or datetime.UTC).timestamp()
