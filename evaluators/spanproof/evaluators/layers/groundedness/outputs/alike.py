"""Lines that tell alike of one thing each: "Proposal A: 41 yes, 12 no", "compile  3m 12s", "1. ada  31 pts".

In: lines and where to look. Out: rows with a name and the values of each line, and how many lines there are.
Lines are alike where the words around their numbers are the same; a line alone is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_LINE = re.compile(
    r"\s*(?:\d{1,3}[.)]\s+)?(?P<name>[^\W\d][\w.&'’-]*(?:\s[\w.&'’-]+){0,3}?)(?P<gap>:\s+|\s{2,}|\t+)(?P<rest>[-+$€£(]?\d.*)"
)
_VALUE = r"[-+]?[$€£]?\d[\d,]*(?:\.\d+)?%?"
_PART = re.compile(
    rf"(?P<value>{_VALUE})\s+(?P<noun>[a-z]{{2,20}})|\(?(?P<key>[a-z]{{3,20}})\s+(?P<told>{_VALUE})\)?"
)
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?\s?(?:ms|us|h|m|s|min|sec)\s?)+")
_JOINED = re.compile(r"\s*(?:[,;|]\s*|\s+)?")
_LEFT = re.compile(r"\s*[-–—:]\s*(?P<state>[a-z][a-z ]{2,20})\s*")
_LEAST_LINES = 2
_MAX_LINE = 300


def read_alike(lines: Sequence[str], place: int) -> tuple[list[dict[str, Any]], int] | None:
    """The rows that begin with this line, and how many there are; None below two."""
    rows: list[dict[str, Any]] = []
    for line in lines[place:]:
        row = _row(line) if len(line) <= _MAX_LINE else None
        if row is None or (rows and row.keys() != rows[0].keys()):
            break
        rows.append(row)
    names = {row["name"] for row in rows}
    return (rows, len(rows)) if len(rows) >= _LEAST_LINES and len(names) == len(rows) else None


def _row(line: str) -> dict[str, Any] | None:
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    rest = match["rest"].strip()
    if _SPAN.fullmatch(rest) and ":" not in match["gap"]:
        return {"name": match["name"], "duration": rest}
    found: dict[str, Any] = {"name": match["name"]}
    at = 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            break
        key, value = part["noun"] or part["key"], part["value"] or part["told"]
        if key in found:
            return None
        found[key] = _plain(value)
        joint = _JOINED.match(rest, part.end())
        at = joint.end() if joint is not None else part.end()
    left = _LEFT.fullmatch(rest, at) if at < len(rest) else None
    if left is not None:
        found["status"] = left["state"].strip()
    elif at < len(rest):
        return None
    return found if len(found) > _LEAST_LINES else None


def _plain(text: str) -> Any:
    digits = text.replace(",", "")
    return int(digits) if digits.isdigit() else text
