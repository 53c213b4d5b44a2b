"""One value under its key: number, unit, day, time, flag, as far as the two of them say.

In: a scalar, its key and where it stands. Out: a `Fact` added to a `Facts`.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any, NamedTuple

from spanproof.evaluators.layers.groundedness.language.clock import whole_time
from spanproof.evaluators.layers.groundedness.language.dates import day_of_timestamp, whole_date, yearless_day
from spanproof.evaluators.layers.groundedness.language.key_units import Key, read_key
from spanproof.evaluators.layers.groundedness.language.quantities import whole_quantity
from spanproof.evaluators.layers.groundedness.language.units import CENTS, Dimension, Unit
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts

_DIGIT = re.compile(r"\d")
_FLAGS = {"true": True, "false": False, "yes": True, "no": False}
_LONGEST_FLAG = 8
_NUMBERS = (int, float)
_LONGEST_VALUE = 80
"""Characters of a text that may be a number, a date or a time as a whole."""


def add_value(
    facts: Facts,
    output: int,
    value: Any,
    label: str,
    key: str,
    scope: frozenset[str],
    records: int = -1,
    row: int = -1,
) -> None:
    """Add one scalar under its key."""
    named = read_key(key)
    shown = _short(value)
    text = value if isinstance(value, str) else None
    said = _read_text(text, facts) if text is not None else _UNREAD
    number, day, unit = said.number, said.day, said.unit or named.unit
    if text is None and isinstance(value, _NUMBERS) and not isinstance(value, bool):
        number = _finite(value)
        day = day_of_timestamp(number) if named.moment and number is not None else None
    fact = Fact(
        output=output,
        label=label,
        text=f"{label}: {shown}" if label else shown,
        key=named.words,
        scope=scope,
        number=number,
        unit=unit,
        day=day,
        yearless=said.yearless,
        clock=said.clock,
        offset=said.offset,
        currency=_spoken_currency(facts, output, label) if facts.currencies and number is not None else "",
        string=text,
        flag=_flag(value),
        null=value is None,
        records=records,
        row=row,
        scale=1.0 if number is None else _scale(facts, output, named, unit),
        fraction=unit is None and named.fraction,
        money=unit is None and named.money,
        counted=unit is None and named.counted,
        latent=named.latent if unit is None and number is not None else None,
    )
    facts.facts.append(fact)
    if records >= 0:
        column = "" if facts.records[records].rows < 0 else named.column
        facts.records[records].columns.setdefault(column, []).append(fact)


class _Read(NamedTuple):
    """What a text says as a whole: a number with its unit, a day, a time of day."""

    number: float | None = None
    unit: Unit | None = None
    day: date | None = None
    yearless: bool = False
    clock: int | None = None
    offset: int | None = None


_UNREAD = _Read()


def _read_text(text: str, facts: Facts) -> _Read:
    if _DIGIT.search(text, 0, _LONGEST_VALUE) is None:
        return _UNREAD
    quantity, day = whole_quantity(text), whole_date(text)
    yearless = yearless_day(text, next(iter(facts.todays), None)) if day is None else None
    time = whole_time(text)
    number, unit = (quantity.value, quantity.unit) if quantity and not day else (None, None)
    clock, offset = (time.seconds, time.offset) if time else (None, None)
    return _Read(number, unit, day or yearless, yearless is not None, clock, offset)


def _flag(value: Any) -> bool | None:
    if isinstance(value, str):
        return _FLAGS.get(value.strip().lower()) if len(value) < _LONGEST_FLAG else None
    return value if isinstance(value, bool) else None


def _scale(facts: Facts, output: int, key: Key, unit: Unit | None) -> float:
    if (unit is not None and unit.dimension is not Dimension.MONEY) or unit is CENTS:
        return 1.0
    own = key.scale if unit is None else 1.0
    return own if own != 1.0 else facts.scales.get(output, 1.0)


def _spoken_currency(facts: Facts, output: int, label: str) -> str:
    """The currency of the innermost object around a value that names one."""
    path = label
    while path:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
        if (output, path) in facts.currencies:
            return facts.currencies[output, path]
    return ""


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number == number and abs(number) != float("inf") else None


def _short(value: Any) -> str:
    text = str(value) if not isinstance(value, str) else value
    return text if len(text) <= 120 else text[:117] + "…"
