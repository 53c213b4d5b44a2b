"""One table, whichever notation a tool gave it in.

In: the text of a result, and the names of its columns where the query says them. Out: a `Table`, or None
where the text is no table as a whole. Values are JSON's where the notation has types, texts where it has
none.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from spanproof.reading.grids import Line, count_heads, find_aligned, find_delimited
from spanproof.reading.log_lines import COUNT_OF_ROWS
from spanproof.reading.markup import find_html_table
from spanproof.trace import JsonValue
from spanproof.trace.dialects.decode import decode_document

MAX_TABLE_TEXT = 256 * 1024
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_ROW_KEYS = ("rows", "data", "results", "records", "items")


@dataclass(frozen=True, slots=True)
class Table:
    """The names of a table's columns, in order, and its rows, each with a value per column."""

    columns: tuple[str, ...]
    rows: list[tuple[JsonValue, ...]]


def parse_table(text: str, columns: Sequence[str] = (), *, exact: bool = False) -> Table | None:
    """Return the table that a text is.

    Args:
        text: the result of a query or a tool.
        columns: the names of its columns where they are known, for rows that do not repeat them.
        exact: whether to read only notations that write values in full; frames in print are rounded.
    """
    if len(text) > MAX_TABLE_TEXT:
        return None
    value = decode_document(text)
    return _parse_lines(text, columns, exact) if isinstance(value, str) else parse_table_value(value, columns)


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
    tuples = [tuple(row) for row in value if isinstance(row, list)]
    if len(tuples) != len(value):
        return None
    if not columns and len(tuples) > 1 and all(isinstance(cell, str) for cell in tuples[0]):
        columns, tuples = [str(cell) for cell in tuples[0]], tuples[1:]
    is_even = all(len(row) == len(columns) for row in tuples)
    return Table(tuple(columns), tuples) if columns and is_even else None


def _parse_lines(text: str, columns: Sequence[str], exact: bool) -> Table | None:
    """Return the table in lines, below names of the columns or with names that are given."""
    grid = None
    if "<table" in text.lower():
        found = find_html_table(text, 0)
        grid = found[0] if found is not None else None
    else:
        lines: list[Line] = []
        at = 0
        for line in text.splitlines(keepends=True):
            if line.strip() and not COUNT_OF_ROWS.fullmatch(line.strip()):
                lines.append(Line(line.rstrip("\r\n"), at))
            at += len(line)
        if lines:
            grid = find_delimited(lines, 0, len(columns)) or (None if exact else find_aligned(lines, 0))
            grid = grid if grid is not None and grid.lines == len(lines) else None
    if grid is None:
        return None
    rows = [tuple(text[low:high].strip() for low, high in row) for row in grid.rows]
    heads = count_heads(rows)
    if columns:
        # Rows of names alone look like a head: where the columns are known, a head repeats them.
        heads = int([name.lower() for name in rows[0]] == [name.lower() for name in columns])
    if heads:
        columns, rows = rows[0], rows[heads:]
        # A row of data that looks like a head would give its values as names.
        if exact and not all(map(_NAME.match, columns)):
            return None
    if heads > 1 or not columns or any(len(row) != len(columns) for row in rows):
        return None
    return Table(tuple(columns), [tuple(row) for row in rows])


def parse_csv(text: str) -> list[list[str]] | None:
    """Return the rows of a CSV file, whose cells may have several lines; None where it is none."""
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error:
        return None
