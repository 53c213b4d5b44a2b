"""Log lines as rows: what happened when, with the values each line holds.

In: lines and where to look. Out: one mapping for each, with its moment and its message, and how many there
are. Access logs in the common format, and lines that begin with a moment; a line alone is no log.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_ACCESS = re.compile(
    r"(?P<client>\S+) \S+ \S+ \[(?P<day>\d\d)/(?P<month>[A-Z][a-z]{2})/(?P<year>\d{4})"
    r":(?P<time>\d\d:\d\d:\d\d)(?: (?P<zone>[+-]\d{4}))?\] \"(?P<method>[A-Z]+) (?P<path>\S+)[^\"]*\""
    r" (?P<status>\d{3}) (?P<bytes>\d+|-)"
    r"(?: \"[^\"]*\" \"[^\"]*\")?(?: (?P<took>\d+\.\d+))?\s*"
)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DATED = re.compile(
    r"\[?(?P<at>\d{4}-\d\d-\d\d(?P<time>[T ]\d\d:\d\d(?::\d\d)?)?)"
    r"(?:[.,]\d+)?(?P<zone>Z|[+-]\d\d:?\d\d)?\]?[\s:|-]+"
    r"(?:\[?(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\]?[\s:|-]+)?(?P<message>\S.*)"
)
_PAIR = re.compile(r"(?<!\S)(?P<key>[A-Za-z_][\w.-]{0,40})=(?P<value>\"[^\"]*\"|[^\s,;]+)[,;]?")
_LEAST_LINES = 2
_MAX_LINE = 2_000


def read_log(lines: Sequence[str], place: int) -> tuple[list[dict[str, Any]], int]:
    """The rows of the log that begins with this line; none where fewer than two follow."""
    rows: list[dict[str, Any]] = []
    for here in range(place, len(lines)):
        row = _row(lines[here]) if len(lines[here]) <= _MAX_LINE else None
        if row is None:
            break
        rows.append(row)
    return (rows, len(rows)) if len(rows) >= _LEAST_LINES else ([], 0)


def _row(line: str) -> dict[str, Any] | None:
    access = _ACCESS.fullmatch(line)
    if access is not None and access["month"] in _MONTHS:
        return _request(access)
    match = _DATED.fullmatch(line.strip())
    if match is None or (match["time"] is None and _PAIR.search(match["message"]) is None):
        return None  # a date and a number are a series
    message = _PAIR.sub("", match["message"]).strip()
    pairs = {pair["key"]: _plain(pair["value"].strip('"')) for pair in _PAIR.finditer(match["message"])}
    if not message and "msg" in pairs:
        message = str(pairs.pop("msg"))
    row: dict[str, Any] = {"logged": _moment(match["at"], match["zone"])}
    if message:
        row["message"] = f"{match['level'].lower()}: {message}" if match["level"] else message
    return row | pairs


def _request(match: re.Match[str]) -> dict[str, Any]:
    day = f"{match['year']}-{_MONTHS.index(match['month']) + 1:02}-{match['day']}"
    row: dict[str, Any] = {
        "client": match["client"],
        "logged": _moment(f"{day}T{match['time']}", match["zone"]),
        "method": match["method"],
        "path": match["path"],
        "status": int(match["status"]),
    }
    if match["bytes"] != "-":
        row["size_bytes"] = int(match["bytes"])
    if match["took"]:
        row["duration_s"] = float(match["took"])
    return row


def _moment(at: str, zone: str | None) -> str:
    plain = zone is None or ":" in zone or zone == "Z"
    return at.replace(" ", "T") + (zone or "" if plain else f"{zone[:3]}:{zone[3:]}" if zone else "")


def _plain(text: str) -> Any:
    return int(text) if text.isdigit() and not text.startswith("0") else text
