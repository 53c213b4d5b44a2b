"""The one result of a short run, against the one figure of its answer.

In: a stated amount, the passages of the answer and the world. Out: a contradicting claim, or None. It is for
an answer of one amount in words of the task, after a last output of one amount or of a small record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness.alarms import SMALL_COUNT, is_derivable
from spanproof.evaluators.layers.groundedness.bind import ValueBinder, build_contradicting_claim
from spanproof.evaluators.layers.groundedness.model import Claim
from spanproof.evaluators.layers.groundedness.reader import IDENTIFYING, Reading, Stated
from spanproof.reading.agreement import (
    find_power_of_ten,
    is_agreeing,
    is_hedged_number,
    is_in_some_unit,
    is_of_other_scale,
)
from spanproof.reading.answer_sources import SourceKind
from spanproof.reading.arithmetic import list_joint_results, list_results
from spanproof.reading.lexicon import is_of
from spanproof.reading.records import Fact
from spanproof.reading.values import NUMERIC, Kind
from spanproof.reading.words import get_base_form, list_groups_of, split_name

_OF_MANY_MATTERS: Final = frozenset((SourceKind.SYSTEM, SourceKind.EARLIER))
# In a record with more amounts, the task may mean several.
_LARGEST_RECORD: Final = 6


def find_printed_result(
    stated: Stated, reading: Reading, binder: ValueBinder, readings: Sequence[Reading]
) -> Claim | None:
    """Return the claim that the one amount of an answer is not the one that the run printed last."""
    amounts = [
        another
        for other in readings
        for another in other.stated
        if another.mention.value.kind in NUMERIC and not _names_thing(another, other)
    ]
    if amounts != [stated] or not _is_in_words_of_task(reading, binder):
        return None
    printed = _list_printed_amounts(reading, binder) or _list_named_field(reading, binder)
    if not printed or len({stated.mention.value.unit, printed[-1].value.unit} - {""}) == 2:
        return None
    if _may_sum_up(stated, binder) or _may_follow(stated, reading, binder, printed):
        return None
    return build_contradicting_claim(stated, reading, binder, printed[-1], GroundednessRule.PRINTED_RESULT)


def _is_in_words_of_task(reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a passage has no other words than its values, those of the task and words of sums."""
    values = {at for stated in reading.stated for at in stated.words}
    others = [word for at, word in enumerate(reading.words) if at not in values and word.text[:1].isalpha()]
    return all(
        is_of(word, "sum")
        or is_of(word, "carrier")
        or not binder.task_words.isdisjoint((word.form, get_base_form(word.lemma)))
        for word in others
    )


def _may_be_of(stated: Stated, fact: Fact) -> bool:
    """Return whether a stated amount may be a printed one, in its unit or another: 4500 cents are $45.00."""
    value = stated.mention.value
    is_scaled = fact.value.step >= 1 and is_of_other_scale(value, fact)
    if is_scaled or is_agreeing(value, stated.hedge, fact, stated.text):
        return True
    return not fact.value.unit and is_in_some_unit(value, stated.hedge, fact.value.number)


def _iter_given(reading: Reading, binder: ValueBinder) -> Iterator[Fact]:
    """Yield the amounts that the run was given and that may go into the figure: "a budget of 2000"."""
    world, words = binder.world, binder.list_words(reading)
    for fact in world.base.facts:
        value = fact.value
        is_amount = fact.source >= world.outputs and value.kind in NUMERIC
        # "Division by zero" of an error gives nothing.
        if not is_amount or value.number == 0 or _is_of_identifier(fact, binder):
            continue
        # A prompt numbers its rules.
        is_numbering = value.kind is not Kind.PERCENT and value.step >= 1 and abs(value.number) <= SMALL_COUNT
        is_of_rule = is_numbering and world.is_of_prompt(fact)
        # "429 Too Many Requests: at most 100 in 60 s" says nothing of another matter.
        is_of_error = world.sources[fact.source].kind is SourceKind.ERROR
        is_aside = is_of_error and words.isdisjoint(world.list_words(fact))
        if not (is_of_rule or is_aside or world.is_example(fact, words)):
            yield fact


def _may_sum_up(stated: Stated, binder: ValueBinder) -> bool:
    """Return whether a value may come of what each output printed, or count what one of them lists."""
    world, value = binder.world, stated.mention.value
    by_source: dict[int, list[float]] = {}
    for fact in world.numeric:
        by_source.setdefault(fact.source, []).append(fact.value.number)
    lone = [amounts[0] for amounts in by_source.values() if len(amounts) == 1]
    counts = {len(group) for group in by_source.values()} | {
        len(group) for group in world.base.groups.values()
    }
    is_count = value.kind is Kind.NUMBER and value.number in counts - {1}
    results = list_joint_results(lone)
    return is_count or any(is_hedged_number(value, stated.hedge, abs(group)) for group in results)


def _may_follow(stated: Stated, reading: Reading, binder: ValueBinder, printed: Sequence[Fact]) -> bool:
    """Return whether a value is a printed one, or an amount that was given makes it of another one."""
    value, facts = stated.mention.value, binder.world.list_operands(binder.list_words(reading))
    provided = list(_iter_given(reading, binder))
    if not provided and not printed[-1].path:
        return any(_may_be_of(stated, fact) for fact in printed)
    is_of_record = bool(printed[-1].path) and is_derivable(stated, binder, reading)
    if is_of_record or any(_may_be_of(stated, fact) for fact in facts):
        return True
    of_task = [fact for fact in provided if binder.world.sources[fact.source].kind not in _OF_MANY_MATTERS]
    # A prompt of many examples gives any figure, if each of its numbers may go with each other.
    pairs = chain(product([*facts, *of_task], of_task), product(printed, provided))
    scales = (1, 100) if value.kind is Kind.PERCENT else (1,)
    results = (
        abs(result)
        for one, by in pairs
        for result in list_results(one.value.number, by.value.number, by.value.kind is Kind.PERCENT)
    )
    return any(is_hedged_number(value, stated.hedge, one * scale) for one in results for scale in scales)


def _list_named_field(reading: Reading, binder: ValueBinder) -> list[Fact]:
    """Return the amount of the small record that was returned last, in the field that the task names."""
    world = binder.world
    fields = [fact for fact in world.numeric if fact.source == world.last_output]
    is_record = all(f.path and len(world.list_siblings(world.get_row(f.record))) == 1 for f in fields)
    if not is_record or not 1 <= len(fields) <= _LARGEST_RECORD:
        return []
    words = binder.list_words(reading)
    scores = [binder.get_score(fact, words, list_groups_of(words)) for fact in fields]
    return [fields[scores.index(max(scores))]] if max(scores) > 0 and scores.count(max(scores)) == 1 else []


def _list_printed_amounts(reading: Reading, binder: ValueBinder) -> list[Fact]:
    """Return the amount of the last output, in each unit that it has it in: 4500 cents and $45.0.

    There is none where it has other amounts, or text beside the amount and another output has one.
    """
    world = binder.world
    requested = {
        fact.value.number
        for fact in world.base.facts
        if fact.source >= world.outputs and _is_of_identifier(fact, binder)
    }
    amounts = [
        fact
        for fact in world.list_operands(binder.list_words(reading))
        if not _is_of_identifier(fact, binder) and (fact.path or fact.value.number not in requested)
    ]
    last = [fact for fact in amounts if fact.source == world.last_output]
    if not last or any(
        find_power_of_ten(fact.value.number, last[0].value.number) is None for fact in last[1:]
    ):
        return []
    text = world.base.texts[world.last_output]
    is_bare = sorted(text.split()) == sorted(text[span.start : span.end] for span in last)
    is_only = len({fact.value.number for fact in amounts}) == 1
    return last if is_bare or is_only else []


def _names_thing(stated: Stated, reading: Reading) -> bool:
    """Return whether a number says which thing is meant, and no amount: "order 12"."""
    before = stated.words[0] - 1
    return before >= 0 and reading.words[before].text.lower() in IDENTIFYING


def _is_of_identifier(fact: Fact, binder: ValueBinder) -> bool:
    """Return whether a number names a thing and no amount: a field's `order_id`, "order 2" in prose."""
    before = binder.world.base.texts[fact.source][: fact.start].split()
    is_named = not fact.path and bool(before) and before[-1].lower() in IDENTIFYING
    return is_named or not IDENTIFYING.isdisjoint(split_name(fact.field)[-1:])
