"""The outline of an answer: which line is under which.

In: the answer. Out: its lines with their parents. A heading, a bold line, a numbered item and a line that ends
in a colon hold for what is indented or listed below them.
"""  # noqa: E501

from __future__ import annotations

import re
from dataclasses import dataclass, field

_LINE = re.compile(r"(?P<indent>[ \t]*)(?P<marker>#{1,6}\s+|[-*•+–]\s+|\(?\d{1,2}[.)]\s+|[a-zA-Z][.)]\s+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(A-Z0-9*])|;\s+")
_CLAUSE_END = re.compile(r"[,;()]|\s[-–—]\s|\b(?:and|but|while|whereas|with|versus|vs|then)\b")


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """A line of an answer.

    Attributes:
        begin: where its words begin, behind indent and marker.
        depth: how deep it is; a line is under the nearest above it with a smaller depth.
        parents: indices of the lines it is under, the nearest first.
        sentences: places of its sentences.
        label: the end of the label at its begin ("Price:"), equal to `begin` where there is none.
        cells: of a row of a table, the places of its cells; `header` the index of the table's first row.
    """

    start: int
    end: int
    begin: int
    depth: float
    parents: tuple[int, ...]
    sentences: tuple[tuple[int, int], ...]
    label: int
    cells: tuple[tuple[int, int], ...] = field(default=())
    header: int | None = None


def read_outline(answer: str) -> list[OutlineLine]:
    """Return the lines of an answer that have words."""
    lines: list[OutlineLine] = []
    above: list[int] = []
    header: int | None = None
    at = 0
    for raw in answer.split("\n"):
        start, end = at, at + len(raw)
        at = end + 1
        if not raw.strip():
            continue
        match = _LINE.match(raw)
        begin = start + (match.end() if match else 0)
        depth = _measure_depth(
            raw, match.group("indent") if match else "", (match.group("marker") if match else None) or ""
        )
        while above and lines[above[-1]].depth >= depth:
            above.pop()
        is_row = raw.lstrip().startswith("|") and raw.count("|") >= 3
        cells = (
            tuple((start + m.start(), start + m.end()) for m in re.finditer(r"[^|]+", raw)) if is_row else ()
        )
        header = (header if header is not None else len(lines)) if is_row else None
        label = begin
        colon = re.match(r"[^:\n]{1,60}?:(?=\s|\*)", answer[begin:end])
        if colon is not None:
            label = begin + colon.end()
        lines.append(
            OutlineLine(start, end, begin, depth, tuple(reversed(above)), _split_sentences(answer, begin, end), label, cells,  # noqa: E501
                        header if header != len(lines) else None)
        )  # fmt: skip
        above.append(len(lines) - 1)
    return lines


def _measure_depth(raw: str, indent: str, marker: str) -> float:
    width = len(indent.expandtabs(4))
    if marker.startswith("#"):
        return -20 + len(marker.strip())
    bold = raw.strip().startswith("**") and raw.strip().rstrip(":").endswith("**")
    if not marker:
        return width - 2 if bold else width + (0.1 if raw.rstrip().endswith(":") else 0.3)
    return width + (0.2 if marker.strip()[:-1].isalnum() else 0.5)


def _split_sentences(answer: str, begin: int, end: int) -> tuple[tuple[int, int], ...]:
    places = []
    at = begin
    for match in _SENTENCE_END.finditer(answer, begin, end):
        places.append((at, match.start()))
        at = match.end()
    places.append((at, end))
    return tuple(places)


def find_clause_breaks(answer: str, start: int, end: int) -> list[int]:
    """Return where a sentence's clauses end; commas within numbers part nothing."""
    return [
        match.start()
        for match in _CLAUSE_END.finditer(answer, start, end)
        if not (match.group() == "," and answer[match.end() : match.end() + 1].isdigit())
    ]
