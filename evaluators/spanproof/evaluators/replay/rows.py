"""Rows of a query, as recorded and as replayed.

Takes what a database tool gave back, in the forms tools give it (JSON, Python's `repr`, a table with bars),
and the rows of the replay; says whether they are the same rows. A form that is not known is not comparable.
Never evaluates anything: literals are parsed, no more.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence

from spanproof.evaluators.replay.compare import Agreement
from spanproof.evaluators.replay.record import Record
from spanproof.sandbox import Execution, FailureClass, JsonValue

_TEXT_CHARACTERS = 256 * 1024
_RULE = re.compile(r"^[\s|+:=-]+$")
_ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)
_MAX_QUOTED = 80
_HEAD = re.compile(r"[A-Za-z_]\w*\Z")

_Row = tuple[str, ...]
Table = tuple[tuple[str, ...], list[tuple[JsonValue, ...]]]
"""The names of a table's columns, and its rows."""


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
    recorded = parse_rows(_select_result(record), [str(column) for column in columns])
    if recorded is None:
        return Agreement(None, "the record does not hold the rows in a form that is known")
    return _compare_parsed_rows(
        recorded, [_normalise_row(row) for row in replayed if isinstance(row, list)], source
    )


def parse_rows(given: JsonValue, columns: Sequence[str]) -> list[_Row] | None:
    """Return the rows in what a tool gave; None where it holds no rows.

    Args:
        given: the tool's result, a text or decoded.
        columns: of the replay, by which a table's head is known.
    """
    if isinstance(given, str):
        decoded = _decode_text(given)
        return _parse_bar_table(given, columns) if decoded is None else parse_rows(decoded, columns)
    if isinstance(given, dict):
        rows = given.get("rows", given.get("data"))
        return parse_rows(rows, columns) if isinstance(rows, list) else [_normalise_row(list(given.values()))]
    if isinstance(given, list):
        return [_normalise_row(_list_cells(row)) for row in given]
    return [_normalise_row([given])] if isinstance(given, int | float) else None


def parse_table(text: str, named: Sequence[str] | None) -> Table | None:
    """Return the columns and rows in what a tool gave; None where there are none, or no column names.

    Args:
        text: the tool's result.
        named: the columns, in order, where the query names them.
    """
    decoded = _decode_text(text)
    if isinstance(decoded, dict):
        inner = decoded.get("rows", decoded.get("data"))
        heads = decoded.get("columns")
        if isinstance(heads, list) and all(isinstance(head, str) for head in heads):
            named = [str(head) for head in heads]
        decoded = inner
    if isinstance(decoded, list) and decoded:
        return _parse_list(decoded, named)
    return _parse_lines(text)


def _parse_list(given: list[JsonValue], named: Sequence[str] | None) -> Table | None:
    """Return the rows of a list of records with the same names, or of lists beside a query's names."""
    records = [row for row in given if isinstance(row, dict)]
    if len(records) == len(given):
        columns = tuple(records[0])
        same = all(tuple(row) == columns for row in records)
        return (columns, [tuple(row.values()) for row in records]) if same else None
    cells = [tuple(row) for row in given if isinstance(row, list | tuple)]
    return (tuple(named), cells) if named is not None and len(cells) == len(given) else None


def _parse_lines(text: str) -> Table | None:
    """Return the rows of a table in lines below a head, parted by bars, tabs, semicolons or commas."""
    lines = [line for line in text.strip().splitlines() if line.strip() and not _RULE.match(line)]
    part = next((each for each in "|\t;," if len(lines) > 1 and all(each in line for line in lines)), None)
    if part is None:
        return None
    rows = [tuple(cell.strip() for cell in line.strip().strip("|").split(part)) for line in lines]
    heads = rows[0]
    if not all(_HEAD.match(head) for head in heads) or any(len(row) != len(heads) for row in rows):
        return None
    return heads, [tuple(row) for row in rows[1:]]


def _select_result(record: Record) -> JsonValue:
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
    difference = f"row {number} recorded {_quote_row(left)!r}, replayed {_quote_row(right)!r}"
    return Agreement(agrees=False, difference=difference)


def _decode_text(text: str) -> JsonValue:
    """Return what a text holds as JSON or as Python literals; None where it is neither."""
    text = text.strip()
    if len(text) > _TEXT_CHARACTERS or not text.startswith(("[", "{", "(")):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        return list(found) if isinstance(found, tuple) else found
    return None


def _parse_bar_table(text: str, columns: Sequence[str]) -> list[_Row] | None:
    lines = [line for line in text.strip().splitlines() if not _RULE.match(line)]
    if not lines or not all("|" in line for line in lines):
        return None
    rows = [_normalise_row([cell.strip() for cell in line.strip().strip("|").split("|")]) for line in lines]
    head = tuple(column.lower() for column in columns)
    return rows[1:] if tuple(cell.lower() for cell in rows[0]) == head else rows


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


def _quote_row(row: _Row) -> str:
    text = " | ".join(row)
    return text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 1]}…"
