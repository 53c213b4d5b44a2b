"""A decoded document to facts.

In: what JSON or a literal decodes to. Out: `Fact`s and `Records` added to a `Facts`. Lists of objects, lists
of lists with a header, mappings of columns and mappings of like objects are all tables here. Walks with an
explicit stack and stops at `MAX_FACTS`, saying so in `Facts.cut`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any

from spanproof.evaluators.layers.groundedness.language.dates import (
    day_of_timestamp,
    whole_date,
    whole_time,
    yearless_day,
)
from spanproof.evaluators.layers.groundedness.language.key_units import Key, read_key
from spanproof.evaluators.layers.groundedness.language.quantities import whole_quantity
from spanproof.evaluators.layers.groundedness.language.status_words import is_status
from spanproof.evaluators.layers.groundedness.language.units import (
    CENTS,
    CURRENCIES,
    Dimension,
    Unit,
)
from spanproof.evaluators.layers.groundedness.language.words import (
    PERCENTILES,
    canonical,
    day_words,
    key_words,
    raw_key_words,
    words_of,
)
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts, Records

MAX_FACTS = 20_000
_NAMING_CHARS = 60
_MAX_PATH = 1_000
"""Characters of a path; what is nested deeper is not read."""
_Pending = list[tuple[Any, str, str, frozenset[str], int, int]]
_TIME_KEYS = frozenset(
    ["timestamp", "at", "time", "epoch", "date", "created", "updated", "ts", "on", "year", "fy"]
)


_DIGIT = re.compile(r"\d")
_LONGEST_VALUE = 80
"""Characters of a text that may be a number, a date or a time as a whole."""
_CURRENCY_KEY = ("currency",)
_ID_KEYS = frozenset(["id", "no", "nr", "code", "account", "ref", "ticket", "invoice", "key"])


def add_document(
    facts: Facts, output: int, value: Any, label: str = "", scope: frozenset[str] = frozenset()
) -> None:
    """Add everything a decoded document holds."""
    pending: _Pending = [(value, label, label, scope, -1, -1)]
    first = len(facts.facts)
    _walk(facts, output, pending)
    if isinstance(value, Mapping) and not any(fact.records >= 0 for fact in facts.facts[first:]):
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
        if len(pending[-1][1]) > _MAX_PATH:
            facts.cut = True
            pending.pop()
            continue
        item, path, key, words, records, row = pending.pop()
        if isinstance(item, Mapping):
            pending.extend(reversed(_mapping(facts, output, item, path, key, words, records, row)))
        elif isinstance(item, list | tuple | set):
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
            isinstance(entry, Mapping | list) for value in values for entry in value[:1]
        ):
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
        return [(value, _join(path, str(name)), str(name), below, index, 0) for name, value in item.items()]
    below = below.union(*(_naming(value) for value in values if isinstance(value, str)))
    below = below.union(
        str(value) for name, value in item.items() if _is_year(name, value) or _is_id(name, value)
    )
    return [(value, _join(path, str(name)), str(name), below, records, row) for name, value in item.items()]


def _currency_of(item: Mapping[Any, Any]) -> str:
    """The currency an object names: `"currency": "GBP"`."""
    for name, value in item.items():
        if (
            isinstance(value, str)
            and value.upper() in CURRENCIES
            and raw_key_words(str(name))[-1:] == _CURRENCY_KEY
        ):
            return value.upper()
    return ""


def _spoken_currency(facts: Facts, output: int, label: str) -> str:
    """The currency of the innermost object around a value that names one."""
    path = label
    while path:
        path = path.rpartition(".")[0]
        if (output, path) in facts.currencies:
            return facts.currencies[output, path]
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
    return [
        (
            row,
            f"{path}[{place}]",
            "" if isinstance(row, Mapping) else key,
            below if isinstance(row, Mapping) else words,
            index,
            place,
        )
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
) -> None:
    """Add one scalar under its key."""
    named = read_key(key)
    text = value if isinstance(value, str) else None
    written = text if text is not None and _DIGIT.search(text[:_LONGEST_VALUE]) else None
    quantity = whole_quantity(written) if written else None
    day = _day(value, named.raw) if written or text is None else None
    yearless = yearless_day(written, next(iter(facts.todays), None)) if written and day is None else None
    time = whole_time(written) if written else None
    number = None if day and quantity else quantity.value if quantity else _number(value)
    unit = quantity.unit or named.unit if quantity and number is not None else named.unit
    fact = Fact(
        output=output,
        label=label,
        text=f"{label}: {_short(value)}" if label else _short(value),
        key=named.words,
        scope=scope,
        number=number,
        unit=unit,
        day=day or yearless,
        yearless=day is None and yearless is not None,
        clock=time.seconds if time else None,
        offset=time.offset if time else None,
        currency=_spoken_currency(facts, output, label) if facts.currencies and number is not None else "",
        string=text,
        flag=_flag(value),
        null=value is None,
        records=records,
        row=row,
        scale=_scale(facts, output, named, unit, number),
        fraction=unit is None and named.fraction,
        money=unit is None and named.money,
        counted=unit is None and named.counted,
    )
    facts.facts.append(fact)
    if records >= 0:
        column = "" if facts.records[records].rows < 0 else " ".join(named.raw) or "value"
        facts.records[records].columns.setdefault(column, []).append(fact)


def _number(value: Any) -> float | None:
    return _finite(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _day(value: Any, raw: tuple[str, ...]) -> date | None:
    """The day a text is, or a number under a key that speaks of time."""
    if isinstance(value, str):
        return whole_date(value)
    number = None if _TIME_KEYS.isdisjoint(raw) else _number(value)
    return day_of_timestamp(number) if number is not None else None


def _flag(value: Any) -> bool | None:
    if isinstance(value, str) and len(value) < 8:
        return {"true": True, "false": False, "yes": True, "no": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _scale(facts: Facts, output: int, key: Key, unit: Unit | None, number: float | None) -> float:
    if number is None or (unit is not None and unit.dimension is not Dimension.MONEY) or unit is CENTS:
        return 1.0
    own = key.scale if unit is None else 1.0
    return own if own != 1.0 else facts.scales.get(output, 1.0)


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


def _is_year(name: Any, value: Any) -> bool:
    """A year in a row is what the row is about, as a name is."""
    if not isinstance(value, int) or not 1900 <= value <= 2100:
        return False
    return name == "column 1" or not _TIME_KEYS.isdisjoint(raw_key_words(str(name)))


def _is_year_word(word: str) -> bool:
    return len(word) == 4 and "1900" <= word <= "2100"


def _is_id(name: Any, value: Any) -> bool:
    """A numeric identifier names its row, as a name does."""
    raw = raw_key_words(str(name)) if isinstance(value, int) and not isinstance(value, bool) else ()
    return bool(raw) and raw[-1] in _ID_KEYS


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
