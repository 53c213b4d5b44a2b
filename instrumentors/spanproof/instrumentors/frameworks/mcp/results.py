"""What a tool's result says: a model of the SDK on a client's side, JSON on a server's."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Final

from spanproof.instrumentors.content.texts import attribute, elements, member, text_or_none

_ONLY_FIELD: Final = "result"
"""The field that a server puts a value into that is no object."""


def is_failed(result: Any) -> bool:
    """Return whether the tool says that it failed."""
    return _field(result, "is_error", "isError") is True


def find_value(result: Any) -> Any:
    """Return the value of a result: structured where it is, else its texts; None where it has neither."""
    parts = elements(_field(result, "content", "content"))
    texts = [text for part in parts if (text := text_or_none(_field(part, "text", "text"))) is not None]
    shown: Any = texts[0] if len(texts) == 1 else texts or None
    value = _field(result, "structured_content", "structuredContent")
    if value is None:
        return shown
    wrapped = member(value, _ONLY_FIELD)
    if len(value) == 1 and wrapped is not None and _shows(shown, wrapped):
        return wrapped
    return value


def _shows(shown: Any, value: Any) -> bool:
    """Return whether a result's text is that of a value: of what is wrapped, not of what is around it."""
    if shown == value:
        return True
    if isinstance(shown, list):
        return isinstance(value, list) and len(shown) == len(value)
    with suppress(ValueError, TypeError):
        return bool(json.loads(shown) == value)
    return False


def _field(given: Any, name: str, alias: str) -> Any:
    return given.get(alias) if type(given) is dict else attribute(given, name)
