"""Hold names, states and flags that an answer ties to a name against the row of that name.

In: the names in an answer, its state claims, and the base. Out: `Settled` ones: a name or a state that is
tied to another row than its own ("the Saison in FV1", where FV1 has the Stout), and flags of a row.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from spanproof.evaluators.layers.groundedness.claims.anchors import Anchor
from spanproof.evaluators.layers.groundedness.claims.frames import SOFT, AnswerFrames
from spanproof.evaluators.layers.groundedness.claims.states import StateClaim
from spanproof.evaluators.layers.groundedness.model import ClaimKind
from spanproof.evaluators.layers.groundedness.solve.relations import Settled
from spanproof.evaluators.layers.groundedness.solve.states import StateBinder
from spanproof.evaluators.layers.groundedness.solve.subject import (
    NAMES,
    Field,
    find_field,
    find_row,
    find_row_facts,
    find_rows,
    find_subject,
    load_words,
)
from spanproof.reading.records import Fact, FactBase, Role
from spanproof.reading.values import Kind
from spanproof.reading.words import base_form, split_name, split_words

_MOST_FACTS, _MOST_OTHER, _FAR, _MOST_WORDS, _MOST_NAMES = 100, 2, 160, 4, 12
_MARKS = re.compile(r"[\s\w(:=\"'’`*–—-]*")
_PARTICIPLE = re.compile(r"\A,\s+\w+(?:ed|en|n|ing)\s+(?:by|in|at|to|from|for|on|with)\s+")
_SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|when|once|not|never|instead|rather|than|or|should|would|could|may|might|will|can)\b",
    re.IGNORECASE,
)
# "has open positions": a word before another is no state of the name before it.
_ENDS = re.compile(
    r"[\s*`\"'’)]*(?:[^\w\s]|\Z|\b(?:and|but|with|while|since|as|at|in|on|by|for|from|to|because|so|though|which)\b)",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"\b(?:is|are|was|were|remains?)(?:\s+not|n['’]t)?(?:\s+(?:still|now|currently|also|already|marked|listed|as|the))*\s+\Z",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"\s*(?:[-*•]|\d+[.)])?\s*[*_`\"'#]*")
_HEADS = re.compile(r"[*_`\"']*\s*(?::|[-–—]\s)")
_NEGATED = re.compile(r"\bnot\b|n['’]t\b", re.IGNORECASE)
_YES_OR_NO = frozenset(("true", "false", "yes", "no"))
_HELPERS = frozenset(("is", "has", "included", "available", "allowed"))
_INCLUDED = re.compile(
    r"\s+(?:(?:is|are)\s+)?(?:not\s+)?(?:included|available|allowed|possible)\b", re.IGNORECASE
)


def settle_names(read: AnswerFrames, base: FactBase, outputs: int) -> Iterator[Settled]:
    """Yield each pair of names that are tied, where the row of the one has another in the other's place."""
    for one, two in pairwise(each for each in read.anchors if each.kind in NAMES):
        if _are_tied(one, two, read) and not _are_of_one_record(one, two, base):
            own = _find_own(one, two, base, outputs) or _find_own(two, one, base, outputs)
            if own is not None:
                yield _settle_other_row(one.start, two.end, own)


def settle_listed(read: AnswerFrames, base: FactBase, outputs: int) -> Iterator[Settled]:
    """Yield each name in a line that another name heads, whose row has another there: "- A: from B"."""
    for said in read.anchors:
        line = read.lines[read.line_at(said.start)]
        heads = [
            each for each in read.anchors if line.start <= each.start < said.start and each.kind in NAMES
        ]
        field = find_field([each for each in _select_table_cells(said, base) if each.source < outputs], base)
        if (
            not heads
            or field is None
            or said.kind not in NAMES
            or SOFT.search(read.answer[line.start : line.end])
        ):
            continue
        between = read.answer[heads[0].end : said.start]
        opens = _LIST_MARK.fullmatch(read.answer, line.start, heads[0].start)
        rows = find_rows(heads[0], base, field)
        if not opens or not _HEADS.match(between) or len(rows) != 1 or _SUPPOSED.search(between):
            continue
        (row,) = rows
        own = find_row_facts(row, field, base)
        others = any(find_rows(each, base, field) - rows for each in heads[1:])
        if len(own) == 1 and own[0].value.kind in NAMES and not others and not _has_name(said, row, base):
            yield _settle_other_row(said.start, said.end, own[0])


def _has_name(name: Anchor, row: int, base: FactBase) -> bool:
    """Return whether a row, or what is in it or what it is in, has a name."""
    return any(row in base.chain(record) for record in name.records) or not name.records.isdisjoint(
        base.chain(row)
    )


def _settle_other_row(start: int, end: int, own: Fact) -> Settled:
    return Settled(ClaimKind.NAME, start, end, holds=False, own=own, rival=own, program="")


def _are_tied(one: Anchor, two: Anchor, read: AnswerFrames) -> bool:
    """Return whether nothing but words that tie names, or that name their fields, is between two names."""
    low, high = read.sentence_at(read.line_at(one.start), one.start)
    between = _PARTICIPLE.sub(" by ", read.answer[one.end : two.start])
    if two.start >= high or not between.strip() or not _MARKS.fullmatch(between):
        return False
    if SOFT.search(read.answer[low:high]) or _SUPPOSED.search(read.answer[low : two.start]):
        return False
    plain = read.answer[two.start].islower() and two.kind is Kind.TEXT
    if plain and not _ENDS.match(read.answer, two.end):
        return False
    fields = frozenset[str]().union(*(fact.words for fact in (*one.facts, *two.facts)))
    words = [(word.lower(), base_form(word)) for word, _, _ in split_words(between)]
    others = [form for word, form in words if word not in load_words("tie") and form not in fields]
    return len(others) <= _MOST_OTHER and not load_words("apart").intersection(others)


def _are_of_one_record(one: Anchor, two: Anchor, base: FactBase) -> bool:
    """Return whether some record has both names, or one of them in a record that it is in."""
    return any(two.records.intersection(base.chain(record)) for record in one.records) or any(
        one.records.intersection(base.chain(record)) for record in two.records
    )


def _find_own(key: Anchor, said: Anchor, base: FactBase, outputs: int) -> Fact | None:
    """Return what the one row that a name is in has in the field of another name, if that is one field."""
    if max(len(key.facts), len(said.facts)) > _MOST_FACTS:
        return None
    keys, field = _select_table_cells(key, base), find_field(_select_table_cells(said, base), base)
    place = find_field(keys, base)
    rows = {fact.record for fact in keys}
    if field is None or place is None or place[0] != field[0] or place[1] == field[1] or len(rows) != 1:
        return None
    own = find_row_facts(rows.pop(), field, base)
    named = len(own) == 1 and own[0].value.kind in NAMES and own[0].source < outputs
    return own[0] if named else None


def _select_table_cells(anchor: Anchor, base: FactBase) -> list[Fact]:
    """Return the cells of tables and lists that a name names."""
    return [
        fact
        for fact in anchor.facts
        if fact.role is Role.CELL and fact.path and base.records[fact.record].group is not None
    ]


def settle_states(claims: Sequence[StateClaim], binder: StateBinder, outputs: int) -> Iterator[Settled]:
    """Yield each state that is said of a row which has another value in the one field that has the state."""
    read, base = binder.read, binder.binder.base
    for claim in claims:
        start, end = claim.frame.mention.start, claim.frame.mention.end
        copula = _COPULA.search(read.answer, max(0, start - _FAR), start)
        having = [each for each in binder.by_state.get(claim.usual, ()) if each.value.kind is Kind.TEXT]
        field = find_field([each for each in having if each.source < outputs], base)
        if copula is None or field is None or claim.denied or claim.frame.soft:
            continue
        own = find_row_facts(find_subject(copula.start(), end, read, base, field), field, base)
        if len(own) == 1 and own[0].value.kind is Kind.TEXT and own[0] not in having:
            yield _settle_other_row(start, end, own[0])


def settle_flags(read: AnswerFrames, base: FactBase, outputs: int) -> Iterator[Settled]:
    """Yield what is said to be so or not, where a field of that name says yes or no: "is not irrigated"."""
    flags: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact in base.by_kind[Kind.BOOL]:
        if fact.path and fact.source < outputs and fact.value.text in _YES_OR_NO:
            named = (word for word in split_name(fact.field) if word not in _HELPERS)
            flags[tuple(map(base_form, named))].append(fact)
    fields = {name: find_field(facts, base) for name, facts in flags.items()}
    longest = min(_MOST_WORDS, max(map(len, flags), default=0))
    for at, (_, start, _) in enumerate(read.words):
        for length in range(1, longest + 1):
            words = read.words[at : at + length]
            name = tuple(word for word, _, _ in words)
            if name in flags:
                settled = _settle_flag(start, words[-1][2], flags[name], fields[name], read, base)
                if settled is not None:
                    yield settled


def _settle_flag(
    start: int, end: int, facts: Sequence[Fact], field: Field | None, read: AnswerFrames, base: FactBase
) -> Settled | None:
    """Return whether a flag that is named says what the answer says: "is irrigated", "breakfast included"."""
    copula = _COPULA.search(read.answer, max(0, start - _FAR), start)
    said = copula or _INCLUDED.match(read.answer, end)
    if said is None:
        return None
    row = find_subject(min(start, said.start()), end, read, base, field) if field is not None else None
    own = facts if len(facts) == 1 else [fact for fact in facts if find_row(fact.record, base)[1] == row]
    if len(own) != 1:
        return None
    holds = bool(own[0].value.number) != bool(_NEGATED.search(said.group()))
    return Settled(
        ClaimKind.STATUS, start, max(end, said.end()), holds, own[0], None if holds else own[0], ""
    )
