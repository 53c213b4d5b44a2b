"""Make records of lines that name the thing and then its values: `Physics: mean 64.9, n=25, failed=6`.

A line of counts alone has no label (`=== 2 failed, 347 passed in 12.3s ===`), nor has one of `name=value`.

In: lines with their places. Out: a row for each of the first lines that are such: its label and named cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spanproof.reading.documents.tables import Cell, Line
from spanproof.reading.numbers import scan_cached
from spanproof.reading.records import LONG_TEXT, FactBase, Role

_MOST_LINES = 2000
_SENTENCE = re.compile(r"[.!?]\s+[^\W\d]")
_LABEL = re.compile(r"\s*(?:[-*•]\s+)?(?P<label>[^\s:=,;|][^:=,;|]{0,40}?)\s*(?::|->|\s[-–—])\s+(?=\S)")
_COUNTS = re.compile(
    r"\W*(?=\d[\d.,]*(?:\s[a-z]+){1,2}(?:\([^)]*\))?,\s\d[\d.,]*\s[a-z]+.*[^.!?]\Z)", re.IGNORECASE
)
_PARTS = re.compile(r"\s*[;|]\s*|\s*,(?!\d{3}(?!\d))\s*|\s+[-–—]\s+")
_EQUATIONS = re.compile(r"\s*(?:[A-Za-z_][\w.-]*=(?:\"[^\"]*\"|\S+)(?:,?\s+|\Z)){2,}")
_EQUATION = re.compile(r"(?P<name>[A-Za-z_][\w.-]*)=\"?(?P<value>(?<=\")[^\"]+|[^\"\s]+)")
_NUMBER = r"[-+]?[$€£]?\d[\d.,]*\S{0,3}"
_NAMED = re.compile(r"\s*(?P<name>[A-Za-z_][\w .%/-]{0,30}?)\s*(?:=|(?<!\d):|:(?!\d))\s*(?P<value>\S.*?)\s*")
_BEFORE = re.compile(
    rf"\s*(?P<name>[A-Za-z_][\w %/-]{{0,30}}?)\s+(?P<value>{_NUMBER}(?:\s[A-Za-z%]{{1,6}})?)\s*"
)
_BEHIND = re.compile(r"\s*[A-Za-z][\w %/-]{0,30}(?:\([^()]*\))?\s*")
_TAIL = re.compile(
    r"(?P<label>.{0,40}?)\s*(?<!\S)(?P<tail>(?:[A-Za-z_]+[:=]?\s+[-+$€£]?\d[\d.,]*%?(?:\s+|\Z)){2,})"
)
_OF_TAIL = re.compile(r"(?P<name>[A-Za-z_]+)[:=]?\s+(?P<value>\S+)")


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A line's label, where it has one, and its cells with their names, which may be empty."""

    line: Line
    label: Cell | None
    cells: tuple[tuple[str, Cell], ...]


def read_labelled(lines: list[Line]) -> list[LabelledRow]:
    """Return the rows of the first lines that have a label and two named values or more."""
    return list(_parse_rows(lines[:_MOST_LINES]))


def _parse_rows(lines: list[Line]) -> Iterator[LabelledRow]:
    for line in lines:
        if _EQUATIONS.fullmatch(line.text):
            yield LabelledRow(line, None, tuple(_parse_equations(line)))
            continue
        tail = _TAIL.fullmatch(line.text)
        if tail is not None and len(set(tail["tail"].split()[::2])) > 1:
            low, high = tail.span("label")
            named = tuple(
                (each["name"], _to_cell(line, each.span("value")))
                for each in _OF_TAIL.finditer(line.text, tail.start("tail"))
            )
            yield LabelledRow(
                line,
                _to_cell(line, (low, low + len(tail["label"].rstrip(" :")))) if high > low else None,
                named,
            )
            continue
        label = _LABEL.match(line.text)
        begin = label or _COUNTS.match(line.text)
        if begin is None or len(line.text) > 3 * LONG_TEXT or _SENTENCE.search(line.text):
            return
        cells = list(_split_cells(line, begin.end()))
        if sum(bool(name) for name, _ in cells) < 2 or not any(map(str.isdigit, line.text[begin.end() :])):
            return
        low, high = label.span("label") if label is not None else (0, 0)
        place = (line.start + low, line.start + high) if label is not None else None
        yield LabelledRow(line, place, tuple(cells))


def _to_cell(line: Line, place: tuple[int, int]) -> Cell:
    return line.start + place[0], line.start + place[1]


def _parse_equations(line: Line) -> Iterator[tuple[str, Cell]]:
    for match in _EQUATION.finditer(line.text):
        low, high = match.span("value")
        yield match["name"], (line.start + low, line.start + high - match["value"].endswith(","))


def _split_cells(line: Line, start: int) -> Iterator[tuple[str, Cell]]:
    """Yield the parts of a line with their names, which stand before or behind the values."""
    text = line.text.rstrip(" =*#-")
    for match in [*_PARTS.finditer(text, start), None]:
        end = match.start() if match else len(text)
        low, high = start, end
        name = ""
        found = _NAMED.fullmatch(text, start, end) or _BEFORE.fullmatch(text, start, end)
        first = next(iter(scan_cached(text[start:end])), None)
        if found is not None:
            name, (low, high) = found["name"], found.span("value")
        elif first is not None and first.start == 0 and _BEHIND.fullmatch(text, start + first.end, end):
            name, high = text[start + first.end : end].strip(), start + first.end
        if text[low:high].strip():
            yield name, (line.start + low, line.start + high)
        start = match.end() if match else end


def add_labelled(base: FactBase, source: int, rows: list[LabelledRow], parent: int | None) -> None:
    """Add a record for each row, its label as the key of it."""
    group = base.new_group("")
    for row in rows:
        end = row.line.start + len(row.line.text)
        record = base.new_record(source, parent, row.line.start, end, group)
        if row.label is not None:
            base.add_cell(record, (), *row.label, Role.KEY)
        for position, (name, cell) in enumerate(row.cells, start=1):
            base.add_cell(record, (name or f"column {position}",), *cell)
