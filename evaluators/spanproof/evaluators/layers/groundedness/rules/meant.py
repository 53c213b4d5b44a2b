"""Which value is meant: whether the words name one beyond doubt, and nothing else than its own value.

In: an `Asked`. Out: the one fact that is named; whether a fact is named in full, whether the quantity
measures what it does, and whether the words ask for something reckoned instead.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, content_words, words_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import is_later
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.derive.cues import RECKONING_CUES
from spanproof.evaluators.layers.groundedness.rules.deriving import is_whole
from spanproof.evaluators.layers.groundedness.rules.matching import comparable
from spanproof.evaluators.layers.groundedness.rules.naming import best_named, coverage

_PLAIN = canonical_set("value amount number result name data output item index type id")
"""Words of keys that name nothing by themselves."""
_COUNTERS = canonical_set("times time occurrences more")
_BY = re.compile(
    r"\bby\s+(?:about\s+|around\s+|roughly\s+|some\s+|nearly\s+|almost\s+|only\s+|just\s+)?$", re.I
)
"""How far something went: "cuts it by 12 %" is no value of it."""
_MOST_TURNS = 50


def named_surely(asked: Asked) -> Fact | None:
    """The one value that the words name beyond doubt."""
    usable = [fact for fact in asked.binding.numbers if _may_be(asked, fact)]
    strong = [fact for fact in usable if not fact.weak]
    named = best_named(strong, asked.words)
    if not named:
        return _told_surely(asked, usable)
    if len(asked.binding.facts.texts) > 1 and len(named) <= _MOST_TURNS:
        named = [fact for fact in named if not any(is_later(other, fact) for other in named)]
    if len({fact.number for fact in named}) > 1:
        return None
    fact = named[0]
    telling = set(fact.key) - _PLAIN
    if telling and 2 * len(telling & asked.words) < len(telling) and _has_others_in_its_row(fact, usable):
        return None
    if not telling and asked.words.isdisjoint(fact.scope):
        return None
    nouns = set(content_words(asked.stated.noun[:2])) - _COUNTERS
    counted = fact.key if asked.quantity.spelled else fact.words
    if nouns and asked.quantity.unit is None and nouns.isdisjoint(counted):
        return None
    return fact if _row_is_named(asked, fact) else None


def _told_surely(asked: Asked, usable: list[Fact]) -> Fact | None:
    """The one value that prose tells in the same unit, or of the same noun, in words the answer shares."""
    told = [fact for fact in usable if fact.weak and fact.dimension is asked.quantity.dimension]
    if asked.quantity.dimension is None:
        nouns = set(content_words(asked.stated.noun[:2]))
        told = [fact for fact in told if not nouns.isdisjoint(fact.key)]
    sentence = asked.binding.answer.sentences[asked.stated.sentence]
    said = frozenset(content_words((*asked.words, *sentence.words))) - set(words_of(asked.quantity.text))
    named = [fact for fact in told if not said.isdisjoint(fact.clause)]
    return named[0] if len({fact.number for fact in named}) == 1 else None


def _has_others_in_its_row(fact: Fact, usable: list[Fact]) -> bool:
    return any(
        other is not fact and other.scope == fact.scope and other.output == fact.output for other in usable
    )


def _may_be(asked: Asked, fact: Fact) -> bool:
    """Whether the quantity may be a telling of the fact at all: things are counted in whole numbers."""
    counts = asked.quantity.unit is None and asked.quantity.value.is_integer() and bool(asked.stated.noun)
    if counts and (fact.money or not (fact.number or 0.0).is_integer()) and not asked.quantity.scaled:
        return False
    return comparable(asked.quantity, fact) and measures_alike(asked, fact)


def measures_alike(asked: Asked, fact: Fact) -> bool:
    """A measure says little of a number whose unit nobody knows, unless its name stands there in full."""
    wanted = asked.quantity.dimension
    if wanted in (None, Dimension.MONEY) or fact.dimension is wanted:
        return True
    if wanted is Dimension.FRACTION and not (abs(fact.number or 0.0) <= 1 or _is_a_percentage(fact)):
        return False
    if fact.dimension is not None or fact.counted:
        return False
    in_a_row = fact.records >= 0 and not fact.scope.isdisjoint(asked.words)
    if coverage(fact, asked.words) < 1.0 and not (in_a_row and wanted is Dimension.FRACTION):
        return False
    return wanted is Dimension.FRACTION or all(each.dimension is not wanted for each in asked.binding.numbers)


def _is_a_percentage(fact: Fact) -> bool:
    """Whether a number without a unit may be one: "churn: 3.1"."""
    return abs(fact.number or 0.0) <= 100 and not (fact.number or 0.0).is_integer()


def _row_is_named(asked: Asked, fact: Fact) -> bool:
    if fact.records < 0:
        return True
    column = [
        other
        for other in asked.binding.numbers
        if other.records == fact.records and other.key == fact.key and other is not fact
    ]
    return not column or any(not (fact.scope - other.scope).isdisjoint(asked.words) for other in column)


def is_named_in_full(asked: Asked, fact: Fact) -> bool:
    """Whether the row, the key and the unit are all the fact's own: "on Tuesday 4.6 mm of rain"."""
    unit = asked.quantity.unit
    alike = unit is not None and fact.unit is not None and unit.dimension is fact.unit.dimension
    return alike and coverage(fact, asked.words) == 1.0 and _row_is_named(asked, fact)


def asks_to_reckon(asked: Asked, fact: Fact) -> bool:
    """Whether the clause asks for something reckoned, beside what is the fact's own name."""
    if _BY.search(asked.before) and (
        fact.dimension is None or fact.dimension is not asked.quantity.dimension
    ):
        return True
    of_a_whole = is_whole(asked)  # "of the two million rows": what they come to, named or not
    return of_a_whole or not (asked.words - fact.words).isdisjoint(RECKONING_CUES)
