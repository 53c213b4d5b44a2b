"""Read XML as data, and tables of HTML: each element and cell with its characters.

In: a text and where an element begins. Out: an `Element`, or None where no well-formed element with fields
begins there. A page of HTML is a document, and so is an element with long text in it: neither is read.
Nothing is expanded, fetched or validated. One pass, from left to right. A table of HTML is a grid of cells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from spanproof.reading.grids import Cell, Grid

_ATTRIBUTE = re.compile(r"\s+(?P<name>[\w.:-]+)\s*=\s*(?:\"(?P<double>[^\"<]*)\"|'(?P<single>[^'<]*)')")
_OPENING = re.compile(r"<(?P<name>[A-Za-z_][\w.:-]*)")
_CLOSING = re.compile(r"</(?P<name>[A-Za-z_][\w.:-]*)\s*>")
_ENDS = re.compile(r"\s*(?P<empty>/?)>")
_SKIPPED = (("<?", "?>"), ("<!--", "-->"), ("<!DOCTYPE", ">"))
_DOCUMENTS = frozenset(
    "html head body div span p a b i u ul ol li table tr td th br hr h1 h2 h3 pre code script style form".split()  # noqa: SIM905, E501
)
_MAX_ELEMENTS = 20_000
_MAX_DEPTH = 60
_MAX_TEXT = 400


@dataclass(slots=True)
class Element:
    """An element.

    Attributes:
        name: without its prefix: `itunes:duration` is a duration.
        start, end: its characters; `text` those of what it holds where that is no element.
        attributes: by name, with their characters.
    """

    tag: str
    start: int
    end: int
    attributes: dict[str, tuple[int, int]] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: tuple[int, int] = (0, 0)

    @property
    def name(self) -> str:
        """Return the tag without its prefix."""
        return _without_prefix(self.tag)


def find_element(text: str, at: int) -> Element | None:
    """Return the element with fields that begins at a place; None where none begins."""
    stack: list[Element] = []
    for _ in range(_MAX_ELEMENTS):
        at = _get_content_start(text, at)
        closing = _CLOSING.match(text, at) if stack else None
        if closing is not None:
            element = stack.pop()
            if closing["name"] != element.tag or not _has_little_text(text, element, at):
                return None
            at = element.end = closing.end()
        else:
            opened = _find_opening(text, at)
            if opened is None or len(stack) >= _MAX_DEPTH:
                return None
            element, is_empty = opened
            at = element.end
            if stack:
                stack[-1].children.append(element)
            if not is_empty:
                stack.append(element)
        if not stack:
            return element if element.attributes or element.children else None
        at = text.find("<", at)
        if at < 0:
            return None
    return None


def _get_content_start(text: str, at: int) -> int:
    """Return where the text goes on after comments, instructions and a document type."""
    while (skipped := next((end for start, end in _SKIPPED if text.startswith(start, at)), None)) is not None:
        end = text.find(skipped, at)
        at = text.find("<", end) if end >= 0 else -1
        if at < 0:
            return len(text)
    return at


def _find_opening(text: str, at: int) -> tuple[Element, bool] | None:
    """Return the element whose first tag is at a place, and whether that is its last as well."""
    opening = _OPENING.match(text, at)
    if opening is None or opening["name"].lower() in _DOCUMENTS:
        return None
    element = Element(opening["name"], at, opening.end())
    while (attribute := _ATTRIBUTE.match(text, element.end)) is not None:
        element.end = attribute.end()
        if not attribute["name"].startswith("xmlns"):
            quoted = "double" if attribute["double"] is not None else "single"
            element.attributes[_without_prefix(attribute["name"])] = attribute.span(quoted)
    end = _ENDS.match(text, element.end)
    if end is None:
        return None
    element.end = end.end()
    return element, bool(end["empty"])


def _has_little_text(text: str, element: Element, end: int) -> bool:
    """Set the text of an element that ends here; return whether it is as short as a field's."""
    if element.children:
        return True
    inside = text[element.end : end]
    start = element.end + len(inside) - len(inside.lstrip())
    element.text = (start, start + len(inside.strip()))
    return len(inside.strip()) <= _MAX_TEXT


def _without_prefix(name: str) -> str:
    return name.rpartition(":")[2]


_TABLE = re.compile(r"<table\b", re.IGNORECASE)
_ROW_OR_CELL = re.compile(r"<(?P<end>/?)(?P<tag>table|tr|t[hd])\b[^<>]*>", re.IGNORECASE)
_MARKS_BEFORE = re.compile(r"(?>(?:\s|&nbsp;|<(?!/?(?:t[dhr]|table)\b)[^<>]*>)*)", re.IGNORECASE)
_MAX_CELLS = 20_000


def find_html_table(text: str, at: int, end: int | None = None) -> tuple[Grid, int, int] | None:
    """Return the first table of HTML that begins in a part of a text, where it begins and where it ends."""
    opening = _TABLE.search(text, at, len(text) if end is None else end)
    if opening is None:
        return None
    rows, stop, is_cut = _read_html_rows(text, opening.start())
    if len(rows) < 2 or (is_cut and min(map(len, rows[:2])) < 2):
        return None
    grid = Grid(list(filter(None, rows)), 1)
    if is_cut or len(grid.rows) > 1:
        return (grid, opening.start(), stop)
    return None


def _read_html_rows(text: str, at: int) -> tuple[list[list[Cell]], int, bool]:
    """Return the rows of a table, where it ends, and whether the end of the text cuts it off.

    There are none where the table is too large or has a table in it.
    """
    rows: list[list[Cell]] = []
    for number, match in enumerate(_ROW_OR_CELL.finditer(text, at)):
        tag, closes = match["tag"].lower(), bool(match["end"])
        is_inner_table = tag == "table" and number > 0 and not closes
        if number > _MAX_CELLS or is_inner_table:
            return [], 0, False
        if tag == "table" and closes:
            return rows, match.end(), False
        if tag == "table" or closes:
            continue
        if tag == "tr" or not rows:
            rows.append([])
        if tag != "tr":
            rows[-1].append(_get_html_cell(text, match.end()))
    return rows, len(text), True


def _get_html_cell(text: str, at: int) -> Cell:
    """Return what is written after the tag of a cell, without marks before it."""
    marks = _MARKS_BEFORE.match(text, at)
    start = marks.end() if marks is not None else at
    stop = text.find("<", start)
    return start, start + len(text[start : stop if stop >= 0 else len(text)].rstrip())
