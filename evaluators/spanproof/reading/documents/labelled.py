"""Make records of lines that name the thing and then its values: `Physics: mean 64.9, n=25, failed=6`.

In: lines of a text, and the first of them that may be such. Out: how many lines were read. A line of counts
alone has no label (`=== 2 failed, 347 passed in 12.3s ===`), nor has one of `name=value`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spanproof.reading.grids import Cell, Line
from spanproof.reading.numbers import list_cached_mentions
from spanproof.reading.records import LONG_TEXT, FactBase, Role

_MAX_LINES = 2000
_MAX_LINE = 2000
# A longer line is prose; one of `name=value` may be a line of a log.
_MAX_LABELLED = 3 * LONG_TEXT
# A digit beside what parts or names values, or two equations: a cheap look before the patterns below.
_MAY_BE_LABELLED = re.compile(r"\d(?=[\s,;|)%.-])|[:=\s,$€£#-]\d|=")
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


def add_labelled(base: FactBase, source: int, lines: Sequence[Line], at: int) -> int:
    """Add a record for each line at and below a place that has two named values or more.

    Return how many these are.
    """
    used = 0
    group: int | None = None
    for number in range(at, min(len(lines), at + _MAX_LINES)):
        line = lines[number]
        may_be = len(line.text) <= _MAX_LINE and _MAY_BE_LABELLED.search(line.text) is not None
        row = _find_row_cells(line) if may_be else None
        if row is None:
            break
        if group is None:
            group = base.add_group("")
        label, cells = row
        record = base.add_record(source, None, line.start, line.start + len(line.text), group)
        if label is not None:
            base.add_cell(record, (), *label, Role.KEY)
        for position, (name, cell) in enumerate(cells, start=1):
            base.add_cell(record, (name or f"column {position}",), *cell)
        used += 1
    return used


def _find_row_cells(line: Line) -> tuple[Cell | None, list[tuple[str, Cell]]] | None:
    """Return a line's label, where it has one, and its cells with their names, which may be empty."""
    if _EQUATIONS.fullmatch(line.text):
        return None, list(_iter_equations(line))
    if len(line.text) > _MAX_LABELLED:
        return None
    tail = _TAIL.fullmatch(line.text)
    if tail is not None and len(set(tail["tail"].split()[::2])) > 1:
        low, high = tail.span("label")
        if high > low:
            label = _to_cell(line, (low, low + len(tail["label"].rstrip(" :"))))
        else:
            label = None
        parts = _OF_TAIL.finditer(line.text, tail.start("tail"))
        return label, [(part["name"], _to_cell(line, part.span("value"))) for part in parts]
    labelled = _LABEL.match(line.text)
    begin = labelled or _COUNTS.match(line.text)
    if begin is None or _SENTENCE.search(line.text):
        return None
    cells = list(_iter_cells(line, begin.end()))
    if sum(bool(name) for name, _ in cells) < 2 or not any(map(str.isdigit, line.text[begin.end() :])):
        return None
    return _to_cell(line, labelled.span("label")) if labelled is not None else None, cells


def _to_cell(line: Line, span: tuple[int, int]) -> Cell:
    return line.start + span[0], line.start + span[1]


def _iter_equations(line: Line) -> Iterator[tuple[str, Cell]]:
    for match in _EQUATION.finditer(line.text):
        low, high = match.span("value")
        yield match["name"], (line.start + low, line.start + high - match["value"].endswith(","))


def _iter_cells(line: Line, start: int) -> Iterator[tuple[str, Cell]]:
    """Yield the parts of a line with their names, which come before or after the values."""
    text = line.text.rstrip(" =*#-")
    for match in [*_PARTS.finditer(text, start), None]:
        end = match.start() if match else len(text)
        low, high = start, end
        name = ""
        found = _NAMED.fullmatch(text, start, end) or _BEFORE.fullmatch(text, start, end)
        first = next(iter(list_cached_mentions(text[start:end])), None)
        if found is not None:
            name, (low, high) = found["name"], found.span("value")
        elif first is not None and first.start == 0 and _BEHIND.fullmatch(text, start + first.end, end):
            name, high = text[start + first.end : end].strip(), start + first.end
        if text[low:high].strip():
            yield name, (line.start + low, line.start + high)
        start = match.end() if match else end
