"""Outputs to facts: what format a text is in, block by block.

In: outputs as text. Out: `Facts`. Each text is read as JSON or a Python literal where it is one as a whole;
else its lines are taken as tables (markdown, CSV, pandas), `key: value` lines, lines with a literal in them,
and prose whose numbers keep the words near them. Linear in the length; what lies beyond `MAX_CHARS` is left
out and said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from spanproof.evaluators.layers.groundedness.dates import dates_in
from spanproof.evaluators.layers.groundedness.facts import Fact, Facts
from spanproof.evaluators.layers.groundedness.literal import read_literal
from spanproof.evaluators.layers.groundedness.quantities import quantities_in
from spanproof.evaluators.layers.groundedness.tables import read_table
from spanproof.evaluators.layers.groundedness.tree import MAX_FACTS, add_document, add_value
from spanproof.evaluators.layers.groundedness.words import words_of

MAX_CHARS = 1_000_000
_MAX_PROSE_LINE = 4_000
_KEY_VALUE = re.compile(
    r"^[ \t]*(?:[-*•]\s+)?(?:\*\*)?(?P<key>[^\W\d][^:=|,{}\[\]]{0,60}?|[\w .%/-]{1,40}?)(?:\*\*)?[ \t]*"
    r"(?::(?![/\d])|=(?!=)|->|=>|→)(?:\*\*)?[ \t]*(?P<value>\S.*)$"
)
_EMPTY = re.compile(
    r"^\s*(?:\[\s*\]|\{\s*\}|\(\s*\)|null|none|nan|n/?a|set\(\)|\"\"|''|empty"
    r"|(?:empty dataframe|no (?:\w+ )?(?:rows?|results?|data|matches|records?|entries|orders?|items?)\b|not found|0 rows?\b|\(0 rows?\)"
    r"|nothing (?:was )?found)[^\n]{0,60})\s*\.?\s*$",
    re.IGNORECASE,
)
_SHAPE = re.compile(r"\[(?P<rows>\d+) rows x (?P<columns>\d+) columns\]")
_DTYPE = re.compile(r"^(?:Name: (?P<name>[^,]+), )?(?:Length: \d+, )?dtype: \w+")
_PREAMBLE = re.compile(
    r"^\s*(?:Execution logs:|Last output from code snippet:|Observation:|Output:|Result:|stdout:|```\w*)\s*$", re.IGNORECASE
)


def read_outputs(outputs: Sequence[str]) -> Facts:
    """The facts of these outputs, in order."""
    facts = Facts(texts=tuple(outputs))
    for index, text in enumerate(outputs):
        if len(text) > MAX_CHARS:
            text, facts.cut = text[:MAX_CHARS], True
        _read(facts, index, text)
    return facts


def _read(facts: Facts, output: int, text: str) -> None:
    stripped = text.strip()
    if not stripped or _EMPTY.match(stripped):
        facts.empty.add(output)
        return
    document = _document(stripped)
    if document is not None:
        value = document[0]
        if value in ([], {}, None, ""):
            facts.empty.add(output)
        add_document(facts, output, value)
        return
    _read_lines(facts, output, stripped)


def _document(text: str) -> tuple[Any] | None:
    if text[0] in "{[\"-0123456789tfn":
        try:
            return (json.loads(text),)
        except (ValueError, RecursionError):
            pass
    if text[0] in "{[(" or re.match(r"[\w.]{1,60}\(", text):
        found = read_literal(text)
        if found is not None and not text[found[1] :].strip():
            return (found[0],)
    return None


def _read_lines(facts: Facts, output: int, text: str) -> None:
    lines = text.splitlines()
    place = 0
    while place < len(lines):
        if len(facts.facts) >= MAX_FACTS:
            facts.cut = True
            return
        line = lines[place]
        if not line.strip() or _PREAMBLE.match(line):
            place += 1
            continue
        table = read_table(lines, place)
        if table is not None:
            add_document(facts, output, table.rows, table.name)
            place = table.end
            continue
        consumed = _literal_block(facts, output, lines, place)
        if consumed:
            place += consumed
            continue
        _read_line(facts, output, line)
        place += 1


def _literal_block(facts: Facts, output: int, lines: list[str], place: int) -> int:
    """Read a JSON document or literal that begins with this line; how many lines it took, 0 for none."""
    first = lines[place].lstrip()
    if not first or first[0] not in "{[(":
        return 0
    if _SHAPE.match(first):
        return 0
    joined = "\n".join(lines[place : place + 2_000]) if first.rstrip()[-1:] in "{[(," else first
    found = read_literal(joined.lstrip())
    if found is None or not isinstance(found[0], dict | list):
        return 0
    add_document(facts, output, found[0])
    return joined.lstrip().count("\n", 0, found[1]) + 1


def _read_line(facts: Facts, output: int, line: str) -> None:
    if _DTYPE.match(line):
        return
    shape = _SHAPE.search(line)
    if shape:
        for key in ("rows", "columns"):
            add_value(facts, output, int(shape[key]), key, key, frozenset())
        return
    match = _KEY_VALUE.match(line) if len(line) < _MAX_PROSE_LINE else None
    if match is None:
        _read_prose(facts, output, line)
        return
    key, value = match["key"].strip(), match["value"].strip().rstrip(",;")
    document = _document(value)
    if document is not None:
        add_document(facts, output, document[0], key)
        return
    add_value(facts, output, value.strip("\"'"), key, key, frozenset())
    if facts.facts[-1].number is None and facts.facts[-1].day is None:
        _read_prose(facts, output, value, tuple(words_of(key)))
        for part in _further_pairs(value):
            _read_line(facts, output, part)


def _further_pairs(value: str) -> list[str]:
    """`120, errors: 3` after a first key holds further pairs."""
    parts = re.split(r"[,;|]\s+", value)[1:] if value.count(":") + value.count("=") else []
    return [part for part in parts[:50] if _KEY_VALUE.match(part)]


def _read_prose(facts: Facts, output: int, line: str, key: tuple[str, ...] = ()) -> None:
    """Numbers and dates of prose, under the words that stand near them."""
    line = line[:_MAX_PROSE_LINE]
    dated: list[tuple[int, int]] = []
    for mention in dates_in(line, prose=False):
        dated.append((mention.start, mention.end))
        add_value(facts, output, mention.text, "", "", frozenset(key), weak=True)
    for quantity in quantities_in(line):
        if any(start <= quantity.start < end for start, end in dated):
            continue
        near = line[max(0, quantity.start - 60) : quantity.start] + " " + line[quantity.end : quantity.end + 30]
        facts.facts.append(
            Fact(
                output=output,
                label="",
                text=_around(line, quantity.start, quantity.end),
                key=tuple(words_of(near)) + key,
                number=quantity.value,
                unit=quantity.unit,
                weak=True,
            )
        )


def _around(line: str, start: int, end: int) -> str:
    return line[max(0, start - 40) : end + 40].strip()
