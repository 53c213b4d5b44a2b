"""A decoded document to facts.

In: what JSON or a literal decodes to. Out: `Fact`s and `Records` added to a `Facts`. Lists of objects, lists
of lists with a header, mappings of columns and mappings of like objects are all tables here. Walks with an
explicit stack and stops at `MAX_FACTS`, saying so in `Facts.cut`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spanproof.evaluators.layers.groundedness.dates import day_of_timestamp, whole_date
from spanproof.evaluators.layers.groundedness.facts import Fact, Facts, Records
from spanproof.evaluators.layers.groundedness.quantities import whole_quantity
from spanproof.evaluators.layers.groundedness.status_words import is_status
from spanproof.evaluators.layers.groundedness.units import (
    BY_NAME,
    Unit,
    is_count_key,
    is_fraction_key,
    is_money_key,
    unit_of_key,
)
from spanproof.evaluators.layers.groundedness.words import canonical, key_words, raw_key_words, words_of

MAX_FACTS = 20_000
_NAMING_CHARS = 60
_TIME_KEYS = frozenset("timestamp at time epoch date created updated ts on year fy".split())


def add_document(facts: Facts, output: int, value: Any, label: str = "", scope: frozenset[str] = frozenset()) -> None:
    """Add everything a decoded document holds."""
    pending: list[tuple[Any, str, str, frozenset[str], int, int]] = [(value, label, label, scope, -1, -1)]
    while pending:
        if len(facts.facts) >= MAX_FACTS:
            facts.cut = True
            return
        item, path, key, words, records, row = pending.pop()
        if isinstance(item, Mapping):
            pending.extend(reversed(_mapping(facts, output, item, path, key, words, records, row)))
        elif isinstance(item, list | tuple | set):
            pending.extend(reversed(_list(facts, output, list(item), path, key, words)))
        else:
            add_value(facts, output, item, path, key, words, records, row)


_Pending = list[tuple[Any, str, str, frozenset[str], int, int]]


def _mapping(
    facts: Facts, output: int, item: Mapping[Any, Any], path: str, key: str, words: frozenset[str], records: int, row: int
) -> _Pending:
    below = words.union(key_words(key)) if key else words
    values = list(item.values())
    if len(values) > 1 and all(isinstance(value, list) and value for value in values):
        lengths = {len(value) for value in values}
        if len(lengths) == 1 and not any(isinstance(entry, Mapping | list) for value in values for entry in value[:1]):
            names = [str(name) for name in item]
            rows = [dict(zip(names, cells, strict=True)) for cells in zip(*values, strict=True)]
            return _rows(facts, output, rows, path, key, words)
    if len(values) > 1 and all(isinstance(value, Mapping) for value in values) and _alike(values):
        index = _records(facts, output, path, key, len(values))
        return [
            (value, _join(path, str(name)), "", below.union(_naming(str(name))), index, place)
            for place, (name, value) in enumerate(item.items())
        ]
    if records < 0 and len(values) > 1 and all(_is_number(value) for value in values):
        index = _records(facts, output, path, key, len(values))
        facts.records[index].rows = -1  # a mapping of values has no rows to count, only values to compare
        return [
            (value, _join(path, str(name)), str(name), below, index, place)
            for place, (name, value) in enumerate(item.items())
        ]
    below = below.union(*(_naming(value) for value in values if isinstance(value, str)))
    below = below.union(str(value) for name, value in item.items() if _is_year(name, value))
    return [(value, _join(path, str(name)), str(name), below, records, row) for name, value in item.items()]


def _list(facts: Facts, output: int, items: list[Any], path: str, key: str, words: frozenset[str]) -> _Pending:
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
    return [
        (row, f"{path}[{place}]", "" if isinstance(row, Mapping) else key, below if isinstance(row, Mapping) else words, index, place)
        for place, row in enumerate(rows)
    ]


def _records(facts: Facts, output: int, path: str, key: str, rows: int) -> int:
    index = len(facts.records)
    facts.records.append(Records(index, output, path, key_words(key), rows))
    return index


def add_value(
    facts: Facts,
    output: int,
    value: Any,
    label: str,
    key: str,
    scope: frozenset[str],
    records: int = -1,
    row: int = -1,
    *,
    weak: bool = False,
) -> None:
    """Add one scalar under its key."""
    raw = raw_key_words(key)
    unit = unit_of_key(raw) if raw else None
    words = _key_without_unit(key, raw, unit)
    number: float | None = None
    string = day = flag = None
    if isinstance(value, bool):
        flag = value
    elif isinstance(value, int | float):
        number = _finite(value)
        if number is not None and not _TIME_KEYS.isdisjoint(raw):
            day = day_of_timestamp(number)
    elif isinstance(value, str):
        string = value
        day = whole_date(value)
        quantity = None if day else whole_quantity(value)
        if quantity is not None:
            number, unit = quantity.value, quantity.unit or unit
        flag = {"true": True, "false": False}.get(value.strip().lower()) if len(value) < 8 else None
    fact = Fact(
        output=output,
        label=label,
        text=f"{label}: {_short(value)}" if label else _short(value),
        key=words,
        scope=scope,
        number=number,
        unit=unit,
        day=day,
        string=string,
        flag=flag,
        null=value is None,
        weak=weak,
        records=records,
        row=row,
        fraction=unit is None and is_fraction_key(raw),
        money=unit is None and is_money_key(raw),
        counted=unit is None and is_count_key(raw),
    )
    facts.facts.append(fact)
    if records >= 0:
        column = "" if facts.records[records].rows < 0 else " ".join(raw) or "value"
        facts.records[records].columns.setdefault(column, []).append(fact)


def _key_without_unit(key: str, raw: tuple[str, ...], unit: Unit | None) -> tuple[str, ...]:
    words = key_words(key)
    if unit is None or len(words) < 2:
        return words
    return tuple(word for word, plain in zip(words, raw, strict=True) if BY_NAME.get(plain) is not unit) or words


def _naming(value: str) -> frozenset[str]:
    """The words by which a row is known: short strings only, and no bare numbers."""
    if len(value) > _NAMING_CHARS or is_status(value):
        return frozenset()
    return frozenset(word for word in words_of(value) if not word.isdigit()) | {canonical(value.lower())}


def _is_year(name: Any, value: Any) -> bool:
    """A year in a row is what the row is about, as a name is."""
    return isinstance(value, int) and 1900 <= value <= 2100 and not _TIME_KEYS.isdisjoint(raw_key_words(str(name)))


def _alike(values: list[Any]) -> bool:
    first = set(values[0])
    return bool(first) and all(first & set(value) for value in values[1:])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number == number and abs(number) != float("inf") else None


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _short(value: Any) -> str:
    text = str(value) if not isinstance(value, str) else value
    return text if len(text) <= 120 else text[:117] + "…"
