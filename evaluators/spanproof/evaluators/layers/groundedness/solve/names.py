"""Hold what an answer ties to a name against the row of that name: other names, and values.

In: the names of records in an answer, and the base. Out: for names `Settled` ones: a name that is tied to another
row than its own ("the Saison in FV1", where FV1 has the Stout); for a value what the row that is its subject has in
its place. Names of one row, or of no table, state nothing here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from spanproof.evaluators.layers.groundedness.claims.anchors import Anchor
from spanproof.evaluators.layers.groundedness.claims.frames import SOFT, AnswerFrames, Frame
from spanproof.evaluators.layers.groundedness.claims.states import StateClaim
from spanproof.evaluators.layers.groundedness.facts.base import Fact, FactBase, Role
from spanproof.evaluators.layers.groundedness.model import ClaimKind
from spanproof.evaluators.layers.groundedness.solve.bind import Binding
from spanproof.evaluators.layers.groundedness.solve.relations import Settled
from spanproof.evaluators.layers.groundedness.solve.states import StateBinder
from spanproof.evaluators.layers.groundedness.values.model import Kind, is_year
from spanproof.evaluators.layers.groundedness.values.words import base_form, split_name, word_spans

_MOST_FACTS = 100
_TIES = frozenset(
    "is are was were has have had in on at to by of for from with as the a an its still now currently already also"
    " s".split()
)
"""Words between two names that are said of each other."""
_APART = frozenset(
    map(
        base_form,
        "after before behind ahead over under above below against versus vs like unlike except besides between among"
        " beat follow precede outperform exceed match join replace swap exchange move transfer switch change become"
        " overtake trail lead lag differ compare prefer beyond near until through across"
        " while whereas and but or so then because which who that when where although though".split(),
    )
)
"""Words that set the two names against each other."""
_MOST_OTHER = 2
_MARKS = re.compile(r"[\s\w(:=\"'’`*–—-]*")
_PARTICIPLE = re.compile(r"\A,\s+\w+(?:ed|en|n|ing)\s+(?:by|in|at|to|from|for|on|with)\s+")
_SUPPOSED = re.compile(r"\b(?:if|whether|unless|when|once|not|never|instead|rather|than|or)\b", re.IGNORECASE)
# "has open positions": a word before another is no state of the name before it.
_ENDS = re.compile(
    r"[\s*`\"'’)]*(?:[^\w\s]|\Z|\b(?:and|but|with|while|since|as|at|in|on|by|for|from|to|because|so|though|which)\b)",
    re.IGNORECASE,
)


def settle_names(read: AnswerFrames, base: FactBase, outputs: int) -> Iterator[Settled]:
    """Yield each pair of names that are tied together, where the row of the one has another in the other's place."""
    named = [each for each in read.anchors if each.kind in _NAMES]
    for one, two in pairwise(named):
        if not _are_tied(one, two, read) or _is_one_row(one, two, base):
            continue
        found = _find_own(one, two, base, outputs) or _find_own(two, one, base, outputs)
        if found is not None:
            yield Settled(ClaimKind.NAME, one.start, two.end, False, found, found, "")


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
    words = [(word.lower(), base_form(word)) for word, _, _ in word_spans(between)]
    others = [form for word, form in words if word not in _TIES and form not in fields]
    return len(others) <= _MOST_OTHER and not _APART.intersection(others)


def _is_one_row(one: Anchor, two: Anchor, base: FactBase) -> bool:
    """Return whether some record has both names, or one of them in a record that it is in."""
    return any(two.records.intersection(base.chain(record)) for record in one.records) or any(
        one.records.intersection(base.chain(record)) for record in two.records
    )


def _find_own(key: Anchor, said: Anchor, base: FactBase, outputs: int) -> Fact | None:
    """Return what the one row that a name is in has in the field of another name, if that is one field."""
    if max(len(key.facts), len(said.facts)) > _MOST_FACTS:
        return None
    places, fields = _places(key, base), _places(said, base)
    if len(places) != 1 or places.keys() != fields.keys():
        return None
    (group,) = places
    if len(places[group]) != 1 or len(fields[group]) != 1:
        return None
    (rows,), ((field, others),) = places[group].values(), fields[group].items()
    if len(rows) != 1 or field in places[group] or base.records[next(iter(rows))].source >= outputs:
        return None
    own = [fact for fact in base.by_record[next(iter(rows))] if fact.path == field]
    whole = len(own) == 1 and own[0].value.kind in (Kind.TEXT, Kind.ID) and bool(others)
    return own[0] if whole else None


_COORDINATED = re.compile(r"\s*(?:,|&|/|,?\s*\b(?:and|or)\b)\s*(?:the\s+)?", re.IGNORECASE)
_BELONGS = re.compile(
    r"[^.;,():]{0,24}?\b(?:by|for|in|at|from|of|to|on|with|is|are|was|were|has|have|had)\s+(?:the\s+)?|\s*\(|\s+",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"\b(?:than|vs|versus|against|compared|respectively|beats?)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:behind|ahead|over|under|above|below|beyond|exceed\w*|like|between|gap|difference|sum|totals?|total\w+"
    r"|combined|averag\w+|mean|together|both|all|each|rest|others?|another|while|whereas|but|though|although|if|not"
    r"|would|should|could|every|overall)\b|n['’]t\b|[;?]|(?-i:[A-Z])",
    re.IGNORECASE,
)
_OWNS = re.compile(r"\s+(?:(?:of|by|for|from)\s+)?(?:the\s+)?", re.IGNORECASE)
_COPULA = re.compile(
    r"\b(?:is|are|was|were|remains?)(?:\s+not|n['’]t)?(?:\s+(?:still|now|currently|also|already|marked|listed|as|the))*\s+\Z",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\bnot\b|n['’]t\b", re.IGNORECASE)
_YES_OR_NO = frozenset(("true", "false", "yes", "no"))
_HELPERS = frozenset(("is", "has", "included", "available", "allowed"))
_INCLUDED = re.compile(r"\s+(?:(?:is|are)\s+)?(?P<not>not\s+)?(?:included|available|allowed|possible)\b", re.IGNORECASE)
_VERB = re.compile(r"(?:\s+(?:of\s+them\s+)?)(?:is|are|was|were|has|have|had|did|do|said|came|went|got|made)\b", re.IGNORECASE)
_AND_MORE = re.compile(r"\s*(?:and\b|&|or\b)\s*[A-Z0-9]")
_CLOSED = re.compile(r"\S{0,3}\s?\)")
_FAR, _NEAR = 160, 3
_NAMES = (Kind.ID, Kind.TEXT)

_Field = tuple[int, tuple[str, ...]]
"""A table or list, and a field of its rows."""
_NUMBERING = frozenset(map(base_form, "id no number code rank order key position index".split()))


def find_own_value(binding: Binding, read: AnswerFrames, base: FactBase, outputs: int) -> Fact | None:
    """Return what the row that is a value's subject has in the field in which only other rows have the value."""
    frame, equal = binding.frame, [each.fact for each in binding.equal if each.fact.source < outputs]
    if not equal or len(equal) < len(binding.equal) or frame.soft or frame.negated or frame.mention.spelled:
        return None
    if frame.mention.value.kind is Kind.ID or is_year(frame.mention.value):
        return None
    fields = {(group, fact.path) for fact in equal for group, _ in [_row_of(fact, base)]}
    if len(fields) != 1:
        return None
    ((group, path),) = fields
    if group is None or not path or equal[0].years or equal[0].words & _NUMBERING:
        return None
    row = _find_subject(frame.mention.start, frame.mention.end, read, base, (group, path))
    if row is None or row in {_row_of(fact, base)[1] for fact in equal}:
        return None
    own = [fact for fact in base.by_record[row] if fact.path == path and fact.value.kind is equal[0].value.kind]
    return own[0] if len(own) == 1 else None


def agrees_with_subject(facts: Sequence[Fact], frame: Frame, read: AnswerFrames, base: FactBase) -> int:
    """Return 1 where the row of a value's facts is what the value is said of, -1 where another row is, else 0."""
    places = {_row_of(fact, base) for fact in facts}
    groups = {group for group, _ in places}
    if len(groups) != 1 or None in groups:
        return 0
    group, rows = next(iter(groups)), {row for _, row in places}
    row = _find_subject(frame.mention.start, frame.mention.end, read, base, (group or 0, facts[0].path))
    return 0 if row is None else 1 if row in rows and len(rows) == 1 else -1 if row not in rows else 0


def _find_subject(start: int, end: int, read: AnswerFrames, base: FactBase, field: _Field) -> int | None:
    """Return the row of a field's table that a part of the answer is said of, None where its words leave that open.

    That is the row of the name before it ("Line B made 5,140"), or of the one right behind ("110 ETH").
    """
    low, high = read.sentence_at(read.line_at(start), start)
    named = [(each, rows) for each in read.anchors if low <= each.start < high and (rows := _rows_in(each, base, field))]
    before = [(each, rows) for each, rows in named if each.end <= start]
    behind = [(each, rows) for each, rows in named if each.start >= end][:1]
    gap = read.answer[before[-1][0].end : start].strip(" \t*`\"'") if before else None
    aside = gap == "(" and _CLOSED.match(read.answer, end)
    if not aside and _COMPARED.search(read.answer, low, high):
        return None
    # "A and B made 41.8 and 39.2": which of them has which, the words do not say here.
    if _VERB.match(read.answer, end) or any(
        _COORDINATED.fullmatch(read.answer, each.end, start) or _COORDINATED.fullmatch(read.answer, end, each.start)
        for each in read.mentions
    ):
        return None
    near = gap is not None and len(gap) < _NEAR
    for each, rows in behind if not near else ():
        if _OWNS.fullmatch(read.answer, end, each.start):
            return next(iter(rows)) if len(rows) == 1 else None
    if not before or (behind and _BELONGS.fullmatch(read.answer, end, behind[0][0].start)):
        return None
    subject, rows = before[-1]
    listed = len(before) > 1 and _COORDINATED.fullmatch(read.answer, before[-2][0].end, subject.start)
    listed = listed or _AND_MORE.match(read.answer, subject.end)
    # "231 in Q3 and 229": the name is that of the value before it.
    taken = any(
        each.mention.end <= subject.start and _BELONGS.fullmatch(read.answer, each.mention.end, subject.start)
        for each in read.frames
    )
    far = start - subject.end > _FAR or _ASIDE.search(read.answer, subject.end, start)
    return next(iter(rows)) if len(rows) == 1 and not (listed or taken or far) else None


def settle_states(claims: Sequence[StateClaim], binder: StateBinder, outputs: int) -> Iterator[Settled]:
    """Yield each state that is said of a row which has another value in the one field that has the state."""
    read, base = binder.read, binder.binder.base
    for claim in claims:
        start, end = claim.frame.mention.start, claim.frame.mention.end
        if claim.denied or claim.frame.soft or not (copula := _COPULA.search(read.answer, max(0, start - _FAR), start)):
            continue
        facts = [each for each in binder.by_state.get(claim.usual, ()) if each.value.kind is Kind.TEXT]
        fields = {(_row_of(fact, base)[0], fact.path) for fact in facts if fact.source < outputs}
        if len(fields) != 1:
            continue
        ((group, path),) = fields
        row = _find_subject(copula.start(), end, read, base, (group, path)) if group is not None and path else None
        own = [fact for fact in base.by_record[row] if fact.path == path] if row is not None else []
        if len(own) == 1 and own[0].value.kind is Kind.TEXT and own[0] not in facts:
            yield Settled(ClaimKind.NAME, start, end, False, own[0], own[0], "")


def settle_flags(read: AnswerFrames, base: FactBase, outputs: int) -> Iterator[Settled]:
    """Yield what is said to be so or not, where a field of that name says yes or no: "is not irrigated"."""
    fields: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact in base.by_kind[Kind.BOOL]:
        if fact.path and fact.source < outputs and fact.value.text in _YES_OR_NO:
            fields[tuple(base_form(word) for word in split_name(fact.field) if word not in _HELPERS)].append(fact)
    for at, (_, start, _) in enumerate(read.words):
        for name, facts in fields.items():
            words = read.words[at : at + len(name)]
            if name and tuple(word for word, _, _ in words) == name:
                end = words[-1][2]
                copula = _COPULA.search(read.answer, max(0, start - _FAR), start)
                behind = _INCLUDED.match(read.answer, end) if copula is None else None
                own = _own_flag(facts, start if copula is None else copula.start(), end, read, base)
                said = copula or behind
                if own is not None and said is not None:
                    holds = bool(own.value.number) != bool(_NEGATED.search(said.group()))
                    place = start, end if behind is None else behind.end()
                    yield Settled(ClaimKind.STATUS, *place, holds, own, None if holds else own, "")


def _own_flag(facts: Sequence[Fact], start: int, end: int, read: AnswerFrames, base: FactBase) -> Fact | None:
    """Return the one flag that a part of the answer is about: the only one, or that of the row which is named."""
    places = {(_row_of(fact, base)[0], fact.path) for fact in facts}
    if len(facts) == 1:
        return facts[0]
    if len(places) != 1:
        return None
    ((group, path),) = places
    row = _find_subject(start, end, read, base, (group, path)) if group is not None else None
    own = [fact for fact in facts if row is not None and _row_of(fact, base)[1] == row]
    return own[0] if len(own) == 1 else None


def _rows_in(anchor: Anchor, base: FactBase, field: _Field) -> set[int]:
    """Return the rows of a table that a name names which is in another field than the one in question."""
    return {
        row
        for fact in anchor.facts
        for group, row in [_row_at(fact.record, base)]
        if group == field[0] and fact.path != field[1] and (anchor.kind in _NAMES or fact.words & _NUMBERING)
    }


def _row_of(fact: Fact, base: FactBase) -> tuple[int | None, int]:
    return _row_at(fact.record, base) if fact.role is Role.CELL else (None, fact.record)


def _row_at(record: int, base: FactBase) -> tuple[int | None, int]:
    """Return the innermost table or list that a record is in, with its row there."""
    for outer in base.chain(record):
        if base.records[outer].group is not None:
            return base.records[outer].group, outer
    return None, record


def _places(anchor: Anchor, base: FactBase) -> dict[int, dict[tuple[str, ...], set[int]]]:
    """Return the rows that have a name, by table and field."""
    found: dict[int, dict[tuple[str, ...], set[int]]] = defaultdict(lambda: defaultdict(set))
    for fact in anchor.facts:
        group = base.records[fact.record].group
        if fact.role is Role.CELL and fact.path and group is not None:
            found[group][fact.path].add(fact.record)
    return found
