"""Slips of a value: a number that is one misprint, unit or period away from one the outputs hold.

In: an `Asked` that nothing bears out. Out: the value it misstates, None where that may be chance, or the
number may be told of a part, of another thing, or reckoned.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import words_of
from spanproof.evaluators.layers.groundedness.model import ClaimEvidence, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import Asked, in_unit
from spanproof.evaluators.layers.groundedness.rules.binding import evidence_of
from spanproof.evaluators.layers.groundedness.rules.matching import binds, comparable, fits
from spanproof.evaluators.layers.groundedness.rules.meant import (
    asks_to_reckon,
    is_a_part,
    is_a_window,
    is_named_in_full,
    measures_alike,
)
from spanproof.evaluators.layers.groundedness.rules.slips import (
    ANOTHER_DIGIT,
    ANOTHER_UNIT,
    OTHER_ORDER,
    OTHER_SIGN,
    POWER_OF_TEN,
    another_unit,
    coincides,
    is_long,
    slip,
)
from spanproof.evaluators.layers.groundedness.rules.told_periods import is_for_another

_FEW_VALUES = 3
"""So many values leave nothing to chance."""
_SELDOM = 0.1
"""How likely a slip may be by chance where the words ask for something else than the value."""
_TIMES = tuple(words_of("times"))


@dataclass(frozen=True, slots=True)
class Misstated:
    """What a number misstates."""

    reason: str
    evidence: ClaimEvidence | None = None
    verdict: Verdict = Verdict.CONTRADICTED


def slip_of_a_fact(asked: Asked) -> Misstated | None:
    """The value that the number is a slip away from, of those that the words touch first."""
    pool = [fact for fact in asked.binding.numbers if fact.number]
    touched = {
        id(fact) for fact in pool if not asked.words.isdisjoint(fact.clause if fact.weak else fact.words)
    }
    alike = Counter(fact.dimension for fact in pool)
    for fact in sorted(pool, key=lambda each: id(each) not in touched):
        if is_a_part(asked, fact):
            continue
        how = _how_it_slipped(asked, fact, alike, touched=id(fact) in touched)
        if how:
            reason = f"no output gives {asked.quantity.text}; it is `{fact.text}` with {how}"
            return Misstated(reason, evidence_of(fact))
    return None


def _how_it_slipped(asked: Asked, fact: Fact, values: Counter[Dimension | None], *, touched: bool) -> str:
    quantity = asked.quantity
    alike = values[fact.dimension]
    if is_for_another(asked, fact) and binds(quantity, fact, coarse=asked.coarse) is not None:
        return "another period"
    if touched or alike == 1 or values.total() <= _FEW_VALUES:
        how = another_unit(quantity, fact)
        if how:
            return how
    if _is_priced_by_number(asked, fact) and not coincides(quantity, values.total(), ANOTHER_UNIT):
        return ANOTHER_UNIT
    if not comparable(quantity, fact) or not measures_alike(asked, fact):
        return ""
    value = in_unit(quantity, fact)
    if not slip(quantity, value, meant=True):
        return ""
    reckoned = asks_to_reckon(asked, fact)
    meant = _alone_in_its_unit(asked, fact) and not reckoned
    how = slip(quantity, value, meant=meant)
    if how == POWER_OF_TEN and may_be_the_units(asked, fact):
        return ""
    if how == OTHER_SIGN and (quantity.dimension is Dimension.MONEY or (fact.money and fact.records >= 0)):
        return ""  # a ledger's sign says which way money went; people say it with a verb, or not at all
    if how in (ANOTHER_DIGIT, OTHER_ORDER) and _is_told(asked, fact):
        return ""
    if not touched and _may_be_anything(asked, fact, how):
        return ""
    others = {fact.dimension, quantity.dimension, None}
    named = meant or (touched and not reckoned and (how != OTHER_ORDER or is_long(quantity)))
    exactly = not reckoned or is_named_in_full(asked, fact)
    among = sum(values[each] for each in others)
    by_chance = not named and (
        coincides(quantity, among, how) if exactly else coincides(quantity, among, most=_SELDOM)
    )
    return "" if by_chance else how


def _may_be_anything(asked: Asked, fact: Fact, how: str) -> bool:
    """Whether a short number, of which no word is the value's, may well be one that no output holds."""
    if is_long(asked.quantity):
        return False
    if how == POWER_OF_TEN and asked.quantity.unit is None:
        return abs(asked.quantity.value) < abs(fact.number or 0.0)  # 12 of the round 1,200
    return how == OTHER_ORDER and asked.stated.noun[:1] == _TIMES  # "it was scanned 32 times"


def _is_told(asked: Asked, fact: Fact) -> bool:
    """Whether another number of the answer tells the fact: then this one is no misprint of it."""
    return any(
        isinstance(other.what, Quantity)
        and other is not asked.stated
        and other.what.dimension is asked.quantity.dimension
        and other.what.text != asked.quantity.text
        and binds(other.what, fact) is not None
        for other in asked.binding.answer.stated
    )


def _alone_in_its_unit(asked: Asked, fact: Fact) -> bool:
    """Whether the fact is the only value in the very unit of the quantity: "31 days" of `retention_days`."""
    unit = asked.quantity.unit
    if unit is None or fact.unit != unit or unit.dimension in (Dimension.MONEY, Dimension.FRACTION):
        return False
    if is_a_window(asked):
        return False
    return all(other is fact or other.unit != unit for other in asked.binding.numbers)


def may_be_the_units(asked: Asked, fact: Fact) -> bool:
    """Whether a thousand may lie in a unit that only one side writes: "1.73 cores" of `1730m`."""
    quantity, unit = asked.quantity, fact.unit
    if quantity.unit is not None or unit is None or fact.dimension is Dimension.MONEY or not fact.number:
        return False
    return any(fits(quantity, fact.number * factor) for factor in (1e-6, 1e-3, 1e3, 1e6))


def _is_priced_by_number(asked: Asked, fact: Fact) -> bool:
    """Whether an amount of money is what counts things: "$12 each" of `qty: 12`."""
    counts = fact.counted and asked.quantity.dimension is Dimension.MONEY
    return counts and fits(asked.quantity, fact.number or 0.0)
