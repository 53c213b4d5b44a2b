"""Fixtures of a program, as options of a command and as fields of a line.

In: `--http`, `--seed` and `--clock`, or the fields `http` (a HAR document), `seed` and `clock`. Out:
`Fixtures`; a line's field overrides the option.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from spanproof.cli.input.jsonl import BadRow, Row
from spanproof.cli.problems import UsageProblem
from spanproof.sandbox import BadFixture, Clock, Ecosystem, Fixtures, PackageSet
from spanproof.sandbox.har import exchanges_of, load_har


def fixture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it is called with `fixtures`."""

    @click.option(
        "--http",
        "tape",
        type=click.Path(path_type=Path),
        metavar="TAPE",
        help="A HAR 1.2 file: its calls are answered, every other is refused and reported.",
    )
    @click.option("--seed", type=int, help="Seed of every source of randomness.")
    @click.option(
        "--clock",
        metavar="TIME[@RATE]",
        help="When it starts, as 2025-03-01T12:00:00Z or in Unix seconds; @0 never advances, @60 runs fast.",
    )
    @wraps(command)
    def wrapped(*args: Any, tape: Path | None, seed: int | None, clock: str | None, **kwargs: Any) -> Any:
        http = load_har(tape) if tape is not None else ()
        fixtures = Fixtures(seed=seed, clock=_clock(clock) if clock is not None else None, http=http)
        return command(*args, fixtures=fixtures, **kwargs)

    return wrapped


def parse_fixtures(row: Row, default: Fixtures) -> Fixtures:
    """Return the fixtures of a line, over those of the options.

    Raises:
        BadRow: a field is not what it must be.
    """
    seed, clock, http = row.get("seed"), row.get("clock"), row.get("http")
    if seed is not None and type(seed) is not int:
        raise BadRow(f"field 'seed' must be a whole number, got {str(seed)[:80]!r}")
    try:
        calls = exchanges_of(http, "field 'http'") if http is not None else default.http
    except BadFixture as problem:
        raise BadRow(str(problem)) from problem
    return replace(
        default,
        seed=default.seed if seed is None else seed,
        clock=default.clock if clock is None else _clock_in(clock),
        http=calls,
        packages=default.packages if row.get("packages") is None else _packages_in(row["packages"]),
    )


def _packages_in(value: object) -> PackageSet:
    if isinstance(value, Mapping) and not value.keys() - {"ecosystem", "pins"}:
        ecosystem, pins = value.get("ecosystem", "pip"), value.get("pins")
        strings = isinstance(pins, list) and all(isinstance(pin, str) for pin in pins)
        if strings and ecosystem in Ecosystem._value2member_map_:
            return PackageSet(Ecosystem(ecosystem), tuple(pins))  # type: ignore[arg-type]  # a list of strings
    ecosystems = " or ".join(Ecosystem)
    raise BadRow(
        f'field \'packages\' must be {{"ecosystem": {ecosystems}, "pins": [strings]}}, got {str(value)[:80]}'
    )


def _clock_in(value: object) -> Clock:
    if isinstance(value, Mapping) and not value.keys() - {"start_s", "rate"}:
        start_s, rate = value.get("start_s"), value.get("rate", 1.0)
        if all(isinstance(one, int | float) and not isinstance(one, bool) for one in (start_s, rate)):
            return Clock(float(start_s), float(rate))  # type: ignore[arg-type]  # both are numbers
    raise BadRow(f'field \'clock\' must be {{"start_s": seconds, "rate": number}}, got {str(value)[:80]}')


def _clock(text: str) -> Clock:
    moment, sign, rate = text.partition("@")
    try:
        clock = Clock(_seconds(moment), float(rate) if sign else 1.0)
        if math.isfinite(clock.start_s) and math.isfinite(clock.rate):
            return clock
    except (ValueError, OverflowError):
        pass
    raise UsageProblem(f"--clock {text!r} is no moment", "for example: --clock 2025-03-01T12:00:00Z@0")


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        moment = datetime.datetime.fromisoformat(text)
    return moment.replace(tzinfo=moment.tzinfo or datetime.UTC).timestamp()
