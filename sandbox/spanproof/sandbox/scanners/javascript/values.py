"""Values that only scripts have, and constant folding: what pure methods and functions give."""

# ruff: noqa: ARG005 - methods of one table share one signature

from __future__ import annotations

import base64
import binascii
import json
import posixpath
import re
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final

from spanproof.sandbox.scanners.pieces import MAX_TEXT
from spanproof.sandbox.scanners.reader.values import (
    ANY,
    CALLABLE,
    CLEAN,
    NAME,
    PLACE,
    UNKNOWN,
    Called,
    Const,
    Function,
    Items,
    Mapping,
    Ref,
    Taint,
    Text,
    Unknown,
    Value,
    build_text,
    join_all,
    list_options,
    read_constant_text,
    to_pieces,
)
from spanproof.sandbox.words import split_words


@dataclass(slots=True, eq=False)
class Object(Mapping):
    """An object.

    `is_many` where it is all instances of a class: what is stored adds to what it holds.
    `is_map` for a `Map`, whose entries are reached by its methods.
    `spread` holds the modules whose members it has by `...module`.
    """

    is_many: bool = False
    is_map: bool = False
    spread: list[Ref] = field(default_factory=list)


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


class Flag(Const):
    """`true` or `false`, with its text."""

    __slots__ = ()


TRUE: Final = Flag("true")
FALSE: Final = Flag("false")
UNDEFINED: Final = Const("undefined")
MISSING: Final = Unknown()
"""What a pattern or a parameter gets where nothing is given; its default, or else unknown."""

_ORIGINS: Final = (CALLABLE | PLACE | {"network", "environment"}) - ANY


def find_value_origin(value: Value) -> Taint:
    """Return where a value came from of which nothing else is known."""
    return value.taint & _ORIGINS if isinstance(value, Unknown) else CLEAN


def is_unknown(value: Value) -> bool:
    """Whether nothing at all is known of a value."""
    return isinstance(value, Unknown) and value.taint == ANY


def is_text(value: Value) -> bool:
    """Whether a value is a text or a number, known as far as its pieces."""
    return isinstance(value, Const | Text) and not isinstance(value, Flag)


def concatenate(parts: Iterable[Value]) -> Value:
    """Return a text put together of these, of which each may be one of several."""
    options = [list_options(part) for part in parts]
    if 1 < prod(map(len, options)) <= _MOST_TEXTS:
        return join_all(_concatenate_one(one) for one in product(*options))
    return _concatenate_one([one[0] if len(one) == 1 else UNKNOWN for one in options])


# Texts that one with several values in it is read as.
_MOST_TEXTS: Final = 36


def _concatenate_one(parts: Iterable[Value]) -> Value:
    pieces: list[str | None] = []
    taint = CLEAN
    for part in parts:
        pieces.extend(to_pieces(part))
        taint |= part.taint if isinstance(part, Const | Text | Unknown) else ANY
    return build_text(pieces, taint)


def make_array_of_any_length(items: Sequence[Value]) -> Items:
    """Return an array of some of these items, of which the places are not known."""
    return Items([join_all(items)] if items else [], more=True)


def spread(value: Value) -> tuple[list[Value], bool]:
    """Return the items that `...value` gives, and whether their number is known."""
    if isinstance(value, Items):
        return (value.items, not value.more)
    return ([UNKNOWN], False)


def unwrap_url(value: Value) -> Value:
    """Return what a value is as text, where it is a `URL`; else the value itself."""
    if isinstance(value, Object) and "href" in value.entries:
        return UNKNOWN if value.rest else value.entries["href"]
    return value


def unwrap_file_url(value: Value) -> Value:
    """Return the path of a `URL` of a file; another value as it is."""
    text = unwrap_url(value)
    head, *rest = to_pieces(text)
    if text is value or head is None or not head.lower().startswith("file:///"):
        return value
    path = _clean_url(head)[len("file://") :]
    end = _END_OF_PATH.search(path)
    if end is not None:
        path, rest = path[: end.start()], []
    return build_text((urllib.parse.unquote(path), *rest), text.taint)


# Where the query or the fragment of a URL begins.
_END_OF_PATH: Final = re.compile(r"[?#]")


def _clean_url(text: str) -> str:
    """Return a URL as it is read: backslashes are slashes, and breaks of lines and tabs are nothing."""
    return re.sub(r"[\t\r\n]", "", text).replace("\\", "/").strip()


def fold_method(owner: Value, name: str, arguments: Sequence[Value]) -> Value | None:
    """Return what a pure method of a text or array gives; None where it is not known."""
    if isinstance(owner, Items):
        return _fold_array_method(owner, name, arguments)
    is_plain_name = isinstance(owner, Unknown) and owner.taint == NAME
    if not is_text(owner) and not is_plain_name:
        return None
    if name == "concat":
        return concatenate((owner, *arguments))
    known = read_constant_text(owner)
    if known is None:
        return owner if name in _KEEPING_METHODS else None
    given = _find_known_texts(arguments)
    apply = _TEXT_METHODS.get(name)
    if apply is None or given is None:
        return None
    try:
        return apply(known, given)
    except (ValueError, IndexError, OverflowError, binascii.Error):
        return None


# Methods that change at most the blanks around a text.
_KEEPING_METHODS: Final = split_words("toString valueOf trim normalize trimEnd trimStart")


def _find_known_texts(values: Sequence[Value]) -> list[str] | None:
    """Return the texts of values; None where one is not known."""
    texts = [text for text in map(read_constant_text, values) if text is not None]
    return texts if len(texts) == len(values) else None


def fold_function(name: str, arguments: Sequence[Value]) -> Value | None:
    """Return what a pure function gives, by its resolved name; None where it is not known."""
    if name in _JOINS:
        return _join_path(name, arguments)
    if name in _DIRECTORIES:
        return Const(_DIRECTORIES[name])
    if name in _OF_URLS and arguments:
        return _OF_URLS[name]([unwrap_url(argument) for argument in arguments])
    given = _find_known_texts(arguments)
    apply = _TEXT_FUNCTIONS.get(name)
    if apply is None or not given:
        return None
    try:
        return apply(given)
    except (ValueError, OverflowError, RecursionError, binascii.Error):
        return None


def _parse_whole_number(known: list[str]) -> Value:
    return Const(str(int(known[0], int(known[1]) if len(known) > 1 else 10)))


def _parse_json(known: list[str]) -> Value | None:
    is_plain = len(known) == 1 and len(known[0]) <= _MAX_JSON
    return _build_from_json(json.loads(known[0])) if is_plain else None


def _join_characters(known: list[str]) -> Value:
    return Const("".join(chr(int(float(one))) for one in known))


def _unquote(known: list[str]) -> Value:
    return Const(urllib.parse.unquote(known[0]))


def _quote(known: list[str]) -> Value:
    return Const(urllib.parse.quote(known[0]))


# What is made of a URL; a request is judged where it is sent.
_OF_URLS: Final[dict[str, Callable[[list[Value]], Value]]] = {
    "Request": lambda arguments: arguments[0],
    "URL": lambda arguments: _fold_url(arguments),
}

_TEXT_FUNCTIONS: Final[dict[str, Callable[[list[str]], Value | None]]] = {
    **dict.fromkeys(("String.fromCharCode", "String.fromCodePoint"), _join_characters),
    **dict.fromkeys(("decodeURIComponent", "decodeURI", "unescape"), _unquote),
    **dict.fromkeys(("encodeURIComponent", "encodeURI", "escape"), _quote),
    "Buffer.from": lambda known: Const(_decode_buffer(known[0], known[1] if len(known) > 1 else "utf8")),
    "JSON.parse": _parse_json,
    "JSON.stringify": lambda known: Const(json.dumps(known[0], ensure_ascii=False)),
    "String": lambda known: Const(known[0]),
    "atob": lambda known: Const(base64.b64decode(known[0]).decode("latin-1")),
    "btoa": lambda known: Const(base64.b64encode(known[0].encode("latin-1")).decode()),
    "parseInt": _parse_whole_number,
    "path.basename": lambda known: Const(posixpath.basename(known[0])),
    "path.dirname": lambda known: Const(posixpath.dirname(known[0])),
}


_JOINS: Final = frozenset({"path.join", "path.resolve", "path.normalize", "path.posix.join"})
# What is read as the function of the language, beside the tables here.
_READ_AS_KNOWN: Final = split_words(
    "URL Map.prototype Set.prototype Array.prototype Array.from JSON.stringify Object.entries Object.values"
    " Object.assign"
)


def is_folded(owner: str, key: str | None) -> bool:
    """Whether a function is folded: one of an object outside the script, or a method of all texts and arrays.

    Args:
        owner: the resolved name of the object; empty for the global one.
        key: the name of the function; None where it is not known.
    """
    if owner.endswith((".prototype", "__proto__")):
        return key is None or key in _TEXT_METHODS or key in _ARRAY_METHODS or key in _OTHER_METHODS
    if key is None:
        return not owner or owner in _FOLDED_HEADS
    return f"{owner}.{key}" in _FOLDED if owner else key in _FOLDED_HEADS


# Methods of texts, arrays, maps, sets, functions and promises that are not folded and followed all the same.
_OTHER_METHODS: Final = split_words(
    "add apply bind call catch concat copyWithin delete entries every fill filter find findIndex"
    " findLast flatMap forEach get has keys map pop push reduce reduceRight set shift some sort splice then"
    " unshift values"
)

# Characters of a text that is parsed as data.
_MAX_JSON: Final = 4_096


def _build_from_json(content: object) -> Value:
    """Build the value of what `JSON.parse` gives."""
    if isinstance(content, dict):
        return Object({key: _build_from_json(value) for key, value in content.items()})
    if isinstance(content, list):
        return Items([_build_from_json(value) for value in content])
    if isinstance(content, bool):
        return TRUE if content else FALSE
    if isinstance(content, str):
        return Const(content)
    return Const(str(content)) if isinstance(content, int) else UNKNOWN


def _fold_url(arguments: Sequence[Value]) -> Value:
    """Build a `URL`, of one text or relative to another."""
    url = read_constant_text(arguments[0])
    is_absolute = url is not None and "://" in url
    if len(arguments) == 1 or is_absolute:
        return Object({"href": arguments[0] if is_text(arguments[0]) else UNKNOWN})
    base = arguments[1]
    if url is not None and isinstance(base, Ref) and base.name.partition(".")[0] in _OWN_PLACES:
        return arguments[0]  # relative to the module itself, or to its page
    base_url = read_constant_text(base)
    if url is None or base_url is None:
        return Object({"href": UNKNOWN})
    return Object({"href": Const(urllib.parse.urljoin(_clean_url(base_url), _clean_url(url)))})


# What names the place of the module (`import.meta.url`, `url.pathToFileURL()`) or of its page.
_OWN_PLACES: Final = frozenset({"document", "import", "location", "self", "url", "window"})

_DIRECTORIES: Final = {"process.cwd": ".", "os.tmpdir": "/tmp"}  # noqa: S108 - inside the sandbox

_FOLDED: Final = {*_JOINS, *_READ_AS_KNOWN, *_DIRECTORIES, *_TEXT_FUNCTIONS}
_FOLDED_HEADS: Final = frozenset(name.partition(".")[0] for name in _FOLDED)


def _decode_buffer(content: str, encoding: str) -> str:
    if encoding in {"base64", "base64url"}:
        return base64.b64decode(content.replace("-", "+").replace("_", "/") + "===").decode(
            "utf-8", "replace"
        )
    if encoding == "hex":
        return binascii.unhexlify(content).decode("utf-8", "replace")
    return content


def _join_path(name: str, arguments: Sequence[Value]) -> Value:
    options = [list_options(argument) for argument in arguments]
    if 1 < prod(map(len, options)) <= _MOST_TEXTS:
        return join_all(_join_path(name, one) for one in product(*options))
    parts: list[Value] = []
    for argument in arguments:
        if name == "path.resolve" and (to_pieces(argument)[0] or "").startswith("/"):
            parts = []
        parts.extend([Const("/"), argument] if parts else [argument])
    return concatenate(parts)


def _fold_array_method(owner: Items, name: str, arguments: Sequence[Value]) -> Value | None:
    method = _ARRAY_METHODS.get(name)
    return method(owner, arguments) if method is not None else None


def _fold_join(owner: Items, arguments: Sequence[Value]) -> Value | None:
    if owner.more:
        return None
    separator = read_constant_text(arguments[0]) if arguments else ","
    if separator is None:
        return UNKNOWN
    parts = [part for item in owner.items for part in (Const(separator), item)]
    return concatenate(parts[1:])


def _fold_at(owner: Items, arguments: Sequence[Value]) -> Value | None:
    if owner.more or not arguments:
        return None
    index = read_constant_text(arguments[0]) or ""
    is_inside = index.lstrip("-").isdigit() and -len(owner.items) <= int(index) < len(owner.items)
    return owner.items[int(index)] if is_inside else join_all(owner.items)


def _fold_concat(owner: Items, arguments: Sequence[Value]) -> Value:
    items, whole = list(owner.items), not owner.more
    for argument in arguments:
        added, is_whole = ([argument], True) if is_text(argument) else spread(argument)
        items.extend(added)
        whole = whole and is_whole
    return Items(items) if whole else make_array_of_any_length(items)


def _fold_slice(owner: Items, arguments: Sequence[Value]) -> Value:
    bounds = [read_constant_text(argument) or "" for argument in arguments]
    if owner.more or not all(map(_WHOLE.fullmatch, bounds)):
        return _fold_other_order(owner, arguments)
    start, stop = (*map(int, bounds), None, None)[:2]
    return Items(owner.items[start:stop])


def _fold_other_order(owner: Items, arguments: Sequence[Value]) -> Value:
    """Return an array with some of the items and arguments, in any order."""
    return make_array_of_any_length([*owner.items, *arguments])


def _fold_flat(owner: Items, _arguments: Sequence[Value]) -> Value:
    return make_array_of_any_length(
        [inner for item in owner.items for inner in (item.items if isinstance(item, Items) else [item])]
    )


_ARRAY_METHODS: dict[str, Callable[[Items, Sequence[Value]], Value | None]] = {
    "at": _fold_at,
    "concat": _fold_concat,
    "flat": _fold_flat,
    "join": _fold_join,
    "reverse": lambda owner, _: Items(list(reversed(owner.items)), more=owner.more),
    "slice": _fold_slice,
    "toSorted": _fold_other_order,
    "toSpliced": _fold_other_order,
    "toString": lambda owner, _: _fold_join(owner, []),
    "with": _fold_other_order,
}

_WHOLE: Final = re.compile(r"-?\d{1,9}")


def _slice(known: str, given: list[str]) -> Value:
    bounds = [int(float(one)) for one in given]
    start, end = [*bounds, None, None][:2]
    return Const(known[start:end])


def _split(known: str, given: list[str]) -> Value:
    if not given:
        return Items([Const(known)])
    separator = given[0]
    parts = known.split(separator) if separator else list(known)
    return Items([Const(part) for part in parts])


def _repeat(known: str, given: list[str]) -> Value:
    times = int(float(given[0]))
    if 0 <= times * len(known) <= MAX_TEXT:
        return Const(known * times)
    return UNKNOWN


def _replace_all(known: str, given: list[str]) -> Value:
    bounded = (len(known) + 1) * (len(given[1]) + 1) <= 16 * MAX_TEXT
    if bounded:
        return build_text([known.replace(given[0], given[1])], CLEAN)
    return UNKNOWN


_TEXT_METHODS: dict[str, Callable[[str, list[str]], Value]] = {
    "toLowerCase": lambda known, given: Const(known.lower()),
    "toUpperCase": lambda known, given: Const(known.upper()),
    "trim": lambda known, given: Const(known.strip()),
    "toString": lambda known, given: Const(known),
    "valueOf": lambda known, given: Const(known),
    "normalize": lambda known, given: Const(known),
    "slice": _slice,
    "substring": _slice,
    "substr": lambda known, given: Text(
        (known[int(given[0]) :][: int(given[1]) if len(given) > 1 else None],)
    ),
    "charAt": lambda known, given: Const(known[int(given[0])]),
    "at": lambda known, given: Const(known[int(given[0])]),
    "split": _split,
    "repeat": _repeat,
    "replace": lambda known, given: Const(known.replace(given[0], given[1], 1)),
    "replaceAll": _replace_all,
}
