"""A stated quantity with all that is asked about it, as the rules for numbers share it.

In: the quantity and the `Binding`. Out: an `Asked`, and the facts its words are about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import plain_set
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim
from spanproof.evaluators.layers.groundedness.rules.derive import Search
from spanproof.evaluators.layers.groundedness.rules.matching import comparable, fits
from spanproof.evaluators.layers.groundedness.rules.naming import best_named
from spanproof.evaluators.layers.groundedness.rules.qualities import SUPERLATIVES, side_of

_ARTICLE = r"(?:the\s+|a\s+|an\s+|our\s+|your\s+)?$"

ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.?)|~|≈)\s*"
    r"(?:[\d.,]+\s+(?:[a-z]+\s+){1,2}and\s+)?$",
    re.IGNORECASE,
)
"""What stands before a number that is told roughly, also as the second: "roughly 3,900 and 860"."""

OVER = re.compile(
    r"\b(?:over|above|more than|greater than|at least|exceed(?:s|ed|ing)?|higher than|no less than)\s+"
    + _ARTICLE,
    re.IGNORECASE,
)

UNDER = re.compile(
    r"\b(?:under|below|less than|fewer than|at most|lower than"
    r"|(?<!add )(?<!adds )(?<!added )(?<!sum )(?<!sums )up to|no more than|within)\s+" + _ARTICLE,
    re.IGNORECASE,
)

EXISTS = re.compile(
    r"\b(?:there (?:are|were|is)|found|returned|contains?|lists?|listed)\s+(?:a total of\s+)?$",
    re.IGNORECASE,
)
"""What stands before a number that says how many there are."""

_BOUNDING = plain_set(
    "over above more greater least exceed exceeds exceeded exceeding higher less under below fewer most lower"
    " up within"
)
_ENDS = frozenset(("min", "max"))
_ROUGH = plain_set("about around roughly approximately approx nearly almost some circa ca")


@dataclass(slots=True)
class Asked:
    """A stated quantity with all that is asked about it.

    Attributes:
        words: what names it.
        before: what stands before it.
        over, under: whether that says it is a bound.
        coarse: whether it is told roughly, or as a bound.
        search: how it may be derived, once that has been asked.
    """

    stated: Stated
    quantity: Quantity
    binding: Binding
    words: frozenset[str]
    before: str
    over: bool = False
    under: bool = False
    coarse: bool = False
    search: Search | None = field(default=None, init=False, compare=False)

    def claim(self, verdict: Verdict, reason: str, evidence: ClaimEvidence | None = None) -> Claim:
        """The claim on this quantity."""
        quantity = self.quantity
        return claim(
            self.binding,
            quantity.start,
            quantity.end,
            kind_of(quantity, self.stated),
            verdict,
            reason,
            evidence,
        )


def asked_of(stated: Stated, quantity: Quantity, before: str, binding: Binding) -> Asked:
    """What is asked about a stated quantity."""
    said = binding.answer.said
    bounding = not _BOUNDING.isdisjoint(said)
    over = bounding and OVER.search(before) is not None
    under = bounding and UNDER.search(before) is not None
    rough = not _ROUGH.isdisjoint(said) or "~" in before or "≈" in before
    coarse = over or under or (rough and ABOUT.search(before) is not None)
    words = binding.words_at(stated)
    words |= _ends_named(words, binding)
    return Asked(stated, quantity, binding, words, before, over, under, coarse)


def _ends_named(words: frozenset[str], binding: Binding) -> frozenset[str]:
    """What an adjective calls the ends of what a key measures: "fastest" of `min_lap_s` is the minimum."""
    said = words & SUPERLATIVES
    sides = {
        side_of(word, fact)
        for word in said
        for fact in binding.numbers
        if not fact.weak and not _ENDS.isdisjoint(fact.key)
    } - {0}
    return frozenset("max" if side > 0 else "min" for side in sides) if len(sides) == 1 else frozenset()


def kind_of(quantity: Quantity, stated: Stated) -> ClaimKind:
    """What sort of claim a quantity makes."""
    if quantity.dimension is Dimension.MONEY:
        return ClaimKind.CURRENCY
    if quantity.dimension is Dimension.FRACTION:
        return ClaimKind.PERCENT
    if quantity.unit is not None:
        return ClaimKind.QUANTITY
    return (
        ClaimKind.COUNT
        if quantity.value.is_integer() and stated.noun and not quantity.decimals
        else ClaimKind.NUMBER
    )


def same_value(asked: Asked, given: Quantity) -> bool:
    """Whether a quantity the task gives is this one."""
    mine = asked.quantity
    same_unit = mine.unit is None or given.unit is None or mine.dimension is given.dimension
    return same_unit and (fits(mine, given.value) or fits(mine, -given.value))


def subjects(asked: Asked) -> list[Fact]:
    """The facts the words are about: the best named, or the only one there is."""
    usable = [fact for fact in asked.binding.numbers if comparable(asked.quantity, fact)]
    return best_named(usable, asked.words) or (usable if len(usable) == 1 else [])


def subject_of(asked: Asked) -> Fact | None:
    """The one fact the words are about, None where that is open."""
    named = subjects(asked)
    return named[0] if len(named) == 1 and not named[0].weak else None


def in_unit(quantity: Quantity, fact: Fact) -> float:
    """The fact's value in the unit of the quantity."""
    assert fact.number is not None
    if fact.scale != 1.0 and (quantity.scaled or abs(quantity.value) >= fact.scale):
        return fact.number * fact.scale
    if quantity.unit and fact.unit and quantity.unit.dimension is fact.unit.dimension:
        return fact.number * fact.unit.factor / quantity.unit.factor
    if quantity.dimension is Dimension.FRACTION and quantity.unit and _is_a_share(fact):
        return fact.number / quantity.unit.factor
    return fact.number


def _is_a_share(fact: Fact) -> bool:
    """Whether the fact is a share of one: its key says so, or nothing is known of it but that it is below."""
    size = abs(fact.number or 0.0)
    return size <= 1 if fact.fraction else fact.unit is None and not fact.counted and 0 < size < 1
