"""Rates and multiples: a month's price told for a year, "double everything", "there and back", "per second".

A period counts where the answer names it beside the number and the output names another beside its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical, canonical_set
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.derive.search import (
    FEW,
    Derived,
    Search,
    agrees,
    fits_operand,
    operands,
    scaled_value,
)
from spanproof.evaluators.layers.groundedness.rules.matching import fits, number_text

_PERIODS = {
    "second": 1 / 3600, "minute": 1 / 60,
    "hour": 1.0, "hourly": 1.0, "day": 24.0, "daily": 24.0, "night": 24.0, "nightly": 24.0, "week": 168.0,
    "weekly": 168.0, "month": 730.0, "monthly": 730.0, "mrr": 730.0, "quarter": 2190.0, "quarterly": 2190.0,
    "year": 8760.0, "yearly": 8760.0, "annual": 8760.0, "annually": 8760.0, "annum": 8760.0, "arr": 8760.0,
}  # fmt: skip
"""Hours of each period, as people reckon: twelve months a year."""
HOURS = {canonical(word): hours for word, hours in _PERIODS.items()}
"""The same by canonical words."""
_WHOLE = {(730.0, 168.0): (4.0, 52 / 12), (730.0, 24.0): (30.0, 31.0, 365 / 12), (8760.0, 168.0): (52.0,)}
"""Where a period is no whole number of the other: the numbers in use."""
_MULTIPLES = {
    **dict.fromkeys(canonical_set("double twice doubled doubling"), 2.0),
    **dict.fromkeys(canonical_set("triple tripled thrice"), 3.0),
    **dict.fromkeys(canonical_set("half halve halved"), 0.5),
    canonical("third"): 1 / 3,
    canonical("quarter"): 0.25,
}
_RETURN = canonical_set("round return both")
_TRIP = canonical_set("trip way ways there back journey")
PERIOD_CUES = frozenset(HOURS)
MULTIPLE_CUES = frozenset(_MULTIPLES) | _RETURN


def periods(search: Search) -> Derived | None:
    """An amount for one period told for another; of several amounts for one period also their sum."""
    if search.quantity.dimension is Dimension.TIME:
        return None
    wanted = {HOURS[word] for word in search.near if word in HOURS} or {
        HOURS[word] for word in search.cues if word in HOURS
    }
    rated = [(fact, hours) for fact in operands(search)[:_MAX_RATED] for hours in _periods_of(fact)]
    rated = [(fact, hours) for fact, hours in rated if agrees(search, fact)]
    for hours in wanted:
        for fact, own in rated:
            for factor in _factors(hours, own):
                found = _times(search, scaled_value(fact), factor, (fact,), number_text(scaled_value(fact)))
                if found is not None:
                    return found
        for own in {own for _, own in rated}:
            same = [fact for fact, each in rated if each == own][:FEW]
            for first, second in ((one, other) for one in same for other in same if one is not other):
                value = scaled_value(first) + scaled_value(second)
                text = f"({number_text(scaled_value(first))} + {number_text(scaled_value(second))})"
                for factor in _factors(hours, own):
                    found = _times(search, value, factor, (first, second), text)
                    if found is not None:
                        return found
    return None


_MAX_RATED = 24


def _periods_of(fact: Fact) -> set[float]:
    words = fact.clause if fact.weak else fact.words
    return {HOURS[word] for word in words if word in HOURS}


def _factors(wanted: float, own: float) -> tuple[float, ...]:
    if wanted == own:
        return ()
    if (wanted, own) in _WHOLE:
        return _WHOLE[wanted, own]
    if (own, wanted) in _WHOLE:
        return tuple(1 / factor for factor in _WHOLE[own, wanted])
    return (round(wanted / own),) if wanted > own else (1 / round(own / wanted),)


def _times(
    search: Search, value: float, factor: float, operands_: tuple[Fact, ...], text: str
) -> Derived | None:
    if not fits_operand(search, value * factor, operands_[0]):
        return None
    step = f"× {number_text(factor)}" if factor >= 1 else f"/ {number_text(1 / factor)}"
    return Derived(f"{text} {step} = {number_text(value * factor)}", operands_, value * factor)


def multiples(search: Search) -> Derived | None:
    """A value that the words double, halve or quarter; there and back."""
    factors = [_MULTIPLES[word] for word in search.cues if word in _MULTIPLES]
    if not _RETURN.isdisjoint(search.cues) and not _TRIP.isdisjoint(search.cues):
        factors.append(2.0)
    for fact in operands(search):
        if not agrees(search, fact) or (fact.dimension is not None and search.quantity.dimension is None):
            continue
        for factor in factors:
            found = _times(search, scaled_value(fact), factor, (fact,), number_text(scaled_value(fact)))
            if found is not None:
                return found
    return None


def per_time(search: Search) -> Derived | None:
    """A number of things over the time they took: "51 requests per second"."""
    numbers = operands(search)
    units = [fact for fact in numbers if fact.dimension is Dimension.TIME and fact.number]
    for fact in numbers:
        if fact.dimension is not None or fact.weak:
            continue
        for lasting in units:
            assert lasting.unit is not None
            seconds = (lasting.number or 0.0) * lasting.unit.factor
            for word, length in _named_units(search):
                value = (fact.number or 0.0) * length / seconds
                if fits(search.quantity, value):
                    text = (
                        f"{number_text(fact.number or 0)} / {lasting.text} = {number_text(value)} per {word}"
                    )
                    return Derived(text, (fact, lasting), value)
    return None


def _named_units(search: Search) -> Iterator[tuple[str, float]]:
    for word, seconds in (("second", 1.0), ("minute", 60.0), ("hour", 3600.0), ("day", 86_400.0)):
        if canonical(word) in search.near:
            yield word, seconds
