"""Values that only scripts have, and what JavaScript makes of texts and arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from spanproof.sandbox.scanners.reader.values import (
    ANY,
    CALLABLE,
    CLEAN,
    PLACE,
    UNKNOWN,
    Called,
    Const,
    Function,
    Items,
    Mapping,
    Taint,
    Text,
    Unknown,
    Value,
    join_all,
    pieces_of,
    text_value,
)


@dataclass(slots=True, eq=False)
class Object(Mapping):
    """An object.

    `is_many` where it is all instances of a class: what is stored adds to what it holds.
    `is_map` for a `Map`, whose entries are reached by its methods.
    """

    is_many: bool = False
    is_map: bool = False


@dataclass(slots=True, eq=False)
class Class(Called):
    """A class of the script: its static members, and the one object that all its instances are."""

    statics: Object
    instance: Object
    constructor: Function | None
    taint: Taint = CLEAN


@dataclass(slots=True, eq=False)
class Method(Called):
    """A method of a value that is known."""

    owner: Value
    name: str
    taint: Taint = CLEAN


@dataclass(slots=True, eq=False)
class Made(Called):
    """A function made from text, by what calling it gives."""

    result: Value
    taint: Taint = CLEAN


UNDEFINED: Final = Const("undefined")
MISSING: Final = Unknown()
"""What a pattern or a parameter gets where nothing is given; its default, or else unknown."""

_ORIGINS: Final = (CALLABLE | PLACE | {"network", "environment"}) - ANY


def origin_of(value: Value) -> Taint:
    """Where a value came from of which nothing else is known."""
    return value.taint & _ORIGINS if isinstance(value, Unknown) else CLEAN


def is_unknown(value: Value) -> bool:
    """Whether nothing at all is known of a value."""
    return isinstance(value, Unknown) and value.taint == ANY


def is_text(value: Value) -> bool:
    """Whether a value is a text or a number, known as far as its pieces."""
    return isinstance(value, Const | Text)


def concatenate(parts: Iterable[Value]) -> Value:
    """A text put together of these."""
    pieces: list[str | None] = []
    taint = CLEAN
    for part in parts:
        pieces.extend(pieces_of(part))
        taint |= part.taint if isinstance(part, Const | Text | Unknown) else ANY
    return text_value(pieces, taint)


def of_any_length(items: Sequence[Value]) -> Items:
    """An array of some of these items, of which the places are not known."""
    return Items([join_all(items)] if items else [], more=True)


def spread(value: Value) -> tuple[list[Value], bool]:
    """The items that `...value` gives, and whether their number is known."""
    return (value.items, not value.more) if isinstance(value, Items) else ([UNKNOWN], False)


def written(value: Value) -> Value:
    """What a value is as text, where it is a `URL`; else the value itself."""
    if isinstance(value, Object) and "href" in value.entries:
        return UNKNOWN if value.rest else value.entries["href"]
    return value
