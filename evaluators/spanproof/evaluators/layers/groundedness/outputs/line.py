"""One line of an output: pairs, `key: value`, or prose.

In: a line that is no part of a table or a document. Out: facts added to a `Facts`.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.dates import dates_in
from spanproof.evaluators.layers.groundedness.language.words import words_of
from spanproof.evaluators.layers.groundedness.outputs.document import add_value_and_prose, document_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Facts
from spanproof.evaluators.layers.groundedness.outputs.inline import lasting_in, list_in, pairs_in
from spanproof.evaluators.layers.groundedness.outputs.prose import read_prose
from spanproof.evaluators.layers.groundedness.outputs.values import add_value

MAX_PROSE_LINE = 4_000
_KEY_VALUE = re.compile(
    r"^[ \t]*(?:(?:[-*•]|\d{1,3}[.)])\s+)?(?:\*\*)?"
    r"(?P<key>[^\W\d][^:=|,{}\[\]]{0,60}?|[\w .%/-]{1,40}?)(?:\*\*)?[ \t]*"
    r"(?::(?![/\d])|(?<![!<>])=(?!=)|->|=>|→)(?:\*\*)?[ \t]*(?P<value>\S.*)$"
)
_BETWEEN = (":", "=", "->", "→")
_SNAKE = re.compile(r"(?P<key>[a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?::(?=\S)|\s+(?=-?\d[\d.,]*\s*$))(?P<value>.*)$")
"""`used_memory:1209600`, which without its underscore could be a host with its port; `distance_m 48270`."""
_ENDS_A_SENTENCE = re.compile(r"[a-z)][.!?]\s")
_LABELLED = re.compile(
    r"\s*(?P<key>[A-Z][^\W\d_]+(?:[ /-][^\W\d_]+){0,3})\s+"
    r"(?P<value>(?:[A-Z]{3}\s|[$€£])?[-+]?\d[\d,]*(?:\.\d+)?(?:\s?%|\s[A-Za-z]{1,4})?)\s*"
)
"""A line of a bill: `Subtotal 68.00`, `Total due NOK 85.00`."""
SHAPE = re.compile(r"\[(?P<rows>\d+) rows x (?P<columns>\d+) columns\]")
_NEXT_PAIR = re.compile(r"[,;|]\s+")
_DTYPE = re.compile(r"^(?:Name: (?P<name>[^,]+), )?(?:Length: \d+, )?dtype: \w+")


def read_line(facts: Facts, output: int, line: str) -> None:
    """Add what one line says."""
    if _DTYPE.match(line):
        return
    shape = SHAPE.search(line)
    if shape:
        for key in ("rows", "columns"):
            add_value(facts, output, int(shape[key]), key, key, frozenset())
        return
    pairs = list_in(line) or pairs_in(line, document_of)
    if pairs:
        add_value_and_prose(facts, output, pairs)
        _read_beside(facts, output, line)
        lasting = lasting_in(line)
        if lasting is not None:
            add_value(facts, output, lasting, "duration", "duration", frozenset())
        return
    match = _pair_of(line)
    if match is None or _is_prose(match["key"]):
        read_prose(facts, output, line)
        return
    key, value = match["key"].strip(), match["value"].strip().rstrip(",;")
    document = document_of(value)
    if document is not None:
        add_value_and_prose(facts, output, document[0], key)
        return
    add_value(facts, output, value.strip("\"'"), key, key, frozenset())
    if facts.facts[-1].number is None and facts.facts[-1].day is None:
        read_prose(facts, output, value, tuple(words_of(key)))
        for part in _further_pairs(value):
            read_line(facts, output, part)


def _pair_of(line: str) -> re.Match[str] | None:
    """The key and the value that a line is."""
    if len(line) >= MAX_PROSE_LINE:
        return None
    pair = _SNAKE.match(line) or _LABELLED.fullmatch(line)
    return pair or (_KEY_VALUE.match(line) if any(mark in line for mark in _BETWEEN) else None)


def _is_prose(key: str) -> bool:
    """Whether what stands before a colon ends a sentence or tells a date: then it is no key."""
    if _ENDS_A_SENTENCE.search(key):
        return True
    has_digits = any(character.isdigit() for character in key)
    return has_digits and next(dates_in(key, prose=False), None) is not None


def _read_beside(facts: Facts, output: int, line: str) -> None:
    """What stands before the pairs of a log line: its own numbers, its date."""
    begin = line.find("=")
    lead = line[: line.rfind(" ", 0, begin) + 1] if begin > 0 else ""
    if lead.strip() and "=" not in lead and ":" in lead:
        read_prose(facts, output, lead)


def _further_pairs(value: str) -> list[str]:
    """`120, errors: 3` after a first key holds further pairs."""
    parts = _NEXT_PAIR.split(value)[1:] if value.count(":") + value.count("=") else []
    return [part for part in parts[:50] if _KEY_VALUE.match(part)]
