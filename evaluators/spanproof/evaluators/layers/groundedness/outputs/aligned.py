"""Tables whose columns only their edges tell: reports that leave cells empty, rules between rows, no header.

In: lines and where to look. Out: rows as mappings by column with the line after the last, or None. A cell
belongs to the heading whose right or left edge it shares, so that `classification_report`, a regression
summary, a pivot under two headings and a statement of years are read as printed. Rows of the same shape
without any heading (`du`, `uniq -c`) are a table too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_RULE = re.compile(r"^[\s=+|-]*[-=]{3,}[\s=+|-]*$")
_YEAR = re.compile(r"(?:FY\s?)?(?:19|20)\d\d")
_NUMBER = re.compile(r"\(?[-+−]?[$€£]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?\)?%?")
_SIZE = re.compile(r"\d+(?:\.\d+)?[KMGTP]i?B?")
_GAP = re.compile(r"\t|\s{2,}")
_COUNTED = re.compile(r"\s*(\d[\d,.]*[KMGTP]?)[ \t]+([^\s\d][^\d,:]{0,40})")
"""A line of `uniq -c` or `du`: a number, and what there is so much of."""
_LEAST_ROWS, _LEAST_HEADS = 2, 2
_MAX_NAME = 60
_MOST_RULES = 2
"""Blank lines and rules between two rows."""
_MOST_WITHOUT = 3
"""Rows without a number behind which no table is looked for."""
_Span = tuple[int, int, str]


def read_aligned(lines: Sequence[str], place: int) -> tuple[list[dict[str, Any]], int] | None:
    """The table that begins with this line, its rows' names under `name`, and how many lines it takes."""
    heads = _spans(lines[place])
    if len(heads) < _LEAST_HEADS or not _could_head(heads):
        return None
    at = place + 1
    second = _spans(lines[at]) if at < len(lines) else []
    if len(heads) > _LEAST_HEADS and heads[0][0] == 0 and len(second) == 1 and second[0][0] == 0:
        heads, at = heads[1:], at + 1  # a pivot: what its columns and its rows are called
    rows: list[dict[str, Any]] = []
    end, numbers = at, 0
    for here in range(at, len(lines)):
        line = lines[here]
        if not line.strip() or _RULE.match(line):
            if here - end > _MOST_RULES:
                break
            continue
        row = _row(_spans(line), heads)
        if row is None or (len(rows) >= _MOST_WITHOUT and not numbers):
            break
        rows.append(row)
        numbers += sum(not isinstance(cell, str) for cell in row.values() if cell is not None)
        end = here + 1
    return (rows, end - place) if len(rows) >= _LEAST_ROWS and numbers >= len(rows) else None


def _spans(line: str) -> list[_Span]:
    """The cells of a line, which two spaces part."""
    found: list[_Span] = []
    for part in re.finditer(r"\S+(?: \S+)*", line):
        pieces = part.group().split(" ")
        if len(pieces) > 1 and all(_NUMBER.fullmatch(piece) for piece in pieces):
            start = part.start()
            for piece in pieces:
                found.append((start, start + len(piece), piece))
                start += len(piece) + 1
        else:
            found.append((part.start(), part.end(), part.group()))
    return found


def _could_head(heads: list[_Span]) -> bool:
    years = all(_YEAR.fullmatch(text) for _, _, text in heads)
    return years or not any(_NUMBER.fullmatch(text) for _, _, text in heads)


def _row(cells: list[_Span], heads: list[_Span]) -> dict[str, Any] | None:
    """The cells by their headings; None for a line that does not stand under them."""
    row: dict[str, Any] = {}
    name: list[str] = []
    for start, end, text in cells:
        head = next((head for head in heads if abs(head[1] - end) <= 1 or head[0] == start), None)
        if head is None and not row and start < heads[0][1]:
            name.append(text)
        elif head is None or head[2] in row:
            return None
        else:
            row[head[2]] = _cell(text)
    if not row or len(" ".join(name)) > _MAX_NAME:
        return None
    if len(name) == 1 and name[0].isdigit():
        return {"id": int(name[0]), **row}
    return {"name": " ".join(name), **row} if name else row


def _cell(text: str) -> Any:
    """A number where the cell is one; in brackets it is negative, as accountants write."""
    if not _NUMBER.fullmatch(text) or text.endswith("%") or any(mark in text for mark in "$€£"):
        return text
    digits = text.strip("()").replace(",", "").replace("−", "-")
    value = float(digits) if "." in digits or "e" in digits.lower() else int(digits)
    return -value if text.startswith("(") else value


def read_headless(lines: Sequence[str], place: int) -> tuple[list[dict[str, Any]], int] | None:
    """Rows of one shape without a heading: a size or a number, and names."""
    rows: list[dict[str, Any]] = []
    shape: list[str] = []
    for here in range(place, len(lines)):
        line = lines[here]
        counted = _COUNTED.fullmatch(line)
        cells = list(counted.groups()) if counted else [cell for cell in _GAP.split(line.strip()) if cell]
        kinds = [_kind(cell) for cell in cells]
        shape = shape or kinds
        if len(cells) < _LEAST_HEADS or kinds != shape or "name" not in kinds or len(set(kinds)) == 1:
            break
        rows.append(_named(cells, kinds))
    return (rows, len(rows)) if len(rows) >= _LEAST_ROWS else None


def _kind(cell: str) -> str:
    if _SIZE.fullmatch(cell):
        return "size"
    return "value" if _NUMBER.fullmatch(cell) else "name"


def _named(cells: list[str], kinds: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for cell, kind in zip(cells, kinds, strict=True):
        name = kind if kind not in row else f"{kind} {len(row) + 1}"
        row[name] = _cell(cell) if kind == "value" else cell + "B" * (kind == "size" and cell[-1] != "B")
    return row
