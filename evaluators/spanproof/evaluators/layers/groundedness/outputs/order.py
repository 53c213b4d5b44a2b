"""Which of two facts comes first in time, as far as their names say.

In: two facts. Out: 1 where the first is the earlier, -1 where it is the later, None where the names have no
order. Quarters, years, months, numbered turns and pairs such as old/new are read; the order in which values
happen to be listed says nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from spanproof.evaluators.layers.groundedness.language.words import (
    MONTH_NAMES,
    WEEKDAYS,
    canonical,
    canonical_set,
    words_of,
)
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact

_MONTHS = {canonical(name): number for number, name in enumerate(MONTH_NAMES)}
_WEEKDAYS = frozenset(map(canonical, WEEKDAYS))
_DAY_WORD = re.compile(r"\d{4}(?:-\d\d-\d\d)?")
_EARLY = canonical_set(
    "before old previous prior last start first initial begin beginning baseline pre yesterday open"
    " opening past original from control baseline stable"
)
_LATE = canonical_set(
    "after new current today this end final latest now post today close closing present updated to"
    " variant treatment candidate canary"
)
_NUMBERED = re.compile(r"^(?P<stem>[a-z]{1,12}?)(?P<number>\d{1,4})$")
_YEAR_DIGITS = 4
_PERIODS = frozenset(
    (
        "q",
        "quarter",
        "week",
        "w",
        "day",
        "d",
        "month",
        "m",
        "year",
        "y",
        "fy",
        "h",
        "turn",
        "step",
        "round",
        "epoch",
        "phase",
        "period",
        "t",
        "v",
    )
)


def before_after(first: Fact, second: Fact) -> int | None:
    """1 where `first` is earlier, -1 where it is later, None where nothing says so."""
    for one, other in zip(_when(first), _when(second), strict=True):
        if one is not None and other is not None and one != other:
            return 1 if one < other else -1
    if is_later(second, first):
        return 1
    return -1 if is_later(first, second) else None


def _when(fact: Fact) -> tuple[float | None, ...]:
    if fact.when is None:
        words = [*fact.key, *sorted(fact.scope)]
        fact.when = _day(fact), _year(words), _numbered(words), _month(words), _side(fact)
    return fact.when


def is_later(fact: Fact, earlier: Fact) -> bool:
    """Whether the fact is a later output's word on the very same thing."""
    return (
        fact.output > earlier.output
        and not fact.weak
        and not earlier.weak
        and bool(fact.key)
        and fact.label == earlier.label
        and earlier.scope <= fact.scope
    )


def differ_in_time(one: Fact, other: Fact) -> bool:
    """Whether two values are of one thing, now and before: `today_kwh` and `yesterday_kwh`."""
    sides = _EARLY | _LATE
    alike = set(one.key) - sides == set(other.key) - sides and one.scope == other.scope
    return (
        alike and one.key != other.key and one.unit == other.unit and _side(one) not in (None, _side(other))
    )


def is_now(fact: Fact, earlier: Fact) -> bool:
    """Whether the fact is a later output's word on the same thing, but for its days and the value."""
    own = words_of(earlier.string) if earlier.string else ()
    loose = {
        word
        for word in earlier.scope
        if word in own or _DAY_WORD.fullmatch(word) or word in _MONTHS or word in _WEEKDAYS
    }
    named = earlier.scope - loose
    if own and not named:
        return is_later(fact, earlier)
    return is_later(fact, replace(earlier, scope=named) if loose else earlier)


def _year(words: list[str]) -> float | None:
    for word in words:
        if len(word) == 4 and word.isdigit() and 1900 <= int(word) <= 2100:
            return float(word)
    return None


def _numbered(words: list[str]) -> float | None:
    for place, word in enumerate(words):
        found = _NUMBERED.match(word)
        if found and found["stem"] in _PERIODS:
            return float(found["number"])
        if word.isdigit() and len(word) < _YEAR_DIGITS and place and words[place - 1] in _PERIODS:
            return float(word)
    return None


def _month(words: list[str]) -> float | None:
    return next((float(_MONTHS[word]) for word in words if word in _MONTHS), None)


def _side(fact: Fact) -> float | None:
    early, late = not fact.words.isdisjoint(_EARLY), not fact.words.isdisjoint(_LATE)
    return None if early == late else float(late)


def _day(fact: Fact) -> float | None:
    """The date of the fact's row, or the one that is its key."""
    for word in (*fact.scope, "-".join(fact.key)):
        if len(word) == 10 and word[4] == word[7] == "-":
            try:
                return float(date.fromisoformat(word).toordinal())
            except ValueError:
                continue
    return None
