"""Certain alarms: values that contradict what an output holds for that very quantity.

In: a stated value that is not bound, the reading and the world. Out: a contradicting claim, or None. No
alarm fires where the row that the value is of is named in the sentence, or where arithmetic could give the
value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness.bind import (
    ValueBinder,
    get_claim_kind,
    make_contradicting_claim,
    make_contradiction,
    make_evidence,
)
from spanproof.evaluators.layers.groundedness.derive import iter_columns, list_cues
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimEvidence
from spanproof.evaluators.layers.groundedness.printed_results import SMALL_COUNT
from spanproof.evaluators.layers.groundedness.reader import Named, Reading, Stated
from spanproof.evaluators.layers.groundedness.relations import find_change
from spanproof.evaluators.layers.groundedness.world import FieldName, World
from spanproof.reading.agreement import (
    Hedge,
    are_comparable,
    is_agreeing,
    is_exchange,
    is_hedged_number,
    is_of_other_scale,
    is_slip,
)
from spanproof.reading.lexicon import is_of, load_texts
from spanproof.reading.records import Fact, Role
from spanproof.reading.sentences import Form
from spanproof.reading.units import UNITS
from spanproof.reading.values import NUMERIC, Kind, Value, is_year
from spanproof.reading.words import base_forms_of

_MAX_OPERANDS: Final = 60
# What turns a rate or a unit into another: per minute into per hour.
_RATES: Final = (7, 12, 24, 30, 52, 60, 100, 365, 1000, 1024, 3600)
_COMPARING: Final = load_texts("comparing")
_PAST: Final = frozenset(("was", "were"))
_PRESENT: Final = frozenset(("is", "are", "now", "currently"))
# A part is at most so many words before its whole: "12 of the 80".
_OF_REACH: Final = 3
_TOTAL: Final = frozenset(("total", "altogether", "sum"))
# "From" may be anywhere in the sentence.
_WHOLE_SENTENCE: Final = 100
_PARTING: Final = frozenset((",", ";", "(", ")", "then", "–", "—"))
# A value's subject is at most so many words before it, where a sentence is to be contradicted.
_SUBJECT_REACH: Final = 6
_LONGEST_IDENTIFIER: Final = 40
# Seconds by which the difference of two times may differ from a duration that is stated in minutes.
_SPAN_STEP: Final = 60.0
_DIGIT_STEP: Final = 1e-9
# Digits without zeros at the ends from which an exchange of two is no chance.
_FEWEST_SLIP_DIGITS: Final = 4
# Characters of a unit that a cell may have beside its number.
_LONGEST_UNIT: Final = 4


def find_misquote(stated: Stated, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a value is not that of the one field that the sentence names."""
    value = stated.mention.value
    if not _is_quotable(value, stated) or stated.hedge in (Hedge.OVER, Hedge.UNDER):
        return None
    slipped = find_slip(stated, binder)
    if slipped is not None and not is_derivable(stated, binder, reading):
        return make_contradicting_claim(
            stated, reading, binder, slipped, Cause.OTHER_VALUE, GroundednessRule.MISQUOTE
        )
    rivals = [] if _is_item_of_list(reading) else _list_rivals(stated, reading, binder)
    if len(rivals) != 1 or is_derivable(stated, binder, reading):
        return None
    rival = rivals[0]
    if value.kind in NUMERIC and is_of_other_scale(value, rival):
        return None
    if value.kind is Kind.TIME and (_names_zone(stated, reading) or _may_be_span(stated, binder)):
        return None
    if any(abs(value.amount - fact.value.amount) < 1e-9 for fact in binder.world.numeric):
        # The number is there in another unit than the one that could be read.
        return None
    is_about = stated.hedge is Hedge.ABOUT or any(is_of(word, "about") for word in reading.words)
    if is_about and abs(value.number - rival.value.number) < 0.2 * abs(rival.value.number):
        return None
    return make_contradicting_claim(
        stated, reading, binder, rival, Cause.OTHER_VALUE, GroundednessRule.MISQUOTE
    )


def find_named_field(
    stated: Stated, matches: Sequence[Fact], reading: Reading, binder: ValueBinder
) -> Claim | None:
    """Return the claim that a value is not that of the one field that its clause is about.

    That is the field whose whole name is beside the value; where none does, the only one of its unit.
    """
    world = binder.world
    if reading.passage.cells or stated.hedge is not Hedge.NONE:
        return None
    if not _is_quotable(stated.mention.value, stated) or _is_item_of_list(reading):
        return None
    said = {word.text.lower() for word in reading.words}
    # "Was" may say of an earlier time only where the sentence says what is now.
    is_comparing = bool(said & (_COMPARING - _PAST)) or bool(said & _PAST and said & _PRESENT)
    low, high = reading.get_clause(stated.start)
    is_result = bool(list_cues(reading.words_between(low, high)) - {"sum", "mean", "share"})
    if is_comparing or is_result or world.base.cut or stated.mention.value.kind not in NUMERIC:
        return None
    facts = _list_named(stated, reading, binder) or _list_of_unit(stated, binder)
    fields = {world.get_field(fact) for fact in facts}
    if (
        len(fields) != 1
        or any(fact in matches for fact in facts)
        or _has_other_words(stated, reading, binder)
    ):
        return None
    if any(
        not are_comparable(stated.mention.value, fact) or is_of_other_scale(stated.mention.value, fact)
        for fact in facts
    ):
        return None
    return make_contradicting_claim(
        stated, reading, binder, facts[-1], Cause.OTHER_VALUE, GroundednessRule.MISQUOTE
    )


def _is_item_of_list(reading: Reading) -> bool:
    """Return whether what is above an item says what its amount is of: "You still need: - 200 ml milk"."""
    passage = reading.passage
    return passage.form is Form.ITEM and bool(passage.above) and passage.lead is None


def _list_named(stated: Stated, reading: Reading, binder: ValueBinder) -> list[Fact]:
    """Return the amounts of lone rows with the longest name that is as a whole beside a value."""
    low, _ = reading.get_clause(stated.start)
    labels = [name for name in reading.names if low <= name.start < stated.start and _is_label(name)]
    near = next(binder.iter_context(stated, reading)).union(
        *(base_forms_of(reading.text[name.start : name.end]) for name in labels)
    )
    named = [(binder.world.words_of(fact) - UNITS.keys(), fact) for fact in _iter_lone(binder)]
    longest = max((len(words) for words, _ in named if words <= near), default=0)
    return [fact for words, fact in named if words <= near and len(words) == longest > 0]


def _is_label(name: Named) -> bool:
    """Return whether a name is the label of a value in an output: `mean fare: 34.65`."""
    return any(fact.role is Role.KEY for fact in name.facts)


def _list_of_unit(stated: Stated, binder: ValueBinder) -> list[Fact]:
    """Return the amounts in the unit of a value, where each is the whole of its field in a lone row."""
    value = stated.mention.value
    if value.kind not in (Kind.MONEY, Kind.QUANTITY):
        return []
    alike = [
        fact for fact in binder.world.numeric
        if fact.value.kind is value.kind and (value.kind is Kind.MONEY or fact.value.unit == value.unit)
    ]  # fmt: skip
    lone = list(_iter_lone(binder))
    return alike if all(fact in lone for fact in alike) else []


def _iter_lone(binder: ValueBinder) -> Iterator[Fact]:
    """Yield the amounts with a name whose row is the only one of its table."""
    world = binder.world
    for fact in world.numeric:
        if fact.path and _is_cell(fact, world) and len(world.list_siblings(world.get_row(fact.record))) == 1:
            yield fact


def _is_cell(fact: Fact, world: World) -> bool:
    """Return whether an amount is all that its field holds, but for a unit: not the 500 of "Fiat 500"."""
    low, high = fact.cell
    written = world.base.texts[fact.source][low:high].strip("\"' ")
    return len(written) - _LONGEST_UNIT <= fact.end - fact.start


def _has_other_words(stated: Stated, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a clause has words that no field has: they may say of another quantity."""
    low, high = reading.get_clause(stated.start)
    named = {at for name in reading.names for at in name.words} | reading.covered
    return any(
        low <= word.start < high
        and at not in stated.words
        and at not in named
        and word.part in ("NOUN", "PROPN", "ADJ", "VERB", "ADV", "")
        and word.text[:1].isalpha()
        and word.form not in binder.world.field_words
        and not is_of(word, "carrier")
        for at, word in enumerate(reading.words)
    )


def find_wrong_change(stated: Stated, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a change is not that of the two values beside it: "by 14% from 432 to 404".

    Behind the values a noun says that it is the change: "from 432 to 404, a decline of 14%".
    """
    value = stated.mention.value
    before = [word.text.lower() for word in reading.words[max(0, stated.words[0] - 2) : stated.words[0]]]
    change = find_change(reading, stated.start) if before[-1:] == ["by"] else None
    if before[-1:] == ["of"] and list_cues(reading.words[max(0, stated.words[0] - 2) : stated.words[0]]):
        change = find_change(reading, 0, _WHOLE_SENTENCE)
    if change is None or stated.hedge is not Hedge.NONE or value.kind not in NUMERIC:
        return None
    earlier, later = (fact.value.number * fact.factor for fact in change)
    if value.kind is Kind.PERCENT and (change[0].value.kind is Kind.PERCENT or not earlier):
        return None
    result = abs(later - earlier) / (abs(earlier) / 100 if value.kind is Kind.PERCENT else 1.0)
    if is_hedged_number(value, Hedge.ABOUT, result):
        return None
    evidence = make_evidence(
        change[1],
        binder.world,
        f"from {change[0].value.amount:g} to {change[1].value.amount:g} = {result:.4g}",
    )
    return _build_other_result(stated, reading, evidence)


def find_wrong_share(stated: Stated, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a percentage is not that of the part and the whole: "12 of 80, or 25%"."""
    amounts = sorted((at, fact) for at, fact in reading.by_stated.items() if fact.value.kind is Kind.NUMBER)
    is_share = stated.mention.value.kind is Kind.PERCENT and stated.hedge is Hedge.NONE
    if not is_share or len(amounts) != 2 or len(reading.stated) != 3:
        return None
    (start, part), (end, whole) = amounts
    between = [word.text.lower() for word in reading.words_between(start, end)][1:]
    is_of_whole = between[:1] == ["of"] and len(between) <= _OF_REACH
    if not is_of_whole or not whole.value.number or is_derivable(stated, binder, reading):
        return None
    result = 100 * part.value.number / whole.value.number
    program = f"{part.value.number:g} of {whole.value.number:g} = {result:.4g} %"
    return _build_other_result(stated, reading, make_evidence(part, binder.world, program))


def find_wrong_total(stated: Stated, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a total is not that of the one column that its clause names."""
    world = binder.world
    low, high = reading.get_clause(stated.start)
    clause = reading.words_between(low, high)
    is_total = any(word.text.lower() in _TOTAL for word in clause) and list_cues(clause) <= {"sum"}
    if not is_total or stated.hedge is not Hedge.NONE or reading.names or reading.scope or world.base.cut:
        return None
    words = frozenset(word.form for word in clause)
    columns = [
        facts
        for facts in iter_columns(stated, reading, binder)
        if not words.isdisjoint(world.words_of(facts[0]))
    ]
    if len(columns) != 1 or len(reading.stated) != 1 or is_derivable(stated, binder, reading):
        return None
    (facts,) = columns
    total = sum(fact.value.number * fact.factor for fact in facts)
    program = f"the sum of {len(facts)} values = {total:g}"
    return _build_other_result(stated, reading, make_evidence(facts[0], world, program))


def _build_other_result(stated: Stated, reading: Reading, evidence: ClaimEvidence) -> Claim:
    kind, rule = get_claim_kind(stated), GroundednessRule.MISQUOTE
    return make_contradiction(reading, (stated.start, stated.end), kind, Cause.OTHER_RESULT, evidence, rule)


def find_slip(stated: Stated, binder: ValueBinder) -> Fact | None:
    """Return the one amount of the outputs of which a value has two neighbouring digits exchanged."""
    value = stated.mention.value
    step = value.step / value.factor
    digits = _list_digits(value.amount, step)
    if value.kind not in NUMERIC or stated.hedge is not Hedge.NONE or not _has_unlike_digits(digits):
        return None
    alike = {
        fact.value.number: fact
        for fact in binder.world.numeric
        if are_comparable(value, fact)
        and is_exchange(digits, _list_digits(fact.value.amount, step))
        and _has_no_more_digits(fact.value.amount, step)
    }
    return next(iter(alike.values())) if len(alike) == 1 else None


def _has_no_more_digits(amount: float, step: float) -> bool:
    """Return whether an amount is written in full with so small a last place."""
    return abs(round(amount / step) * step - amount) < _DIGIT_STEP * max(1.0, abs(amount))


def _list_digits(amount: float, step: float) -> str:
    """Return the digits of an amount up to a last place."""
    return str(round(abs(amount) / step)) if step else ""


def _has_unlike_digits(digits: str) -> bool:
    """Return whether digits are so many that another amount has them by chance in few answers."""
    return len(digits.strip("0")) >= _FEWEST_SLIP_DIGITS


def _is_quotable(value: Value, stated: Stated) -> bool:
    if stated.mention.spelled or value.kind not in (*NUMERIC, Kind.DATE, Kind.TIME) or is_year(value):
        return False
    is_small = value.kind is Kind.NUMBER and value.step >= 1 and abs(value.number) <= SMALL_COUNT
    return not is_small


def _list_rivals(stated: Stated, reading: Reading, binder: ValueBinder) -> list[Fact]:
    """Return the facts that the sentence names as those that the value is of."""
    world = binder.world
    subjects = binder.find_subjects(stated, reading)
    if not subjects and (reading.passage.lead is not None or reading.names):
        return []
    if subjects:
        if not is_subject_beside(stated, reading):
            return []
        rows = subjects[0]
        if len(rows) != 1 or len(subjects) > 1:
            return []
    else:
        lone = {
            world.get_row(fact.record)
            for fact in world.base.facts
            if world.is_output(fact) and len(world.list_siblings(world.get_row(fact.record))) == 1
        }
        rows = frozenset(lone) if len(lone) == 1 else frozenset()
    value = stated.mention.value
    facts = [
        fact
        for row in rows
        for fact in world.list_facts(row)
        if are_comparable(value, fact)
        and fact.role is Role.CELL
        and fact.value.kind is not Kind.TEXT
        and fact.path
        and (fact.value.kind not in NUMERIC or _is_cell(fact, world))
    ]
    if world.base.cut or any(word.text.lower() in _COMPARING for word in reading.words):
        return []
    if list_cues(reading.list_clause_words(stated)) - {"sum", "share"}:
        return []
    near = next(binder.iter_context(stated, reading))
    scores = [(len(world.words_of(fact) & near), fact) for fact in facts]
    best = max((score for score, _ in scores), default=0)
    named = [fact for score, fact in scores if score == best > 0]
    return named if len(named) == 1 and _is_whole_header(stated, reading, named[0], binder) else []


def _is_whole_header(stated: Stated, reading: Reading, fact: Fact, binder: ValueBinder) -> bool:
    """Return whether the header of a cell names a field and no more: "with bonus" is another than `bonus`."""
    header = next((name for name, low, high in reading.passage.cells if low <= stated.start < high), "")
    return base_forms_of(header) <= binder.world.words_of(fact)


def find_other_record(
    stated: Stated, matches: Sequence[Fact], reading: Reading, binder: ValueBinder
) -> Claim | None:
    """Return the claim that a value is that of another row than the one that the sentence names."""
    world = binder.world
    value = stated.mention.value
    if not matches or value.kind not in (*NUMERIC, Kind.DATE, Kind.TIME) or stated.mention.spelled:
        return None
    subjects = binder.find_subjects(stated, reading)
    if len(subjects) != 1 or len(subjects[0]) != 1:
        return None
    if not is_subject_beside(stated, reading):
        return None
    (row,) = subjects[0]
    group = set(world.list_siblings(row))
    rows = {world.get_row(fact.record) for fact in matches}
    fields = {world.get_field(fact) for fact in matches}
    if len(group) < 2 or not rows <= group or row in rows or len(fields) != 1 or not all(fields):
        return None
    named = [name for name in (*reading.names, *reading.scope) if rows & name.rows]
    if named and not _is_exchanged(row, rows, fields, reading, binder):
        return None
    clause = reading.list_clause_words(stated)
    if any(word.text.lower() in _COMPARING for word in clause) or list_cues(clause) - {"sum", "share"}:
        return None
    field = fields.pop()
    own = [fact for fact in world.list_facts(row) if world.get_field(fact) == field]
    if len(own) != 1 or not binder.is_named_field(own[0], stated, reading):
        return None
    if is_agreeing(value, stated.hedge, own[0], stated.text) or is_derivable(stated, binder, reading):
        return None
    return make_contradicting_claim(
        stated, reading, binder, own[0], Cause.OTHER_VALUE, GroundednessRule.OTHER_RECORD
    )


def _is_exchanged(
    row: int, others: set[int], fields: set[FieldName], reading: Reading, binder: ValueBinder
) -> bool:
    """Return whether another row is named beside this row's value: "A has 56, B has 41" for 41 and 56."""
    for stated in reading.stated:
        subjects = binder.find_subjects(stated, reading)
        if len(subjects) == 1 and subjects[0] <= others and is_subject_beside(stated, reading):
            facts = binder.list_matches(stated)
            found = {(binder.world.get_row(fact.record), binder.world.get_field(fact)) for fact in facts}
            if found == {(row, field) for field in fields}:
                return True
    return False


def is_subject_beside(stated: Stated, reading: Reading) -> bool:
    """Return whether the name before a value is surely its subject: near it, with nothing in between."""
    lead = reading.passage.lead
    before = [name for name in reading.names if name.end <= stated.start]
    if not before:
        return False
    between = reading.words_between(before[-1].end, stated.start)
    is_lead = lead is not None and before[-1].end <= lead[1] and len(reading.names) == 1
    is_parted = any(word.text in _PARTING for word in between)
    return len(between) <= _SUBJECT_REACH and (is_lead or not is_parted)


def find_overtaken(stated: Stated, fact: Fact, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a later output has another value of the same field of the same row."""
    world = binder.world
    if (
        not fact.path
        or stated.hedge is not Hedge.NONE
        or any(is_of(word, "past") or is_of(word, "time") for word in reading.words)
        or any(word.text.lower() in ("were", "was", "had") for word in reading.words)
    ):
        return None
    later = [
        other
        for other in world.base.by_kind[fact.value.kind]
        if world.outputs > other.source > fact.source
        and other.path == fact.path
        and _identify(other, binder) == _identify(fact, binder)
    ]
    row = world.get_row(fact.record)
    if any(
        row in name.rows and not any(world.get_row(each.record) in name.rows for each in later)
        for name in reading.names
    ):
        return None
    if not later or any(is_agreeing(stated.mention.value, stated.hedge, each, stated.text) for each in later):
        return None
    return make_contradicting_claim(
        stated, reading, binder, later[-1], Cause.OVERTAKEN, GroundednessRule.OVERTAKEN
    )


def _identify(fact: Fact, binder: ValueBinder) -> frozenset[tuple[tuple[str, ...], str]]:
    """Return what sets a fact's row apart: its identifiers and names."""
    world = binder.world
    row = world.get_row(fact.record)
    has_siblings = len(world.list_siblings(row)) > 1
    own = [
        (world.get_field(other), other.value.text or str(other.value.number))
        for other in world.list_facts(row)
        if other.value.kind is Kind.ID
        or (has_siblings and other.value.kind is Kind.TEXT)
        or other.field.lower() in ("id", "name")
    ]
    return frozenset([*own, ((world.sources[fact.source].arguments,), "")])


def find_unknown_identifier(stated: Stated, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that an identifier is another one with a digit or letter changed."""
    world = binder.world
    value = stated.mention.value
    if value.kind is not Kind.ID or not 4 <= len(value.text) <= _LONGEST_IDENTIFIER:
        return None
    if any(value.text in text.lower() for text in world.base.texts):
        return None
    known = {fact.value.text: fact for fact in world.base.by_kind[Kind.ID] if world.is_output(fact)}
    alike = [fact for text, fact in known.items() if is_slip(value.text, text)]
    if len(alike) != 1 or not any(character.isdigit() for character in value.text):
        return None
    return make_contradicting_claim(
        stated, reading, binder, alike[0], Cause.UNKNOWN_IDENTIFIER, GroundednessRule.UNKNOWN_IDENTIFIER
    )


def _names_zone(stated: Stated, reading: Reading) -> bool:
    """Return whether a time is followed by a time zone, which may be another than the source's."""
    following = next((word.text for word in reading.words if word.start >= stated.end), "")
    return len(following) in (3, 4) and following.isupper()


def _may_be_span(stated: Stated, binder: ValueBinder) -> bool:
    """Return whether a time or a duration is the difference of two times of the outputs."""
    value = stated.mention.value
    said = value.number if value.time is None else value.seconds
    times = [
        fact.value.seconds
        for fact in binder.world.base.by_kind[Kind.TIME]
        if binder.world.is_output(fact) and fact.value.time is not None
    ]
    return any(abs(abs(one - two) - said) <= _SPAN_STEP for one, two in combinations(times, 2))


def is_derivable(stated: Stated, binder: ValueBinder, reading: Reading) -> bool:
    """Return whether two amounts of the outputs, or a whole column, give a value by any operation."""
    value = stated.mention.value
    if value.kind not in NUMERIC:
        return False
    amounts = list(dict.fromkeys(fact.value.number * fact.factor for fact in binder.world.numeric))
    if len(amounts) > _MAX_OPERANDS:
        amounts = amounts[-_MAX_OPERANDS:]
    targets = [1.0, 0.01] if value.kind is Kind.PERCENT else [1.0]

    def fits(result: float) -> bool:
        return any(is_hedged_number(value, stated.hedge, abs(result), scale) for scale in targets)

    if value.unit == "time" and _may_be_span(stated, binder):
        return True
    stated_factors = [
        each.mention.value.number for each in reading.stated
        if each is not stated and each.mention.value.kind is Kind.NUMBER and each.mention.value.number
    ]  # fmt: skip
    factors = (*_RATES, *stated_factors)
    if any(fits(amount * factor) or fits(amount / factor) for amount in amounts for factor in factors):
        return True
    if any(fits(sum(row)) for row in _group_amounts(binder, _get_fact_row)):
        return True
    for one, two in combinations(amounts, 2):
        if fits(one + two) or fits(one - two) or fits(one * two):
            return True
        for above, below in ((one, two), (two, one)):
            if below and (fits(above / below) or fits((above - below) / below)):
                return True
    columns = [column for column in _group_amounts(binder, _get_table_column) if len(column) > 1]
    return any(fits(sum(column)) or fits(sum(column) / len(column)) for column in columns)


def _group_amounts(
    binder: ValueBinder, get_key: Callable[[World, Fact], tuple[object, ...]]
) -> Iterable[list[float]]:
    """Return the amounts of the outputs by what they share."""
    found: dict[tuple[object, ...], list[float]] = {}
    for fact in binder.world.numeric:
        found.setdefault(get_key(binder.world, fact), []).append(fact.value.number * fact.factor)
    return found.values()


def _get_fact_row(world: World, fact: Fact) -> tuple[object, ...]:
    return (world.get_row(fact.record),)


def _get_table_column(world: World, fact: Fact) -> tuple[object, ...]:
    return world.base.records[world.get_row(fact.record)].group, world.get_field(fact)
