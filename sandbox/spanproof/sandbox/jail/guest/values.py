"""Values that may leave the jail: what JSON can say, and nothing a program's own classes do on the way."""

from __future__ import annotations

import math
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

_DEPTH = 32
_SEPARATOR_BYTES = 2
_CONSTANT_BYTES = 5
"""Of `false`, and no less than of the brackets of an empty list."""


def json_form(value: Any, budget: int, *, any_keys: bool = False) -> tuple[Any, bool]:
    """A value as JSON would give it back, and whether it has that form at all.

    Exact types only, so that no method of a program's class is called; numpy's scalars, which are floats
    or have `.item()`, count as the number they hold.

    Args:
        value: anything.
        budget: how many bytes it may take as JSON, the way frames are written.
        any_keys: keys that are numbers, truths or None become texts, as `json.dumps` has it.
    """
    try:
        return _form(value, _DEPTH, _Room(budget, any_keys)), True
    except _NoForm:
        return None, False


class _Room:
    """What is left of the budget."""

    __slots__ = ("any_keys", "left")

    def __init__(self, left: int, any_keys: bool) -> None:
        self.left, self.any_keys = left, any_keys

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise _NoForm


def head_of(text: str, budget: int) -> str:
    """As much of the start of a text as takes no more bytes than this as JSON, the way frames are written."""
    head = text[:budget]
    while (taken := len(_quoted(head)) - 2) > budget:
        head = head[: len(head) * budget // taken]
    return head


class _NoForm(Exception):  # noqa: N818 - no error: the answer is no
    pass


def _form(value: Any, depth: int, room: _Room) -> Any:
    kind = type(value)
    if depth == 0 or (kind is int and value.bit_length() > 4096):
        raise _NoForm
    room.take(_bytes_of(value, kind))
    if value is None or kind is bool or kind is str or kind is int:
        return value
    if kind is float:
        if not math.isfinite(value):
            raise _NoForm
        return value
    if kind is list or kind is tuple:
        return [_form(item, depth - 1, room) for item in value]
    if kind is dict:
        return _mapping(value, depth, room)
    if kind.__module__ == "numpy" and hasattr(kind, "item") and getattr(value, "ndim", 1) == 0:
        return _form(value.item(), depth - 1, room)
    raise _NoForm


def _mapping(value: dict[Any, Any], depth: int, room: _Room) -> dict[str, Any]:
    result = {}
    for key, item in value.items():
        text = key if type(key) is str else _key_text(key, room)
        room.take(_bytes_of(text, str))
        result[text] = _form(item, depth - 1, room)
    return result


def _key_text(key: Any, room: _Room) -> str:
    if not room.any_keys or (key is not None and type(key) not in (int, float, bool)):
        raise _NoForm
    form = _form(key, 1, room)
    return repr(form) if type(form) in (int, float) else {None: "null", True: "true", False: "false"}[form]


def _bytes_of(value: Any, kind: type) -> int:
    """What a value takes itself, without what it holds."""
    if kind is str:
        return len(_quoted(value)) + _SEPARATOR_BYTES
    if kind is int or kind is float:
        return len(repr(value)) + _SEPARATOR_BYTES
    return _CONSTANT_BYTES + _SEPARATOR_BYTES
