"""Outputs to facts: what format a text is in, block by block.

In: outputs as text. Out: `Facts`. Each text is read as JSON or a Python literal where it is one as a whole;
else its lines are taken as tables (markdown, CSV, pandas), `key: value` lines, lines with a literal in them,
and prose whose numbers keep the words near them. Linear in the length; what lies beyond `MAX_CHARS` is left
out and said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from spanproof.evaluators.layers.groundedness.language.status_words import is_status
from spanproof.evaluators.layers.groundedness.outputs.aligned import read_aligned, read_headless
from spanproof.evaluators.layers.groundedness.outputs.alike import read_alike
from spanproof.evaluators.layers.groundedness.outputs.document import add_value_and_prose, document_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Facts
from spanproof.evaluators.layers.groundedness.outputs.line import MAX_PROSE_LINE, SHAPE, read_line
from spanproof.evaluators.layers.groundedness.outputs.literal import read_literal
from spanproof.evaluators.layers.groundedness.outputs.logs import read_log
from spanproof.evaluators.layers.groundedness.outputs.tables import Lines, read_table
from spanproof.evaluators.layers.groundedness.outputs.tree import MAX_FACTS, join_documents
from spanproof.evaluators.layers.groundedness.outputs.values import add_value

MAX_CHARS = 1_000_000
MAX_JSON_CHARS = 8_000_000
_EMPTY = re.compile(
    r"^\s*(?:\[\s*\]|\{\s*\}|\(\s*\)|null|none|nan|n/?a|set\(\)|\"\"|''|empty"
    r"|(?:empty dataframe|no (?:\w+ )?(?:rows?|results?|data|matches|records?|entries|orders?"
    r"|items?)\b|not found|0 rows?\b|\(0 rows?\)"
    r"|nothing (?:was )?found)[^\n]{0,60})\s*\.?\s*$",
    re.IGNORECASE,
)
_IN_SCALE = re.compile(
    r"\b(?:in|of|usd|eur|[$€£])\s*(thousands|millions|billions|000s)\b|\(\s*(?:[$€£]|usd|eur)?\s*(?:in\s+)?(mn|bn|m|k)\s*\)",
    re.IGNORECASE,
)
_SCALE = {"th": 1e3, "00": 1e3, "k": 1e3, "mi": 1e6, "mn": 1e6, "m": 1e6, "bi": 1e9, "bn": 1e9}
_SCALE_WORDS = ("thousands", "millions", "billions", "000s")
_GAP = re.compile(r"\s\s|[^\S ]")
"""What parts the columns of a table without any mark."""
_DIMENSIONS = re.compile(r"\s*\((?P<rows>\d+), (?P<columns>\d+)\)\s*")
"""What `df.shape` prints."""
_DATED = re.compile(
    r"^\s*(?P<date>\d{4}-\d\d(?:-\d\d)?)\s*[\s,|:;]\s*[$€£]?(?P<value>-?\d[\d,]*(?:\.\d+)?)\s*$"
)
_PREAMBLE = re.compile(
    r"^\s*(?:Execution logs:|Last output from code snippet:|Observation:|Output:|Result:|stdout:|```\w*)\s*$",
    re.IGNORECASE,
)


def read_outputs(outputs: Sequence[str], todays: Sequence[date] = ()) -> Facts:
    """The facts of these outputs, in order; a day without a year is the one closest to today."""
    facts = Facts(texts=tuple(outputs), todays=tuple(todays))
    for index, text in enumerate(outputs):
        if len(text) > MAX_CHARS:
            text = _within_bounds(facts, text)
        _read(facts, index, text)
    join_documents(facts)
    return facts


def _within_bounds(facts: Facts, text: str) -> str:
    """The text itself where it is one JSON document, which is walked only so far; else its beginning."""
    if len(text) <= MAX_JSON_CHARS and text.lstrip()[:1] in "{[" and text.rstrip()[-1:] in "}]":
        return text
    facts.cut = True
    return text[:MAX_CHARS]


def _read(facts: Facts, output: int, text: str) -> None:
    stripped = text.strip()
    declared = _declared_scale(stripped[:MAX_PROSE_LINE])
    if declared is not None:
        facts.scales[output] = _SCALE[(declared[1] or declared[2]).lower()[:2]]
    if not stripped or _EMPTY.match(stripped):
        facts.empty.add(output)
        return
    document = document_of(stripped)
    if document is None and len(stripped) > MAX_CHARS:
        stripped, facts.cut = stripped[:MAX_CHARS], True
    if document is not None:
        value = document[0]
        if value in ([], {}, None, ""):
            facts.empty.add(output)
        add_value_and_prose(facts, output, value)
        return
    if _is_word(stripped):
        add_value(facts, output, stripped.rstrip("."), "", "", frozenset())
        return
    # The first line keeps its indent: a heading may be told by where its words stand.
    indent = len(text) - len(text.lstrip(" "))
    _read_lines(facts, output, text[:indent] + stripped)


def _declared_scale(text: str) -> re.Match[str] | None:
    """Where a text says what its amounts are in: "in millions", "($k)"."""
    lowered = text.lower()
    worth = "(" in text or any(word in lowered for word in _SCALE_WORDS)
    return _IN_SCALE.search(text) if worth else None


def _is_word(text: str) -> bool:
    """Whether an output is one word or name and nothing more: `ok`, `Paris`, `in progress`."""
    return (
        len(text) <= 40
        and "\n" not in text
        and len(text.split()) <= 3
        and (is_status(text) or (text[:1].isupper() and not any(mark in text for mark in ":=|,<(")))
        and not any(character.isdigit() for character in text)
    )


def _read_lines(facts: Facts, output: int, text: str) -> None:
    lines = text.splitlines()
    source = Lines(lines)
    place = 0
    while place < len(lines):
        if len(facts.facts) >= MAX_FACTS:
            facts.cut = True
            return
        line = lines[place]
        if not line.strip() or _PREAMBLE.match(line):
            place += 1
            continue
        shape = _DIMENSIONS.fullmatch(line) if len(lines) > 1 else None
        if shape is not None:
            add_value_and_prose(facts, output, {"rows": int(shape["rows"]), "columns": int(shape["columns"])})
            place += 1
            continue
        table = read_table(source, place)
        if table is not None:
            add_value_and_prose(facts, output, table.rows, table.name)
            place = table.end
            continue
        consumed = (
            _shaped_rows(facts, output, lines, place)
            or _dated_rows(facts, output, lines, place)
            or _tuple_rows(facts, output, lines, place)
            or _literal_block(facts, output, lines, place)
        )
        if consumed:
            place += consumed
            continue
        read_line(facts, output, line)
        place += 1


def _shaped_rows(facts: Facts, output: int, lines: list[str], place: int) -> int:
    """Read a log, or a table that only the edges or the shape of its rows tell; how many lines it took."""
    rows, taken = read_log(lines, place)
    found = (rows, taken) if rows else _columns(lines, place)
    if found is None:
        return 0
    add_value_and_prose(facts, output, found[0])
    return found[1]


def _columns(lines: list[str], place: int) -> tuple[list[dict[str, Any]], int] | None:
    """A table whose columns nothing but gaps parts, or that begins with a number in each row."""
    line = lines[place].strip()
    if not line[:1].isdigit() and _GAP.search(line) is None:
        return read_alike(lines, place)
    return read_aligned(lines, place) or read_headless(lines, place) or read_alike(lines, place)


def _dated_rows(facts: Facts, output: int, lines: list[str], place: int) -> int:
    """Read lines of a date and a number each, which need no header; how many there are, 0 below two."""
    rows: list[dict[str, Any]] = []
    for here in range(place, min(place + MAX_FACTS, len(lines))):
        match = _DATED.match(lines[here])
        if match is None:
            break
        rows.append({"date": match["date"], "value": float(match["value"].replace(",", ""))})
    if len(rows) < 2:
        return 0
    add_value_and_prose(facts, output, rows)
    return len(rows)


def _tuple_rows(facts: Facts, output: int, lines: list[str], place: int) -> int:
    """Read lines of a tuple each, as a cursor prints its rows; how many there are, 0 below two."""
    rows: list[Any] = []
    for here in range(place, min(place + MAX_FACTS, len(lines))):
        row = lines[here].strip().rstrip(",")
        found = read_literal(row) if row.startswith("(") and row.endswith(")") else None
        if found is None or not isinstance(found[0], list | tuple) or row[found[1] :].strip():
            break
        rows.append(found[0])
    if len(rows) < 2 or len({len(row) for row in rows}) != 1:
        return 0
    add_value_and_prose(facts, output, rows)
    return len(rows)


def _literal_block(facts: Facts, output: int, lines: list[str], place: int) -> int:
    """Read a JSON document or literal that begins with this line; how many lines it took, 0 for none."""
    first = lines[place].lstrip()
    if not first or first[0] not in "{[(":
        return 0
    if SHAPE.match(first):
        return 0
    joined = "\n".join(lines[place : place + 2_000]) if first.rstrip()[-1:] in "{[(," else first
    found = read_literal(joined.lstrip())
    if found is None or not isinstance(found[0], dict | list):
        return 0
    document = joined.lstrip()
    rest = document[found[1] :].partition("\n")[0].strip()
    if isinstance(found[0], list) and rest[:1].isalnum():
        return 0  # "[  5]  0.00-10.00 sec  1.09 GBytes": a mark before the line's own values
    add_value_and_prose(facts, output, found[0])
    return document.count("\n", 0, found[1]) + 1
