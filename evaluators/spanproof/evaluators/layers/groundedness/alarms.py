"""Certain alarms: values that contradict what an output holds for that very quantity.

In: a stated value that is not bound, the reading and the world. Out: a contradicting claim, or None. No
alarm fires where the row that the value is of is named in the sentence, or where arithmetic could give the
value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness.bind import (
    ValueBinder,
    build_contradicting_claim,
    build_open_claim,
    is_certain_name,
)
from spanproof.evaluators.layers.groundedness.model import Claim
from spanproof.evaluators.layers.groundedness.reader import Reading, Stated
from spanproof.evaluators.layers.groundedness.world import FieldName, World
from spanproof.reading.agreement import (
    Hedge,
    are_comparable,
    is_agreeing,
    is_hedged_number,
    is_of_other_scale,
    is_slip,
)
from spanproof.reading.arithmetic import is_result
from spanproof.reading.lexicon import is_of, list_cues, load_texts
from spanproof.reading.records import Fact, Role
from spanproof.reading.sentences import Form
from spanproof.reading.slips import find_exchanged
from spanproof.reading.statements import compares_or_derives, is_of_past, names_another, names_other_time
from spanproof.reading.units import UNITS
from spanproof.reading.values import NUMERIC, Kind, Value, compute_days_between, is_year
from spanproof.reading.words import list_base_forms

_MAX_OPERANDS: Final = 60
SMALL_COUNT: Final = 20
"""A plain whole number up to this counts something as often as it quotes."""
# What turns a rate or a unit into another: per minute into per hour.
_RATES: Final = (7, 12, 24, 30, 52, 60, 100, 365, 1000, 1024, 3600)
_COMPARING: Final = load_texts("comparing")
_ADJOINING: Final = load_texts("adjoining")
_PAST: Final = frozenset(("was", "were"))
_PRESENT: Final = frozenset(("is", "are", "now", "currently"))
OF_REACH: Final = 3
"""A part is at most so many words before its whole: "12 of the 80"."""
# A date by another clock than that of the run is further away than a wrong day is.
_CLOCK_DAYS: Final = 31
_MEANING_PARTS: Final = frozenset(("NOUN", "PROPN", "ADJ", "VERB", "ADV", ""))
_LISTING: Final = frozenset((",", "and", "or", ";", "/", "&", "then"))
_PARTING: Final = frozenset((",", ";", "(", ")", "then", "–", "—"))
# A value's subject is at most so many words before it, where a sentence is to be contradicted.
_SUBJECT_REACH: Final = 6
_LONGEST_IDENTIFIER: Final = 40
# Seconds by which the difference of two times may differ from a duration that is stated in minutes.
_SPAN_STEP: Final = 60.0
# Characters of a unit that a cell may have beside its number.
_LONGEST_UNIT: Final = 4
# "About 90" may be off by so much of the amount.
_ABOUT_SHARE: Final = 0.2


def find_misquote(stated: Stated, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a value is not that of the one field that the sentence names."""
    value = stated.mention.value
    if not _is_quotable(value, stated) or stated.hedge in (Hedge.OVER, Hedge.UNDER):
        return None
    operands = binder.world.list_operands(binder.list_words(reading))
    slipped = find_exchanged(value, operands) if stated.hedge is Hedge.NONE else None
    if slipped is not None and not is_derivable(stated, binder, reading):
        return build_contradicting_claim(stated, reading, binder, slipped, GroundednessRule.MISQUOTE)
    rivals = [] if _is_item_of_list(reading) else _list_rivals(stated, reading, binder)
    if len(rivals) != 1 or is_derivable(stated, binder, reading):
        return None
    rival = rivals[0]
    if _is_of_other_measure(stated, rival, reading, binder):
        return None
    is_about = stated.hedge is Hedge.ABOUT or any(is_of(word, "about") for word in reading.words)
    is_near = abs(value.number - rival.value.number) < _ABOUT_SHARE * abs(rival.value.number)
    if is_about and is_near:
        return None
    return build_contradicting_claim(stated, reading, binder, rival, GroundednessRule.MISQUOTE)


def _is_of_other_measure(stated: Stated, rival: Fact, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a value may be of another clock, time zone, scale or unit than a fact."""
    value = stated.mention.value
    if value.kind is Kind.DATE and _may_have_other_clock(stated, rival, binder):
        return True
    if value.kind is Kind.TIME and (_names_zone(stated, reading) or _may_be_span(stated, binder)):
        return True
    if value.kind in NUMERIC and is_of_other_scale(value, rival):
        return True
    # The number may be there in another unit than the one that could be read.
    return any(abs(value.amount - fact.value.amount) < 1e-9 for fact in binder.world.numeric)


def _may_have_other_clock(stated: Stated, rival: Fact, binder: ValueBinder) -> bool:
    """Return whether "yesterday" may be that of another day than the one of the run.

    It is where the task says what today is, and where the outputs are of another time.
    """
    days = compute_days_between(stated.mention.value, rival.value)
    if any(map(str.isdigit, stated.text)) or days is None:
        return False
    return "today" in binder.task_words or days > _CLOCK_DAYS


def find_named_field(
    stated: Stated, matches: Sequence[Fact], reading: Reading, binder: ValueBinder
) -> Claim | None:
    """Return the claim that a value is not that of the one field that its clause is about.

    That is the field whose whole name is beside the value; where none does, the only one of its unit.
    """
    world = binder.world
    value = stated.mention.value
    is_bare = stated.hedge is Hedge.NONE and not reading.passage.cells and not _is_item_of_list(reading)
    if world.base.cut or not is_bare or value.kind not in NUMERIC or not _is_quotable(value, stated):
        return None
    if _compares_quantities(stated, reading, binder):
        return None
    facts = _list_named(stated, reading, binder) or _list_of_unit(stated, binder)
    fields = {world.get_field(fact) for fact in facts}
    is_other_field = bool(matches) and not _are_of_one_record(matches, facts, world)
    if len(fields) != 1 or is_other_field or _has_other_words(stated, reading, binder):
        return None
    if not _can_only_be_of(facts, stated, reading, binder):
        return None
    return build_contradicting_claim(stated, reading, binder, facts[-1], GroundednessRule.MISQUOTE)


def _compares_quantities(stated: Stated, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a sentence calculates, compares, or says what was before beside what is now."""
    clause = reading.list_words_between(*reading.get_clause(stated.start))
    if list_cues(clause) - {"sum", "mean", "share"}:
        return True
    texts = {word.text.lower() for word in reading.words}
    # "Was" may say of an earlier time only where the sentence says what is now.
    is_comparing = bool(texts & (_COMPARING - _PAST)) or bool(texts & _PAST and texts & _PRESENT)
    return is_comparing or _is_of_other_quantity(stated, reading, binder)


def _can_only_be_of(facts: Sequence[Fact], stated: Stated, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a value is of the scale of a field, and neither a part, a whole nor a total of it."""
    value, field_words = stated.mention.value, binder.world.list_words(facts[0])
    if _is_adjoined(stated, reading, field_words) or _is_whole_of_part(stated, reading):
        return False
    if any(not are_comparable(value, fact) or is_of_other_scale(value, fact) for fact in facts):
        return False
    # Two charges may have a total.
    is_several = len({fact.value.number for fact in facts}) > 1
    return not is_several or not is_derivable(stated, binder, reading)


def _are_of_one_record(matches: Sequence[Fact], facts: Sequence[Fact], world: World) -> bool:
    """Return whether all facts of a value are other fields of the row whose field is named.

    One of them with the stated unit may be what the words mean: "the meter reading: 647 kWh since May".
    """
    rows = {world.get_row(fact.record) for fact in facts}
    return all(
        fact not in facts and world.get_row(fact.record) in rows and fact.value.unit == facts[0].value.unit
        for fact in matches
    )


def _is_whole_of_part(stated: Stated, reading: Reading) -> bool:
    """Return whether a value is the whole that another is a part of: the 48 of "44 of 48 tests pass"."""
    parts = [
        reading.list_words_between(other.end, stated.start)
        for other in reading.stated
        if other.end <= stated.start
    ]
    return any(
        len(words) <= OF_REACH and words[:1] and words[0].text.lower() in ("of", "/", "out")
        for words in parts
    )


def _is_item_of_list(reading: Reading) -> bool:
    """Return whether what is above an item says what its amount is of: "You still need: - 200 ml milk"."""
    passage = reading.passage
    return passage.form is Form.ITEM and bool(passage.above) and passage.lead is None


def _list_named(stated: Stated, reading: Reading, binder: ValueBinder) -> list[Fact]:
    """Return the amounts of lone rows with the longest name that is as a whole beside a value."""
    low, _ = reading.get_clause(stated.start)
    before = (name for name in reading.names if low <= name.start < stated.start)
    labels = (name for name in before if any(fact.role is Role.KEY for fact in name.facts))
    near = next(binder.iter_context(stated, reading)).union(
        *(list_base_forms(reading.text[name.start : name.end]) for name in labels)
    )
    named = [(binder.world.list_words(fact) - UNITS.keys(), fact) for fact in _iter_lone(binder)]
    longest = max((len(words) for words, _ in named if words <= near), default=0)
    return [fact for words, fact in named if words <= near and len(words) == longest > 0]


def _list_of_unit(stated: Stated, binder: ValueBinder) -> list[Fact]:
    """Return the amounts in the unit of a value, where each is the whole of its field in a lone row."""
    value = stated.mention.value
    if value.kind not in (Kind.MONEY, Kind.QUANTITY):
        return []
    alike = [
        fact
        for fact in binder.world.numeric
        if fact.value.kind is value.kind and (value.kind is Kind.MONEY or fact.value.unit == value.unit)
    ]
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
    named = {at for name in reading.names for at in name.words} | reading.covered.union(stated.words)
    others = [word for at, word in enumerate(reading.words) if at not in named and low <= word.start < high]
    meaning = [word for word in others if word.part in _MEANING_PARTS and word.text[:1].isalpha()]
    field_words = binder.world.field_words
    return any(word.form not in field_words and not is_of(word, "carrier") for word in meaning)


def _is_quotable(value: Value, stated: Stated) -> bool:
    if stated.mention.spelled or value.kind not in (*NUMERIC, Kind.DATE, Kind.TIME) or is_year(value):
        return False
    is_small = value.kind is Kind.NUMBER and value.step >= 1 and abs(value.number) <= SMALL_COUNT
    return not is_small


def _list_rivals(stated: Stated, reading: Reading, binder: ValueBinder) -> list[Fact]:
    """Return the facts that the sentence names as those that the value is of."""
    world, value = binder.world, stated.mention.value
    texts = {word.text.lower() for word in reading.words}
    if world.base.cut or texts & _COMPARING or _is_of_other_quantity(stated, reading, binder):
        return []
    if list_cues(reading.list_clause_words(stated)) - {"sum", "share"}:
        return []
    row = _find_subject_row(stated, reading, binder)
    facts = [] if row is None else [fact for fact in world.list_facts(row) if _is_rival(value, fact, world)]
    near = next(binder.iter_context(stated, reading))
    scores = [(len(world.list_words(fact) & near), fact) for fact in facts]
    best = max((score for score, _ in scores), default=0)
    named = [fact for score, fact in scores if score == best > 0]
    if len(named) != 1 or _is_adjoined(stated, reading, world.list_words(named[0])):
        return []
    return named if _is_whole_header(stated, reading, named[0], binder) else []


def _find_subject_row(stated: Stated, reading: Reading, binder: ValueBinder) -> int | None:
    """Return the row that is surely a value's subject: the one named beside it, else the only lone row."""
    if reading.passage.lead is not None or reading.names or binder.list_subjects(stated, reading):
        return _find_named_row(stated, reading, binder)
    world = binder.world
    rows = {world.get_row(fact.record) for fact in world.base.facts if world.is_output(fact)}
    lone = [row for row in rows if len(world.list_siblings(row)) == 1]
    return lone[0] if len(lone) == 1 else None


def _find_named_row(stated: Stated, reading: Reading, binder: ValueBinder) -> int | None:
    """Return the only row that is named beside a value."""
    subjects = binder.list_subjects(stated, reading)
    is_certain = len(subjects) == 1 == len(subjects[0]) and is_subject_beside(stated, reading)
    return next(iter(subjects[0])) if is_certain else None


def _is_rival(value: Value, fact: Fact, world: World) -> bool:
    """Return whether a cell with a name could be what a value quotes."""
    if fact.role is not Role.CELL or not fact.path or not are_comparable(value, fact):
        return False
    if fact.value.kind is Kind.TEXT or (fact.value.kind in NUMERIC and not _is_cell(fact, world)):
        return False
    return value.kind is not Kind.QUANTITY or not value.unit or bool(fact.value.unit)


def _is_of_other_quantity(stated: Stated, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a value is what another one differs by ("late by 3 days"), or is of another time."""
    is_difference = bool(stated.words[0]) and reading.words[stated.words[0] - 1].text.lower() == "by"
    return is_difference or names_other_time(reading.text, binder.task_words)


def _is_adjoined(stated: Stated, reading: Reading, field_words: frozenset[str]) -> bool:
    """Return whether a field only comes with a value: "118.00 before the fee", "including the fee it is"."""
    low, high = reading.get_clause(stated.start)
    for at, word in enumerate(reading.words):
        if not low <= word.start < high or word.text.lower() not in _ADJOINING:
            continue
        following = reading.words[at + 1 : at + 1 + _SUBJECT_REACH]
        is_field = any(other.form in field_words for other in following)
        to_value = reading.words[at : stated.words[0]]
        is_apart = at > stated.words[0] or any(other.part in ("VERB", "AUX") for other in to_value)
        if is_field and is_apart:
            return True
    return False


def _is_whole_header(stated: Stated, reading: Reading, fact: Fact, binder: ValueBinder) -> bool:
    """Return whether the header of a cell names a field and no more: "with bonus" is another than `bonus`."""
    return list_base_forms(reading.get_header(stated)) <= binder.world.list_words(fact)


def find_other_record(
    stated: Stated, matches: Sequence[Fact], reading: Reading, binder: ValueBinder
) -> Claim | None:
    """Return the claim that a value is that of another row than the one that the sentence names."""
    world = binder.world
    value = stated.mention.value
    if value.kind not in (*NUMERIC, Kind.DATE, Kind.TIME) or stated.mention.spelled:
        return None
    row = _find_named_row(stated, reading, binder)
    field, rows = (None, set[int]()) if row is None else _get_field_of_others(row, matches, world)
    # An item of a list is of no row.
    if row is None or field is None or _is_among_others(stated, reading):
        return None
    if not _may_be_exchanged(row, rows, field, reading, binder):
        return None
    if compares_or_derives(reading.list_clause_words(stated)):
        return None
    own = [fact for fact in world.list_facts(row) if world.get_field(fact) == field]
    if len(own) != 1 or not binder.is_named_field(own[0], stated, reading):
        return None
    if is_agreeing(value, stated.hedge, own[0], stated.text) or is_derivable(stated, binder, reading):
        return None
    return build_contradicting_claim(stated, reading, binder, own[0], GroundednessRule.OTHER_RECORD)


def _get_field_of_others(
    row: int, matches: Sequence[Fact], world: World
) -> tuple[FieldName | None, set[int]]:
    """Return the one field that all matches are of, in other rows of a row's table, and those rows."""
    source = world.base.records[row].source
    matches = [fact for fact in matches if fact.source == source or not world.is_of_many(fact)]
    rows = {world.get_row(fact.record) for fact in matches}
    fields = {world.get_field(fact) for fact in matches}
    is_of_others = rows <= set(world.list_siblings(row)) - {row}
    # The label of a row is its name.
    has_label = any(world.list_facts(other)[0] in matches for other in rows)
    if len(fields) != 1 or not is_of_others or has_label:
        return None, rows
    return fields.pop() or None, rows


def _is_among_others(stated: Stated, reading: Reading) -> bool:
    """Return whether a value is in a list of values of its kind: "18:00, 18:45 (terrace) and 20:15"."""
    kind = stated.mention.value.kind
    others = [other for other in reading.stated if other is not stated and other.mention.value.kind is kind]
    return any(
        all(word.text in _LISTING for word in reading.list_words_between(low, high))
        for other in others
        for low, high in ((min(other.end, stated.end), max(other.start, stated.start)),)
    )


def _may_be_exchanged(
    row: int, others: set[int], field: FieldName, reading: Reading, binder: ValueBinder
) -> bool:
    """Return whether no other row is named, or one beside this value: "A has 56, B has 41" for 41 and 56."""
    if all(name.rows.isdisjoint(others) for name in (*reading.names, *reading.scope)):
        return True
    for stated in reading.stated:
        subjects = binder.list_subjects(stated, reading)
        if len(subjects) == 1 and subjects[0] <= others and is_subject_beside(stated, reading):
            facts = binder.list_matches(stated)
            found = {(binder.world.get_row(fact.record), binder.world.get_field(fact)) for fact in facts}
            if found == {(row, field)}:
                return True
    return False


def is_subject_beside(stated: Stated, reading: Reading) -> bool:
    """Return whether the name before a value is surely its subject: near it, with nothing in between."""
    lead = reading.passage.lead
    before = [name for name in reading.names if name.end <= stated.start]
    if not before:
        return False
    between = reading.list_words_between(before[-1].end, stated.start)
    if not is_certain_name(before[-1], reading) or names_another(between):
        return False
    is_lead = lead is not None and before[-1].end <= lead[1] and len(reading.names) == 1
    is_parted = any(word.text in _PARTING for word in between)
    return len(between) <= _SUBJECT_REACH and (is_lead or not is_parted)


def find_overtaken(stated: Stated, fact: Fact, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a later output has another value of the same field of the same row.

    Of a row that nothing identifies the later output may be of another case: "over 20 years" after "over 30
    years". Then the claim is open, where the task, the passage or another value of the answer may say so.
    """
    if not fact.path or stated.hedge is not Hedge.NONE or any(map(is_of_past, reading.words)):
        return None
    later = _list_later(fact, binder)
    if not later or _is_any(stated, later):
        return None
    is_identified = _list_identity(fact, binder) != _UNIDENTIFIED
    is_later_stated = any(_is_any(other, later) for other in binder.stated)
    if is_identified and is_later_stated:
        return None
    if _names_only_earlier(fact, later, reading, binder.world):
        return None
    may_be_of_case = is_later_stated or binder.is_task_of_cases or _has_other_words(stated, reading, binder)
    if may_be_of_case and not is_identified:
        return build_open_claim(stated, reading, later[-1], binder.world)
    return build_contradicting_claim(stated, reading, binder, later[-1], GroundednessRule.OVERTAKEN)


def _names_only_earlier(fact: Fact, later: Sequence[Fact], reading: Reading, world: World) -> bool:
    """Return whether a name of the passage is of a fact's row, and of none of the later outputs' rows."""
    row, own_words = world.get_row(fact.record), world.list_words(fact)
    rows = {world.get_row(other.record) for other in later}
    names = [name for name in reading.names if row in name.rows and rows.isdisjoint(name.rows)]
    # "The monthly payment" of a line `monthly_payment: 900` names the field, and no thing that has one.
    return any(not {reading.words[at].form for at in name.words} <= own_words for name in names)


def _is_any(stated: Stated, facts: Sequence[Fact]) -> bool:
    """Return whether a stated value is that of some fact."""
    return any(is_agreeing(stated.mention.value, stated.hedge, fact, stated.text) for fact in facts)


def _list_later(fact: Fact, binder: ValueBinder) -> list[Fact]:
    """Return what later outputs have in the same field of the same row."""
    world = binder.world
    alike = [other for other in world.base.by_kind[fact.value.kind] if other.path == fact.path]
    later = [other for other in alike if world.outputs > other.source > fact.source]
    return [other for other in later if _list_identity(other, binder) == _list_identity(fact, binder)]


_UNIDENTIFIED: Final = frozenset({(("",), "")})


def _list_identity(fact: Fact, binder: ValueBinder) -> frozenset[tuple[tuple[str, ...], str]]:
    """Return what sets a fact's row apart: its identifiers and names."""
    world = binder.world
    row = world.get_row(fact.record)
    has_siblings = len(world.list_siblings(row)) > 1
    kinds = (Kind.ID, Kind.TEXT) if has_siblings else (Kind.ID,)
    own = [
        (world.get_field(other), other.value.text or str(other.value.number))
        for other in world.list_facts(row)
        if other.value.kind in kinds or other.field.lower() in ("id", "name")
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
    identifiers = {fact.value.text: fact for fact in world.base.by_kind[Kind.ID] if world.is_output(fact)}
    alike = [fact for text, fact in identifiers.items() if is_slip(value.text, text)]
    if len(alike) != 1 or not any(character.isdigit() for character in value.text):
        return None
    return build_contradicting_claim(stated, reading, binder, alike[0], GroundednessRule.UNKNOWN_IDENTIFIER)


def _names_zone(stated: Stated, reading: Reading) -> bool:
    """Return whether a time is followed by a time zone, which may be another than the source's."""
    following = next((word.text for word in reading.words if word.start >= stated.end), "")
    return len(following) in (3, 4) and following.isupper()


def _may_be_span(stated: Stated, binder: ValueBinder) -> bool:
    """Return whether a time or a duration is the difference of two times of the outputs."""
    value = stated.mention.value
    amount = value.number if value.time is None else value.seconds
    times = [
        fact.value.seconds
        for fact in binder.world.base.by_kind[Kind.TIME]
        if binder.world.is_output(fact) and fact.value.time is not None
    ]
    return any(abs(abs(one - two) - amount) <= _SPAN_STEP for one, two in combinations(times, 2))


def is_derivable(stated: Stated, binder: ValueBinder, reading: Reading) -> bool:
    """Return whether two amounts of the outputs, or a whole column, give a value by any operation."""
    value = stated.mention.value
    if value.kind not in NUMERIC:
        return False
    bound = (fact.source for fact in reading.by_stated.values())
    facts = binder.world.list_operands(binder.list_words(reading), bound)
    amounts = list(dict.fromkeys(fact.value.number * fact.factor for fact in facts))
    # A column may have a unit in its name, and the one beside it none: `avg_days` and `promised`.
    amounts += [new for new in dict.fromkeys(fact.value.amount for fact in facts) if new not in amounts]
    amounts = amounts[-_MAX_OPERANDS:]
    targets = [1.0, 0.01] if value.kind is Kind.PERCENT else list({1.0, 1 / value.factor})

    def fits(result: float) -> bool:
        return any(is_hedged_number(value, stated.hedge, abs(result), scale) for scale in targets)

    if value.unit == "time" and _may_be_span(stated, binder):
        return True
    others = (other.mention.value for other in reading.stated if other is not stated)
    stated_factors = [other.number for other in others if other.kind is Kind.NUMBER and other.number]
    if any(map(fits, _iter_totals(facts, binder.world))):
        return True
    return is_result(fits, amounts, (*_RATES, *stated_factors))


def _iter_totals(facts: Sequence[Fact], world: World) -> Iterator[float]:
    """Yield the sum of each row, then the sum and the mean of each column of several amounts."""
    rows: dict[int, list[float]] = {}
    columns: dict[tuple[object, ...], list[float]] = {}
    for fact in facts:
        row, amount = world.get_row(fact.record), fact.value.number * fact.factor
        rows.setdefault(row, []).append(amount)
        columns.setdefault((world.base.records[row].group, world.get_field(fact)), []).append(amount)
    yield from map(sum, rows.values())
    for column in columns.values():
        if len(column) > 1:
            yield sum(column)
            yield sum(column) / len(column)
