"""Values that may leave the jail: what JSON can say, and nothing a program's own classes do on the way.

What JSON cannot say leaves as its text, and only there the class of the value has a say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

_DEPTH = 32
_INTEGER_BITS = 4096
_SEPARATOR_BYTES = 2
# Of `false`, and no less than of the brackets of an empty list.
_CONSTANT_BYTES = 5

_str = str  # a program may put anything in its place
_PLAIN_KINDS = frozenset((type(None), bool, int, float, str, list, tuple, dict))
# How a value of a derived class becomes one of the class itself.
_PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, lambda value: "".join([value])),
    (int, int.__int__),
    (float, float.__float__),
    (dict, lambda value: dict(dict.items(value))),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: list(tuple.__iter__(value))),
)


def to_json_form(value: Any, budget: int, *, texts: bool = False) -> tuple[Any, bool]:
    """Return a value as JSON gives it back, as `json.dumps` has it, and whether it has that form at all.

    A value of a class derived from JSON's types (a counter, a named tuple, a member of an `IntEnum`) is what
    it is derived from, and keys that are numbers, truths or None become texts. No method of a program's class
    is called; numpy's scalars, which have `.item()`, count as the number they hold.

    Args:
        value: anything.
        budget: how many bytes it may take as JSON, the way frames are written.
        texts: what JSON cannot say is given as its text.
    """
    try:
        return _encode_value(value, _DEPTH, _Room(budget, texts)), True
    except _NoForm:
        return None, False


def to_text(value: Any) -> str:
    """Return `str` of a value, a plain one whatever the program makes texts of; or that it raised."""
    try:
        return "".join([_str(value)])
    except Exception as problem:  # noqa: BLE001 - of a program's class, or too deep, or too long a number
        return f"<{type(value).__name__} without a text: {type(problem).__name__}>"


class _Room:
    """What is left of the budget."""

    __slots__ = ("left", "texts")

    def __init__(self, left: int, texts: bool) -> None:
        self.left, self.texts = left, texts

    def add_used(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise _NoForm


def format_truncated(text: str, budget: int) -> str:
    """Return the start of a text that takes no more bytes than this as JSON, as frames are written."""
    head = text[:budget]
    while (taken := len(_quoted(head)) - 2) > budget:
        head = head[: len(head) * budget // taken]
    return head


class _NoForm(Exception):  # noqa: N818 - no error: the answer is no
    pass


def _encode_value(value: Any, depth: int, room: _Room) -> Any:
    kind = type(value)
    if kind not in _PLAIN_KINDS:
        value, kind = _to_plain(value, kind, room)
    if depth == 0 or (kind is int and value.bit_length() > _INTEGER_BITS):
        value, kind = _as_text(value, room)
    if kind is float and not math.isfinite(value):
        value, kind = _as_text(value, room)
    room.add_used(_count_bytes(value, kind))
    if kind is list or kind is tuple:
        return [_encode_value(item, depth - 1, room) for item in value]
    if kind is dict:
        return _encode_mapping(value, depth, room)
    return value


def _to_plain(value: Any, kind: type, room: _Room) -> tuple[Any, type]:
    """Return a value of another class as one JSON can say, by the methods of those and not of its own."""
    for base, plain in _PLAIN:
        if issubclass(kind, base):
            return plain(value), base
    if kind.__module__ == "numpy" and hasattr(kind, "item") and getattr(value, "ndim", 1) == 0:
        held = value.item()
        if type(held) in _PLAIN_KINDS:
            return held, type(held)
    return _as_text(value, room)


def _as_text(value: Any, room: _Room) -> tuple[str, type]:
    if not room.texts:
        raise _NoForm
    return to_text(value), str


def _encode_mapping(value: dict[Any, Any], depth: int, room: _Room) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, item in value.items():
        text = key if type(key) is str else _format_key(key, room)
        if text in result and not room.texts:  # `1` and `"1"`
            raise _NoForm
        room.add_used(_count_bytes(text, str))
        result[text] = _encode_value(item, depth - 1, room)
    return result


def _format_key(key: Any, room: _Room) -> str:
    form = _encode_value(key, 1, room)
    if type(form) is str:
        return form
    if type(form) in (int, float):
        return repr(form)
    if form is None or type(form) is bool:
        return {None: "null", True: "true", False: "false"}[form]
    return _as_text(key, room)[0]


def _count_bytes(value: Any, kind: type) -> int:
    """Return how many bytes a value takes itself, without what it holds."""
    if kind is str:
        return len(_quoted(value)) + _SEPARATOR_BYTES
    if kind is int or kind is float:
        return len(repr(value)) + _SEPARATOR_BYTES
    return _CONSTANT_BYTES + _SEPARATOR_BYTES
