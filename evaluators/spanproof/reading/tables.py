"""One table, whichever notation a tool gave it in.

In: the text of a result, and the names of its columns where the query says them. Out: a `Table`, or None where
the text is no table as a whole. Values are JSON's where the notation has types, texts where it has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanproof.reading.documents.tables import Line, count_header_rows, read_aligned, read_delimited
from spanproof.trace import JsonValue
from spanproof.trace.dialects.decode import decode_document

_MAX_TEXT = 256 * 1024
_ROW_KEYS = ("rows", "data", "results", "records", "items")


@dataclass(frozen=True, slots=True)
class Table:
    """The names of a table's columns, in order, and its rows, each with a value per column."""

    columns: tuple[str, ...]
    rows: list[tuple[JsonValue, ...]]


def parse_table(text: str, columns: Sequence[str] = ()) -> Table | None:
    """Return the table that a text is.

    Args:
        text: the result of a query or a tool.
        columns: the names of its columns where they are known, for rows that do not repeat them.
    """
    if len(text) > _MAX_TEXT:
        return None
    value = decode_document(text)
    return _parse_lines(text, columns) if isinstance(value, str) else parse_table_value(value, columns)


def parse_table_value(value: JsonValue, columns: Sequence[str] = ()) -> Table | None:
    """Return the table that a decoded result is: records, rows beside their columns, or columns of values."""
    if isinstance(value, dict):
        heads = value.get("columns")
        if isinstance(heads, list) and heads and all(isinstance(head, str) for head in heads):
            columns = [str(head) for head in heads]
        rows = next((value[key] for key in _ROW_KEYS if isinstance(value.get(key), list)), None)
        if rows is not None:
            return parse_table_value(rows, columns)
        lists = [item for item in value.values() if isinstance(item, list)]
        if len(lists) != len(value) or len(lists) < 2 or len(set(map(len, lists))) != 1:
            return None
        return Table(tuple(value), list(zip(*lists, strict=True)))
    if not isinstance(value, list) or not value:
        return None
    records = [row for row in value if isinstance(row, dict)]
    if len(records) == len(value):
        names = tuple(records[0])
        same = all(tuple(row) == names for row in records)
        return Table(names, [tuple(row.values()) for row in records]) if same else None
    rows = [tuple(row) for row in value if isinstance(row, list)]
    if len(rows) != len(value):
        return None
    if not columns and len(rows) > 1 and all(isinstance(cell, str) for cell in rows[0]):
        columns, rows = [str(cell) for cell in rows[0]], rows[1:]
    is_even = all(len(row) == len(columns) for row in rows)
    return Table(tuple(columns), rows) if columns and is_even else None


def _parse_lines(text: str, columns: Sequence[str]) -> Table | None:
    """Return the table in lines: delimited or aligned, below a line of names or with names that are given."""
    lines: list[Line] = []
    at = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            lines.append(Line(line.rstrip("\r\n"), at))
        at += len(line)
    if len(lines) < 2 and not columns:
        return None
    grid = read_delimited(lines) or read_aligned(lines)
    if grid is None or grid[1] != len(lines):
        return None
    rows = [tuple(text[slice(*cell)] for cell in row) for row in grid[0]]
    heads = count_header_rows(text, grid[0])
    if heads:
        columns, rows = rows[0], rows[heads:]
    if heads > 1 or not columns or any(len(row) != len(columns) for row in rows):
        return None
    return Table(tuple(columns), [tuple(row) for row in rows])
