"""Values that may leave the jail: what JSON can say, and nothing a program's own classes do on the way."""

from __future__ import annotations

import math
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

_DEPTH = 32
_SEPARATOR_BYTES = 2
_CONSTANT_BYTES = 5
"""Of `false`, and no less than of the brackets of an empty list."""


def json_form(value: Any, budget: int) -> tuple[Any, bool]:
    """A value as JSON would give it back, and whether it has that form at all.

    Exact types only, so that no method of a program's class is called; numpy's scalars, which are floats
    or have `.item()`, count as the number they hold.

    Args:
        value: anything.
        budget: how many bytes it may take as JSON, the way frames are written.
    """
    spent = [0]
    try:
        return _form(value, _DEPTH, budget, spent), True
    except _NoForm:
        return None, False


def head_of(text: str, budget: int) -> str:
    """As much of the start of a text as takes no more bytes than this as JSON, the way frames are written."""
    head = text[:budget]
    while (taken := len(_quoted(head)) - 2) > budget:
        head = head[: len(head) * budget // taken]
    return head


class _NoForm(Exception):  # noqa: N818 - no error: the answer is no
    pass


def _form(value: Any, depth: int, budget: int, spent: list[int]) -> Any:
    kind = type(value)
    if kind is int and value.bit_length() > 4096:
        raise _NoForm
    spent[0] += _bytes_of(value, kind)
    if spent[0] > budget or depth == 0:
        raise _NoForm
    if value is None or kind is bool or kind is str or kind is int:
        return value
    if kind is float:
        if not math.isfinite(value):
            raise _NoForm
        return value
    if kind is list or kind is tuple:
        return [_form(item, depth - 1, budget, spent) for item in value]
    if kind is dict:
        return _mapping(value, depth, budget, spent)
    if kind.__module__ == "numpy" and hasattr(kind, "item") and getattr(value, "ndim", 1) == 0:
        return _form(value.item(), depth - 1, budget, spent)
    raise _NoForm


def _mapping(value: dict[Any, Any], depth: int, budget: int, spent: list[int]) -> dict[str, Any]:
    result = {}
    for key, item in value.items():
        if type(key) is not str:
            raise _NoForm
        spent[0] += _bytes_of(key, str)
        result[key] = _form(item, depth - 1, budget, spent)
    return result


def _bytes_of(value: Any, kind: type) -> int:
    """What a value takes itself, without what it holds."""
    if kind is str:
        return len(_quoted(value)) + _SEPARATOR_BYTES
    if kind is int or kind is float:
        return len(repr(value)) + _SEPARATOR_BYTES
    return _CONSTANT_BYTES + _SEPARATOR_BYTES
