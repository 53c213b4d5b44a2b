"""Rows of a query, as recorded and as replayed.

In: what a database tool gave back, in any notation that writes values in full, and the rows of the replay.
Out: whether they are the same rows. A form that is not known is not comparable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spanproof.evaluators.replay.compare import Agreement
from spanproof.evaluators.replay.record import Record
from spanproof.reading.tables import MAX_TABLE_TEXT, find_table
from spanproof.sandbox import Execution, FailureClass, JsonValue
from spanproof.trace.dialects.decode import decode_document

_ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)
_MAX_QUOTED = 80

_Row = tuple[str, ...]


def compare_rows(record: Record, execution: Execution, source: str) -> Agreement:
    """Compare a query's record with its replay against a fixture database.

    Only rows that differ are held against the record: a statement that fails on one side alone may have met
    another engine, or a database with less in it.
    """
    if record.failure_class is None:
        return Agreement(None)
    if record.failure_class is not execution.failure_class:
        raised = f" ({execution.raised.type})" if execution.raised is not None else ""
        difference = f"recorded {record.failure_class}, replayed {execution.failure_class}{raised}"
        return Agreement(None, f"{difference}: the fixture database need not be the one of the run")
    if execution.failure_class is not FailureClass.OK:
        return Agreement(agrees=True)
    result = execution.result
    if not isinstance(result, dict) or result.get("cut") is True:
        return Agreement(None, None if result is None else "the query gave more rows than are kept")
    columns, replayed = result["columns"], result["rows"]
    assert isinstance(columns, list)
    assert isinstance(replayed, list)
    recorded = find_rows(_get_result(record), [str(column) for column in columns])
    if recorded is None:
        return Agreement(None, "the record does not hold the rows in a form that is known")
    return _compare_parsed_rows(
        recorded, [_normalise_row(row) for row in replayed if isinstance(row, list)], source
    )


def find_rows(result: JsonValue, columns: Sequence[str]) -> list[_Row] | None:
    """Return the rows in what a tool gave; None where it holds no rows.

    Args:
        result: the tool's result, a text or decoded.
        columns: of the replay, by which a table's head is known.
    """
    if isinstance(result, str):
        document = decode_document(result) if len(result) <= MAX_TABLE_TEXT else result
        if not isinstance(document, str):
            return find_rows(document, columns)
        table = find_table(result, columns, exact=True)
        return None if table is None else [_normalise_row(row) for row in table.rows]
    if isinstance(result, dict):
        rows = result.get("rows", result.get("data"))
        return find_rows(rows, columns) if isinstance(rows, list) else [_normalise_row(list(result.values()))]
    if isinstance(result, list):
        return [_normalise_row(_list_cells(row)) for row in result]
    return [_normalise_row([result])] if isinstance(result, int | float) else None


def _get_result(record: Record) -> JsonValue:
    if record.output is not None:
        return record.output.value
    return record.shown if record.shown is not None else record.stdout


def _compare_parsed_rows(recorded: list[_Row], replayed: list[_Row], source: str) -> Agreement:
    if not _ORDERED.search(source):
        recorded, replayed = sorted(recorded), sorted(replayed)
    if recorded == replayed:
        return Agreement(agrees=True)
    if len(recorded) != len(replayed):
        difference = f"{len(recorded)} rows recorded, {len(replayed)} replayed"
        return Agreement(agrees=False, difference=difference)
    number, (left, right) = next(
        (at, pair) for at, pair in enumerate(zip(recorded, replayed, strict=True), 1) if pair[0] != pair[1]
    )
    difference = f"row {number} recorded {_format_row(left)!r}, replayed {_format_row(right)!r}"
    return Agreement(agrees=False, difference=difference)


def _list_cells(row: JsonValue) -> list[JsonValue]:
    if isinstance(row, dict):
        return list(row.values())
    return list(row) if isinstance(row, list | tuple) else [row]


def _normalise_row(cells: Sequence[JsonValue]) -> _Row:
    return tuple(_normalise_cell(cell) for cell in cells)


def _normalise_cell(value: JsonValue) -> str:
    """Return one text for equal values: numbers by twelve digits, as floats are printed in many ways."""
    if value is None or value in ("NULL", "None"):
        return ""
    text = str(int(value)) if isinstance(value, bool) else str(value).strip()
    try:
        return f"{float(text):.12g}" if len(text) <= 40 else text
    except ValueError:
        return text


def _format_row(row: _Row) -> str:
    text = " | ".join(row)
    return text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 1]}…"
