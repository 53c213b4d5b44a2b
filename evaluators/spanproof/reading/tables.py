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

from spanproof.reading.grids import Grid, Line, count_heads, find_aligned, find_delimited
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


def find_table(text: str, columns: Sequence[str] = (), *, exact: bool = False) -> Table | None:
    """Return the table that a text is.

    Args:
        text: the result of a query or a tool.
        columns: the names of its columns where they are known, for rows that do not repeat them.
        exact: whether to read only notations that write values in full; frames in print are rounded.
    """
    if len(text) > MAX_TABLE_TEXT:
        return None
    value = decode_document(text)
    if isinstance(value, str):
        return _find_table_in_lines(text, columns, exact)
    return find_table_in_value(value, columns)


def find_table_in_value(value: JsonValue, columns: Sequence[str] = ()) -> Table | None:
    """Return the table that a decoded result is: records, rows with their columns, or columns of values."""
    if isinstance(value, dict):
        return _find_table_in_object(value, columns)
    if not isinstance(value, list) or not value:
        return None
    records = [row for row in value if isinstance(row, dict)]
    if len(records) == len(value):
        names = tuple(records[0])
        is_even = all(tuple(record) == names for record in records)
        if is_even:
            return Table(names, [tuple(record.values()) for record in records])
        return None
    rows = [tuple(row) for row in value if isinstance(row, list)]
    if len(rows) == len(value):
        return _find_table_of_rows(rows, columns)
    return None


def _find_table_of_rows(rows: list[tuple[JsonValue, ...]], columns: Sequence[str]) -> Table | None:
    """Return the table of rows below names of columns; a first row of texts alone may have the names."""
    if not columns and len(rows) > 1 and all(isinstance(cell, str) for cell in rows[0]):
        columns, rows = [str(cell) for cell in rows[0]], rows[1:]
    is_even = all(len(row) == len(columns) for row in rows)
    return Table(tuple(columns), rows) if columns and is_even else None


def _find_table_in_object(value: dict[str, JsonValue], columns: Sequence[str]) -> Table | None:
    """Return the table of an object that holds rows, with their columns or without, or columns of values."""
    heads = value.get("columns")
    if isinstance(heads, list) and heads and all(isinstance(head, str) for head in heads):
        columns = [str(head) for head in heads]
    rows = next((value[key] for key in _ROW_KEYS if isinstance(value.get(key), list)), None)
    if rows is not None:
        return find_table_in_value(rows, columns)
    lists = [values for values in value.values() if isinstance(values, list)]
    if len(lists) != len(value) or len(lists) < 2 or len(set(map(len, lists))) != 1:
        return None
    return Table(tuple(value), list(zip(*lists, strict=True)))


def _find_table_in_lines(text: str, columns: Sequence[str], exact: bool) -> Table | None:
    """Return the table in lines, below names of the columns or with names that the caller knows."""
    grid = _find_grid(text, len(columns), exact)
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
    is_even = all(len(row) == len(columns) for row in rows)
    if columns and heads <= 1 and is_even:
        return Table(tuple(columns), list(rows))
    return None


def _find_grid(text: str, width: int, exact: bool) -> Grid | None:
    """Return the grid that all lines of a text make, counts of rows apart."""
    if "<table" in text.lower():
        found = find_html_table(text, 0)
        return found[0] if found is not None else None
    lines: list[Line] = []
    at = 0
    for line in text.splitlines(keepends=True):
        if line.strip() and not COUNT_OF_ROWS.fullmatch(line.strip()):
            lines.append(Line(line.rstrip("\r\n"), at))
        at += len(line)
    if not lines:
        return None
    grid = find_delimited(lines, 0, width) or (None if exact else find_aligned(lines, 0))
    return grid if grid is not None and grid.lines == len(lines) else None


def find_csv_rows(text: str) -> list[list[str]] | None:
    """Return the rows of a CSV file, whose cells may have several lines; None where it is none."""
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error:
        return None
