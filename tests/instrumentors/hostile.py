"""Values that resist being recorded, alone and nested."""

from __future__ import annotations

import dataclasses
import decimal
import enum
import random
import threading
from collections import deque
from typing import Any


class ReprRaises:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __repr__(self) -> str:
        raise self._error

    __str__ = __repr__


class EverythingRaises:
    """A lazy proxy that is bound to nothing: every use of it raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("unbound")

    def _fail(self, *_: Any) -> Any:
        raise RuntimeError("unbound")

    __repr__ = __str__ = __len__ = __bool__ = __iter__ = __eq__ = __hash__ = __getitem__ = _fail


class LyingDict(dict):
    def _fail(self, *_: Any) -> Any:
        raise RuntimeError("no")

    items = keys = values = __iter__ = __len__ = __getitem__ = get = _fail


class EndlessList(list):
    def __iter__(self) -> Any:
        while True:
            yield 1


class RaisingText(str):
    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__

    def __len__(self) -> int:
        raise ValueError("no length")


class NotANumber(int):
    def __repr__(self) -> str:
        raise ValueError("no number")

    __str__ = __index__ = __repr__


class Slotted:
    __slots__ = ("never_set",)


@dataclasses.dataclass
class Lazy:
    name: str = "lazy"

    def __getattribute__(self, attribute: str) -> Any:
        if attribute == "name":
            raise KeyError("detached")
        return object.__getattribute__(self, attribute)


class Unclear(Exception):
    def __str__(self) -> str:
        raise ValueError("says nothing")


class Colour(enum.Enum):
    RED = object()


class _UnlikeAnything(type):
    """A class of this one can be compared with none, looked up nowhere and called nothing."""

    def __eq__(cls, other: object) -> bool:
        raise ValueError("not comparable")

    def __hash__(cls) -> int:
        raise ValueError("no hash")

    def __getattribute__(cls, name: str) -> Any:
        if name in ("__module__", "__qualname__"):
            raise ValueError("no name")
        return type.__getattribute__(cls, name)


class Incomparable(metaclass=_UnlikeAnything):
    pass


class _EqualToAll(type):
    def __eq__(cls, other: object) -> bool:  # so that it has no hash either
        return True


class EqualToAll(metaclass=_EqualToAll):
    pass


class Nowhere:
    pass


Nowhere.__module__ = None  # type: ignore[assignment]
Nowhere.__qualname__ = "lone \ud800"


def circular() -> list[Any]:
    loop: list[Any] = [1]
    loop.append({"again": loop})
    return loop


def deep() -> list[Any]:
    nest: list[Any] = []
    for _ in range(5000):
        nest = [nest]
    return nest


_LEAVES: tuple[Any, ...] = (
    lambda: ReprRaises(ValueError("x")),
    lambda: ReprRaises(SystemExit(3)),
    lambda: ReprRaises(RecursionError()),
    lambda: ReprRaises(MemoryError()),
    lambda: ReprRaises(GeneratorExit()),
    EverythingRaises,
    lambda: LyingDict(a=1),
    lambda: EndlessList([1]),
    lambda: RaisingText("text"),
    lambda: NotANumber(7),
    Slotted,
    Lazy,
    Unclear,
    lambda: Colour.RED,
    circular,
    deep,
    lambda: 10**6000,
    lambda: float("nan"),
    lambda: "lone \ud800 surrogate",
    lambda: "x" * 300_000,
    lambda: b"\xff\x00" * 10,
    lambda: (each for each in [1]),
    threading.Lock,
    lambda: decimal.Decimal("1.10"),
    lambda: {(1, 2): 3, None: 4, RaisingText("k"): 5},
    lambda: {1, "two"},
    lambda: int,
    lambda: lambda: None,
    lambda: memoryview(b"abc"),
    lambda: list(range(50_000)),
    Incomparable,
    lambda: Incomparable,
    EqualToAll,
    Nowhere,
    lambda: deque(range(50_000)),
    lambda: {1: 2}.items(),
    lambda: b"\xff" * 200_000,
)

LEAVES = len(_LEAVES)


def leaf(number: int) -> Any:
    """The hostile value of a number below `LEAVES`."""
    return _LEAVES[number]()


def value_of(seed: int) -> Any:
    """Hostile and harmless values nested in containers, the same for the same seed.

    Built from a number, because a test framework that shows its arguments falls over them itself.
    """
    return _nested(random.Random(seed), 0)


def _nested(chance: random.Random, depth: int) -> Any:
    kind = chance.random()
    if depth > 3 or kind < 0.5:
        return chance.choice(_LEAVES)()
    if kind < 0.6:
        return chance.choice((None, True, 7, -2.5, "text", "", "\x00", [], {}, 2**70))
    members = [_nested(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind < 0.75:
        return members
    if kind < 0.85:
        return tuple(members)
    return {f"key{number}": member for number, member in enumerate(members)}
