"""What a contradiction rests on: whether a number that no output gives surely misstates one.

In: an `Asked` that nothing bears out. Out: what it misstates and why that is sure, or None. A number nobody
gives may be wrong, or may be reckoned in a way no rule knows, or bound to another value than we would guess:
so that nobody is paged for a guess, one of these must speak against it.

- *a slip*: it is one slip away from a value, or from what the words ask to be reckoned: another digit, the
  digits in another order, a power of ten, the sign, the unit; with too few values for that to be chance,
  judged by the kind of slip, or of a value that is named or alone in its unit;
- *a name*: the words name one value beyond doubt, its row too where there are several, and ask for nothing
  that is reckoned;
- *a closed sum*: the words say of which values it is reckoned, and those come to something else;
- *nothing to reckon it of*: the outputs hold no two values of its kind, and the one there is is another;
  or more are told than the only list holds.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import (
    canonical_set,
    content_words,
    words_of,
)
from spanproof.evaluators.layers.groundedness.model import ClaimEvidence
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import EXISTS, Asked, in_unit
from spanproof.evaluators.layers.groundedness.rules.binding import evidence_of
from spanproof.evaluators.layers.groundedness.rules.closed import closed_result
from spanproof.evaluators.layers.groundedness.rules.derive.cues import MULTIPLYING
from spanproof.evaluators.layers.groundedness.rules.deriving import asked_results, natural_value
from spanproof.evaluators.layers.groundedness.rules.matching import binds, comparable, fits, number_text
from spanproof.evaluators.layers.groundedness.rules.meant import (
    asks_to_reckon,
    counts_what_is_averaged,
    is_a_part,
    is_a_window,
    is_named_in_full,
    measures_alike,
    named_surely,
    speaks_of_another,
    told_count,
)
from spanproof.evaluators.layers.groundedness.rules.nearest import nearest_to
from spanproof.evaluators.layers.groundedness.rules.slips import (
    ANOTHER_DIGIT,
    ANOTHER_UNIT,
    OTHER_ORDER,
    OTHER_SIGN,
    POWER_OF_TEN,
    another_unit,
    as_told,
    coincides,
    in_units_of,
    is_as_long,
    is_long,
    slip,
)
from spanproof.evaluators.layers.groundedness.rules.told_periods import is_for_another

_RECKONED_OF_ALL = canonical_set("total mean median difference ratio together combined altogether overall")
"""Words that say plainly how a number is reckoned."""
_SELDOM = 0.1
"""How likely a slip may be by chance where the words ask for something else than the value."""
_FEW_VALUES = 3
_STEM = 4
_TIMES = tuple(words_of("times"))
_UNMEASURED = frozenset((None, Dimension.MONEY, Dimension.FRACTION, Dimension.TIME))
_MADE_OF: dict[Dimension | None, frozenset[Dimension | str]] = {
    Dimension.SPEED: frozenset((Dimension.LENGTH,)),
    Dimension.ENERGY: frozenset((Dimension.POWER,)),
    Dimension.POWER: frozenset((Dimension.ENERGY,)),
    Dimension.AREA: frozenset((Dimension.LENGTH,)),
    Dimension.VOLUME: frozenset((Dimension.LENGTH,)),
    Dimension.FREQUENCY: frozenset((Dimension.TIME,)),
}
"""What values of one kind are reckoned of, beside their own: a speed of a length and a time."""
_THEY = re.compile(
    r"\s*(?:(?:all\s+)?together|combined|taken together|in total),?\s+"
    r"(?:they|these|those|both|the (?:two|three))\b"
    r"|\s*(?:they|both|these (?:two|three)|the (?:two|three)(?: of them)?)\s+(?:together|combined)\b",
    re.IGNORECASE,
)
_FEW_RESULTS = 2
"""Results of what the words ask to be reckoned that leave no choice."""


@dataclass(frozen=True, slots=True)
class Misstated:
    """What a number misstates."""

    reason: str
    evidence: ClaimEvidence | None = None


def misstated(asked: Asked) -> Misstated | None:
    """What the number surely misstates, None where that is open."""
    if speaks_of_another(asked) or counts_what_is_averaged(asked):
        return None
    return (
        _slip_of_a_fact(asked)
        or _slip_of_a_result(asked)
        or _in_another_unit(asked)
        or _slip_of_a_total(asked)
        or _of_a_name(asked)
        or _of_a_count(asked)
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
    if how == POWER_OF_TEN and _may_be_the_units(asked, fact):
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


def _is_foreign(asked: Asked) -> bool:
    """Whether the sentence speaks of nothing that the outputs or the task do, though these do use words."""
    said = content_words(asked.binding.answer.sentences[asked.stated.sentence].words)
    words = [word for word in said if word.isalpha() and len(word) >= _STEM - 1]
    keys = {fact.key for fact in asked.binding.numbers if not fact.weak and fact.key}
    return (
        bool(words)
        and len(keys) >= _FEW_VALUES
        and not any(asked.binding.is_spoken_of(word[:_STEM]) for word in words)
    )


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


def _has_a_suffix(fact: Fact) -> bool:
    """Whether the value is written with letters that are no unit we know: `1730m` of a processor."""
    return bool(fact.string and fact.unit is None and fact.string[-1:].isalpha())


def _slip_of_a_result(asked: Asked) -> Misstated | None:
    wanted = asked.quantity.dimension
    if _is_of_what_went_before(asked):
        return None
    measured = {fact.dimension for fact in asked.binding.numbers} - _UNMEASURED
    if measured and wanted not in _UNMEASURED and wanted not in measured:
        return None
    results = {value: quantity for value, quantity in asked_results(asked) if value}
    alike = {value: each for value, each in results.items() if is_as_long(each, value)}
    lasting = asked.quantity.dimension is Dimension.TIME and "duration" in asked.words
    if len({abs(value) for value in alike}) == 1 and "ratio" in asked.words:
        results = alike
    if 0 < len(results) <= _FEW_RESULTS and (lasting or not asked.words.isdisjoint(_RECKONED_OF_ALL)):
        told = " or ".join(number_text(value) for value in results)
        return Misstated(f"no output gives {asked.quantity.text}; what the words ask for comes to {told}")
    if asked.coarse and any(
        abs(abs(value) - abs(each.value)) < abs(value) / 50 for value, each in results.items()
    ):
        return None  # "about £210.50" of what is 210.525
    for value, quantity in results.items():
        quantity = as_told(quantity, coarse=asked.coarse)
        how = slip(quantity, abs(value) if quantity.value > 0 else -abs(value))
        chances = results if how == POWER_OF_TEN and wanted is Dimension.FRACTION else alike
        if how and not coincides(asked.quantity, len(chances), how):
            told = f"what the words ask for comes to {number_text(value)}"
            return Misstated(f"no output gives {asked.quantity.text}; {told}: it is that with {how}")
    return None


def _in_another_unit(asked: Asked) -> Misstated | None:
    """A number that is reckoned of the outputs, but in their unit: 957 tonnes of columns in kilograms."""
    quantity = asked.quantity
    if quantity.unit is None or quantity.dimension in _UNMEASURED or not is_long(quantity):
        return None
    units = {fact.unit for fact in asked.binding.numbers if fact.dimension is quantity.dimension}
    for unit in units - {quantity.unit, None}:
        found = natural_value(replace(asked, quantity=replace(quantity, unit=unit)))
        if found is not None and unit is not None:
            evidence = ClaimEvidence(found.operands[0].output, found.operands[0].text, found.text)
            reason = (
                f"no output gives {quantity.text}; {found.text} {unit.name}: it is that with {ANOTHER_UNIT}"
            )
            return Misstated(reason, evidence)
    return None


def _slip_of_a_total(asked: Asked) -> Misstated | None:
    """A slip of what the only column comes to, where the sentence counts out all of its rows."""
    quantity = asked.quantity
    counts = quantity.unit is None and quantity.value.is_integer() and not quantity.spelled
    for records in asked.binding.facts.records if counts and not asked.coarse else ():
        columns = [
            column
            for name, column in records.measured()
            if all(fact.dimension is None and (fact.number or 0.0).is_integer() for fact in column)
        ]
        if records.rows < 2 or len(columns) != 1 or not _counts_all_beside(asked, records.rows):
            continue
        total = sum(fact.number or 0.0 for fact in columns[0])
        how = slip(quantity, total, meant=True)
        if how in (ANOTHER_DIGIT, OTHER_ORDER):
            told = f"the total of {number_text(columns[0][0].number or 0.0)}, … is {number_text(total)}"
            evidence = evidence_of(columns[0][0], told)
            return Misstated(f"no output gives {quantity.text}; {told}: it is that with {how}", evidence)
    return None


def _counts_all_beside(asked: Asked, rows: int) -> bool:
    """Whether another number of the sentence is how many rows there are."""
    return any(
        isinstance(other.what, Quantity)
        and other is not asked.stated
        and other.sentence == asked.stated.sentence
        and other.what.unit is None
        and other.what.value == rows
        for other in asked.binding.answer.stated
    )


def _is_of_what_went_before(asked: Asked) -> bool:
    """Whether the sentence reckons of what another has named: "Together they account for 56 %"."""
    sentence = asked.binding.answer.sentences[asked.stated.sentence]
    return asked.stated.sentence > 0 and _THEY.match(sentence.text) is not None


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
    if is_a_window(asked) or is_a_part(asked, fact):
        return None
    reason = f"no output gives {asked.quantity.text}; the words name `{fact.text}`"
    return Misstated(reason, evidence_of(fact))


def _of_a_count(asked: Asked) -> Misstated | None:
    fact = told_count(asked)
    if fact is None or asked.coarse or asks_to_reckon(asked, fact) or is_a_part(asked, fact):
        return None
    return Misstated(
        f"no output gives {asked.quantity.text}; `{fact.text}` is what they count", evidence_of(fact)
    )


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
    if quantity.spelled and quantity.unit is None:
        return _of_a_list(asked)
    if quantity.dimension in (None, Dimension.FRACTION, Dimension.TIME):
        alike = numbers  # a share, a span, or a number without a unit may be reckoned of anything
    else:
        alike = [fact for fact in numbers if _is_alike(asked, fact)]
    if any(fact.dimension is Dimension.FRACTION and not fact.weak for fact in numbers) and len(numbers) > 1:
        return None  # a share of another value may be told
    if _MADE_OF.get(quantity.dimension, frozenset("?")) <= {fact.dimension for fact in numbers}:
        return None
    if quantity.dimension is Dimension.TIME and any(
        fact.day is not None or fact.clock is not None for fact in asked.binding.facts.facts
    ):
        return None
    if len({fact.number for fact in alike}) > 1 or (alike and not asked.words.isdisjoint(MULTIPLYING)):
        return None
    if not alike and _may_be_of_bare_numbers(asked):
        return None
    if _is_foreign(asked):
        return None
    nearest = nearest_to(asked)
    if nearest is None:
        return Misstated(f"no output gives {quantity.text}, nor two values that it could be reckoned of")
    fact, reading = nearest
    told = f" ({reading})" if reading else ""
    reason = f"no output gives {quantity.text}; `{fact.text}`{told} is what they say"
    return Misstated(reason, evidence_of(fact))


def _may_be_of_bare_numbers(asked: Asked) -> bool:
    """Whether the unit may be one that the outputs leave out: 48.3 km of `48270`, a speed of two numbers."""
    bare = [fact.number or 0.0 for fact in asked.binding.numbers if fact.dimension is None]
    if asked.quantity.dimension in _MADE_OF and len(set(bare)) > 1:
        return True
    return any(
        fits(asked.quantity, value) for number in bare for value in in_units_of(asked.quantity, number)
    )


def _of_a_list(asked: Asked) -> Misstated | None:
    """More than there are, where the outputs are one list and hold no number."""
    lists = asked.binding.facts.records
    if len(lists) != 1 or asked.binding.numbers or not EXISTS.search(asked.before):
        return None
    if asked.quantity.value <= lists[0].rows:
        return None  # "there are two that move": of them
    evidence = ClaimEvidence(lists[0].output, lists[0].label or "the list", f"entries = {lists[0].rows}")
    return Misstated(f"the outputs list {lists[0].rows}", evidence)


def _is_priced_by_number(asked: Asked, fact: Fact) -> bool:
    """Whether an amount of money is what counts things: "$12 each" of `qty: 12`."""
    counts = fact.counted and asked.quantity.dimension is Dimension.MONEY
    return counts and fits(asked.quantity, fact.number or 0.0)


def _is_alike(asked: Asked, fact: Fact) -> bool:
    """Whether the quantity may be reckoned of this: of its measure, or of a bare number that is named."""
    wanted = asked.quantity.dimension
    if fact.dimension is not None:
        return fact.dimension is wanted
    named = not asked.words.isdisjoint(fact.clause if fact.weak else fact.words) or not fact.words
    if named and not fact.weak and fact.records < 0 and asked.words.isdisjoint(fact.key):
        named = not any(  # the object's name alone names none of its numbers where another measures the same
            other.dimension is wanted and other.scope == fact.scope for other in asked.binding.numbers
        )
    return comparable(asked.quantity, fact) and (named or wanted is Dimension.MONEY)
