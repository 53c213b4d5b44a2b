"""A decoded document to facts.

In: what JSON or a literal decodes to. Out: `Fact`s and `Records` added to a `Facts`. Lists of objects, lists
of lists with a header, mappings of columns and mappings of like objects are all tables here. Walks with an
explicit stack and stops at `MAX_FACTS`, saying so in `Facts.cut`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from spanproof.evaluators.layers.groundedness.language.dates import whole_date
from spanproof.evaluators.layers.groundedness.language.key_units import is_time_key
from spanproof.evaluators.layers.groundedness.language.quantities import whole_quantity
from spanproof.evaluators.layers.groundedness.language.status_words import is_status
from spanproof.evaluators.layers.groundedness.language.units import CURRENCIES
from spanproof.evaluators.layers.groundedness.language.words import (
    PERCENTILES,
    canonical,
    day_words,
    key_words,
    plain_set,
    raw_key_words,
    words_of,
)
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts, Records
from spanproof.evaluators.layers.groundedness.outputs.values import add_value

MAX_FACTS = 20_000
_NAMING_CHARS = 60
_MAX_PATH = 1_000
"""Characters of a path; what is nested deeper is not read."""
_Pending = list[tuple[Any, str, str, frozenset[str], int, int]]

_LEAST_NUMBERED, _MOST_NUMBERED, _LONGEST_STEP = 2, 2_000, 50
"""Rows that are numbered on, with gaps where some are left out."""
_NUMBERS, _SEQUENCES = (int, float), (list, tuple, set)
_CURRENCY_KEY = ("currency",)
_CODE = 3
"""Letters of a currency's code."""
_ID_KEYS = plain_set("id no nr code account ref ticket invoice key release version build job run")


def add_document(
    facts: Facts, output: int, value: Any, label: str = "", scope: frozenset[str] = frozenset()
) -> None:
    """Add everything a decoded document holds."""
    pending: _Pending = [(value, label, label, scope, -1, -1)]
    first = len(facts.facts)
    _walk(facts, output, pending)
    if isinstance(value, dict) and not any(fact.records >= 0 for fact in facts.facts[first:]):
        facts.documents.append((output, first, len(facts.facts)))


def join_documents(facts: Facts) -> None:
    """Make one table of the objects with the same keys that several outputs, or lines of one, hold.

    Of objects about the same thing the last counts.
    """
    alike: dict[frozenset[str], dict[frozenset[str], list[Fact]]] = {}
    for _, first, end in facts.documents:
        members = facts.facts[first:end]
        if members:
            keys = frozenset(fact.label for fact in members)
            alike.setdefault(keys, {})[members[0].scope] = members
    for about in alike.values():
        if len(about) < 2:
            continue
        rows = list(about.values())
        joined = Records(len(facts.records), rows[0][0].output, "", (), len(rows))
        for members in rows:
            for fact in members:
                joined.columns.setdefault(" ".join(raw_key_words(fact.label)), []).append(fact)
        facts.records.append(joined)


def _walk(facts: Facts, output: int, pending: _Pending) -> None:
    while pending:
        if len(facts.facts) >= MAX_FACTS:
            facts.cut = True
            return
        item, path, key, words, records, row = pending.pop()
        if len(path) > _MAX_PATH:
            facts.cut = True
        elif isinstance(item, dict):
            pending.extend(reversed(_mapping(facts, output, item, path, key, words, records, row)))
        elif isinstance(item, _SEQUENCES):
            pending.extend(reversed(_list(facts, output, list(item), path, key, words)))
        else:
            add_value(facts, output, item, path, key, words, records, row)


def _mapping(
    facts: Facts,
    output: int,
    item: Mapping[Any, Any],
    path: str,
    key: str,
    words: frozenset[str],
    records: int,
    row: int,
) -> _Pending:
    below = words.union(key_words(key)) if key else words
    values = list(item.values())
    currency = _currency_of(item)
    if currency:
        facts.currencies[output, path] = currency
    if len(values) > 1 and all(isinstance(value, list) and value for value in values):
        lengths = {len(value) for value in values}
        if len(lengths) == 1 and not any(
            isinstance(entry, dict | list) for value in values for entry in value[:1]
        ):
            names = [str(name) for name in item]
            rows = [dict(zip(names, cells, strict=True)) for cells in zip(*values, strict=True)]
            return _rows(facts, output, rows, path, key, words)
    if len(values) > 1 and all(isinstance(value, dict) for value in values) and _alike(values):
        index = _records(facts, output, path, key, len(values))
        return [
            (value, _join(path, str(name)), "", below.union(_naming(str(name))), index, place)
            for place, (name, value) in enumerate(item.items())
        ]
    if records < 0 and len(values) > 1 and all(_is_number(value) for value in values):
        index = _records(facts, output, path, key, len(values))
        facts.records[index].rows = -1  # a mapping of values has no rows to count, only values to compare
        return [(value, _join(path, str(name)), str(name), below, index, 0) for name, value in item.items()]
    below = below.union(*(_naming(value) for value in values if isinstance(value, str)))
    numbers = [str(value) for name, value in item.items() if _names_its_row(name, value)]
    below = below.union(numbers) if numbers else below
    return [(value, _join(path, str(name)), str(name), below, records, row) for name, value in item.items()]


def _currency_of(item: Mapping[Any, Any]) -> str:
    """The currency an object names: `"currency": "GBP"`."""
    for name, value in item.items():
        if (
            isinstance(value, str)
            and len(value) == _CODE
            and value.upper() in CURRENCIES
            and raw_key_words(str(name))[-1:] == _CURRENCY_KEY
        ):
            return value.upper()
    return ""


def _list(
    facts: Facts, output: int, items: list[Any], path: str, key: str, words: frozenset[str]
) -> _Pending:
    if items and all(isinstance(item, list | tuple) for item in items):
        header = items[0]
        if len(items) > 1 and all(isinstance(cell, str) for cell in header):
            rows: list[Any] = [dict(zip(map(str, header), row, strict=False)) for row in items[1:]]
            return _rows(facts, output, rows, path, key, words)
        rows = [{f"column {place + 1}": cell for place, cell in enumerate(row)} for row in items]
        return _rows(facts, output, rows, path, key, words)
    return _rows(facts, output, items, path, key, words)


def _rows(facts: Facts, output: int, rows: list[Any], path: str, key: str, words: frozenset[str]) -> _Pending:
    index = _records(facts, output, path, key, len(rows))
    below = words.union(key_words(key)) if key else words
    numbered = _numbered(rows)
    return [
        (
            row,
            f"{path}[{place}]",
            "" if isinstance(row, dict) else key,
            (below | {str(numbered[place])} if numbered else below) if isinstance(row, dict) else words,
            index,
            place,
        )
        for place, row in enumerate(rows)
    ]


def _numbered(rows: list[Any]) -> list[int]:
    """The numbers of rows that their first column counts on, beside columns of words: jobs, tickets."""
    if len(rows) < _LEAST_NUMBERED or not all(isinstance(row, dict) and row for row in rows[:_MOST_NUMBERED]):
        return []
    firsts = [next(iter(row.values())) for row in rows]
    if not all(type(first) is int for first in firsts) or not any(
        isinstance(cell, str) for cell in rows[0].values()
    ):
        return []
    steps = {second - first for first, second in pairwise(firsts)}
    return firsts if min(steps) > 0 and max(steps) <= _LONGEST_STEP and firsts[0] > 0 else []


def _records(facts: Facts, output: int, path: str, key: str, rows: int) -> int:
    index = len(facts.records)
    facts.records.append(Records(index, output, path, key_words(key), rows))
    return index


@lru_cache(maxsize=8192)
def _naming(value: str) -> frozenset[str]:
    """The words by which a row is known: short strings only, and no bare numbers; of a date its parts."""
    if value in PERCENTILES:
        return frozenset((PERCENTILES[value],))
    day = whole_date(value)
    if day is not None:
        return day_words(day)
    if len(value) > _NAMING_CHARS or is_status(value) or whole_quantity(value) is not None:
        return frozenset()
    return frozenset(word for word in words_of(value) if not word.isdigit() or _is_year_word(word)) | {
        canonical(value.lower())
    }


def _names_its_row(name: Any, value: Any) -> bool:
    """Whether a number is what its row is about, as a name is: a year, a numeric identifier."""
    if not isinstance(value, _NUMBERS):
        return False
    raw = raw_key_words(str(name))
    if isinstance(value, int) and 1900 <= value <= 2100 and (name == "column 1" or is_time_key(raw)):
        return True
    return not isinstance(value, bool) and bool(raw) and (raw[-1] in _ID_KEYS or raw == ("number",))


def _is_year_word(word: str) -> bool:
    return len(word) == 4 and "1900" <= word <= "2100"


def _alike(values: list[Any]) -> bool:
    first = set(values[0])
    return bool(first) and all(first & set(value) for value in values[1:])


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
