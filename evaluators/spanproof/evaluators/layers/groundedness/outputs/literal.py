"""A tolerant reader of data literals: JSON and what Python prints (`repr` of dicts, tuples, sets, dates).

In: text and a place where a literal may begin. Out: the value with where it ends, or None. One pass, an
explicit stack, so that depth and length of hostile text cost linear time and never a crash; a literal that is
cut off is closed where the text ends. Nothing is evaluated: `Name(...)` becomes what stands in the brackets.
"""

from __future__ import annotations

import re
from typing import Any

_TOKEN = re.compile(
    r"[ \t\r\n]+"
    r"|(?P<open>[\w.]{0,60}[(\[{])"
    r"|(?P<close>[)\]}])"
    r"|(?P<mark>[,:=])"
    r"|[bruBRU]?(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<number>[-+]?(?:\d+(?:_\d+)*\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(?![\w]))"
    r"|(?P<word>[^\W\d][\w.]*)"
)
_WORDS: dict[str, Any] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None, "nan": None,
    "NaN": None, "NaT": None, "inf": None,
}  # fmt: skip
_MISSING = object()
MAX_NODES = 50_000
MAX_DEPTH = 200


class _Frame:
    __slots__ = ("items", "key", "keys", "name", "opener", "pending")

    def __init__(self, opener: str, name: str) -> None:
        self.opener = opener
        self.name = name
        self.items: list[Any] = []
        self.keys: dict[str, Any] = {}
        self.key: Any = _MISSING
        self.pending: Any = _MISSING

    def put(self, value: Any) -> bool:
        if self.pending is not _MISSING:
            return False
        self.pending = value
        return True

    def take_key(self) -> bool:
        if self.pending is _MISSING or isinstance(self.pending, dict | list) or self.key is not _MISSING:
            return False
        self.key, self.pending = str(self.pending), _MISSING
        return True

    def settle(self) -> None:
        if self.pending is _MISSING:
            return
        if self.key is not _MISSING:
            self.keys[self.key] = self.pending
        else:
            self.items.append(self.pending)
        self.key = self.pending = _MISSING

    def value(self) -> Any:
        self.settle()
        if self.name and self.opener == "(":
            return _constructed(self.name.rpartition(".")[2], self.items, self.keys)
        if self.keys:
            return self.keys
        return {} if self.opener == "{" and not self.items else self.items


def read_literal(text: str, start: int = 0) -> tuple[Any, int] | None:
    """The container literal that begins at `start`, and where it ends; None where there is none.

    A bare word inside it that is no literal ends the attempt, so that prose in brackets is not data.
    """
    stack: list[_Frame] = []
    place, nodes = start, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            return None
        place = match.end()
        if match.lastgroup is None:
            continue
        nodes += 1
        if opened := match["open"]:
            if (
                nodes > MAX_NODES
                or len(stack) >= MAX_DEPTH
                or (not stack and len(opened) > 1 and not opened[0].isalpha())
            ):
                return None
            stack.append(_Frame(opened[-1], opened[:-1]))
            continue
        if not stack:
            return None
        if match["close"]:
            done = stack.pop().value()
            if not stack:
                return done, place
            if not stack[-1].put(done):
                return None
        elif not _step(stack[-1], match):
            return None
    return _close(stack), len(text)


def _step(frame: _Frame, match: re.Match[str]) -> bool:
    if mark := match["mark"]:
        if mark == ",":
            frame.settle()
            return True
        return frame.take_key()
    if match["string"] is not None:
        return frame.put(_unquote(match["string"]))
    if match["number"] is not None:
        return frame.put(_number(match["number"]))
    word = match["word"]
    if word in _WORDS:
        return frame.put(_WORDS[word])
    # A bare word is the name of a keyword argument: the next mark makes it the key.
    return frame.opener == "(" and bool(frame.name) and frame.put(word)


def _close(stack: list[_Frame]) -> Any:
    value: Any = []
    while stack:
        frame = stack.pop()
        value = frame.value()
        if stack:
            stack[-1].put(value)
    return value


def _number(written: str) -> int | float:
    plain = written.replace("_", "")
    try:
        return int(plain)
    except ValueError:
        try:
            return float(plain)
        except ValueError:
            return 0.0


def _unquote(quoted: str) -> str:
    body = quoted[1:-1]
    if "\\" not in body:
        return body
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1]), body)


def _constructed(name: str, items: list[Any], keys: dict[str, Any]) -> Any:
    """What a constructor call prints for: `datetime.date(2026, 5, 14)`, `Decimal('1.50')`, `Order(id=3)`."""
    if name in {"date", "datetime"} and len(items) >= 3 and all(isinstance(item, int) for item in items[:3]):
        day = "{:04d}-{:02d}-{:02d}".format(*items[:3])
        if name == "date" or len(items) < 5:
            return day
        return f"{day}T{items[3]:02d}:{items[4]:02d}:00"
    if keys:
        return keys
    if len(items) == 1 or (
        items and name in {"array", "Timestamp", "Series", "Index", "defaultdict", "Counter"}
    ):
        first = items[-1] if name == "defaultdict" else items[0]
        if isinstance(first, str) and name == "Decimal":
            return _number(first)
        return first
    if name == "OrderedDict" and items and isinstance(items[0], list):
        return {str(pair[0]): pair[1] for pair in items[0] if isinstance(pair, list) and len(pair) == 2}
    return items
