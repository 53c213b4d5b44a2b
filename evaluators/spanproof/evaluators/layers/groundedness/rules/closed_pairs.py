"""The two values that the words leave no doubt are set against each other.

In: an `Asked`. Out: the pair, None where it is open which two are meant: "from A to B" and "A … than B", two
values that the sentence names in full or tells, the only two of what the number measures, two values in all.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, content_words
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import before_after, is_later
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.deriving import given_pair, told_beside
from spanproof.evaluators.layers.groundedness.rules.matching import binds
from spanproof.evaluators.layers.groundedness.rules.naming import best_named, coverage

_TO = re.compile(r"\bto\s+(?:only\s+|just\s+)?$", re.IGNORECASE)
LEFT = canonical_set("free left remaining available unused spare")
"""Words that ask how far a part is from its whole."""


def pair_meant(asked: Asked, sentence: frozenset[str]) -> tuple[Fact, Fact] | None:
    """The pair, the earlier or the first told first."""
    given = given_pair(asked)
    if given is not None:
        return given
    numbers = [fact for fact in asked.binding.numbers if not fact.weak]
    left = _left_of(asked, numbers)
    if left is not None:
        return left
    beside = told_beside(asked)
    if len(beside) == 2 and not _tells_others(asked):
        return beside[0], beside[1]
    if len(beside) == 1 and (part := _named_beside(asked, beside[0])) is not None:
        return part, beside[0]
    alike = [fact for fact in numbers if fact.dimension is asked.quantity.dimension]
    measured = asked.quantity.dimension not in (None, Dimension.FRACTION)
    is_left = not asked.stated.words.isdisjoint(LEFT) and alike and alike[0].unit == alike[-1].unit
    if measured and len(alike) == 2 and (alike[0].key == alike[1].key or is_left):
        return alike[0], alike[1]  # "$300 more expensive" of the only two prices
    overtaken = _overtaken(asked)
    if overtaken is not None:
        return overtaken
    over_time = best_named(numbers, asked.words)
    if len(over_time) != 2:
        over_time = best_named(numbers, sentence)
    if len(over_time) == 2 and before_after(*over_time) is not None:
        earlier, later = over_time if (before_after(*over_time) or 0) > 0 else over_time[::-1]
        return earlier, later
    if len(asked.binding.numbers) > 2:
        alone = [
            fact for fact in numbers if fact.records < 0 or asked.binding.facts.records[fact.records].rows < 0
        ]
        numbers = [fact for fact in alone if coverage(fact, sentence) == 1.0]
    if len(numbers) != 2 or numbers[0].dimension is not numbers[1].dimension:
        return None
    return numbers[0], numbers[1]


def _left_of(asked: Asked, numbers: list[Fact]) -> tuple[Fact, Fact] | None:
    """The only two values of the noun that is left: `loaves_baked` and `loaves_sold`."""
    if asked.stated.words.isdisjoint(LEFT) or asked.quantity.unit is not None:
        return None
    nouns = set(content_words(asked.stated.noun[:1]))
    records = asked.binding.facts.records
    alone = [fact for fact in numbers if fact.records < 0 or records[fact.records].rows < 0]
    kin = [fact for fact in alone if len(fact.key) > 1 and not nouns.isdisjoint(fact.key)]
    return (kin[0], kin[1]) if len(kin) == 2 else None


def _named_beside(asked: Asked, told: Fact) -> Fact | None:
    """The one like value that the clause names beside the one that is told: "7 TiB, 75 % of it used"."""
    kin = [
        fact
        for fact in asked.binding.numbers
        if fact is not told
        and not fact.weak
        and fact.unit is not None
        and fact.unit == told.unit
        and (fact.output, fact.records, fact.scope) == (told.output, told.records, told.scope)
        and coverage(fact, asked.stated.words) == 1.0
    ]
    return kin[0] if len(kin) == 1 else None


def is_told_as_a_share(asked: Asked, fact: Fact) -> bool:
    """Whether the sentence tells the value as a percentage itself: of that one no other is reckoned."""
    return any(
        isinstance(other.what, Quantity)
        and other.what.dimension is Dimension.FRACTION
        and other.sentence == asked.stated.sentence
        and binds(other.what, fact) is not None
        for other in asked.binding.answer.stated
        if other is not asked.stated
    )


def _tells_others(asked: Asked) -> bool:
    """Whether the sentence tells a number that no output gives: of that one it may be reckoned."""
    return any(
        isinstance(other.what, Quantity)
        and other is not asked.stated
        and other.sentence == asked.stated.sentence
        and not any(binds(other.what, fact) is not None for fact in asked.binding.numbers)
        for other in asked.binding.answer.stated
    )


def _overtaken(asked: Asked) -> tuple[Fact, Fact] | None:
    """The value that the sentence says it went to, and the one of the output before: "fell by 5 to 29"."""
    for other in asked.binding.answer.stated:
        what, text = other.what, asked.binding.answer.text
        if (
            other.sentence != asked.stated.sentence
            or not isinstance(what, Quantity)
            or what.start < asked.quantity.end
        ):
            continue
        reached = [fact for fact in asked.binding.numbers if not fact.weak and binds(what, fact) is not None]
        if len(reached) != 1 or _TO.search(text[max(0, what.start - 12) : what.start]) is None:
            continue
        before = [each for each in asked.binding.by_label[reached[0].label] if is_later(reached[0], each)]
        if len(before) == 1:
            return before[0], reached[0]
    return None
