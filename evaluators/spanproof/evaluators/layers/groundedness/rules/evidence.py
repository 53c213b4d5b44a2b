"""What a contradiction rests on: whether a number that no output gives surely misstates one.

In: an `Asked` that nothing bears out. Out: what it misstates and why that is sure, or None. A number nobody
gives may be wrong, or may be reckoned in a way no rule knows, or bound to another value than we would guess:
so that nobody is paged for a guess, one of these must speak against it.

- *a slip*: it is one slip away from a value, or from what the words ask to be reckoned: another digit, the
  digits in another order, a power of ten, the sign, the unit; with too few values for that to be chance;
- *a name*: the words name one value beyond doubt, its row too where there are several, and ask for nothing
  that is reckoned;
- *a closed sum*: the words say of which values it is reckoned, and those come to something else;
- *nothing to reckon it of*: the outputs hold no two values of its kind, and the one there is is another.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, content_words, words_of
from spanproof.evaluators.layers.groundedness.model import ClaimEvidence
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import is_later
from spanproof.evaluators.layers.groundedness.rules.asked import Asked, in_unit
from spanproof.evaluators.layers.groundedness.rules.binding import evidence_of
from spanproof.evaluators.layers.groundedness.rules.closed import closed_result
from spanproof.evaluators.layers.groundedness.rules.derive.cues import MULTIPLYING, RECKONING_CUES
from spanproof.evaluators.layers.groundedness.rules.deriving import asked_results, is_whole
from spanproof.evaluators.layers.groundedness.rules.matching import binds, comparable, fits, number_text
from spanproof.evaluators.layers.groundedness.rules.naming import best_named, coverage
from spanproof.evaluators.layers.groundedness.rules.nearest import nearest_to
from spanproof.evaluators.layers.groundedness.rules.slips import (
    OTHER_SIGN,
    POWER_OF_TEN,
    another_unit,
    as_told,
    coincides,
    is_as_long,
    slip,
)
from spanproof.evaluators.layers.groundedness.rules.told_periods import is_for_another

_PLAIN = canonical_set("value amount number result name data output item index type id")
"""Words of keys that name nothing by themselves."""
_RECKONED_OF_ALL = canonical_set("total mean median difference together combined altogether overall")
"""Words that say plainly how a number is reckoned."""
_COUNTERS = canonical_set("times time occurrences more")
_BY = re.compile(
    r"\bby\s+(?:about\s+|around\s+|roughly\s+|some\s+|nearly\s+|almost\s+|only\s+|just\s+)?$", re.I
)
"""How far something went: "cuts it by 12 %" is no value of it."""
_MOST_TURNS = 50
_FEW_VALUES = 3
_FEW_RESULTS = 2
"""Results of what the words ask to be reckoned that leave no choice."""


@dataclass(frozen=True, slots=True)
class Misstated:
    """What a number misstates."""

    reason: str
    evidence: ClaimEvidence | None = None


def misstated(asked: Asked) -> Misstated | None:
    """What the number surely misstates, None where that is open."""
    return (
        _slip_of_a_fact(asked)
        or _slip_of_a_result(asked)
        or _of_a_name(asked)
        or _of_a_closed_sum(asked)
        or _of_nothing(asked)
    )


def _slip_of_a_fact(asked: Asked) -> Misstated | None:
    pool = [fact for fact in asked.binding.numbers if fact.number and not _has_a_suffix(fact)]
    touched = {
        id(fact) for fact in pool if not asked.words.isdisjoint(fact.clause if fact.weak else fact.words)
    }
    alike = Counter(fact.dimension for fact in pool)
    for fact in sorted(pool, key=lambda each: id(each) not in touched):
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
        how = another_unit(quantity, fact, coarse=asked.coarse)
        if how:
            return how
    if not comparable(quantity, fact) or not _measures_alike(asked, fact):
        return ""
    how = slip(quantity, in_unit(quantity, fact))
    if how == POWER_OF_TEN and _may_be_the_units(asked, fact):
        return ""
    if how == OTHER_SIGN and quantity.dimension is Dimension.MONEY:
        return ""  # a ledger's sign says which way money went; people say it with a verb, or not at all
    others = {fact.dimension, quantity.dimension, None}
    by_chance = coincides(quantity, sum(values[each] for each in others)) and (
        asks_to_reckon(asked, fact) or not touched
    )
    return "" if by_chance else how


def _has_a_suffix(fact: Fact) -> bool:
    """Whether the value is written with letters that are no unit we know: `1730m` of a processor."""
    return bool(fact.string and fact.unit is None and fact.string[-1:].isalpha())


def _slip_of_a_result(asked: Asked) -> Misstated | None:
    results = {value: quantity for value, quantity in asked_results(asked) if value}
    alike = {value: each for value, each in results.items() if is_as_long(each, value)}
    lasting = asked.quantity.dimension is Dimension.TIME and "duration" in asked.words
    if 0 < len(results) <= _FEW_RESULTS and (lasting or not asked.words.isdisjoint(_RECKONED_OF_ALL)):
        told = " or ".join(number_text(value) for value in results)
        return Misstated(f"no output gives {asked.quantity.text}; what the words ask for comes to {told}")
    if coincides(asked.quantity, len(alike)):
        return None
    if asked.coarse and any(
        abs(abs(value) - abs(each.value)) < abs(value) / 50 for value, each in results.items()
    ):
        return None  # "about £210.50" of what is 210.525
    for value, quantity in results.items():
        quantity = as_told(quantity, coarse=asked.coarse)
        how = slip(quantity, abs(value) if quantity.value > 0 else -abs(value))
        if how:
            told = f"what the words ask for comes to {number_text(value)}"
            return Misstated(f"no output gives {asked.quantity.text}; {told}: it is that with {how}")
    return None


def _may_be_the_units(asked: Asked, fact: Fact) -> bool:
    """Whether a thousand may lie in a unit that only one side writes: "1.73 cores" of `1730m`."""
    quantity, unit = asked.quantity, fact.unit
    if quantity.unit is not None or unit is None or fact.dimension is Dimension.MONEY or not fact.number:
        return False
    return any(fits(quantity, fact.number * factor) for factor in (1e-6, 1e-3, 1e3, 1e6))


def _of_a_name(asked: Asked) -> Misstated | None:
    fact = named_surely(asked)
    if fact is None or asks_to_reckon(asked, fact) or _may_be_the_units(asked, fact):
        return None
    reason = f"no output gives {asked.quantity.text}; the words name `{fact.text}`"
    return Misstated(reason, evidence_of(fact))


def _of_a_closed_sum(asked: Asked) -> Misstated | None:
    closed = closed_result(asked)
    if closed is None:
        return None
    text, facts = closed
    evidence = ClaimEvidence(facts[0].output, "; ".join(fact.text for fact in facts[:4]), text)
    return Misstated(f"no output gives {asked.quantity.text}; {text}", evidence)


def _of_nothing(asked: Asked) -> Misstated | None:
    """A number that the outputs hold no two values to reckon it of: the one there is says otherwise."""
    quantity, numbers = asked.quantity, asked.binding.numbers
    if quantity.spelled:
        return None
    if quantity.dimension in (None, Dimension.FRACTION, Dimension.TIME):
        alike = numbers  # a share, a span, or a number without a unit may be reckoned of anything
    else:
        alike = [fact for fact in numbers if _is_alike(asked, fact)]
    if quantity.dimension is Dimension.TIME and any(
        fact.day is not None or fact.clock is not None for fact in asked.binding.facts.facts
    ):
        return None
    if len({fact.number for fact in alike}) > 1 or (alike and not asked.words.isdisjoint(MULTIPLYING)):
        return None
    nearest = nearest_to(asked)
    if nearest is None:
        return Misstated(f"no output gives {quantity.text}, nor two values that it could be reckoned of")
    fact, reading = nearest
    told = f" ({reading})" if reading else ""
    reason = f"no output gives {quantity.text}; `{fact.text}`{told} is what they say"
    return Misstated(reason, evidence_of(fact))


def _is_alike(asked: Asked, fact: Fact) -> bool:
    """Whether the quantity may be reckoned of this: of its measure, or of a bare number that is named."""
    wanted = asked.quantity.dimension
    if fact.dimension is not None:
        return fact.dimension is wanted
    named = not asked.words.isdisjoint(fact.clause if fact.weak else fact.words) or not fact.words
    return comparable(asked.quantity, fact) and (named or wanted is Dimension.MONEY)


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
    return comparable(asked.quantity, fact) and _measures_alike(asked, fact)


def _measures_alike(asked: Asked, fact: Fact) -> bool:
    """A measure says little of a number whose unit nobody knows, unless its name stands there in full."""
    wanted = asked.quantity.dimension
    if wanted in (None, Dimension.MONEY) or fact.dimension is wanted:
        return True
    if wanted is Dimension.FRACTION and not (abs(fact.number or 0.0) <= 1 or _is_a_percentage(fact)):
        return False
    if fact.dimension is not None or fact.counted or coverage(fact, asked.words) < 1.0:
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


def asks_to_reckon(asked: Asked, fact: Fact) -> bool:
    """Whether the clause asks for something reckoned, beside what is the fact's own name."""
    if _BY.search(asked.before) and (
        fact.dimension is None or fact.dimension is not asked.quantity.dimension
    ):
        return True
    of_a_whole = is_whole(asked)  # "of the two million rows": what they come to, named or not
    return of_a_whole or not (asked.words - fact.words).isdisjoint(RECKONING_CUES)
