"""Text to values: JSON, JSON within JSON, Python literals, and payloads with or without a declared type.

Producers write the same document in many ways. What comes in is an attribute of any type; what goes out is
plain JSON data. Nothing is ever evaluated: Python literals are parsed, and only up to a length.
"""

from __future__ import annotations

import ast
import json
import math
import re

import orjson

from spanproof.trace import AttributeValue, JsonValue, Payload
from spanproof.trace.codec import load_json

# Python's parser takes memory in proportion: beyond this a literal stays text.
_MAX_LITERAL_CHARS = 200_000

_JSON_START = re.compile(r"\s*[\[{]")
_LITERAL_START = re.compile(r"\s*[\[{(]")


class NotDecoded(ValueError):  # noqa: N818 - an answer, not a failure
    """The text is not in the form required."""


def parse_json(text: str) -> JsonValue:
    """Return the JSON document this text is.

    Raises:
        NotDecoded: it is none.
    """
    try:
        # NaN, Infinity and lone surrogates too: Python's own producers write them.
        return _to_json_data(load_json(text))
    except (ValueError, RecursionError) as bad:
        raise NotDecoded(str(bad)) from bad


def parse_literal(text: str) -> JsonValue:
    """Return the Python literal this text is, as JSON data: tuples and sets become lists.

    Raises:
        NotDecoded: it is none.
    """
    if len(text) > _MAX_LITERAL_CHARS:
        raise NotDecoded("too long for a literal")
    try:
        return _to_json_data(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as bad:
        raise NotDecoded(str(bad)) from bad


def decode_document(value: AttributeValue | JsonValue) -> JsonValue:
    """Return the document in an attribute that holds arguments, messages or the like.

    JSON is decoded, JSON inside a JSON string too, Python literals of lists and dictionaries likewise; any
    other text stays as it is.
    """
    if not isinstance(value, str):
        return _to_json_data(value)
    if _JSON_START.match(value) or value.lstrip().startswith('"'):
        try:
            inner = parse_json(value)
        except NotDecoded:
            inner = None
        if isinstance(inner, str):
            if _JSON_START.match(inner):
                return decode_document(inner)
            return inner
        if inner is not None:
            return inner
    if _LITERAL_START.match(value):
        try:
            return parse_literal(value)
        except NotDecoded:
            return value
    return value


def to_payload(value: AttributeValue, mime_type: str | None = None) -> Payload | None:
    """Return the payload in an attribute; None where there is no such attribute.

    Args:
        value: of any type; what is no text has the type it came in.
        mime_type: as the producer declared it, None where it did not.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        data = _to_json_data(value)
        return Payload(as_text(data), data, typed=True)
    if mime_type is not None and "json" in mime_type:
        try:
            return Payload(value, parse_json(value), typed=True)
        except NotDecoded:
            return Payload(value, value)
    if mime_type is None and _JSON_START.match(value):
        try:
            return Payload(value, parse_json(value))
        except NotDecoded:
            return Payload(value, value)
    return Payload(value, value, typed=mime_type is not None)


def as_text(value: JsonValue) -> str:
    """Return a value as a person would write it down: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(value, ensure_ascii=False, default=str)


def is_cut(text: str, mime_type: str | None) -> bool:
    """Whether the text declares JSON and breaks off, as clipping by a length limit leaves it."""
    if mime_type is None or "json" not in mime_type or not _JSON_START.match(text):
        return False
    try:
        parse_json(text)
    except NotDecoded:
        return not text.rstrip().endswith(("}", "]"))
    return False


def _to_json_data(value: object) -> JsonValue:
    """Return plain data of whatever Python object a decoder gave."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case dict():
            return {
                key if isinstance(key, str) else str(key): _to_json_data(item) for key, item in value.items()
            }
        case list() | tuple() | set() | frozenset():
            return [_to_json_data(item) for item in value]
    return str(value)
