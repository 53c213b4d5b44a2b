"""Slips of a result: a number that is one misprint or unit away from what the words ask to be reckoned.

In: an `Asked` that nothing bears out. Out: the result it misstates, None where none is asked for or that may
be chance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set
from spanproof.evaluators.layers.groundedness.model import ClaimEvidence
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.binding import evidence_of
from spanproof.evaluators.layers.groundedness.rules.deriving import asked_results, natural_value
from spanproof.evaluators.layers.groundedness.rules.matching import number_text
from spanproof.evaluators.layers.groundedness.rules.misprints import Misstated
from spanproof.evaluators.layers.groundedness.rules.slips import (
    ANOTHER_DIGIT,
    ANOTHER_UNIT,
    OTHER_ORDER,
    POWER_OF_TEN,
    as_told,
    coincides,
    in_units_of,
    is_as_long,
    is_long,
    slip,
)

_RECKONED_OF_ALL = canonical_set("total mean median difference ratio together combined altogether overall")
"""Words that say plainly how a number is reckoned."""
_UNMEASURED = frozenset((None, Dimension.MONEY, Dimension.FRACTION, Dimension.TIME))
_THEY = re.compile(
    r"\s*(?:(?:all\s+)?together|combined|taken together|in total),?\s+"
    r"(?:they|these|those|both|the (?:two|three))\b"
    r"|\s*(?:they|both|these (?:two|three)|the (?:two|three)(?: of them)?)\s+(?:together|combined)\b",
    re.IGNORECASE,
)
_FEW_RESULTS = 2
"""Results of what the words ask to be reckoned that leave no choice."""


def slip_of_a_result(asked: Asked) -> Misstated | None:
    """The result of what the words ask for, where the number is a slip away from it, or there is no other."""
    wanted = asked.quantity.dimension
    if _is_of_what_went_before(asked):
        return None
    numbers = asked.binding.numbers
    measured = {fact.dimension for fact in numbers} - _UNMEASURED
    if measured and wanted not in _UNMEASURED and wanted not in measured:
        return None
    results = {value: quantity for value, quantity in asked_results(asked) if value}
    alike = {value: each for value, each in results.items() if is_as_long(each, value)}
    lasting = asked.quantity.dimension is Dimension.TIME and "duration" in asked.words
    if len({abs(value) for value in alike}) == 1 and "ratio" in asked.words:
        results = alike
    if 0 < len(results) <= _FEW_RESULTS and (lasting or not asked.words.isdisjoint(_RECKONED_OF_ALL)):
        told = " or ".join(number_text(value) for value in results)
        given = (_where_it_is_given(numbers, quantity, value) for value, quantity in results.items())
        reason = f"no output gives {asked.quantity.text}; what the words ask for comes to {told}"
        return Misstated(reason, next(filter(None, given), None))
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
            reason = f"no output gives {asked.quantity.text}; {told}: it is that with {how}"
            return Misstated(reason, _where_it_is_given(numbers, quantity, value))
    return None


def _where_it_is_given(numbers: Sequence[Fact], quantity: Quantity, value: float) -> ClaimEvidence | None:
    """Return the last output that gives a result itself, in its unit or a smaller one; None: none does."""
    for fact in reversed(numbers):
        number = abs(fact.number or 0.0)
        if abs(value) in (number, *in_units_of(quantity, number)):
            return evidence_of(fact)
    return None


def in_another_unit(asked: Asked) -> Misstated | None:
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


def slip_of_a_total(asked: Asked) -> Misstated | None:
    """A slip of what the only column comes to, where the sentence counts out all of its rows."""
    quantity = asked.quantity
    counts = quantity.unit is None and quantity.value.is_integer() and not quantity.spelled
    for records in asked.binding.facts.records if counts and not asked.coarse else ():
        columns = [
            column
            for _, column in records.measured()
            if all(fact.dimension is None and (fact.number or 0.0).is_integer() for fact in column)
        ]
        totals = [sum(fact.number or 0.0 for fact in column) for column in columns]
        if records.rows < 2 or not _tells_beside(asked, [float(records.rows), *totals]):
            continue
        columns = [column for column in columns if not asked.words.isdisjoint(column[0].key)] or columns
        if len(columns) != 1:
            continue
        total = sum(fact.number or 0.0 for fact in columns[0])
        how = slip(quantity, total, meant=True)
        if how in (ANOTHER_DIGIT, OTHER_ORDER):
            told = f"the total of {number_text(columns[0][0].number or 0.0)}, … is {number_text(total)}"
            evidence = evidence_of(columns[0][0], told)
            return Misstated(f"no output gives {quantity.text}; {told}: it is that with {how}", evidence)
    return None


def _tells_beside(asked: Asked, wholes: list[float]) -> bool:
    """Whether another number of the sentence is how many rows there are, or what a column comes to."""
    return any(
        isinstance(other.what, Quantity)
        and other is not asked.stated
        and other.sentence == asked.stated.sentence
        and other.what.unit is None
        and other.what.value in wholes
        for other in asked.binding.answer.stated
    )


def _is_of_what_went_before(asked: Asked) -> bool:
    """Whether the sentence reckons of what another has named: "Together they account for 56 %"."""
    sentence = asked.binding.answer.sentences[asked.stated.sentence]
    return asked.stated.sentence > 0 and _THEY.match(sentence.text) is not None
