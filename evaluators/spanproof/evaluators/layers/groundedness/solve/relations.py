"""Hold superlatives, comparisons and quantifiers against the tables and lists they are about.

In: relations and state claims, and the base. Out: `Settled` ones: what holds or does not, with the facts that
decide. What is not plainly about one column of one table is left open: its values are claims of their own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanproof.evaluators.layers.groundedness.claims.anchors import Anchor
from spanproof.evaluators.layers.groundedness.claims.frames import SOFT, AnswerFrames
from spanproof.evaluators.layers.groundedness.claims.outline import find_clause_breaks
from spanproof.evaluators.layers.groundedness.claims.relations import PeriodRelation, Relation
from spanproof.evaluators.layers.groundedness.claims.states import StateClaim
from spanproof.evaluators.layers.groundedness.model import ClaimKind
from spanproof.evaluators.layers.groundedness.solve.states import StateBinder
from spanproof.reading.spelled import NUMBER_WORDS
from spanproof.reading.records import Fact, FactBase, Role, extract_name_words
from spanproof.reading.values import NUMERIC, Kind
from spanproof.reading.words import (
    STOP,
    base_form,
    base_forms_of,
    find_synonym_groups,
    split_name,
)

_MAX_ROWS = 2000
_MAX_TABLES = 50
_NAMED, _CHOSEN = 0.6, 0.4
_GENERIC = frozenset(
    map(base_form, ["one", "option", "product", "item", "row", "entry", "value", "result", "record", "all", "other", "overall", "every", "listed", "available", "found", "returned", "rated", "ranked", "rate", "percentage", "level", "figure"])  # noqa: E501
)  # fmt: skip
_NUMBERS = NUMBER_WORDS[:13]
_ALL = re.compile(
    rf"\b(?P<word>all|every|each|none|no|\d{{1,3}}(?![\d.,%:-])|{'|'.join(_NUMBERS)})\b(?:\s+of\s+(?:the|your|our|these|its)\s+(?P<rows>\d{{1,3}}|{'|'.join(_NUMBERS)})\b)?"
    r"(?P<between>[^.;:\n]*)\Z",
    re.IGNORECASE,
)
_OF_ROWS = re.compile(
    rf"[\s,*-]*\bof\s+(?:the|your|our|these|its|all)\s+(?P<rows>\d{{1,3}}|{'|'.join(_NUMBERS)})\b",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"\b(?:except|apart from|other than|besides|but)\b", re.IGNORECASE)
_COPULA = re.compile(r"\b(?:is|are|was|were|be|been|remains?|has|have)\b", re.IGNORECASE)
# The first rank is the highest and the least at once.
_RANKS = frozenset(map(base_form, str.split("rank ranking place position seed pick order number no id code")))
_HEDGED = re.compile(r"\b(?:almost|nearly|not|practically|virtually|if|of the)\s+\Z", re.IGNORECASE)

_TOTALS = frozenset(map(base_form, ["total", "totals", "sum", "all", "overall", "average", "mean"]))

Key = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A relation that holds or does not.

    Attributes:
        own: the fact of the record that it is about; `rival` the one that decides against it.
    """

    kind: ClaimKind
    start: int
    end: int
    holds: bool
    own: Fact
    rival: Fact | None
    program: str


@dataclass(frozen=True, slots=True)
class _Column:
    """A field of a table with one value for each record that has it."""

    name: str
    words: frozenset[str]
    facts: dict[int, tuple[Fact, Key]]


class Tables:
    """The tables and lists of outputs, by column."""

    def __init__(self, base: FactBase, outputs: int) -> None:
        self.base = base
        self.outputs = outputs
        self._columns: dict[int, list[_Column]] = {}

    def groups_of(self, anchor: Anchor) -> dict[int, int]:
        """Return the tables that an anchor names one single row of, each with the row."""
        rows: dict[int, set[int]] = defaultdict(set)
        for record in anchor.records:
            for outer in self.base.chain(record):
                group = self.base.records[outer].group
                if group is not None and self.base.records[outer].source < self.outputs:
                    rows[group].add(outer)
        return {group: next(iter(found)) for group, found in rows.items() if len(found) == 1}

    def columns(self, group: int) -> list[_Column]:
        """Return the columns of a table whose every row has at most one value of one kind."""
        if group not in self._columns:
            self._columns[group] = list(self._read(group))
        return self._columns[group]

    def is_total(self, record: int) -> bool:
        """Return whether a row sums up the others."""
        texts = (fact.value.text for fact in self.base.by_record[record] if fact.value.kind is Kind.TEXT)
        return not _TOTALS.isdisjoint(texts)

    def _read(self, group: int) -> Iterator[_Column]:
        records = self.base.groups[group]
        if not 2 <= len(records) <= _MAX_ROWS:
            return
        found: dict[str, dict[int, tuple[Fact, Key]]] = defaultdict(dict)
        spoilt: set[str] = set()
        kinds: dict[str, set[Kind]] = defaultdict(set)
        for record in records:
            for fact in self.base.by_record.get(record, ()):
                key = _build_sort_key(fact)
                if fact.role is not Role.CELL or not fact.field or key is None:
                    continue
                if record in found[fact.field]:
                    spoilt.add(fact.field)
                found[fact.field][record] = (fact, key)
                kinds[fact.field].add(fact.value.kind)
        for name, facts in found.items():
            if name not in spoilt and len(facts) >= 2 and len(kinds[name]) == 1:
                yield _Column(name, _strip_units(extract_name_words((name,))), facts)


def _strip_units(words: frozenset[str]) -> frozenset[str]:
    """Return the words of a column's name without such as `km2`."""
    return frozenset(word for word in words if word.isalpha()) or words


def _build_sort_key(fact: Fact) -> Key | None:
    value = fact.value
    if value.kind in NUMERIC:
        return (value.number * fact.factor,)
    if value.kind is Kind.DATE and value.date is not None and None not in value.date:
        return tuple(float(part) for part in value.date if part is not None)
    if value.kind is Kind.TIME and value.time is not None:
        return tuple(float(part or 0) for part in value.time)
    return None


def settle_relations(relations: Sequence[Relation], tables: Tables) -> Iterator[Settled]:
    """Yield each relation that one column of one table decides."""
    for relation in relations:
        decide = _settle_superlative if relation.kind is ClaimKind.SUPERLATIVE else _settle_comparison
        settled = decide(relation, tables)
        if settled is not None:
            yield settled


def _settle_superlative(relation: Relation, tables: Tables) -> Settled | None:
    rows = _find_named_rows(relation.subjects, tables)
    results = []
    for group, members in rows.items():
        column = _find_column(relation, tables, group)
        if column is None or len(members) != 1 or not members <= column.facts.keys():
            continue
        (member,) = members
        own, key = column.facts[member]
        among = _select_rows(relation, tables, group, member)
        rows_of = [record for record in column.facts if record == member or not tables.is_total(record)]
        held = [column.facts[record] for record in rows_of if not among or record in among]
        best, most = max(held, key=lambda each: _apply_sign(each[1], relation.sign))
        holds = key == most
        # A word that no column has may choose among the rows: "the cheapest direct flight".
        unexplained = [word for word in relation.phrase if word not in relation.fields]
        # "Vega, opened in 2019, is the lowest": another clause names another column.
        if not holds and not column.words & (relation.clause | relation.fields):
            continue
        # What is said of a table may be the question itself.
        title = "" if relation.of_question else tables.base.group_names[group]
        if not holds and not _is_explained(unexplained, tables, group, title):
            continue
        op = "max" if relation.sign > 0 else "min"
        program = f"{op}({column.name} of {len(held)} rows) = {_read_text(best, tables.base)}"
        results.append(
            Settled(relation.kind, relation.start, relation.end, holds, own, None if holds else best, program)
        )
    return results[0] if len({each.holds for each in results}) == 1 else None


def _select_rows(relation: Relation, tables: Tables, group: int, member: int) -> frozenset[int]:
    """Return the rows that other names of the clause choose: "of the red team Ada has"."""
    chosen: frozenset[int] = frozenset()
    for anchor in relation.subjects:
        rows = frozenset(outer for record in anchor.records for outer in tables.base.chain(record) if tables.base.records[outer].group == group)  # fmt: skip  # noqa: E501
        if len(rows) > 1 and member in rows:
            chosen = chosen & rows if chosen else rows
    return chosen


def _settle_comparison(relation: Relation, tables: Tables) -> Settled | None:
    left, right = _find_named_rows(relation.subjects, tables), _find_named_rows(relation.objects, tables)
    results = []
    for group in left.keys() & right.keys():
        column = _find_column(relation, tables, group)
        one, two = left[group], right[group]
        if column is None or len(one) != 1 or len(two) != 1 or one == two:
            continue
        if not (one | two) <= column.facts.keys():
            continue
        (own, first), (rival, second) = column.facts[next(iter(one))], column.facts[next(iter(two))]
        holds = _apply_sign(first, relation.sign) > _apply_sign(second, relation.sign)
        sign = ">" if _apply_sign(first, 1) > _apply_sign(second, 1) else "<" if first != second else "="
        program = f"{column.name}: {_read_text(own, tables.base)} {sign} {_read_text(rival, tables.base)}"
        results.append(Settled(relation.kind, relation.start, relation.end, holds, own, rival, program))
    return results[0] if len({each.holds for each in results}) == 1 else None


def _find_named_rows(anchors: Sequence[Anchor], tables: Tables) -> dict[int, set[int]]:
    """Return the rows of each table that some names name."""
    rows: dict[int, set[int]] = defaultdict(set)
    for anchor in anchors:
        for group, row in tables.groups_of(anchor).items():
            rows[group].add(row)
    return rows


def _find_column(relation: Relation, tables: Tables, group: int) -> _Column | None:
    """Return the one column that a relation is about, None where none or several may be meant."""
    columns = [
        each
        for each in tables.columns(group)
        # "Costs were highest in 2019" compares the years of a row, not the rows of a year.
        if not each.words & _RANKS
        and not all(word.isdigit() for word in each.words)
        and not _numbers_rows(each)
    ]
    meant: list[_Column] = []
    if relation.fields:
        meant = [each for each in columns if each.words & relation.fields]
        if len(meant) == 1:
            return meant[0]
        columns = meant or columns
    # Of two superlatives in a sentence, its words name the one's column or the other's; "each" names a ratio.
    # "The fastest" is of a time, or of what the words right behind it name.
    unsure = relation.shared or (bool(relation.fields) and not meant)
    near = (frozenset(relation.phrase),) if unsure else (frozenset(relation.phrase), relation.sentence)
    for said in near:
        shares = sorted(((_compute_share(each.words, said), each.name, each) for each in columns if each.words), key=lambda each: (-each[0], each[1]))  # fmt: skip  # noqa: E501
        if shares and shares[0][0] >= 0.6 and (len(shares) == 1 or shares[1][0] < shares[0][0]):
            return shares[0][2]
    return None


def _numbers_rows(column: _Column) -> bool:
    """Return whether a column numbers its rows: 311, 312, 313."""
    keys = [key[0] for _, key in column.facts.values()]
    return len(keys) > 2 and all(later - earlier == 1 for earlier, later in pairwise(keys))


def _compute_share(words: frozenset[str], said: frozenset[str]) -> float:
    return len(words & said) / len(words)


def _is_explained(phrase: Sequence[str], tables: Tables, group: int, title: str) -> bool:
    """Whether every word of a phrase is a field's or the title's."""
    known = set(_GENERIC) | base_forms_of(title)
    for record in tables.base.groups[group][:3]:
        for fact in tables.base.by_record.get(record, ()):
            # "The cheapest available one": a field that is true or false chooses among the rows.
            known |= fact.words if fact.value.kind is not Kind.BOOL else frozenset()
    groups = {each for word in known for each in find_synonym_groups(word)}
    return all(word in STOP or word in known or bool(find_synonym_groups(word) & groups) for word in phrase)


def settle_periods(relations: Iterable[PeriodRelation], tables: Tables) -> Iterator[Settled]:
    """Yield each superlative over years that the one row decides whose label is said best."""
    for relation in relations:
        rows = sorted(_find_year_rows(relation, tables), key=lambda each: -each[0])
        if not rows or rows[0][0] < _NAMED or (len(rows) > 1 and rows[1][0] >= rows[0][0]):
            continue
        facts = rows[0][1]
        if relation.year not in facts or any(
            (_build_sort_key(fact) or (0.0,)) < (0.0,) for fact in facts.values()
        ):
            continue
        own = facts[relation.year]
        best = max(facts.values(), key=lambda fact: _apply_sign(_build_sort_key(fact), relation.sign))
        holds = _build_sort_key(own) == _build_sort_key(best)
        op = "max" if relation.sign > 0 else "min"
        program = f"{op}({best.path[0]} of {len(facts)} years) = {_read_text(best, tables.base)}"
        kind = ClaimKind.SUPERLATIVE
        yield Settled(kind, relation.start, relation.end, holds, own, None if holds else best, program)


def _find_year_rows(relation: PeriodRelation, tables: Tables) -> Iterator[tuple[float, dict[int, Fact]]]:
    """Yield the rows of tables whose columns are years, each with how much of its label is said."""
    for records in list(tables.base.groups.values())[:_MAX_TABLES]:
        for record in records[:_MAX_ROWS]:
            facts: dict[int, Fact] = {}
            cells = [
                fact
                for fact in tables.base.by_record.get(record, ())
                if fact.value.kind in NUMERIC
                and fact.role is Role.CELL
                and len(fact.path) == 2
                and len(fact.years) == 1
                and fact.source < tables.outputs
            ]
            for fact in cells:
                facts[next(iter(fact.years))] = fact
            label = base_forms_of(cells[0].path[0]) if cells else frozenset()
            # Of two columns of one year neither is the one that is meant.
            if len(facts) < 2 or len(facts) != len(cells) or not label:
                continue
            said = len(label & relation.words)
            yield said / len(label) + 0.01 * said, facts


def settle_quantifiers(
    claims: Sequence[StateClaim], read: AnswerFrames, binder: StateBinder, tables: Tables
) -> Iterator[Settled]:
    """Yield each "all", "every", "none" or "no" of a state that one column of one table decides."""
    for claim in claims:
        start, end = claim.frame.mention.start, claim.frame.mention.end
        low, high = read.sentence_at(claim.frame.line, start)
        breaks = [low, *(place for place in find_clause_breaks(read.answer, low, start) if place < start)]
        # "Of the three kilns two are firing": the first number says of how many.
        front = _OF_ROWS.match(read.answer, max(breaks), start)
        begin = front.end() if front is not None else max(breaks)
        match = _ALL.search(read.answer[begin:start])
        sentence = read.answer[low:high]
        if match is None or SOFT.search(sentence) or _EXCEPT.search(sentence):
            continue
        if not _COPULA.search(match.group("between")):
            continue
        if _HEDGED.search(read.answer[begin : begin + match.start()]):
            continue
        rows = _find_state_rows(claim, binder, tables)
        if rows is None:
            continue
        group, states = rows
        phrase = [base_form(word) for word in split_name(match.group("between").replace("_", " "))]
        if not _is_explained(phrase, tables, group, tables.base.group_names[group]):
            continue
        word, among = match.group("word").lower(), match.group("rows")
        nothing = word in ("none", "no")
        against = [fact for fact, holds in states if holds == nothing]
        if (count := _parse_number(word)) is not None:
            held = [fact for fact, holds in states if holds]
            among = among or next((each["rows"] for each in _OF_ROWS.finditer(read.answer, low, start)), None)
            if (among and _parse_number(among) != len(states)) or (
                not among and _chooses_rows(claim, tables, group)
            ):
                continue
            against = [] if len(held) == count else held or [states[0][0]]
        program = f"{sum(holds for _, holds in states)} of {len(states)} rows are {claim.frame.text}"
        rival = against[0] if against else None
        own = next((fact for fact, holds in states if holds != nothing), states[0][0])
        yield Settled(ClaimKind.QUANTIFIER, start, end, not against, own, rival, program)


def _parse_number(word: str) -> int | None:
    return int(word) if word.isdigit() else _NUMBERS.index(word) if word in _NUMBERS else None


def _chooses_rows(claim: StateClaim, tables: Tables, group: int) -> bool:
    """Return whether names near a claim choose some rows of a table: "of Ada's orders two are open"."""
    named = {row for anchor, near in claim.frame.anchors if near > _CHOSEN for row in anchor.records}
    return any(outer in tables.base.groups[group] for row in named for outer in tables.base.chain(row))


def _find_state_rows(
    claim: StateClaim, binder: StateBinder, tables: Tables
) -> tuple[int, list[tuple[Fact, bool]]] | None:
    """Return the one table whose rows all have a state of a claim's set in one field, with who has it."""
    columns: dict[tuple[int, str], dict[int, tuple[Fact, bool]]] = defaultdict(dict)
    for state in (claim.usual, *claim.rivals):
        for fact in binder.by_state.get(state, ()):
            group = tables.base.records[fact.record].group
            if (
                fact.value.kind is Kind.TEXT
                and group is not None
                and fact.source < tables.outputs
                and fact.field
            ):
                columns[group, fact.field][fact.record] = (fact, state == claim.usual)
    full = {
        group: list(facts.values())
        for (group, _), facts in columns.items()
        if len(facts) >= 2 and len(facts) == len(tables.base.groups[group])
    }
    if len(full) != 1:
        return None
    return next(iter(full.items()))


def _apply_sign(key: Key | None, sign: int) -> Key:
    return tuple(sign * part for part in key or ())


def _read_text(fact: Fact, base: FactBase) -> str:
    return base.texts[fact.source][fact.start : fact.end]
