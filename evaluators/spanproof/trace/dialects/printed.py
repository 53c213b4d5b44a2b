r"""Messages that a producer printed instead of serialising them.

Python's `str(message)` of a pydantic model reads `content='45.0\n' name='python_repl' tool_call_id='c1'`:
field names, `=`, Python literals. Fields whose literal cannot be parsed keep their text.
"""

from __future__ import annotations

import re

from spanproof.trace import JsonValue
from spanproof.trace.dialects.decode import NotDecoded, parse_literal

_START = re.compile(r"""content=(?=['"\[])""")
_FIELD = re.compile(r"\s*([A-Za-z_]\w*)=")
_STRING = re.compile(r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*\"""", re.DOTALL)
_OPENING, _CLOSING = "([{", ")]}"


def find_printed_fields(text: str) -> dict[str, JsonValue] | None:
    """Return the fields of a printed message; None where the text is none."""
    if _START.match(text) is None:
        return None
    fields: dict[str, JsonValue] = {}
    at = 0
    while (field := _FIELD.match(text, at)) is not None:
        end = _get_literal_end(text, field.end())
        literal = text[field.end() : end]
        try:
            fields[field[1]] = parse_literal(literal)
        except NotDecoded:
            fields[field[1]] = literal
        at = end
    return fields


def _get_literal_end(text: str, at: int) -> int:
    """Return where the literal that starts here ends: at the first space outside quotes and brackets."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char in "'\"":
            quoted = _STRING.match(text, at)
            if quoted is None:
                return len(text)
            at = quoted.end()
            continue
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char.isspace() and depth <= 0:
            return at
        at += 1
    return at
