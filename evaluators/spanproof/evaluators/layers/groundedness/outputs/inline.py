"""Lines that hold several values: pairs, log lines, and lists in prose.

In: one line. Out: the mapping it stands for, or None where it is anything else. `p=0.02, n=40`, `cpu=83%
mem=41%` with whatever stands before it, `98 passed, 2 failed in 3.1s`, `ACME (12 orders), Globex (9 orders)`.
A line is a list only where each of its parts has the same form; never guesses at the words around a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_MAX_LINE = 4_000
_PAIR = re.compile(r"(?P<key>[A-Za-z][\w .%/-]{0,40}?)\s*(?:=(?!=)|:(?![/\d]))\s*(?P<value>[^=:]{1,80}|\S+)")
_PAIR_ENDS = re.compile(r"[,;|]\s+|\s{2,}|\s-\s")
_NUMBERED = re.compile(r"[A-Za-z]+\s\d+(?:\s?/\s?\d+)?:?")
_SLASHED = re.compile(
    r"(?<![\w/])(?P<names>[a-z]\w{0,30}(?:/[a-z]\w{0,30}){1,12})\s*[=:]\s*(?P<values>[\d.]+(?:/[\d.]+)+)\s*(?P<unit>[a-z]{1,3})?\b"
)
_HEADING = re.compile(r"[^=:]{1,80}:\s+(?=[A-Za-z_][\w.-]*=)")
_LOGGED = re.compile(
    r"(?<![\w.=/?&-])(?P<key>[A-Za-z_][\w.%-]{0,40})=(?P<value>\"[^\"]*\"|'[^']*'|[^\s=,;]+)"
)
_CLOCK = re.compile(r"\s*\[?(\d{1,2}:\d\d(?::\d\d)?)\]?\s")
"""What a line of a log may begin with."""
_OUTCOME = re.compile(r"(?:->|=>|→)\s*(?P<key>[A-Za-z_]\w{0,30})\s+(?P<value>-?\d[\d.]*)")
_PARTS = re.compile(r"\s[-–]\s(?=\D)|(?<!\d)[,;]\s+|[,;]\s+(?=\D)|,\s+and\s+|\s+and\s+|\s+\|\s+")
_AMOUNT = r"[-+]?[$€£]?\d[\d,]*(?:\.\d+)?(?:%|[kKM]\b|\s(?:thousand|million|billion|bn|mn)\b)?"
_NAMED = re.compile(
    rf"(?P<name>[^\W\d_][\w.&'’ -]{{0,40}}?)\s*\((?P<value>{_AMOUNT})(?:\s+(?P<unit>[A-Za-z]{{2,20}}))?\)"
)
_STATED = re.compile(rf"(?P<name>[^\W\d_][\w.&'’-]{{0,40}})\s+(?P<value>{_AMOUNT})")
_TALLIED = re.compile(
    r"(?:[A-Z][a-z]{1,12}:\s+)?(?P<value>\d[\d,]*%?)\s+(?:to\s+)?(?P<name>[a-z]{3,20}(?:\s[a-z]{2,20}){0,2})(?:\([+-]\))?\.?"
)
_TIMED = re.compile(r"(?P<name>[a-z]{3,20})\s+(?P<value>\d[\d,.]*\s?[a-z]{1,5})")
_IN = re.compile(r"\s+in\s+(?P<value>[\d.]+\s?(?:ms|s|sec|seconds|min|minutes))\b.*$")
_FRAME = " =.*-#\t"


def pairs_in(line: str, decode: Callable[[str], tuple[Any] | None]) -> dict[str, Any] | None:
    """What a line of pairs holds: `statistic=2.41, pvalue=0.016`, or a log line's `key=value` words."""
    if len(line) > _MAX_LINE or ("=" not in line and ":" not in line):
        return None
    slashed = _SLASHED.search(line) if "/" in line else None
    if slashed is not None:
        return _side_by_side(slashed)
    if line.count("=") + line.count(":") < 2:
        return None
    return _only_pairs(line, decode) or _logged(line, decode)


def _side_by_side(match: re.Match[str]) -> dict[str, Any] | None:
    """Names and values in the same order: `min/avg/max = 0.4/0.7/3.1 ms`."""
    names, values = match["names"].split("/"), match["values"].split("/")
    if len(names) != len(values):
        return None
    unit = f" {match['unit']}" if match["unit"] else ""
    return {name: f"{value}{unit}" for name, value in zip(names, values, strict=True)}


def list_in(line: str) -> dict[str, Any] | list[dict[str, Any]] | None:
    """What a list in prose holds: rows of a name and its number, or the counts of a summary line."""
    if len(line) > _MAX_LINE or not any(mark in line for mark in (",", ";", " and ", "|", " - ", " – ")):
        return None
    body = line.strip(_FRAME)
    lasting = _IN.search(body) if "in" in body else None
    parts = [part.strip() for part in _PARTS.split(body[: lasting.start()] if lasting else body)]
    tallied = [_TALLIED.fullmatch(part) or _TIMED.fullmatch(part) for part in parts]
    if len(parts) > 1 and all(tallied) and _TALLIED.fullmatch(parts[0]):
        return {found["name"]: _plain(found["value"]) for found in tallied if found}
    bare = [part.rpartition(": ")[2] for part in parts]
    for form, texts in ((_NAMED, bare), (_STATED, [bare[0], *parts[1:]])):
        found = [form.fullmatch(text) for text in texts]
        rows = [match for match in found if match is not None]
        if len(rows) > 1 and len(rows) == len(found):
            return [_row(match) for match in rows]
    return None


def lasting_in(line: str) -> str | None:
    """How long a summary line says it took: `61 passed, 3 failed in 7.90s`."""
    match = _IN.search(line) if len(line) <= _MAX_LINE and "in" in line else None
    return match["value"] if match else None


def _only_pairs(line: str, decode: Callable[[str], tuple[Any] | None]) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    heading = _HEADING.match(line)
    parts = _PAIR_ENDS.split(line[heading.end() if heading else 0 :].strip().strip("()"))
    if _NUMBERED.fullmatch(parts[0]):
        found["name"] = parts.pop(0)  # "epoch 3/5 - loss: 0.55": what the pairs are of
    for part in parts:
        match = _PAIR.fullmatch(part)
        if match is None:
            return None
        document = decode(match["value"])
        found[match["key"].strip()] = document[0] if document else match["value"]
    return found if len(found) > 1 else None


def _logged(line: str, decode: Callable[[str], tuple[Any] | None]) -> dict[str, Any] | None:
    """The words `key=value` of a line; one that is a single pair reads as such elsewhere."""
    found: dict[str, Any] = {}
    heading = _HEADING.match(line)
    if heading is not None:
        found["name"] = heading.group().rstrip(": ")  # "trial 2: lr=0.05 depth=6 -> rmse 2.987"
    moment = _CLOCK.match(line)
    if moment is not None:
        found["time"] = moment[1]
    for match in _OUTCOME.finditer(line):
        found[match["key"]] = match["value"]
    for match in _LOGGED.finditer(line):
        document = decode(match["value"])
        found[match["key"]] = document[0] if document else match["value"].strip("\"'").rstrip(").")
    return found if len(found) > 1 else None


def _row(match: re.Match[str]) -> dict[str, Any]:
    unit = match.groupdict().get("unit") or "value"
    return {"name": match["name"].strip(), unit: _plain(match["value"])}


def _plain(text: str) -> Any:
    digits = text.replace(",", "")
    return int(digits) if digits.isdigit() else text
