"""The rule for cells: what the answer says of one row stands in another row of the same column.

In: the `Binding`. Out: contradicted claims only: "the worker pod is running" where the worker's status is
another and only other pods are running. Words that name no row, or several, say nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.words import content_words, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Records
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.polar import NEGATED

_MOST_ROWS = 200
_NEAR = 40
"""Characters between two identifiers that are said of each other."""
_PARTS = re.compile(r"[.;\n]|\b(?:and|or|but|while|whereas|than|versus|vs|not)\b", re.IGNORECASE)
"""What keeps two identifiers apart."""
_SHORTEST = 2
_MOST_VALUES = 12
"""Different values of a column that still is one of states, and not of names."""


def cell_claims(binding: Binding) -> list[Claim]:
    """Every state of another row."""
    columns = [
        column
        for records in binding.facts.records
        if 2 <= records.rows <= _MOST_ROWS
        for column in _states(records)
    ]
    claims: list[Claim] = list(_identifier_claims(binding))
    for sentence in binding.answer.sentences[:MAX_CLAIMS] if columns else ():
        for start, end in sentence.pieces:
            found = _in_piece(start, end, columns, binding)
            if found is not None:
                claims.append(found)
    return claims


def _identifier_claims(binding: Binding) -> Iterator[Claim]:
    """Two identifiers said of each other that stand in no row together: "node-b3 runs v1.30.9"."""
    written = binding.answer.identifiers[:MAX_CLAIMS]
    for (_, end, first), (start, stop, second) in pairwise(written):
        if start - end > _NEAR or _PARTS.search(binding.answer.text, end, start):
            continue
        for records in binding.facts.records:
            rows = [_rows_of(records, word.lower()) for word in (first, second)]
            if len(rows[0]) == 1 and rows[1] and rows[0].isdisjoint(rows[1]):
                told = _text_of(records, min(rows[0]))
                evidence = ClaimEvidence(records.output, told)
                reason = f"no row holds both; `{told}` is what the outputs say of {first}"
                place = (binding, start, stop, ClaimKind.IDENTIFIER, Verdict.UNCERTAIN)
                yield claim(*place, reason, evidence)
                break


def _rows_of(records: Records, word: str) -> set[int]:
    if not 2 <= records.rows <= _MOST_ROWS:
        return set()
    columns = records.columns.values()
    return {fact.row for column in columns for fact in column if fact.string and fact.string.lower() == word}


def _text_of(records: Records, row: int) -> str:
    cells = (
        fact for column in records.columns.values() for fact in column if fact.row == row and fact.string
    )
    return ", ".join(fact.string or "" for fact in cells)[:120]


def _states(records: Records) -> list[list[Fact]]:
    """Columns whose values repeat: one word each, few of them."""
    found = []
    for column in records.columns.values():
        strings = [fact.string.lower() for fact in column if fact.string]
        values = set(strings)
        repeated = len(values) < len(strings) == len(column) and 1 < len(values) <= _MOST_VALUES
        if repeated and all(len(value) > _SHORTEST and value.replace("-", "").isalpha() for value in values):
            found.append(column)
    return found


def _in_piece(start: int, end: int, columns: list[list[Fact]], binding: Binding) -> Claim | None:
    text = binding.answer.text[start:end]
    if NEGATED.search(text):
        return None
    said = frozenset(content_words(words_of(text)))
    for column in columns:
        rows = _named(column, said)
        if len(rows) != 1:
            continue
        row = rows[0]
        own = set(words_of(row.string or ""))
        others = [
            fact for fact in column if set(words_of(fact.string or "")) <= said and fact.string != row.string
        ]
        if others and not own & said:
            reason = f"`{row.text}` is what the outputs say of it"
            return claim(binding, start, end, ClaimKind.STATUS, Verdict.UNCERTAIN, reason, evidence_of(row))
    return None


def _named(column: list[Fact], said: frozenset[str]) -> list[Fact]:
    shared = frozenset.intersection(*(fact.scope for fact in column))
    values = {word for fact in column for word in words_of(fact.string or "")}
    return [fact for fact in column if not (fact.scope - shared - values).isdisjoint(said)]
