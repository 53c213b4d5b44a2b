"""What a scanner of Python or JavaScript knows about a value while it reads a program.

Values are abstract: a constant that folded, a text known in part, a name that resolves outside the program
(`os.system`, `fs.readFile`), a function or object of the program itself, or nothing but where the value came
from (taint). They are never run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from spanproof.sandbox.scanners.boundary import Pieces
from spanproof.sandbox.scanners.pieces import MAX_TEXT, build_text_cover, hides_place, normalise_pieces
from spanproof.sandbox.scanners.pieces import covers as pieces_cover

Taint = frozenset[str]
CLEAN: Final[Taint] = frozenset()
NAME: Final[Taint] = frozenset({"name"})
"""Plain file names and numbers: safe as a part of a path."""

ANY: Final[Taint] = frozenset({"any"})
"""Anything; never taken for a plain name."""

CALLABLE: Final[Taint] = frozenset({"any", "callable"})
"""Anything, functions that reach outside included."""

PLACE: Final[Taint] = frozenset({"place"})
"""One of many texts, of which some may name a place outside."""

MAX_OPTIONS = 12
"""Alternatives kept for one value; those past it are widened into the last one."""

MAX_BRANCHED = 512
"""Names of a scope that are copied for each branch; with more, copying would make the time quadratic."""

MAX_UNROLLED = 4096
"""Elements of a comprehension or loop that are read one by one."""

# Values looked at inside a container.
_MAX_LOOK = 128

MAX_ITEMS = 65_536
"""Items kept of a container."""

MAX_SIZE = MAX_TEXT
"""Characters or items of a folded value."""


class Value:
    """Base of all abstract values; `taint` names the sources of a value."""

    __slots__ = ()

    taint: Taint


@dataclass(slots=True, eq=False)
class Unknown(Value):
    """Nothing is known but the taint; never clean, so that a mix with plain names is not taken for one."""

    taint: Taint = ANY

    def __post_init__(self) -> None:
        self.taint = self.taint or ANY


@dataclass(slots=True, eq=False)
class Const(Value):
    """A folded constant: text, bytes, number, None, truth value."""

    value: Any
    taint: Taint = CLEAN


@dataclass(slots=True, eq=False)
class Text(Value):
    """A text known in part."""

    pieces: Pieces
    taint: Taint = CLEAN


@dataclass(slots=True, eq=False)
class Path(Value):
    """A pathlib path; `pieces` is its text."""

    pieces: Pieces
    taint: Taint = CLEAN


class Called(Value):
    """Base of what can be called."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Ref(Called):
    """Something outside the program by its resolved dotted name; `x()` is what calling `x` gives."""

    name: str
    taint: Taint = CLEAN
    owner: Value | None = None


@dataclass(slots=True, eq=False)
class Items(Value):
    """A list, tuple or set; `more` when it may hold other items too. Lists are mutable and shared."""

    items: list[Value]
    kind: str = "list"
    more: bool = False
    taint: Taint = CLEAN

    def __post_init__(self) -> None:
        if len(self.items) > MAX_ITEMS:  # a list that is added to itself doubles with every statement
            self.items = list_bounded(self.items, MAX_ITEMS)
            self.more = True


@dataclass(slots=True, eq=False)
class Span(Value):
    """A range of numbers, not spelled out before something goes through it."""

    numbers: range
    taint: Taint = CLEAN


@dataclass(slots=True, eq=False)
class Mapping(Value):
    """A dictionary with constant keys; `rest` holds values under other keys, `keys` those keys.

    `is_of_object` where the entries are the attributes of an object, which are also read by name.
    """

    entries: dict[Any, Value] = field(default_factory=dict)
    rest: list[Value] = field(default_factory=list)
    keys: list[Value] = field(default_factory=list)
    taint: Taint = CLEAN
    is_of_object: bool = False

    @property
    def other_keys(self) -> list[Value]:
        """The keys that are not constants, in as far as they are known."""
        return [*self.keys, UNKNOWN] if self.rest else []


@dataclass(slots=True, eq=False)
class Function(Called):
    """A function or lambda of the program, with the scope it closes over and its receiver once bound."""

    node: Any
    scope: Scope
    defaults: list[Value] = field(default_factory=list)
    keyword_defaults: list[Value | None] = field(default_factory=list)
    receiver: Value | None = None
    owner: Klass | None = None
    taint: Taint = CLEAN


@dataclass(slots=True, eq=False)
class Klass(Called):
    """A class of the program."""

    name: str
    bases: list[Value]
    attributes: dict[str, Value]
    fields: list[str]
    taint: Taint = CLEAN


@dataclass(slots=True, eq=False)
class Instance(Called):
    """An object of a class of the program."""

    klass: Klass
    attributes: dict[str, Value] = field(default_factory=dict)
    taint: Taint = CLEAN
    receiver: Instance | None = None
    """For `super()`: the object that the methods of the class are called on."""


@dataclass(slots=True, eq=False)
class Partial(Called):
    """A call with some arguments already given, as functools.partial makes."""

    called: Value
    positional: list[Value]
    named: dict[str, Value] = field(default_factory=dict)
    taint: Taint = CLEAN


@dataclass(slots=True, eq=False)
class OneOf(Value):
    """One of several values, after branches met."""

    options: tuple[Value, ...]
    taint: Taint


class Scope:
    """Names and their values; looked up outwards, as Python does."""

    __slots__ = ("declared_global", "is_comprehension", "names", "parent", "top")

    def __init__(self, parent: Scope | None = None, *, is_comprehension: bool = False) -> None:
        self.is_comprehension = is_comprehension
        self.names: dict[str, Value] = {}
        self.parent = parent
        self.top: Scope = parent.top if parent is not None else self
        self.declared_global: dict[str, Scope] = {}

    def find(self, name: str) -> Value | None:
        """Return the value of a name, or None when no scope binds it."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def find_owner(self, name: str) -> Scope | None:
        """Return the scope that binds a name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def write_name(self, name: str, value: Value) -> None:
        """Give a name a value, where `global` and `nonlocal` say."""
        scope = self.declared_global.get(name, self)
        if len(scope.names) > MAX_BRANCHED and name in scope.names:
            value = build_union(scope.names[name], value)
        scope.names[name] = value

    def build_branch_names(self) -> dict[str, Value]:
        """Return the names to read a branch on: a copy; of a huge scope the same (`write_name` joins)."""
        if len(self.names) <= MAX_BRANCHED:
            return dict(self.names)
        return self.names


UNKNOWN: Final = Unknown()


def list_options(value: Value) -> tuple[Value, ...]:
    """Return the alternatives of a value; itself when it has none."""
    return value.options if isinstance(value, OneOf) else (value,)


def build_union(first: Value, second: Value) -> Value:
    """Return a value that may be either."""
    if first is second or are_equal(first, second):
        return first
    options = list(list_options(first))
    for option in list_options(second):
        if not any(option is kept or are_equal(option, kept) for kept in options):
            options.append(option)
    if len(options) == 1:
        return options[0]
    taint = first.taint | second.taint
    return OneOf(tuple(list_bounded(options, MAX_OPTIONS)), taint)


def list_bounded(values: list[Value], most: int) -> list[Value]:
    """Return at most so many values: the last one is widened to cover all that do not fit."""
    if len(values) <= most:
        return values
    return [*values[: most - 1], build_cover(values[most - 1 :])]


def build_cover(values: Sequence[Value]) -> Value:
    """Return one that covers all of these: a plain name, the beginning they share, or only their taint."""
    taint = CLEAN.union(*[one.taint for one in values])
    if all(is_plain(one) for one in values):
        return Unknown(NAME | taint)
    if not all(isinstance(one, Const | Text | Path | Unknown) for one in values):
        return Unknown(taint | (CALLABLE if any(_may_be_called(one) for one in values) else ANY))
    texts = [to_pieces(one) for one in values]
    pieces = build_text_cover(texts)
    if hides_place(pieces, texts):
        taint |= PLACE
    if pieces == (None,):
        return Unknown(taint | ANY)
    return Text(pieces, taint | ANY)


def _may_be_called(value: Value) -> bool:
    """Whether a value is, or holds, what can be called, as far as a bounded search excludes it."""
    for seen, one in enumerate(iter_parts(value)):
        # What a call outside gave is data, unless that call was handed what reaches outside.
        is_result = isinstance(one, Ref) and "()" in one.name
        if seen == _MAX_LOOK or "callable" in one.taint or (isinstance(one, Called) and not is_result):
            return True
    return False


def covers(wide: Value, value: Value) -> bool:
    """Whether a widened value covers this one."""
    if wide is value or are_equal(wide, value):
        return True
    if isinstance(wide, Text):
        return isinstance(value, Const | Text | Path) and pieces_cover(wide.pieces, to_pieces(value))
    if not isinstance(wide, Unknown):
        return False
    if wide.taint == NAME:
        return is_plain(value)
    return isinstance(value, Const | Text | Path | Unknown)


def covers_all(wide: Value, value: Value, depth: int = 3) -> bool:
    """Whether each alternative of a value is covered by one of a wider value, lists by their items."""
    options = list_options(wide)
    return all(_covers_option(options, option, depth) for option in list_options(value))


def _covers_option(options: Sequence[Value], option: Value, depth: int) -> bool:
    """Whether one of these alternatives of a wider value covers an alternative of a value."""
    if any(covers(one, option) for one in options):
        return True
    if depth <= 0 or not isinstance(option, Items):
        return False
    return any(isinstance(one, Items) and _covers_items(one, option, depth) for one in options)


def _covers_items(wide: Items, value: Items, depth: int) -> bool:
    if wide.kind != value.kind or len(value.items) > _MAX_LOOK:
        return False
    has_fewer = (value.more and not wide.more) or (value.items and not wide.items)
    if has_fewer:
        return False
    held = build_union_of(wide.items)
    return all(covers_all(held, item, depth - 1) for item in value.items)


def is_plain(value: Value) -> bool:
    """Whether a value is surely a number or a plain file name: it leads out of no directory."""
    if isinstance(value, Const):
        content = value.value
        if isinstance(content, bytes):
            content = content.decode("latin-1")
        return not isinstance(content, str) or ("/" not in content and not content.startswith(("~", "..")))
    return value.__class__ in _UNFOLDED and value.taint == NAME


# Values of which no more is known than their taint.
_UNFOLDED: Final = frozenset({Unknown, Ref})


def build_union_of(values: Iterable[Value]) -> Value:
    """Return a value that may be any of these; unknown when there are none."""
    joined: Value | None = None
    for value in values:
        joined = value if joined is None else build_union(joined, value)
    return joined if joined is not None else UNKNOWN


def are_equal(first: Value, second: Value) -> bool:
    """Whether two values are known to be equal."""
    if first.__class__ is not second.__class__ or first.taint != second.taint:
        return False
    if isinstance(first, Const) and isinstance(second, Const):
        return type(first.value) is type(second.value) and bool(first.value == second.value)
    if isinstance(first, Ref) and isinstance(second, Ref):
        return first.name == second.name and first.owner is second.owner
    if isinstance(first, Text | Path) and isinstance(second, Text | Path):
        return first.pieces == second.pieces
    return isinstance(first, Unknown)


def compute_taint(value: Value) -> Taint:
    """Return the sources of a value, containers included, as far as a bounded search finds them."""
    taint = value.taint
    if value.__class__ in _LEAVES or not isinstance(value, _HOLDERS):
        return taint
    is_named = True
    for seen, one in enumerate(iter_parts(value)):
        if seen == _MAX_LOOK:
            # A taint past the bound is not known: the value is never taken for a plain name.
            return taint | ANY
        taint |= one.taint
        is_named = is_named and (isinstance(one, _HOLDERS) or is_plain(one) or "name" in one.taint)
    return taint if is_named else taint - NAME


def iter_parts(value: Value) -> Iterator[Value]:
    """Yield a value and all that it holds at any depth, each container once."""
    pending: list[Iterator[Value]] = [iter((value,))]
    seen: set[int] = set()
    while pending:
        one = next(pending[-1], None)
        if one is None:
            pending.pop()
            continue
        yield one
        if one.__class__ in _LEAVES:
            continue
        if isinstance(one, _HOLDERS) and id(one) not in seen:
            seen.add(id(one))
            pending.append(_iter_held(one))


def _iter_held(value: Value) -> Iterator[Value]:
    if isinstance(value, Items):
        return iter(value.items)
    if isinstance(value, OneOf):
        return iter(value.options)
    if isinstance(value, Mapping):
        return chain(value.entries.values(), value.rest)
    if isinstance(value, Instance):
        return iter(value.attributes.values())
    return iter(())


_HOLDERS: Final = (Items, OneOf, Mapping, Instance)
# The commonest of the values that hold no others.
_LEAVES: Final = frozenset({Const, Text, Path, Unknown, Ref})


def to_pieces(value: Value) -> Pieces:
    """Return a value as text in pieces, as `str` or `os.fspath` would give it."""
    if isinstance(value, Const):
        content = value.value
        if isinstance(content, str):
            return (content,)
        if isinstance(content, bytes):
            return (content.decode("utf-8", "surrogateescape"),)
        if content is None or isinstance(content, (int, float)):
            try:
                return (str(content),)
            except ValueError:  # more digits than Python turns into text
                return (None,)
        return (None,)
    return value.pieces if isinstance(value, (Text, Path)) else (None,)


def find_constant_text(value: Value | None) -> str | None:
    """Return the text of a value that is wholly known."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    return None


def build_text(pieces: Iterable[str | None], taint: Taint) -> Value:
    """Return the value of a text in pieces: a constant when all of it is known."""
    found = normalise_pieces([*pieces])
    if len(found) > 1:
        return Text(found, taint)
    return Unknown(taint) if found[0] is None else Const(found[0], taint)


def list_elements(value: Value) -> tuple[list[Value], bool]:
    """Return what iterating a value gives, and whether that is all of it."""
    if isinstance(value, Items):
        return value.items, not value.more
    if isinstance(value, Const) and isinstance(value.value, str | bytes) and len(value.value) <= MAX_UNROLLED:
        return [Const(one, value.taint) for one in value.value], True
    if isinstance(value, Span):
        if len(value.numbers) > MAX_UNROLLED:
            return [Unknown(NAME)], False
        return [Const(one) for one in value.numbers], True
    if isinstance(value, Mapping):
        return [*(Const(key) for key in value.entries), *value.other_keys], not value.rest
    if isinstance(value, OneOf):
        parts = [list_elements(option) for option in value.options]
        return [one for items, _ in parts for one in items], False
    return [Unknown(compute_taint(value))], False
