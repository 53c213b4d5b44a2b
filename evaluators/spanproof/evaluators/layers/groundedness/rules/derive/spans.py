"""Spans of time: the days between two dates, the time between two clocks, the days from today to a date."""

from __future__ import annotations

from collections import Counter

from spanproof.evaluators.layers.groundedness.language.units import BY_NAME, Dimension
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.derive.search import (
    Derived,
    Search,
    another_row_is_named,
    operands,
)
from spanproof.evaluators.layers.groundedness.rules.matching import fits, number_text

_FEW_DATED = 20
_FEW_TIMED = 24
_FEW_YEARS = 20
_DAY = 86_400


def day_differences(search: Search) -> Derived | None:
    """The days between two dates, or between today and one."""
    if search.quantity.dimension not in (None, Dimension.TIME):
        return None
    if search.quantity.unit is not None and search.quantity.unit.factor < _DAY:
        return None  # dates say nothing of hours
    days = [fact for fact in search.facts.facts[:2000] if fact.day is not None][:_FEW_DATED]
    factor = search.quantity.unit.factor / _DAY if search.quantity.unit else 1.0
    for place, first in enumerate(days):
        assert first.day is not None
        for second in days[place + 1 :]:
            assert second.day is not None
            apart = abs((second.day - first.day).days)
            if fits(search.quantity, apart / factor):
                return Derived(f"{first.day} to {second.day} = {apart} days", (first, second), apart)
        for today in search.facts.todays:
            apart = abs((first.day - today).days)
            if search.quantity.unit is not None and fits(search.quantity, apart / factor):
                return Derived(f"today, {today}, to {first.day} = {apart} days", (first,), apart)
    return None


def clock_differences(search: Search) -> Derived | None:
    """The time between two times of day, of one day where the outputs say which."""
    unit = search.quantity.unit
    if unit is None or unit.dimension is not Dimension.TIME:
        return None
    timed = [fact for fact in search.facts.facts[:2000] if fact.clock is not None][:_FEW_TIMED]
    lines = Counter(fact.line for fact in timed if fact.weak)
    for place, first in enumerate(timed):
        for second in timed[place + 1 :]:
            if first.weak and first.line != second.line and lines[first.line] > 1:
                continue  # of a timetable each line has its own two
            of_a_log = first.day is not None and first.key == second.key and second.day is not None
            of_a_stop = first.day is not None and first.key != second.key and second.row == first.row + 1
            if first.records >= 0 and (
                not (first.row == second.row or of_a_log or of_a_stop)
                or another_row_is_named(first, second, search)
            ):
                continue
            apart = _seconds_between(first, second)
            if apart and (
                fits(search.quantity, apart / unit.factor) or _fits_begun(search, apart / unit.factor)
            ):
                text = f"{first.text} to {second.text} = {number_text(round(apart / 60, 1))} minutes"
                return Derived(text, (first, second), apart)
    return None


def _seconds_between(first: Fact, second: Fact) -> float:
    assert first.clock is not None
    assert second.clock is not None
    apart = second.clock - first.clock
    if first.day is not None and second.day is not None:
        return abs(apart + (second.day - first.day).days * _DAY)
    return abs(apart)


def _fits_begun(search: Search, value: float) -> bool:
    """Whether whole minutes or hours that have passed are told: 42 of 42.5."""
    return search.quantity.decimals == 0 and search.quantity.ulp == 1 and search.quantity.value == int(value)


def year_differences(search: Search) -> Derived | None:
    """The years between two years, which outputs write as bare numbers."""
    quantity = search.quantity
    if quantity.unit is None or quantity.unit is not BY_NAME["years"]:
        return None
    years = [fact for fact in operands(search) if fact.number and 1000 <= fact.number <= 2100]
    for place, first in enumerate(years[:_FEW_YEARS]):
        for second in years[place + 1 : _FEW_YEARS]:
            apart = abs((second.number or 0.0) - (first.number or 0.0))
            if first.key == second.key and apart and fits(quantity, apart):
                told = f"{number_text(first.number or 0)} to {number_text(second.number or 0)}"
                return Derived(f"{told} = {number_text(apart)} years", (first, second), apart)
    return None
