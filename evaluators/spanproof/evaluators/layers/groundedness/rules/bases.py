"""The other values of a sentence, of which a number may be reckoned.

In: an `Asked`. Out: the quantities beside it, the facts that these tell, and the two ends of "from A to B" or
of a comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.comparisons import pair_compared
from spanproof.evaluators.layers.groundedness.rules.matching import binds

LEVEL = re.compile(r"\b(to|from)\s+$", re.IGNORECASE)


def others_of_the_sentence(asked: Asked) -> Iterator[Quantity]:
    """The other quantities of the sentence."""
    for other in asked.binding.answer.stated:
        if (
            other.sentence == asked.stated.sentence
            and other is not asked.stated
            and isinstance(other.what, Quantity)
        ):
            yield other.what


def told_by_others(asked: Asked) -> tuple[Fact, ...]:
    """Of a share, the facts that the other numbers of the sentence tell, where each can be only one."""
    if asked.quantity.dimension is not Dimension.FRACTION:
        return ()
    found: list[Fact] = []
    for other in others_of_the_sentence(asked):
        if other.dimension is Dimension.FRACTION:
            continue  # a share is told beside, and no value that one is reckoned of
        bound = [fact for fact in asked.binding.numbers if fact.number and binds(other, fact) is not None]
        found += bound if len({fact.number for fact in bound}) == 1 else []
    return tuple(found)


def two_ends(asked: Asked) -> tuple[tuple[Fact, ...], tuple[Fact, ...]] | None:
    """The facts behind "from A to B" around this quantity."""
    ends: dict[str, tuple[Fact, ...]] = {}
    start, end = asked.binding.answer.sentences[asked.stated.sentence].clause_at(asked.quantity.start)
    for other in asked.binding.answer.stated:
        if (
            not start <= other.what.start < end
            or other is asked.stated
            or not isinstance(other.what, Quantity)
        ):
            continue
        leading = asked.binding.answer.text[max(0, other.what.start - 12) : other.what.start].lower()
        found = LEVEL.search(leading)
        if found:
            facts = tuple(fact for fact in asked.binding.numbers if binds(other.what, fact) is not None)
            if facts:
                ends.setdefault(found[1], facts)
    if len(ends) == 2:
        return ends["from"], ends["to"]
    pair = pair_compared(asked.binding.answer.sentences[asked.stated.sentence], asked.binding)
    measured = asked.quantity.dimension not in (None, Dimension.FRACTION, Dimension.MONEY)
    if pair is not None and measured and pair[0].dimension is not asked.quantity.dimension:
        return None  # "2.2 days less than B" compares no parcels
    if pair is not None:
        pair = _of_the_told_column(asked, pair)
    return ((pair[0],), (pair[1],)) if pair is not None else None


def _of_the_told_column(asked: Asked, pair: tuple[Fact, Fact]) -> tuple[Fact, Fact]:
    """The pair in the column of the value told beside: "web uses 9 GiB, 12 less than billing"."""
    for other in others_of_the_sentence(asked):
        for fact in asked.binding.bound.get(other.start, ()):
            if fact.records != pair[0].records or fact.records < 0 or fact.key == pair[0].key:
                continue
            rows = {each.row for each in pair}
            column = [
                each
                for each in asked.binding.numbers
                if each.records == fact.records and each.key == fact.key and each.row in rows
            ]
            if len(column) == 2 and fact.row in rows:
                return column[0], column[1]
    return pair
