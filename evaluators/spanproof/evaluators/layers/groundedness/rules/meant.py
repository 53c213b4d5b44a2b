"""Which value is meant: whether the words name one beyond doubt, and nothing else than its own value.

In: an `Asked`. Out: the one fact that is named; whether a fact is named in full, whether the quantity
measures what it does, and whether the words ask for something reckoned instead.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.units import BY_NAME, Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, content_words, words_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import is_later
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.derive.cues import RECKONING_CUES, SERVED
from spanproof.evaluators.layers.groundedness.rules.deriving import is_whole
from spanproof.evaluators.layers.groundedness.rules.matching import binds, comparable
from spanproof.evaluators.layers.groundedness.rules.naming import best_named, coverage, noun_told

_PLAIN = canonical_set("value amount number result name data output item index type id")
"""Words of keys that name nothing by themselves."""
_COUNTERS = canonical_set("times time occurrences more")
_BY = re.compile(
    r"\bby\s+(?:about\s+|around\s+|roughly\s+|some\s+|nearly\s+|almost\s+|only\s+|just\s+)?$", re.I
)
"""How far something went: "cuts it by 12 %" is no value of it."""
_PLAINLY = re.compile(r"\b(?:with|at)\s+(?:only\s+|just\s+)?$", re.IGNORECASE)
_STANDING = canonical_set("lead leads trails ahead behind beat beats won")
"""Words of where something stands, which ask for a distance unless the value itself follows: "leads with"."""
_MOST_TURNS = 50
_FEW_NUMBERS = 30
_ELSEWHERE = re.compile(
    r"\b(?:would|could|might|should\s+not|usually|typical(?:ly)?|normal(?:ly)?|generally|previous(?:ly)?|former|next|new"
    r"|another|future|last\s+(?!one\b|few\b|of\b)[a-z]+|return|a\s+first[- ]class)\b|^\s*The\s+limit\b",
    re.IGNORECASE,
)
"""Words that speak of another time, another thing, or of what is not: their number is of no value printed."""
_ANY = re.compile(
    r"\s*(?:An?|Most|Many)\s+(?:[a-z-]+\s+)?([a-z-]+)(?:\s+of\s+\w+)?\s+"
    r"(?:is|are|has|have|holds?|uses?|needs?|costs?|takes?)\b"
)
"""How a sentence begins that speaks of things in general: "A household of two uses 2,500 kWh"."""
_WINDOW = re.compile(r"\b(?:over|within|after|every|past)\s+$", re.IGNORECASE)
"""What stands before a time that only says how long something else goes on."""
_OVER_SO_MANY = re.compile(
    r"[\w.]+[- ](?:hour|day|night|week|month|quarter|year|run|game|match|round)[- ]"
    r"(?:\w+\s+)?(?:average|mean|median|total|sum|high|low|maximum|minimum|range)\b",
    re.IGNORECASE,
)
_UP_TO = re.compile(r"(?<!add )(?<!adds )(?<!added )\bup to\s+$", re.IGNORECASE)
_PART_OF = re.compile(
    r"\s+(?:of|out of)\s+(?:the|these|those|them|all|our|your|its|their|which)\b(?!\s+\d)", re.IGNORECASE
)
_ADDED = re.compile(r"\b(?:with|plus|including|incl\.?)\s+(?:the\s+)?([a-z]+)\b(?=\s*,)", re.IGNORECASE)
_THINGS = re.compile(
    r"\s+(?!(?:costs?|is|was|has|takes|makes|gives|leaves|runs|totals)\b)[a-z][\w-]*", re.IGNORECASE
)
_LABELLED = re.compile(r"\b(?:[A-Z][\w-]*|in|on|at|by)\s+$")
"""What stands before a number that is a name or a place: "EC 59", "ending in 4471"."""
_OF_THESE = re.compile(r"\b(?:of|among)\s+(?:these|those|them|which|whom)\b[^.;]*$", re.IGNORECASE)


def speaks_of_another(asked: Asked) -> bool:
    """Whether the clause speaks of another time or thing than the outputs: "in the last poll", "would be".

    A word that the outputs or the task use too says nothing of the kind.
    """
    binding, sentence = asked.binding, asked.binding.answer.sentences[asked.stated.sentence]
    if _UP_TO.search(asked.before):
        return True
    found = [
        each.group()
        for each in _ELSEWHERE.finditer(binding.answer.text, *sentence.clause_at(asked.quantity.start))
    ]
    generic = _ANY.match(binding.answer.text, sentence.start)
    if generic is not None and not binding.is_spoken_of(generic[1].lower()):
        return True
    return any(not binding.is_spoken_of(each.split()[0].lower()) for each in found)


def is_a_part(asked: Asked, fact: Fact) -> bool:
    """Whether the number is told of a part of what the fact counts: "of these, 24 were new"."""
    if asked.quantity.unit is not None or asked.quantity.value >= abs(fact.number or 0.0):
        return False
    behind = _PART_OF.match(asked.binding.answer.text, asked.quantity.end)
    return behind is not None or _OF_THESE.search(asked.before) is not None


def is_below_a_total(asked: Asked, fact: Fact) -> bool:
    """Whether a part may be told of what the key calls a total, and the words do not: "13,320 are done"."""
    below = asked.quantity.value < abs(fact.number or 0.0)
    return below and "total" in fact.key and "total" not in asked.words


def is_a_window(asked: Asked) -> bool:
    """Whether a time only says how long something else goes on: "1.35 over 15 minutes"."""
    return asked.quantity.dimension is Dimension.TIME and _WINDOW.search(asked.before) is not None


def counts_what_is_averaged(asked: Asked) -> bool:
    """Whether the number only says over how many a result goes: "the four-day average"."""
    return _OVER_SO_MANY.match(asked.binding.answer.text, asked.quantity.start) is not None


def named_surely(asked: Asked) -> Fact | None:
    """The one value that the words name beyond doubt."""
    usable = [fact for fact in asked.binding.numbers if _may_be(asked, fact)]
    strong = [fact for fact in usable if not fact.weak]
    named = _in_its_unit(asked, best_named(strong, asked.words))
    if not named:
        return _told_surely(asked, usable)
    if len(asked.binding.facts.texts) > 1 and len(named) <= _MOST_TURNS:
        named = [fact for fact in named if not any(is_later(other, fact) for other in named)]
    if len({fact.number for fact in named}) > 1:
        return None
    fact = named[0]
    telling = set(fact.key) - _PLAIN
    if (
        telling
        and 2 * len(telling & asked.words) < len(telling)
        and not _is_named_by_its_unit(asked, fact)
        and _has_others_in_its_row(fact, usable)
    ):
        return None
    if (
        fact.records < 0
        and telling.isdisjoint(asked.words)
        and _has_others_in_its_row(fact, asked.binding.numbers)
    ):
        return None
    if not telling and asked.words.isdisjoint(fact.scope):
        return None
    nouns = set(content_words(asked.stated.noun[:2])) - _COUNTERS
    counted = fact.key if asked.quantity.spelled else fact.words
    if nouns and asked.quantity.unit is None and nouns.isdisjoint(counted):
        return None
    return fact if _row_is_named(asked, fact) else None


def _in_its_unit(asked: Asked, named: list[Fact]) -> list[Fact]:
    """Of values named alike those in the very unit of the quantity, where some are: of `km` and `climb_m`."""
    own = [fact for fact in named if fact.unit is not None and fact.unit == asked.quantity.unit]
    return own or named


def _is_named_by_its_unit(asked: Asked, fact: Fact) -> bool:
    """Whether the key is nothing but the unit that the quantity is told in: `km`, `hours`."""
    return (
        fact.unit is not None and fact.unit == asked.quantity.unit and BY_NAME.get(fact.key[0]) == fact.unit
    )


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


def told_count(asked: Asked) -> Fact | None:
    """The one number that prose tells of what is counted, where more are told, and none is a product."""
    quantity, noun = asked.quantity, asked.stated.noun[:1]
    if quantity.unit is not None or not quantity.value.is_integer() or not content_words(noun):
        return None
    told = [fact for fact in asked.binding.numbers if noun_told(fact)[:1] == noun and fact.unit is None]
    values = {fact.number or 0.0 for fact in asked.binding.numbers}
    if len({fact.number for fact in told}) != 1 or quantity.value <= (told[0].number or 0.0):
        return None
    if len(values) > _FEW_NUMBERS:
        return None
    # "4 rooms with 2 beds each": what is counted may be multiplied; other things do not add up to it.
    is_product = any(quantity.value == one * other for one in values for other in values)
    return None if is_product else told[0]


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
    if coverage(fact, asked.words) < 1.0 and not (
        wanted is Dimension.FRACTION and (in_a_row or _is_only_share(asked, fact))
    ):
        return False
    return wanted is Dimension.FRACTION or all(each.dimension is not wanted for each in asked.binding.numbers)


def _is_only_share(asked: Asked, fact: Fact) -> bool:
    """Whether no other value of the outputs can be a share."""
    return 0 < abs(fact.number or 0.0) < 1 and all(
        other is fact or not (other.dimension is Dimension.FRACTION or 0 < abs(other.number or 0.0) < 1)
        for other in asked.binding.numbers
    )


def _is_a_percentage(fact: Fact) -> bool:
    """Whether a number without a unit may be one: "churn: 3.1"."""
    return abs(fact.number or 0.0) <= 100 and not (fact.number or 0.0).is_integer()


def _row_is_named(asked: Asked, fact: Fact, words: AbstractSet[str] | None = None) -> bool:
    words = asked.words if words is None else words
    if fact.records < 0:
        return True
    column = [
        other
        for other in asked.binding.numbers
        if other.records == fact.records and other.key == fact.key and other is not fact
    ]
    return not column or any(not (fact.scope - other.scope).isdisjoint(words) for other in column)


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
    own = asked.stated.words
    told = (
        own if coverage(fact, own) == 1.0 and _row_is_named(asked, fact, own) else asked.words
    ) - fact.words
    if _PLAINLY.search(asked.before):
        told -= _STANDING  # "leads with 37 kills": the value, and no lead
    if any(
        not SERVED.isdisjoint(base.key) and base.records == fact.records and base is not fact
        for base in asked.binding.numbers
        if any(given.unit is None and given.value != base.number for given in asked.binding.task_quantities)
    ):
        return True  # a recipe, scaled
    cues = told & RECKONING_CUES
    if cues:
        cues -= asked.binding.label_words | _told_by_others(asked)
    return of_a_whole or bool(cues) or is_multiplied(asked) or _is_added(asked, fact)


def _told_by_others(asked: Asked) -> frozenset[str]:
    """The names of values that other numbers of the clause tell: "over 57 laps the mean was 83.9"."""
    return frozenset(
        word
        for other in asked.binding.answer.stated
        if other is not asked.stated
        and other.sentence == asked.stated.sentence
        and isinstance(other.what, Quantity)
        for fact in asked.binding.numbers
        if not fact.weak and coverage(fact, other.words) == 1.0 and binds(other.what, fact) is not None
        for word in fact.key
    )


def _is_added(asked: Asked, fact: Fact) -> bool:
    """Whether the fact is named as what comes on top: "with shipping, it comes to $64.98"."""
    sentence = asked.binding.answer.sentences[asked.stated.sentence]
    return any(not set(words_of(found[1])).isdisjoint(fact.key) for found in _ADDED.finditer(sentence.text))


def is_multiplied(asked: Asked) -> bool:
    """Whether the sentence counts out what an amount is for: "14 seats at $12 each, $168 a month"."""
    if asked.quantity.dimension is not Dimension.MONEY:
        return False
    text = asked.binding.answer.text
    return any(
        isinstance(other.what, Quantity)
        and other.what.unit is None
        and 1 < other.what.value == int(other.what.value)
        and _THINGS.match(text, other.what.end) is not None
        and _LABELLED.search(text[max(0, other.what.start - 12) : other.what.start]) is None
        for other in asked.binding.answer.stated
        if other.sentence == asked.stated.sentence and other is not asked.stated
    )
