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
from spanproof.reading.fact_names import is_possible
from spanproof.reading.lexicon import (
    is_among,
    is_of,
    list_cues,
    load_degrees,
    load_words,
    names_field,
)
from spanproof.reading.records import Fact, Role
from spanproof.reading.sentences import Word
from spanproof.reading.statements import (
    are_tying,
    has_counting_word,
    is_combining,
    is_degree,
    is_function_word,
    is_mark,
    is_meaningful,
    is_of_subject,
    is_of_success,
    is_own_doing,
    is_predicate,
    is_state,
    is_up_of_sum,
    may_name,
)
from spanproof.reading.values import NUMERIC, Kind
from spanproof.reading.words import STOP, list_base_forms, list_groups_of

_CONTENT_PARTS: Final = frozenset(("NOUN", "PROPN", "VERB", "ADJ"))
# A hedge is at most so many words before its value: "a little more than 12".
_HEDGE_REACH: Final = 4
_LESSENING: Final = frozenset(("only", "just", "merely", "already"))
_WHOLE: Final = frozenset(("all", "total", "sum", "overall", "together"))
# Of "three items in total"; what is counted in "three items are below their limit" is a condition.
_OF_A_COUNT: Final = frozenset(("sum", "share"))
_NAMING: Final = frozenset((ClaimKind.NAME, ClaimKind.IDENTIFIER))
_AMOUNTS: Final = frozenset(map(ClaimKind, ("number", "currency", "percent", "quantity", "date", "time")))


def record_requested(reading: Reading, binder: ValueBinder, task: str) -> None:
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
            reading.add_covered(at)


def _is_lone_result(fact: Fact, binder: ValueBinder) -> bool:
    """Return whether a fact is of the last output, and that is one row."""
    world = binder.world
    if fact.source != world.last_output:
        return False
    cells = [other for other in world.base.facts if other.source == fact.source and other.role is fact.role]
    return len({world.get_row(other.record) for other in cells}) == 1


def record_cues(reading: Reading, task: str) -> None:
    """Cover the words of operations beside derived values, and the hedges of values that are bound."""
    words = [word.text.lower() for word in reading.words]
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        is_addition = word == "top" and words[at - 1 : at] == ["on"] and following != "of"
        # The task is about all, and the value answers it: "20 % of all orders".
        if is_addition or (word == "all" and f"all {following}" in task):
            reading.add_covered(at)
    for stated in reading.stated:
        if set(stated.words) <= reading.covered:
            _record_hedges(stated, reading)
    for claim in reading.claims:
        if claim.cause is Cause.DERIVED and claim.evidence is not None:
            _record_operations(claim, reading)


def _record_hedges(stated: Stated, reading: Reading) -> None:
    """Cover the words before a bound value that say how it is meant: "only", "more than"."""
    first = stated.words[0]
    is_amount = stated.mention.value.kind is not Kind.NUMBER or stated.is_precise
    if first and is_amount and reading.words[first - 1].text.lower() in _LESSENING:
        # "Only 19%" says that this is little; "only one failed" says that no other did.
        reading.add_covered(first - 1)
    for at in range(max(0, first - _HEDGE_REACH), first) if stated.hedge is not Hedge.NONE else ():
        word = reading.words[at]
        if word.text.lower() == "than" or any(is_of(word, kind) for kind in ("about", "under", "over")):
            reading.add_covered(at)


def _record_operations(claim: Claim, reading: Reading) -> None:
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
            reading.add_covered(at)


def iter_name_claims(
    reading: Reading, binder: ValueBinder, state_fields: AbstractSet[tuple[str, ...]]
) -> Iterator[Claim]:
    """Yield a claim for each name: of the row that the passage is about, or of another than that."""
    world = binder.world
    bound_rows = {world.get_row(fact.record) for fact in reading.bound}
    for name in reading.names:
        is_covered = set(name.words) <= reading.covered
        # A state and a flag are bound by their own rules, or not at all.
        has_own_rules = _get_common_field(name, binder) in state_fields or _is_of_no_fact(name, binder)
        if is_covered or has_own_rules or _is_behind_other_field(name, reading, binder):
            continue
        span = (name.start, name.end)
        foreign = _find_foreign(name, reading, binder)
        if foreign is not None:
            evidence, rule = bind.build_evidence(foreign, world), GroundednessRule.OTHER_RECORD
            yield bind.build_contradiction(reading, span, ClaimKind.NAME, Cause.OTHER_VALUE, evidence, rule)
            continue
        is_alone = len(reading.names) == 1 and not reading.bound
        tied = _list_tied(name, reading, binder)
        is_bound = is_alone or bool(tied) or _are_of_one_row(name.rows, bound_rows, binder)
        if is_bound and not _is_mismatched(name, reading, binder):
            reading.add_covered(*name.words)
            fields = {_get_common_field(other, binder) for other in tied}
            kind = ClaimKind.ROLE if fields - {_get_common_field(name, binder)} else ClaimKind.NAME
            yield bind.build_agreeing_claim(reading, span, kind, name.facts[-1], world)


def _is_of_no_fact(name: Named, binder: ValueBinder) -> bool:
    """Return whether a name is of what only may be, or the key of a flag without a value: `is_prime(97)`."""
    base = binder.world.base
    flags = {fact.field for fact in base.by_kind[Kind.BOOL]}
    is_key = any(base.texts[fact.source][slice(*fact.cell)] in flags for fact in name.facts)
    return is_key or all(map(is_possible, name.facts))


def _list_tied(name: Named, reading: Reading, binder: ValueBinder) -> list[Named]:
    """Return the other names of a passage that are of a row of this one."""
    others = [other for other in reading.names if other is not name]
    return [other for other in others if _are_of_one_row(name.rows, other.rows, binder)]


def _are_of_one_row(some: AbstractSet[int], others: AbstractSet[int], binder: ValueBinder) -> bool:
    """Return whether one of some rows is one of the others, is in it, or holds it."""
    chains = {record for row in others for record in binder.world.base.iter_chain(row)}
    return not some.isdisjoint(chains) or any(
        not others.isdisjoint(binder.world.base.iter_chain(row)) for row in some
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
    if not before or _are_of_one_row(name.rows, before[-1].rows, binder):
        return False
    tables = [{binder.world.base.records[row].group for row in named.rows} for named in (name, before[-1])]
    return not tables[0].isdisjoint(tables[1])


def _get_common_field(name: Named, binder: ValueBinder) -> tuple[str, ...]:
    fields = {binder.world.get_field(fact) for fact in name.facts}
    return fields.pop() if len(fields) == 1 else ()


def _find_foreign(name: Named, reading: Reading, binder: ValueBinder) -> Fact | None:
    """Return what the row that is named right before has in the field of a name that is of another row."""
    world = binder.world
    field = _get_common_field(name, binder)
    key = _find_key(name, reading)
    if key is None or not field or not name.is_whole or _get_common_field(key, binder) == field:
        return None
    (row,) = key.rows
    is_other = any(not other.rows.isdisjoint(name.rows) for other in reading.names if other is not name)
    cells = [fact for fact in world.list_facts(row) if fact.role is Role.CELL]
    own = [fact for fact in cells if world.get_field(fact) == field]
    is_of_sibling = name.rows <= set(world.list_siblings(row)) - {row}
    if is_other or not is_of_sibling or len(own) != 1:
        return None
    return own[0] if own[0].value.kind in (Kind.TEXT, Kind.ID) else None


def _find_key(name: Named, reading: Reading) -> Named | None:
    """Return the name of one row right before another name, of which the words between say the other."""
    low, _ = reading.get_clause(name.start)
    before = [other for other in reading.names if low <= other.start and other.end <= name.start]
    if not before or not before[-1].is_whole or len(before[-1].rows) != 1:
        return None
    return before[-1] if are_tying(reading.list_words_between(before[-1].end, name.start)) else None


def list_unread(reading: Reading, binder: ValueBinder) -> list[tuple[int, int]]:
    """Return the places in the answer of the words that are not read, neighbours joined."""
    naming = _list_known(reading, binder)
    groups = list_groups_of(naming)
    # A value that is not found is a claim of its own.
    stated = {at for value in reading.stated for at in value.words}
    unread = [
        at
        for at, word in enumerate(reading.words)
        if at not in reading.covered | stated and not _is_read(word, at, reading, naming, groups, binder)
    ]
    stretches: list[list[int]] = []
    for at in unread:
        if stretches and at - stretches[-1][-1] <= 1:
            stretches[-1].append(at)
        else:
            stretches.append([at])
    return [
        reading.passage.get_place(reading.words[stretch[0]].start, reading.words[stretch[-1]].end)
        for stretch in stretches
    ]


def _list_known(reading: Reading, binder: ValueBinder) -> frozenset[str]:
    """Return the words that name what is bound: fields of the rows, their tables and tools."""
    world = binder.world
    naming: set[str] = set(reading.scope_words)
    for fact in reading.bound:
        naming |= world.list_words(fact)
        naming |= world.list_source_words(fact.source)
        group = world.base.records[world.get_row(fact.record)].group
        if group is not None:
            naming |= set(world.base.group_names[group].lower().split())
        if not fact.path:
            naming |= fact.words
    return frozenset(naming - STOP)


def _is_read(
    word: Word,
    at: int,
    reading: Reading,
    naming: frozenset[str],
    groups: frozenset[str],
    binder: ValueBinder,
) -> bool:
    """Return whether a word names what is bound, or says nothing that could be false."""
    if is_mark(word):
        return word.text not in ("→", "%")
    is_synonym = not list_groups_of((word.form,)).isdisjoint(groups)
    if is_degree(word):
        return word.form in naming or is_synonym
    if is_meaningful(word):
        is_known = word.form in naming and not is_of(word, "negation")
        return is_known or is_up_of_sum(reading.words, at)
    if is_combining(word) or is_of_success(reading.words, at):
        return False
    if is_function_word(word) or names_field(word, naming):
        return True
    if is_of(word, "mean") and binder.is_of_columns(reading.bound):
        return False  # one value of a column is no mean of it
    is_naming = is_synonym and may_name(reading.words, at)
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
    fields = _list_field_words(reading.bound, binder)
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
    return word.part in ("VERB", "ADJ") and word.form in _list_field_words(amounts, binder)


def _list_field_words(facts: Sequence[Fact], binder: ValueBinder) -> frozenset[str]:
    """Return the words that name the fields of the rows of some facts."""
    rows = {binder.world.get_row(fact.record) for fact in facts}
    cells = (fact for row in rows for fact in binder.world.list_facts(row) if fact.path)
    return frozenset[str]().union(*(fact.words for fact in cells))


def _is_counting_other(stated: Stated, reading: Reading) -> bool:
    """Return whether nothing near a stated value says what its source counts: "180 rooms" of `price: 180`."""
    fact = reading.by_stated.get(stated.start)
    if fact is None:
        return False
    next_word = fact.sentence.text[fact.end - fact.sentence.start :].split()[:1] if fact.sentence else []
    counted = list_base_forms(" ".join(next_word)) if next_word else fact.words
    return bool(counted) and counted.isdisjoint(word.form for word in reading.words)


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
    others = {at for other in reading.stated if _is_counting_other(other, reading) for at in other.words}
    is_counted = has_counting_word(reading.words, at, reading.covered - others)
    has_amount = any(claim.kind in _AMOUNTS and claim.cause is Cause.STATED for claim in reading.claims)
    is_subject = word.relation in ("nsubj", "nsubjpass") and bool(reading.claims)
    return is_counted or (is_subject and not (has_amount and _names_quantity(word, reading, binder)))
