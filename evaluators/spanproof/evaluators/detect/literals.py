"""The strings in a JSON document, or in one as Python prints it, with where they stand in its text.

Arguments of tool calls are JSON, often JSON within a JSON string; the code in them is a string's value, and
its place is the string's inside. Scans the text once after the document has been found valid.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import orjson

# How often a string may hold a document with strings in turn.
_MAX_DEPTH: Final = 4

_TOKEN: Final = re.compile(r'"(?P<inside>[^"\\]*(?:\\.[^"\\]*)*)"(?P<colon>\s*:)?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class JsonString:
    """A string value: the key it is under (empty in arrays) and the span of its inside."""

    key: str
    value: str
    start: int
    end: int


def find_json_strings(text: str) -> list[JsonString] | None:
    """Return every string value of a JSON document, inner ones opened; None where it is no document."""
    try:
        orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None
    found = list(_iter_json_strings(text, 0))
    if '"cell_type"' in text:
        return _list_joined_cells(found)
    return found


def find_repr_strings(text: str) -> list[JsonString] | None:
    """Return every string of this dict, list or object as Python prints it; None where it is none."""
    if len(text) > _MAX_REPR_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            printed = ast.parse(text.strip(), mode="eval")
        if not all(isinstance(node, _PRINTED) for node in ast.walk(printed)):
            return None
        return list(_iter_repr_strings(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _iter_repr_strings(text: str) -> Iterator[JsonString]:
    key = ""
    for token in _REPR_TOKEN.finditer(text):
        value = ast.literal_eval(token["literal"])
        if token["colon"] is not None:
            key = value
            continue
        start, end = token.span("literal")
        yield from _iter_inner_strings(JsonString(key, value, start + 1, end - 1), 0)


# What a printed value is made of: literals, and objects as calls of their class.
_PRINTED: Final = (
    *(ast.Expression, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Constant, ast.UnaryOp, ast.USub, ast.UAdd),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Call, ast.keyword, ast.Name, ast.Attribute, ast.Load),
)

# Read of a printed dict: longer ones are no calls.
_MAX_REPR_CHARS: Final = 50_000

_REPR_TOKEN: Final = re.compile(
    r"(?P<literal>'[^'\\\n]*(?:\\.[^'\\\n]*)*'|\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\")(?P<colon>\s*:)?"
)


def _list_joined_cells(strings: list[JsonString]) -> list[JsonString]:
    """Return strings with the lines of each notebook cell, which nbformat keeps in an array, as one."""
    found = []
    for key, group in groupby(strings, key=lambda string: string.key):
        lines = list(group)
        if key != "source":
            found.extend(lines)
            continue
        value = "".join(line.value for line in lines)
        found.append(JsonString(key, value, lines[0].start, lines[-1].end))
    return found


def _iter_json_strings(text: str, depth: int) -> Iterator[JsonString]:
    key = ""
    for token in _TOKEN.finditer(text):
        try:
            value = json.loads(f'"{token["inside"]}"', strict=False)
        except ValueError:
            continue
        if token["colon"] is not None:
            key = value
            continue
        yield from _iter_inner_strings(JsonString(key, value, *token.span("inside")), depth)


def _iter_inner_strings(string: JsonString, depth: int) -> Iterator[JsonString]:
    """Yield the strings of the document that this string holds, at this string's place; else the string."""
    if depth < _MAX_DEPTH and string.value.lstrip().startswith(("{", "[")):
        try:
            inner = orjson.loads(string.value)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            inner = None
        if isinstance(inner, dict | list):
            for found in _iter_json_strings(string.value, depth + 1):
                yield JsonString(found.key, found.value, string.start, string.end)
            return
    yield string


def list_embedded_documents(text: str) -> list[tuple[int, int]]:
    """Return the spans of JSON objects within a text, each beginning a line or following a colon."""
    found: list[tuple[int, int]] = []
    at = 0
    for _ in range(_MAX_EMBEDDED):
        opened = _OBJECT.search(text, at)
        if opened is None:
            break
        start = opened.end()
        end = _find_end(text, start)
        if end is None:
            at = start + 1
            continue
        found.append((start, end))
        at = end
    return found


def _find_end(text: str, start: int) -> int | None:
    """Return the end of the JSON document that begins here, or of a dict as Python prints it; else None."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        pass
    depth = 0
    for token in _BRACKET.finditer(text, start, start + _MAX_REPR_CHARS):
        depth += _NESTING.get(token[0], 0)
        if depth == 0:
            return token.end()
    return None


_NESTING: Final = {"[": 1, "{": 1, "(": 1, "]": -1, "}": -1, ")": -1}
_BRACKET: Final = re.compile(r"[\[\](){}]|" + _REPR_TOKEN.pattern)

# Objects tried in one text: each failure costs up to the rest of the text.
_MAX_EMBEDDED: Final = 50

_OBJECT: Final = re.compile(r"(?:^|[:>])[ \t]*(?=\[?\{\s*[\"'])", re.MULTILINE)
_DECODER: Final = json.JSONDecoder(strict=False)
