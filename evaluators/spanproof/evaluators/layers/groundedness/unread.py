"""The words of a passage that no claim covers, and the names that its claims are about.

In: a reading with its claims. Out: claims of names that are of one row, and the stretches that stay unread.
A word is read where a claim covers it, where it names a field, a table or a tool of what is bound, where
the task has the noun, or where it says nothing that could be false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness import bind
from spanproof.evaluators.layers.groundedness.bind import ValueBinder
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimKind
from spanproof.evaluators.layers.groundedness.reader import Named, Reading, Stated
from spanproof.reading.agreement import Hedge
from spanproof.reading.lexicon import (
    is_among,
    is_of,
    list_cues,
    load_degrees,
    load_texts,
    load_words,
    names_mean,
)
from spanproof.reading.records import Fact, Role, is_possible
from spanproof.reading.sentences import Word
from spanproof.reading.statements import (
    are_tying,
    is_of_subject,
    is_of_success,
    is_own_doing,
    is_predicate,
    is_state,
)
from spanproof.reading.values import NUMERIC, Kind
from spanproof.reading.words import STOP, base_forms_of, expand

_FUNCTION_PARTS = frozenset(["DET", "PRON", "ADP", "AUX", "CCONJ", "PART", "PUNCT", "SPACE", "SYM", "SCONJ"])
# What a value has to do with the next one: "20 minus the fee".
_COMBINING: Final = frozenset(("minus", "excluding", "without", "including", "except", "besides"))
_CONTENT_PARTS: Final = frozenset(("NOUN", "PROPN", "VERB", "ADJ"))
_NAMING_PARTS: Final = frozenset(("NOUN", "PROPN", "VERB"))
_MEANINGFUL: Final = ("negation", "all", "only", "cause", "time", "hedge", "up", "down", "exact")
_SIDES: Final = load_texts("side")
# A hedge is at most so many words before its value: "a little more than 12".
_HEDGE_REACH: Final = 4
_LESSENING: Final = frozenset(("only", "just", "merely", "already"))
_WHOLE: Final = frozenset(("all", "total", "sum", "overall", "together"))
# Of "three items in total"; what is counted in "three items are below their limit" is a condition.
_OF_A_COUNT: Final = frozenset(("sum", "share"))
_NAMING: Final = frozenset((ClaimKind.NAME, ClaimKind.IDENTIFIER))
_AMOUNTS: Final = frozenset(map(ClaimKind, ("number", "currency", "percent", "quantity", "date", "time")))


def cover_requested(reading: Reading, binder: ValueBinder, task: str) -> None:
    """Cover the words of the task that say of what a lone result is: "the *highest* value".

    The call was made to find just that, and its result is one row.
    """
    if not any(_is_lone_result(fact, binder) for fact in reading.bound):
        return
    requested = frozenset(task.split())
    is_sum_requested = not requested.isdisjoint(_WHOLE)
    for at, word in enumerate(reading.words):
        lowered = word.text.lower()
        is_qualifier = lowered in load_degrees("superlative") or any(
            is_of(word, kind) for kind in ("all", "sum", "mean", "only", "time")
        )
        is_requested = lowered in requested or (is_of(word, "sum") and is_sum_requested)
        if is_qualifier and is_requested:
            reading.cover(at)


def _is_lone_result(fact: Fact, binder: ValueBinder) -> bool:
    """Return whether a fact is of the last output, and that is one row."""
    world = binder.world
    if fact.source != world.last_output:
        return False
    cells = [other for other in world.base.facts if other.source == fact.source and other.role is fact.role]
    return len({world.get_row(other.record) for other in cells}) == 1


def cover_cues(reading: Reading, task: str) -> None:
    """Cover the words of operations beside derived values, and the hedges of values that are bound."""
    words = [word.text.lower() for word in reading.words]
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        is_addition = word == "top" and words[at - 1 : at] == ["on"] and following != "of"
        # The task is about all, and the value answers it: "20 % of all orders".
        if is_addition or (word == "all" and f"all {following}" in task):
            reading.cover(at)
    for stated in reading.stated:
        if set(stated.words) <= reading.covered:
            _cover_hedges(stated, reading)
    for claim in reading.claims:
        if claim.cause is Cause.DERIVED and claim.evidence is not None:
            _cover_operations(claim, reading)


def _cover_hedges(stated: Stated, reading: Reading) -> None:
    """Cover the words before a bound value that say how it is meant: "only", "more than"."""
    first = stated.words[0]
    is_amount = stated.mention.value.kind is not Kind.NUMBER or bind.is_precise(stated)
    if first and is_amount and reading.words[first - 1].text.lower() in _LESSENING:
        # "Only 19%" says that this is little; "only one failed" says that no other did.
        reading.cover(first - 1)
    for at in range(max(0, first - _HEDGE_REACH), first) if stated.hedge is not Hedge.NONE else ():
        word = reading.words[at]
        if word.text.lower() == "than" or any(is_of(word, kind) for kind in ("about", "under", "over")):
            reading.cover(at)


def _cover_operations(claim: Claim, reading: Reading) -> None:
    """Cover the words of a derived value's clause that name operations."""
    places = reading.passage.places
    start = next((word.start for word in reading.words if places[word.start] >= claim.start), 0)
    low, high = reading.get_clause(start)
    for at, word in enumerate(reading.words):
        cues = list_cues([word])
        if claim.kind is ClaimKind.COUNT:
            cues &= _OF_A_COUNT
        is_operation = word.text.lower() == "than" or (cues and not is_of(word, "all"))
        if low <= word.start < high and is_operation:
            reading.cover(at)


def bind_names(
    reading: Reading, binder: ValueBinder, state_fields: AbstractSet[tuple[str, ...]]
) -> Iterator[Claim]:
    """Yield a claim for each name: of the row that the passage is about, or of another than that."""
    world = binder.world
    bound_rows = {world.get_row(fact.record) for fact in reading.bound}
    for name in reading.names:
        if set(name.words) <= reading.covered:
            continue
        is_of_state = _get_common_field(name, binder) in state_fields or _is_of_flag(name, binder)
        if is_of_state or all(map(is_possible, name.facts)):
            continue  # a state and a flag are bound by their own rules, or not at all
        others = [other for other in reading.names if other is not name]
        is_alone = not others and not reading.bound
        chains = {each for row in bound_rows for each in world.base.chain(row)}
        is_bound = not name.rows.isdisjoint(chains) or any(
            bound_rows & set(world.base.chain(row)) for row in name.rows
        )
        is_tied = any(_are_of_one_row(name, other, binder) for other in others)
        if _is_behind_other_field(name, reading, binder):
            continue
        foreign = _find_foreign(name, reading, binder)
        if foreign is not None:
            evidence, place = bind.make_evidence(foreign, world), (name.start, name.end)
            rule = GroundednessRule.OTHER_RECORD
            yield bind.make_contradiction(reading, place, ClaimKind.NAME, Cause.OTHER_VALUE, evidence, rule)
            continue
        if (is_bound or is_tied or is_alone) and not _is_mismatched(name, reading, binder):
            reading.cover(*name.words)
            is_role = any(
                _get_common_field(other, binder) != _get_common_field(name, binder)
                and _are_of_one_row(name, other, binder)
                for other in others
            )
            kind = ClaimKind.ROLE if is_role else ClaimKind.NAME
            yield bind.make_agreeing_claim(reading, (name.start, name.end), kind, name.facts[-1], world)


def _is_of_flag(name: Named, binder: ValueBinder) -> bool:
    """Return whether a name is the key of a flag, which says nothing without its value: `is_prime(97)`."""
    base = binder.world.base
    flags = {fact.field for fact in base.by_kind[Kind.BOOL]}
    return any(base.texts[fact.source][slice(*fact.cell)] in flags for fact in name.facts)


def _are_of_one_row(one: Named, other: Named, binder: ValueBinder) -> bool:
    chains = {each for row in other.rows for each in binder.world.base.chain(row)}
    return not one.rows.isdisjoint(chains) or any(
        not other.rows.isdisjoint(binder.world.base.chain(row)) for row in one.rows
    )


def _is_behind_other_field(name: Named, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether the word before a name is another field of its row: "from OSL" of `to: OSL`."""
    world, first = binder.world, name.words[0]
    before = reading.words[first - 1].text.lower() if first else ""
    bound = {world.get_row(fact.record) for fact in reading.bound}
    rows = (name.rows & bound) or name.rows
    fields = {fact.field.lower() for row in rows for fact in world.list_facts(row)}
    own = {fact.field.lower() for fact in name.facts if world.get_row(fact.record) in rows}
    return before in fields and before not in own


def _is_mismatched(name: Named, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether the name before it in its clause, of another field, is of other rows."""
    low, _ = reading.get_clause(name.start)
    field = _get_common_field(name, binder)
    before = [
        other
        for other in reading.names
        if low <= other.start < name.start and _get_common_field(other, binder) != field
    ]
    if not before or _are_of_one_row(name, before[-1], binder):
        return False
    tables = [{binder.world.base.records[row].group for row in each.rows} for each in (name, before[-1])]
    return not tables[0].isdisjoint(tables[1])


def _get_common_field(name: Named, binder: ValueBinder) -> tuple[str, ...]:
    fields = {binder.world.get_field(fact) for fact in name.facts}
    return fields.pop() if len(fields) == 1 else ()


def _find_foreign(name: Named, reading: Reading, binder: ValueBinder) -> Fact | None:
    """Return what the row that is named right before has in the field of a name that is of another row."""
    world = binder.world
    field = _get_common_field(name, binder)
    low, _ = reading.get_clause(name.start)
    before = [other for other in reading.names if low <= other.start and other.end <= name.start]
    if not before or not field or not name.is_whole or len(before[-1].rows) != 1:
        return None
    key = before[-1]
    (row,) = key.rows
    between = reading.words_between(key.end, name.start)
    if not are_tying(between) or not key.is_whole or _get_common_field(key, binder) == field:
        return None
    is_other = any(not other.rows.isdisjoint(name.rows) for other in reading.names if other is not name)
    cells = [fact for fact in world.list_facts(row) if fact.role is Role.CELL]
    own = [fact for fact in cells if world.get_field(fact) == field]
    is_of_sibling = name.rows <= set(world.list_siblings(row)) - {row}
    if is_other or not is_of_sibling or len(own) != 1:
        return None
    return own[0] if own[0].value.kind in (Kind.TEXT, Kind.ID) else None


def list_unread(reading: Reading, binder: ValueBinder) -> list[tuple[int, int]]:
    """Return the places in the answer of the words that are not read, neighbours joined."""
    known = _collect_known(reading, binder)
    groups = expand(known)
    # A value that is not found is a claim of its own.
    stated = {at for each in reading.stated for at in each.words}
    unread = [
        at
        for at, word in enumerate(reading.words)
        if at not in reading.covered | stated and not _is_read(word, at, reading, known, groups, binder)
    ]
    stretches: list[list[int]] = []
    for at in unread:
        if stretches and at - stretches[-1][-1] <= 1:
            stretches[-1].append(at)
        else:
            stretches.append([at])
    return [
        reading.passage.locate(reading.words[stretch[0]].start, reading.words[stretch[-1]].end)
        for stretch in stretches
    ]


def _collect_known(reading: Reading, binder: ValueBinder) -> frozenset[str]:
    """Return the words that name what is bound: fields of the rows, their tables and tools."""
    world = binder.world
    known: set[str] = set(reading.scope_words)
    for fact in reading.bound:
        known |= world.words_of(fact)
        known |= world.words_about(fact.source)
        group = world.base.records[world.get_row(fact.record)].group
        if group is not None:
            known |= set(world.base.group_names[group].lower().split())
        if not fact.path:
            known |= fact.words
    return frozenset(known - STOP)


def _is_read(
    word: Word,
    at: int,
    reading: Reading,
    known: frozenset[str],
    groups: frozenset[str],
    binder: ValueBinder,
) -> bool:
    """Return whether a word names what is bound, or says nothing that could be false."""
    lowered = word.text.lower()
    if word.part in ("PUNCT", "SPACE") or not any(map(str.isalnum, word.text)):
        return word.text not in ("→", "%")
    is_synonym = not expand((word.form,)).isdisjoint(groups)
    if lowered in load_degrees("superlative") or lowered in load_degrees("comparative"):
        return word.form in known or is_synonym
    if lowered in _SIDES or any(is_of(word, kind) for kind in _MEANINGFUL):
        # "Add up to" is what the operation is called, and no direction.
        is_of_sum = lowered == "up" and at > 0 and is_of(reading.words[at - 1], "sum")
        return is_of_sum or (word.form in known and not is_of(word, "negation"))
    if lowered in _COMBINING or is_of_success(reading.words, at):
        return False
    if word.part in _FUNCTION_PARTS or (not word.part and lowered in STOP):
        return True
    if is_among(word, known) or (is_of(word, "mean") and names_mean(known)):
        return True
    if is_of(word, "mean") and any(len(binder.list_column(fact)) > 1 for fact in reading.bound):
        return False  # one value of a column is no mean of it
    # "I charged $25" of an amount says what was done.
    is_naming = is_synonym and word.part in _NAMING_PARTS and not is_own_doing(reading.words, at)
    return is_naming or _is_read_by_task(word, at, reading, binder)


def _is_read_by_task(word: Word, at: int, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether the task has a word and takes it for granted, or whether it is of no matter."""
    is_requested = word.part in _CONTENT_PARTS and is_among(word, binder.task_words)
    is_requested = is_requested and not binder.is_value_alone(reading)
    if is_requested and _is_in_question(word, at, reading, binder):
        return False
    if is_of(word, "carrier") and not _is_unsettled_state(at, reading, binder, is_requested=is_requested):
        return True
    if word.part == "VERB" and is_own_doing(reading.words, at):
        return False
    return is_requested or _is_type_noun(word, at, reading, binder)


def _is_unsettled_state(at: int, reading: Reading, binder: ValueBinder, *, is_requested: bool) -> bool:
    """Return whether a verb says what became of a thing.

    What the task requested was done where no source has a state of it: "is handed in".
    """
    if not is_state(reading.words, at):
        return False
    fields = _collect_field_words(reading.bound, binder)
    return not is_requested or not fields.isdisjoint(load_words("statefield"))


def _is_in_question(word: Word, at: int, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a word of the task has to be found in a source all the same.

    "Is it open?" puts "open" into question, "Who sent it?" which of two names is whose, and of "500 users are
    active" the row has another number of active ones.
    """
    if is_predicate(reading.words, at) or (binder.is_task_polar and not is_of_subject(reading.words, at)):
        return True
    kinds = {claim.kind for claim in reading.claims}
    is_of_whom = word.part == "ADJ" or ClaimKind.ROLE in kinds or kinds <= _NAMING
    if word.part in ("VERB", "ADJ") and binder.is_task_of_subject and is_of_whom:
        return True
    amounts = [fact for fact in reading.bound if fact.path and fact.value.kind in NUMERIC]
    return word.part in ("VERB", "ADJ") and word.form in _collect_field_words(amounts, binder)


def _collect_field_words(facts: Sequence[Fact], binder: ValueBinder) -> frozenset[str]:
    """Return the words that name the fields of the rows of some facts."""
    rows = {binder.world.get_row(fact.record) for fact in facts}
    cells = (fact for row in rows for fact in binder.world.list_facts(row) if fact.path)
    return frozenset[str]().union(*(fact.words for fact in cells))


def _is_counting_other(stated: Stated, reading: Reading) -> bool:
    """Return whether nothing near a stated value says what its source counts: "180 rooms" of `price: 180`."""
    fact = reading.by_stated.get(stated.start)
    if fact is None:
        return False
    behind = fact.sentence.text[fact.end - fact.sentence.start :].split()[:1] if fact.sentence else []
    counted = base_forms_of(" ".join(behind)) if behind else fact.words
    return bool(counted) and counted.isdisjoint(word.form for word in reading.words)


def _is_counted(at: int, reading: Reading) -> bool:
    """Return whether a noun is of a number that is read, or of a superlative."""
    degrees, counting = load_degrees("superlative"), ("nummod", "det", "predet")
    others = {index for each in reading.stated if _is_counting_other(each, reading) for index in each.words}
    own = [reading.words[index] for index in reading.covered - others if reading.words[index].head == at]
    return any(other.relation in counting or other.text.lower() in degrees for other in own)


def _names_quantity(word: Word, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a subject may name the quantity: in "the median is 12", not "the kettle costs 12"."""
    if len(binder.world.numeric) > 1:
        return True
    head = reading.words[word.head]
    is_copular = head.part == "AUX" or is_of(head, "carrier")
    return is_copular and (bool(binder.task_words) or any(fact.path for fact in reading.bound))


def _is_type_noun(word: Word, at: int, reading: Reading, binder: ValueBinder) -> bool:
    """Return whether a noun says of what kind the thing is that a claim is about: "the cheapest *product*".

    Of an amount it would be the name of the quantity, so that it has to be one that a source has.
    """
    if word.part != "NOUN" or word.form in binder.world.field_words:
        return False
    if _is_counted(at, reading):
        return True
    has_amount = any(claim.kind in _AMOUNTS and claim.cause is Cause.STATED for claim in reading.claims)
    is_subject = word.relation in ("nsubj", "nsubjpass") and bool(reading.claims)
    return is_subject and not (has_amount and _names_quantity(word, reading, binder))
