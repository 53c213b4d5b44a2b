"""Read the sources into a fact base: literals, XML and HTML first, then tables, then pairs and sentences.

In: texts. Out: a `FactBase`. Each line is read by the first notation that fits. Bounded: of a text the first
characters are read, and of a base so many facts; `FactBase.cut` says that there was more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from spanproof.reading.documents.labelled import add_labelled
from spanproof.reading.documents.logs import add_log_lines
from spanproof.reading.documents.pairs import add_pairs, add_timed_pairs
from spanproof.reading.documents.prose import add_prose
from spanproof.reading.documents.tables import add_table
from spanproof.reading.documents.trees import add_literals, are_alike, build_node
from spanproof.reading.grids import (
    Line,
    find_aligned,
    find_common_scale,
    find_delimited,
    find_listing,
    find_spaced,
)
from spanproof.reading.literals import LiteralReader, Node
from spanproof.reading.markup import find_element, find_html_table
from spanproof.reading.records import MAX_FACTS, FactBase, Part, Role

MAX_CHARS = 400_000
# How many lines may be above a table without a blank line between: each costs a look at all that follow.
_MAX_LINES_ABOVE = 20
# How many elements may turn out to be none: each is read to where it breaks.
_MAX_BROKEN = 5
_MAX_OPENINGS = 3
_MAX_ABOUT = 200
_ELEMENT = re.compile(r"<(?=[A-Za-z_?!])")
_OPENS = re.compile(r"(?:\A|(?<=\n)|[:=>]\s*|(?<=\n)\s+|\s)(?=[{\[]|\(['\"\d]|\w{1,60}\(\w{1,60}=)")


def read_facts(texts: Sequence[str], about: str = "", columns: Sequence[Sequence[str]] = ()) -> FactBase:
    """Return the facts of some texts.

    Args:
        texts: the sources.
        about: what they are said to show, such as a table's title.
        columns: of each text the names of its columns where the query that gave it says them.
    """
    base = FactBase([text[:MAX_CHARS] for text in texts])
    base.cut = any(len(text) > MAX_CHARS for text in texts)
    base.scale = find_common_scale(base.texts)
    left = MAX_CHARS
    for source, text in enumerate(base.texts):
        named = tuple(columns[source]) if source < len(columns) else ()
        _add_text(base, source, text[: max(0, left)], about, named)
        base.cut = base.cut or len(text) > left
        left -= len(text)
    return base


_MAX_CACHED_CHARS = 16_384
# The turns of a conversation share most of their sources. A text of 16 KB may have 0.5 MB of facts.
_MAX_CACHED_TEXTS = 64


@dataclass(slots=True)
class _CachedText:
    """A text, and what it holds once it was read."""

    text: str
    about: str
    columns: tuple[str, ...]
    scale: float | None
    part: Part | None = None


_find_cached = lru_cache(maxsize=_MAX_CACHED_TEXTS)(_CachedText)


def _add_text(base: FactBase, source: int, text: str, about: str, columns: tuple[str, ...]) -> None:
    """Add the facts of a text; those of one that was read before are not read again."""
    find = _find_cached if len(text) <= _MAX_CACHED_CHARS else _CachedText
    cached = find(text, about, columns, base.scale)
    if cached.part is not None:
        base.add_part(source, cached.part)
        return
    first = len(base.records), len(base.group_names), len(base.facts)
    _TextReader(base, source, about, columns).add_text(text)
    if len(base.facts) < MAX_FACTS:
        cached.part = base.get_part(source, *first)


class _TextReader:
    """Reads one text: collects lines, and literals that follow each other, until another notation begins."""

    def __init__(self, base: FactBase, source: int, about: str, columns: tuple[str, ...]) -> None:
        self._base = base
        self._source = source
        self._about = about
        self._columns = columns
        self._lines: list[Line] = []
        self._literals: list[Node] = []

    def add_text(self, text: str) -> None:
        at = broken = 0
        reader = LiteralReader(text)
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            node: tuple[Node, int, int] | None = None
            element = _ELEMENT.search(text, at, end) if broken < _MAX_BROKEN else None
            if element is not None:
                html = find_html_table(text, at, end)
                if html is not None:
                    grid, begin, stop = html
                    self._add_collected(text, at, begin)
                    add_table(self._base, self._source, grid, self._about, self._columns)
                    at = stop
                    continue
                xml = find_element(text, element.start())
                broken += xml is None
                node = (build_node(xml), element.start(), xml.end) if xml is not None else None
            node = node or _find_literal(reader, at, end)
            if node is not None:
                at = self._read_literal(reader, at, *node)
                continue
            is_between_literals = bool(self._literals) and not self._lines
            if text[at:end].strip() or not is_between_literals:
                self._lines.append(Line(text[at:end].rstrip("\r"), at))
            at = end + 1
        self._add_collected(text, len(text), len(text))

    def _read_literal(self, reader: LiteralReader, at: int, node: Node, begin: int, stop: int) -> int:
        """Collect a literal, and rows below it that are like it; return where to read on."""
        before = reader.text[at:begin].strip(" \t,")
        follows_text = bool(before) or any(line.text.strip() for line in self._lines)
        if follows_text or not are_alike(self._literals, node):
            self._add_collected(reader.text, at, begin)
        self._literals.append(node)
        rows, end = reader.read_rows_below(stop)
        if not rows or not are_alike(self._literals, rows[0]):
            return stop
        self._literals += rows
        return end

    def _add_collected(self, text: str, at: int, begin: int) -> None:
        """Add the records of what was collected, and of the text before what begins."""
        if self._literals:
            add_literals(self._base, self._source, self._literals, self._columns)
            self._literals = []
        if begin > at and text[at:begin].strip():
            self._lines.append(Line(text[at:begin], at))
        if self._lines:
            self._add_lines(self._lines)
            self._lines = []

    def _add_lines(self, lines: list[Line]) -> None:
        base, source = self._base, self._source
        at = lines_above = 0
        while at < len(lines):
            text = lines[at].text
            if not text or text.isspace():
                at += 1
                lines_above = 0
                continue
            used = (
                add_timed_pairs(base, source, lines, at)
                or add_labelled(base, source, lines, at)
                or add_log_lines(base, source, lines, at)
                or add_pairs(base, source, lines, at)
            )
            if used:
                at += used
                continue
            grid = find_delimited(lines, at, len(self._columns)) or find_listing(lines, at)
            if grid is None and lines_above < _MAX_LINES_ABOVE:
                grid = find_spaced(lines, at) or find_aligned(lines, at)
                lines_above += 1
            if grid is None:
                add_prose(base, source, lines[at].start, lines[at].start + len(text), None)
                at += 1
                continue
            above = lines[at - 1].text if at else ""
            add_table(base, source, grid, f"{self._about} {above}".strip()[:_MAX_ABOUT], self._columns)
            at += grid.lines


def _find_literal(reader: LiteralReader, at: int, end: int) -> tuple[Node, int, int] | None:
    """Return a literal with content that begins in a line, with its places; None where there is none."""
    text = reader.text
    for match in islice(_OPENS.finditer(text, at, end), _MAX_OPENINGS):
        begin = match.end()
        found = reader.find_literal(begin)
        if found is None:
            continue
        node, stop = found
        # In prose a bracket opens a remark; a tuple is a literal where it is a line of its own.
        is_line = begin <= at and text[stop : stop + 1] in ("", "\n", ",")
        if (node.pairs or node.items) and (is_line or text[begin] != "("):
            return node, begin, stop
    return None


def read_records(text: str, columns: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return the rows and objects of a text: the names of their fields with the values as written.

    Args:
        text: in any notation that `read_facts` knows.
        columns: names for rows that have none, as a query says them.
    """
    base = read_facts([text], columns=[columns])
    found: dict[int, dict[str, str]] = {}
    for fact in base.facts:
        if fact.path and fact.role is Role.CELL:
            found.setdefault(fact.record, {})[".".join(fact.path)] = text[slice(*fact.cell)]
    return list(found.values())
