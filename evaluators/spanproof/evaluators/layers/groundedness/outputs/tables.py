"""Tables in text: markdown, CSV and TSV, bordered ones (psql, sqlite), and what pandas prints.

In: lines and the place to look at. Out: the table's rows as mappings by column, or None. A block of lines is
a table only where every line has the header's number of cells; wrapped and ragged text stays text.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import Any

_RULE = re.compile(r"^[\s|+:=-]*-{2,}[\s|+:=-]*$")
_CELLS = re.compile(r"\s{2,}|\t")
_NUMBER = re.compile(r"^[-+]?[$€£]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?%?$|^(?:NaN|None|NaT|null)$")
_SIZE = re.compile(r"^\d+(?:\.\d+)?(?:[KMGT]i?|B|ms|[smhd])$|^(?:\d+[dhms]){2,3}$")
_MOMENT = re.compile(r"^\d{1,2}:\d\d(?::\d\d)?$|^\d{4}-\d\d-\d\d")
_NUMBERS = re.compile(r"^[-+]?\d[\d.,]*\s[-+]?\d[\d.,]*$")
_HEAD = re.compile(r"\S+(?:\s\S+)*")
_ENDS = re.compile(r"\s*(?:\[|dtype:|Name:|Length:)")
_PAIR = 2
_LEAST_HEADS = 3
_MAX_CELL = 200
MAX_SCANNED = 200_000
"""Lines looked at in search of tables, over all attempts; text beyond that is read line by line."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table; `end` is the line after its last."""

    rows: list[dict[str, Any]] | dict[str, Any]
    end: int
    name: str = ""


@dataclass(slots=True)
class Lines:
    """The lines of an output, and how many more may be looked at in search of tables."""

    texts: list[str]
    left: int = MAX_SCANNED
    paragraph_end: int = 0


def read_table(source: Lines, start: int) -> TextTable | None:
    """The table that begins at this line."""
    line = source.texts[start]
    if len(line) > 4_000 or source.left <= 0:
        return None
    if start >= source.paragraph_end:
        blank = (at for at in range(start, len(source.texts)) if not source.texts[at].strip())
        source.paragraph_end = next(blank, len(source.texts))
    block = source.texts[start : source.paragraph_end]
    source.left -= len(block)
    table = _of_any_form(line, block)
    return None if table is None else TextTable(table.rows, start + table.end, table.name)


def _of_any_form(line: str, lines: list[str]) -> TextTable | None:
    start = 0
    if line.count("|") >= 2 or (line.lstrip().startswith("+") and _RULE.match(line)):
        return _piped(lines, start)
    if line.count("|") == 1:
        table = _piped(lines, start)
        return table if table is not None and len(table.rows) > 1 else None
    if "\t" in line:
        return _delimited(lines, start, "\t")
    if "," in line:
        table = _delimited(lines, start, ",")
        if table is not None:
            return table
    return _aligned(lines, start)


def _piped(lines: list[str], start: int) -> TextTable | None:
    grid: list[list[str]] = []
    end = start
    for line in lines[start:]:
        if _RULE.match(line):
            end += 1
            continue
        if "|" not in line or not line.strip():
            break
        grid.append([cell.strip().strip("*") for cell in line.strip().strip("|").split("|")])
        end += 1
    return _table(grid, end)


def _delimited(lines: list[str], start: int, delimiter: str) -> TextTable | None:
    header = _split(lines[start], delimiter)
    if len(header) < 2 or any(len(cell) > 40 or _NUMBER.match(cell) for cell in header):
        return None
    grid = [header]
    for line in lines[start + 1 :]:
        if not line.strip():
            break
        cells = _split(line, delimiter)
        if len(cells) != len(header) or any(len(cell) > _MAX_CELL for cell in cells):
            break
        grid.append(cells)
    if len(grid) < 2 or not any(
        _NUMBER.match(cell) or _MOMENT.match(cell) for row in grid[1:] for cell in row
    ):
        return None
    return _table(grid, start + len(grid))


def _split(line: str, delimiter: str) -> list[str]:
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
    except (csv.Error, StopIteration):
        return []


def _aligned(lines: list[str], start: int) -> TextTable | None:
    """A pandas frame (rows have an index the header lacks), a series, or columns set with spaces."""
    header = _CELLS.split(lines[start].strip())
    block: list[list[str]] = []
    if not _could_head(header, lines[start + 1] if start + 1 < len(lines) else ""):
        return None
    for line in lines[start + 1 :]:
        if not line.strip() or line.lstrip().startswith(("[", "dtype:", "Name:", "Length:")):
            break
        block.append(_CELLS.split(line.strip()))
    if not block:
        return _series([header], lines, start)
    if len(header) == 2 and _NUMBER.match(header[1]):
        return _series([header, *block], lines, start)
    return _frame(header, block, lines, start) or _left_aligned(lines, start)


def _could_head(header: list[str], following: str) -> bool:
    """Whether the line could head a table or begin a series: what tells that without looking at the rest."""
    if len(header) == _PAIR and _NUMBER.match(header[1]):
        alone = not following.strip() or _ENDS.match(following) is not None
        return alone or len(_CELLS.split(following.strip())) == _PAIR
    words = header if len(header) > 1 else header[0].split()
    return not any(_NUMBER.match(word) for word in words)


def _left_aligned(lines: list[str], start: int) -> TextTable | None:
    """Columns that begin where their headings do, so that cells may be empty or hold spaces (`docker ps`)."""
    heads = [(match.start(), match.group()) for match in _HEAD.finditer(lines[start])]
    if len(heads) < _LEAST_HEADS or not all(name.isupper() for _, name in heads):
        return None
    ends = [place for place, _ in heads[1:]] + [None]
    rows: list[dict[str, Any]] = []
    for line in lines[start + 1 :]:
        if not line.strip() or any(place and line[place - 1 : place].strip() for place, _ in heads):
            break
        rows.append(
            {name: _cell(line[place:end].strip()) for (place, name), end in zip(heads, ends, strict=True)}
        )
    return TextTable(rows, start + 1 + len(rows)) if rows else None


def _frame(header: list[str], block: list[list[str]], lines: list[str], start: int) -> TextTable | None:
    rows = block
    if (
        not all(len(row) in (len(header), len(header) + 1) for row in rows)
        or len({len(row) for row in rows}) != 1
        or any(_NUMBERS.match(cell) for row in rows for cell in row)
    ):
        # One space between columns: pandas pads to the widest cell, so full columns stand close.
        header = _joined(lines[start].split())
        rows = _even([line.split() for line in lines[start + 1 : start + 1 + len(block)]], len(header))
        if len({len(row) for row in rows}) != 1:
            return None
    width = len(rows[0])
    indexed = width == len(header) + 1
    if width < 2 or not (indexed or width == len(header)) or any(_NUMBER.match(name) for name in header):
        return None
    if not any(_NUMBER.match(cell) or _SIZE.match(cell) for row in rows for cell in row[1:]):
        return None
    index_is_a_count = all(row[0].isdigit() for row in rows) if indexed else False
    names = header if not indexed else ["index", *header]
    table: list[dict[str, Any]] = []
    for row in rows:
        cells = {name: _cell(cell) for name, cell in zip(names, row, strict=True)}
        if index_is_a_count:
            cells.pop("index", None)
        table.append(cells)
    return TextTable(table, start + 1 + len(rows))


def _joined(header: list[str]) -> list[str]:
    """A header whose last name has two words: `Mounted on`."""
    return (
        [*header[:-2], " ".join(header[-2:])]
        if len(header) > 2 and header[-1] in {"on", "at", "by"}
        else header
    )


def _even(rows: list[list[str]], columns: int) -> list[list[str]]:
    """Rows that name themselves ("Swap:") and leave their last columns empty, filled up."""
    if not all(row and row[0].endswith(":") for row in rows) or max(map(len, rows)) != columns + 1:
        return rows
    return [row + ["None"] * (columns + 1 - len(row)) for row in rows]


def _series(block: list[list[str]], lines: list[str], start: int) -> TextTable | None:
    rows = [row for row in block if len(row) == 2]
    if len(rows) != len(block) or not all(_NUMBER.match(row[1]) for row in rows):
        return None
    if len(rows) == 1 and rows[0][0].endswith((":", "=")):
        return None
    name = ""
    end = start + len(rows)
    if end < len(lines) and (found := re.match(r"^Name: ([^,]+),", lines[end])):
        name = found[1]
    return TextTable({row[0]: _cell(row[1]) for row in rows}, end, name)


def _table(grid: list[list[str]], end: int) -> TextTable | None:
    if len(grid) < 2 or len(grid[0]) < 2 or len({len(row) for row in grid}) != 1:
        return None
    names = [name or f"column {place + 1}" for place, name in enumerate(grid[0])]
    return TextTable([dict(zip(names, map(_cell, row), strict=True)) for row in grid[1:]], end)


def _cell(text: str) -> Any:
    plain = text.replace(",", "")
    if not plain or not plain.lstrip("-+.")[:1].isdigit():
        return None if text in {"NaN", "None", "NaT", "null", ""} else text
    try:
        return int(plain)
    except ValueError:
        try:
            return float(plain)
        except ValueError:
            return text
