"""What the JavaScript scanner knows about a value: text in pieces, a name outside the script, a container."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Pieces
from spanproof.sandbox.scanners.literals import hides_place
from spanproof.sandbox.scanners.pieces import covers as pieces_cover
from spanproof.sandbox.scanners.pieces import merged, widened


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known; `origin` names where it came from, `network` for one."""

    origin: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or a number as text, known as far as its pieces."""

    pieces: Pieces


@dataclass(frozen=True, slots=True)
class Ref:
    """Something outside the script by its resolved name; `x()` is what calling `x` gives."""

    name: str


@dataclass(slots=True)
class Array:
    """An array; with `more` it may hold any number of items, each one of these at any place."""

    items: list[Value]
    more: bool = False


@dataclass(slots=True)
class Object:
    """An object; `rest` is what it holds under keys that are not known, where it holds such.

    `is_many` where it is all instances of a class: what is stored adds to what it holds.
    `is_map` for a `Map`, whose entries are reached by its methods.
    """

    entries: dict[str, Value] = field(default_factory=dict)
    rest: Value | None = None
    is_many: bool = False
    is_map: bool = False


@dataclass(slots=True, eq=False)
class Klass:
    """A class of the script: its static members, and the one object that all its instances are."""

    statics: Object
    instance: Object
    constructor: Function | None


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the script."""

    node: Node
    scope: Scope


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method of a value that is known."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A function with some arguments already given, as `bind` makes."""

    called: Value
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """A function made from text, by what calling it gives."""

    result: Value


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several values, after branches met."""

    options: tuple[Value, ...]


Value: TypeAlias = "Unknown | Text | Ref | Array | Object | Function | Klass | Method | Bound | Made | OneOf"

UNKNOWN: Final = Unknown()
UNDEFINED: Final = Text(("undefined",))
MISSING: Final = Unknown("missing")
"""What a pattern or a parameter gets where nothing is given; its default, or else unknown."""

CALLABLE: Final = Unknown("callable")
"""Anything, functions that reach outside included."""

PLACE: Final = Unknown("place")
"""One of many texts, of which some may name a place outside."""

_MAX_OPTIONS = 12
"""Alternatives kept of one value; those past it are widened into the last one."""


@dataclass(slots=True, eq=False)
class Scope:
    """Names and their values, looked up outwards."""

    parent: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)

    def owner_of(self, name: str) -> Scope | None:
        """The scope that binds a name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope


def options_of(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value; itself when it has none."""
    return value.options if isinstance(value, OneOf) else (value,)


def either(first: Value, second: Value) -> Value:
    """A value that may be either."""
    options = list(options_of(first))
    for option in options_of(second):
        if not any(option is kept or option == kept for kept in options):
            options.append(option)
    if len(options) > _MAX_OPTIONS:
        options = [*options[: _MAX_OPTIONS - 1], widen(options[_MAX_OPTIONS - 1 :])]
    return options[0] if len(options) == 1 else OneOf(tuple(options))


def of_any_length(items: Sequence[Value]) -> Array:
    """An array of some of these items, of which the places are not known."""
    return Array([any_of(items)] if items else [], more=True)


def spread(value: Value) -> tuple[list[Value], bool]:
    """The items that `...value` gives, and whether their number is known."""
    if not isinstance(value, Array):
        return [UNKNOWN], False
    return value.items, not value.more


def any_of(values: Iterable[Value]) -> Value:
    """A value that may be any of these; unknown when there are none."""
    result: Value | None = None
    for one in values:
        result = one if result is None else either(result, one)
    return UNKNOWN if result is None else result


def covers(wide: Value, value: Value) -> bool:
    """Whether a widened value covers this one."""
    if wide is value or wide == value:
        return True
    if wide in (UNKNOWN, PLACE):
        return isinstance(value, Text) or value in (UNKNOWN, PLACE)
    return isinstance(wide, Text) and isinstance(value, Text) and pieces_cover(wide.pieces, value.pieces)


def covers_all(wide: Value, value: Value) -> bool:
    """Whether each alternative of a value is covered by one of a wider value."""
    return all(any(covers(one, option) for one in options_of(wide)) for option in options_of(value))


def widen(values: Sequence[Value]) -> Value:
    """One value that covers all of these."""
    if all(one is values[0] for one in values):
        return values[0]
    if all(isinstance(one, Text) for one in values):
        texts = [pieces_of(one) for one in values]
        pieces = widened(texts)
        if hides_place(pieces, texts):
            return PLACE
        return UNKNOWN if pieces == (None,) else Text(pieces)
    origins = {one.origin for one in values if isinstance(one, Unknown)} - {""}
    calls = (
        any(isinstance(one, Ref | Function | Klass | Method | Bound | Made) for one in values)
        or "callable" in origins
    )
    return Unknown("callable" if calls else min(origins, default=""))


def pieces_of(value: Value) -> Pieces:
    """A value as text in pieces."""
    return value.pieces if isinstance(value, Text) else (None,)


def written(value: Value) -> Value:
    """What a value is as text, where it is a `URL`; else the value itself."""
    if isinstance(value, Object) and "href" in value.entries:
        return UNKNOWN if value.rest is not None else value.entries["href"]
    return value


def text_of(value: Value | None) -> str | None:
    """The text of a value that is wholly known."""
    return value.pieces[0] if isinstance(value, Text) and len(value.pieces) == 1 else None


def text(pieces: list[str | None]) -> Value:
    """A text of pieces, neighbours joined; unknown when it grows too large."""
    found = merged(pieces)
    return UNKNOWN if found == (None,) else Text(found)
