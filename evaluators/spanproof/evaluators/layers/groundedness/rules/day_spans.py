"""Spans of days that the outputs tell: "a window of 30 days", `nights: 3`, `days_since_delivery: 41`.

In: a fact, or a stated date with the dated facts. Out: whether the fact is such a span, how far it reaches,
and the fact from whose day one leads to the stated date.
"""

from __future__ import annotations

from datetime import timedelta

from spanproof.evaluators.layers.groundedness.language.dates import DateMention
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding

_MAX_DATED = 50
_MAX_SPAN_DAYS = 3_660
_NIGHTS = ("night",)
_FEW_SPANS = 6
_PASSED = canonical_set("since ago age old elapsed overdue")
"""Names of values that count the days behind."""


def after_a_span(mention: DateMention, dated: list[Fact], binding: Binding) -> tuple[Fact, str] | None:
    """A day that lies a span of the outputs after a day of theirs: ordered on, plus a window of 30 days."""
    spans = [fact for fact in binding.numbers if is_span(fact)] or _told_spans(binding)
    for span in spans:
        for fact in dated[:_MAX_DATED]:
            days = _in_days(span)
            if fact.day is None or not 0 < abs(days) < _MAX_SPAN_DAYS:
                continue
            if mention.says(fact.day + timedelta(days=days)):
                return fact, f"{fact.day} + {days:g} days = {fact.day + timedelta(days=days)}"
    return None


def _told_spans(binding: Binding) -> list[Fact]:
    """Spans that prose tells, where they are few."""
    found = [fact for fact in binding.numbers if fact.weak and fact.unit and fact.unit.factor >= 86400]
    found = [fact for fact in found if fact.dimension is Dimension.TIME]
    return found if len(found) <= _FEW_SPANS else []


def is_span(fact: Fact) -> bool:
    """Whether a key's value is so many days, nights or longer."""
    if fact.unit is None:
        return fact.key[-1:] == _NIGHTS and not fact.weak
    return fact.unit.dimension is Dimension.TIME and fact.unit.factor >= 86400 and not fact.weak


def is_as_far(fact: Fact, days: int) -> bool:
    """Whether a fact tells so many days to come, or how many have passed: `days_since_delivery: 41`."""
    return _in_days(fact) == (-days if days < 0 and not _PASSED.isdisjoint(fact.key) else days)


def _in_days(fact: Fact) -> float:
    return (fact.number or 0.0) * (fact.unit.factor / 86400 if fact.unit is not None else 1)
