"""The figure that a run printed last, against the one figure of its answer.

In: a stated amount, the passages of the answer and the world. Out: a contradicting claim, or None. The rule
is for plain tasks: the answer states one amount in words of the task, and the last output holds one amount.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness.bind import ValueBinder, make_contradicting_claim
from spanproof.evaluators.layers.groundedness.model import Claim
from spanproof.evaluators.layers.groundedness.reader import IDENTIFYING, Reading, Stated
from spanproof.evaluators.layers.groundedness.sources.model import SourceKind
from spanproof.reading.agreement import (
    Hedge,
    find_power_of_ten,
    is_agreeing,
    is_hedged_number,
    is_of_other_scale,
)
from spanproof.reading.lexicon import is_of
from spanproof.reading.records import Fact
from spanproof.reading.values import NUMERIC, Kind, Value
from spanproof.reading.words import base_form, split_name

# A plain whole number up to this counts something as often as it quotes.
SMALL_COUNT: Final = 20


def find_printed_result(
    stated: Stated, reading: Reading, binder: ValueBinder, readings: Sequence[Reading]
) -> Claim | None:
    """Return the claim that the one amount of an answer is not the one that the run printed last."""
    amounts = [
        each
        for other in readings
        for each in other.stated
        if each.mention.value.kind in NUMERIC and not _names_thing(each, other)
    ]
    if len(amounts) != 1 or stated.mention.value.kind not in NUMERIC:
        return None
    printed = _list_printed_amounts(binder)
    if not printed or not _is_in_words_of_task(reading, binder):
        return None
    may_agree = any(_may_be_of(stated, fact) for fact in printed)
    if may_agree or _is_of_other_unit(stated, printed[-1]) or _has_given(stated, printed[-1], binder):
        return None
    return make_contradicting_claim(stated, reading, binder, printed[-1], GroundednessRule.PRINTED_RESULT)


def _is_in_words_of_task(reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a passage has no other words than its values, those of the task and words of sums."""
    values = {at for each in reading.stated for at in each.words}
    return all(
        at in values
        or is_of(word, "sum")
        or is_of(word, "carrier")
        or not word.text[:1].isalpha()
        or not binder.task_words.isdisjoint((word.form, base_form(word.lemma)))
        for at, word in enumerate(reading.words)
    )


def _is_of_other_unit(stated: Stated, fact: Fact) -> bool:
    units = {stated.mention.value.unit, fact.value.unit} - {""}
    return len(units) == 2


def _may_be_of(stated: Stated, fact: Fact) -> bool:
    """Return whether a stated amount may be a printed one, in its unit or another: 4500 cents are $45.00."""
    value = stated.mention.value
    if fact.value.step >= 1 and is_of_other_scale(value, fact):
        return True
    if is_agreeing(value, stated.hedge, fact, stated.text):
        return True
    # The code may print a number and the answer name its unit: 190.08 MJ where 190.08 was printed.
    is_bare = not fact.value.unit
    return is_bare and is_hedged_number(value, stated.hedge, fact.value.number, 1 / value.factor)


def _has_given(stated: Stated, printed: Fact, binder: ValueBinder) -> bool:
    """Return whether the run was given an amount that may go into the figure: "a budget of 2000"."""
    world = binder.world
    for fact in world.base.facts:
        is_amount = fact.source >= world.outputs and fact.value.kind in NUMERIC
        # "Division by zero" of an error gives nothing.
        if not is_amount or fact.value.number == 0 or _is_of_identifier(fact, binder):
            continue
        is_of_prompt = world.sources[fact.source].kind is SourceKind.SYSTEM
        if not is_of_prompt or _may_give(fact.value, stated.mention.value, printed.value):
            return True
    return False


def _list_printed_amounts(binder: ValueBinder) -> list[Fact]:
    """Return the amount of the last output, in each unit that it has it in: 4500 cents and $45.0.

    Returns:
        None of them where the last output has other amounts, or text beside it and another output one.
    """
    world = binder.world
    requested = {
        fact.value.number
        for fact in world.base.facts
        if fact.source >= world.outputs and _is_of_identifier(fact, binder)
    }
    amounts = [
        fact
        for fact in world.numeric
        if not _is_of_identifier(fact, binder) and (fact.path or fact.value.number not in requested)
    ]
    last = [fact for fact in amounts if fact.source == world.last_output]
    if not last or any(
        find_power_of_ten(fact.value.number, last[0].value.number) is None for fact in last[1:]
    ):
        return []
    text = world.base.texts[world.last_output]
    is_bare = len(text.split()) == len(last) and all(
        text[each.start : each.end] in text.split() for each in last
    )
    is_only = len({fact.value.number for fact in amounts}) == 1
    return last if is_bare or is_only else []


def _may_give(given: Value, value: Value, known: Value) -> bool:
    """Return whether a number of the system prompt turns a known amount into a stated one: a rate, a fee."""
    by, one = given.number, known.number
    if given.kind is Kind.PERCENT:
        results: tuple[float, ...] = (one * (1 + by / 100), one * (1 - by / 100), one * by / 100)
    elif given.step >= 1 and abs(by) <= SMALL_COUNT:
        return False  # A prompt numbers its rules.
    else:
        results = (one * by, one + by, one - by, one / by if by else one)
    return any(is_hedged_number(value, Hedge.NONE, result) for result in results)


def _names_thing(stated: Stated, reading: Reading) -> bool:
    """Return whether a number says which thing is meant, and no amount: "order 12"."""
    before = stated.words[0] - 1
    return before >= 0 and reading.words[before].text.lower() in IDENTIFYING


def _is_of_identifier(fact: Fact, binder: ValueBinder) -> bool:
    """Return whether a number names a thing and no amount: a field's `order_id`, "order 2" in prose."""
    before = binder.world.base.texts[fact.source][: fact.start].split()
    is_named = not fact.path and bool(before) and before[-1].lower() in IDENTIFYING
    return is_named or not IDENTIFYING.isdisjoint(split_name(fact.field)[-1:])
