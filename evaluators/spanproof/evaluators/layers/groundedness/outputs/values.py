"""One value under its key: number, unit, day, time, flag, as far as the two of them say.

In: a scalar, its key and where it stands. Out: a `Fact` added to a `Facts`.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from spanproof.evaluators.layers.groundedness.language.dates import (
    day_of_timestamp,
    whole_date,
    whole_time,
    yearless_day,
)
from spanproof.evaluators.layers.groundedness.language.key_units import Key, read_key
from spanproof.evaluators.layers.groundedness.language.quantities import whole_quantity
from spanproof.evaluators.layers.groundedness.language.units import CENTS, Dimension, Unit
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts

TIME_KEYS = frozenset(
    ["timestamp", "at", "time", "epoch", "date", "created", "updated", "ts", "on", "year", "fy"]
)
"""Words of keys under which a number may be a moment."""
_DIGIT = re.compile(r"\d")
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
    text = value if isinstance(value, str) else None
    written = text if text is not None and _DIGIT.search(text[:_LONGEST_VALUE]) else None
    quantity = whole_quantity(written) if written else None
    day = _day(value, named.raw) if written or text is None else None
    yearless = yearless_day(written, next(iter(facts.todays), None)) if written and day is None else None
    time = whole_time(written) if written else None
    number = None if day and quantity else quantity.value if quantity else _number(value)
    unit = quantity.unit or named.unit if quantity and number is not None else named.unit
    fact = Fact(
        output=output,
        label=label,
        text=f"{label}: {_short(value)}" if label else _short(value),
        key=named.words,
        scope=scope,
        number=number,
        unit=unit,
        day=day or yearless,
        yearless=day is None and yearless is not None,
        clock=time.seconds if time else None,
        offset=time.offset if time else None,
        currency=_spoken_currency(facts, output, label) if facts.currencies and number is not None else "",
        string=text,
        flag=_flag(value),
        null=value is None,
        records=records,
        row=row,
        scale=_scale(facts, output, named, unit, number),
        fraction=unit is None and named.fraction,
        money=unit is None and named.money,
        counted=unit is None and named.counted,
    )
    facts.facts.append(fact)
    if records >= 0:
        column = "" if facts.records[records].rows < 0 else " ".join(named.raw) or "value"
        facts.records[records].columns.setdefault(column, []).append(fact)


def _number(value: Any) -> float | None:
    return _finite(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _day(value: Any, raw: tuple[str, ...]) -> date | None:
    """The day a text is, or a number under a key that speaks of time."""
    if isinstance(value, str):
        return whole_date(value)
    number = None if TIME_KEYS.isdisjoint(raw) else _number(value)
    return day_of_timestamp(number) if number is not None else None


def _flag(value: Any) -> bool | None:
    if isinstance(value, str) and len(value) < 8:
        return {"true": True, "false": False, "yes": True, "no": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _scale(facts: Facts, output: int, key: Key, unit: Unit | None, number: float | None) -> float:
    if number is None or (unit is not None and unit.dimension is not Dimension.MONEY) or unit is CENTS:
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
