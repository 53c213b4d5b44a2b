"""Rows of tables: files of comma-separated values, and the forms in which pandas writes a data frame."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from spanproof.trace.exports.rows import Row


def parse_csv(text: str) -> list[Row]:
    """Return the rows of a file with a head; an empty field is None."""
    # The limit of a field is 128 KiB otherwise, less than a conversation.
    csv.field_size_limit(sys.maxsize)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter)
    return [{str(name): value or None for name, value in row.items()} for row in rows]


def find_table_rows(document: object) -> Sequence[Any] | None:
    """Return the rows of a data frame that is not written row by row; None where the document is none.

    `to_json()` writes an object of columns, and `orient="split"` names of columns beside lists of values.
    """
    if not isinstance(document, Mapping):
        return None
    columns, data = document.get("columns"), document.get("data")
    if isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, columns), row, strict=False)) for row in data]
    held = list(document.values())
    if len(held) < 2 or not all(isinstance(column, Mapping) for column in held):
        return None
    first = list(held[0])
    if not first or any(list(column) != first for column in held):
        return None
    return [{name: column[key] for name, column in document.items()} for key in first]
