"""Find the row of a table that a part of the answer is said of, and what that row has.

In: places of the answer, and the base. Out: rows: that of the name before a value ("Line B made 5,140"), or
of the one right behind it ("110 ETH"). Where the words leave it open, there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

from spanproof.evaluators.layers.groundedness.claims.anchors import Anchor
from spanproof.evaluators.layers.groundedness.claims.frames import AnswerFrames, Frame
from spanproof.evaluators.layers.groundedness.solve.bind import Binding
from spanproof.reading.records import Fact, FactBase, Role
from spanproof.reading.values import Kind, is_year
from spanproof.reading.words import base_form, split_words

NAMES = (Kind.ID, Kind.TEXT)
Field = tuple[int, tuple[str, ...]]
"""A table or list, and a field of its rows."""
_FAR, _NEAR, _NEAREST = 160, 3, 8
_COORDINATED = re.compile(r"\s*(?:,|&|/|,?\s*\b(?:and|or)\b)\s*(?:the\s+)?", re.IGNORECASE)
_AND_MORE = re.compile(r"\s*(?:and\b|&|or\b)\s*[A-Z0-9]")
_BELONGS = re.compile(
    r"[^.;,():]{0,24}?\b(?:by|for|in|at|from|of|to|on|with|is|are|was|were|has|have|had)\s+(?:the\s+)?|\s*\(|\s+",
    re.IGNORECASE,
)
_OWNS = re.compile(r"\s+(?:(?:of|by|for|from)\s+)?(?:the\s+)?", re.IGNORECASE)
_VERB = re.compile(
    r"\s+(?:of\s+them\s+)?(?:is|are|was|were|has|have|had|did|do|said|came|went|got|made)\b", re.IGNORECASE
)
_COMPARED = re.compile(r"\b(?:than|vs|versus|against|compared|respectively|beats?)\b", re.IGNORECASE)
_CLOSED = re.compile(r"\S{0,3}\s?\)")
_OTHER_CLAUSE = re.compile(r"n['’]t\b|[;?]|[A-Z]")


@lru_cache(maxsize=8)
def load_words(purpose: str) -> frozenset[str]:
    """Return the words that `ties.txt` lists for a purpose, as they are written and in their base forms."""
    lines = (resources.files(__package__) / "ties.txt").read_text(encoding="utf-8").splitlines()
    said = [word for line in lines if line.split(" ")[0] == purpose for word in line.split()[1:]]
    return frozenset(said) | frozenset(map(base_form, said))


def find_own_value(binding: Binding, read: AnswerFrames, base: FactBase, outputs: int) -> Fact | None:
    """Return what the subject of a value has in the field in which only other rows have the value."""
    frame, equal = binding.frame, [each.fact for each in binding.equal if each.fact.source < outputs]
    said = frame.mention.value
    if not equal or len(equal) < len(binding.equal) or said.kind is Kind.ID or is_year(said):
        return None
    field = find_field(equal, base)
    if field is None or frame.soft or frame.negated or frame.mention.spelled:
        return None
    if equal[0].years or equal[0].words & load_words("numbering"):
        return None
    row = find_subject(frame.mention.start, frame.mention.end, read, base, field)
    if row is None or row in {find_row(fact.record, base)[1] for fact in equal}:
        return None
    own = find_row_facts(row, field, base)
    return own[0] if len(own) == 1 and own[0].value.kind is equal[0].value.kind else None


def compare_with_subject(facts: Sequence[Fact], frame: Frame, read: AnswerFrames, base: FactBase) -> int:
    """Return 1 where a value's facts are of the row that it is said of, -1 where of another row, else 0."""
    places = {find_row(fact.record, base) for fact in facts if fact.role is Role.CELL}
    groups, rows = {group for group, _ in places}, {row for _, row in places}
    group = groups.pop() if len(groups) == 1 else None
    if group is None:
        return 0
    row = find_subject(frame.mention.start, frame.mention.end, read, base, (group, facts[0].path))
    return 0 if row is None else -1 if row not in rows else int(len(rows) == 1)


def find_field(facts: Sequence[Fact], base: FactBase) -> Field | None:
    """Return the one field of one table that all facts are in."""
    fields = {(find_row(fact.record, base)[0], fact.path) for fact in facts if fact.role is Role.CELL}
    group, path = fields.pop() if len(fields) == 1 else (None, ())
    return (group, path) if group is not None and path else None


def find_row_facts(row: int | None, field: Field, base: FactBase) -> list[Fact]:
    """Return what a row has in a field."""
    return [] if row is None else [fact for fact in base.by_record[row] if fact.path == field[1]]


def find_subject(start: int, end: int, read: AnswerFrames, base: FactBase, field: Field) -> int | None:
    """Return the row of a field's table that a part of the answer is said of."""
    low, high = read.sentence_at(read.line_at(start), start)
    names = [each for each in read.anchors if low <= each.start < high]
    near = [each for each in names if each.end <= start][-_NEAREST:]
    before = [(each, rows) for each in near if (rows := find_rows(each, base, field))]
    after = [each for each in names if each.start >= end][:_NEAREST]
    behind = next(((each, rows) for each in after if (rows := find_rows(each, base, field))), None)
    gap = read.answer[before[-1][0].end : start].strip(" \t*`\"'") if before else None
    if not (gap == "(" and _CLOSED.match(read.answer, end)) and _COMPARED.search(read.answer, low, high):
        return None
    if _is_one_of_several(start, end, read):
        return None
    if behind is not None and (gap is None or len(gap) >= _NEAR):
        if _OWNS.fullmatch(read.answer, end, behind[0].start):
            return _pick_only_row(behind[1])
        if _BELONGS.fullmatch(read.answer, end, behind[0].start):
            return None
    if not before or (
        len(before) > 1 and _COORDINATED.fullmatch(read.answer, before[-2][0].end, before[-1][0].start)
    ):
        return None
    subject, rows = before[-1]
    return _pick_only_row(rows) if _is_subject(subject, start, read) else None


def _is_one_of_several(start: int, end: int, read: AnswerFrames) -> bool:
    """Return whether a value is one of a list ("41.8 and 39.2"), or is itself spoken of ("96 are high")."""
    return _VERB.match(read.answer, end) is not None or any(
        _COORDINATED.fullmatch(read.answer, each.end, start)
        or _COORDINATED.fullmatch(read.answer, end, each.start)
        for each in read.mentions
    )


def _is_subject(name: Anchor, start: int, read: AnswerFrames) -> bool:
    """Return whether a name is what is spoken of up to a place, not one of several, nor of another value."""
    between = read.answer[name.end : start]
    taken = any(
        each.mention.end <= name.start and _BELONGS.fullmatch(read.answer, each.mention.end, name.start)
        for each in read.frames  # "231 in Q3 and 229": the name is that of the value before it
    )
    aside = {word.lower() for word, _, _ in split_words(between)} & load_words("aside")
    return not (
        taken or aside or len(between) > _FAR or _OTHER_CLAUSE.search(between) or _AND_MORE.match(between)
    )


def _pick_only_row(rows: set[int]) -> int | None:
    return next(iter(rows)) if len(rows) == 1 else None


def find_rows(anchor: Anchor, base: FactBase, field: Field) -> set[int]:
    """Return the rows of a field's table that a name in another field names."""
    return {
        row
        for fact in anchor.facts
        for group, row in [find_row(fact.record, base)]
        if group == field[0]
        and fact.path != field[1]
        and (anchor.kind in NAMES or fact.words & load_words("numbering"))
    }


def find_row(record: int, base: FactBase) -> tuple[int | None, int]:
    """Return the innermost table or list that a record is in, with its row there."""
    for outer in base.chain(record):
        if base.records[outer].group is not None:
            return base.records[outer].group, outer
    return None, record
