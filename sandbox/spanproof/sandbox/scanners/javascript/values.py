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
    build_union_of,
    find_constant_text,
    list_options,
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


def get_origin(value: Value) -> Taint:
    """Return where a value came from of which nothing else is known."""
    return value.taint & _ORIGINS if isinstance(value, Unknown) else CLEAN


def is_unknown(value: Value) -> bool:
    """Whether nothing at all is known of a value."""
    return isinstance(value, Unknown) and value.taint == ANY


def is_text(value: Value) -> bool:
    """Whether a value is a text or a number, known as far as its pieces."""
    return isinstance(value, Const | Text) and not isinstance(value, Flag)


def build_concatenation(parts: Iterable[Value]) -> Value:
    """Return a text put together of these, of which each may be one of several."""
    options = [list_options(part) for part in parts]
    if 1 < prod(map(len, options)) <= _MOST_TEXTS:
        return build_union_of(_build_one_concatenation(one) for one in product(*options))
    return _build_one_concatenation([one[0] if len(one) == 1 else UNKNOWN for one in options])


# Texts that one with several values in it is read as.
_MOST_TEXTS: Final = 36


def _build_one_concatenation(parts: Iterable[Value]) -> Value:
    pieces: list[str | None] = []
    taint = CLEAN
    for part in parts:
        pieces.extend(to_pieces(part))
        taint |= part.taint if isinstance(part, Const | Text | Unknown) else ANY
    return build_text(pieces, taint)


def build_unordered_array(items: Sequence[Value]) -> Items:
    """Return an array of some of these items, of which the places are not known."""
    return Items([build_union_of(items)] if items else [], more=True)


def list_spread(value: Value) -> tuple[list[Value], bool]:
    """Return the items that `...value` gives, and whether their number is known."""
    if isinstance(value, Items):
        return (value.items, not value.more)
    return ([UNKNOWN], False)


def to_url_text(value: Value) -> Value:
    """Return what a value is as text, where it is a `URL`; else the value itself."""
    if isinstance(value, Object) and "href" in value.entries:
        return UNKNOWN if value.rest else value.entries["href"]
    return value


def to_file_path(value: Value) -> Value:
    """Return the path of a `URL` of a file; another value as it is."""
    text = to_url_text(value)
    head, *rest = to_pieces(text)
    if text is value or head is None or not head.lower().startswith("file:///"):
        return value
    path = _normalise_url(head)[len("file://") :]
    end = _END_OF_PATH.search(path)
    if end is not None:
        path, rest = path[: end.start()], []
    return build_text((urllib.parse.unquote(path), *rest), text.taint)


# Where the query or the fragment of a URL begins.
_END_OF_PATH: Final = re.compile(r"[?#]")


def _normalise_url(text: str) -> str:
    """Return a URL as it is read: backslashes are slashes, and breaks of lines and tabs are nothing."""
    return re.sub(r"[\t\r\n]", "", text).replace("\\", "/").strip()


def compute_method(owner: Value, name: str, arguments: Sequence[Value]) -> Value | None:
    """Return what a pure method of a text or array gives; None where it is not known."""
    if isinstance(owner, Items):
        return _compute_array_method(owner, name, arguments)
    is_plain_name = isinstance(owner, Unknown) and owner.taint == NAME
    if not is_text(owner) and not is_plain_name:
        return None
    if name == "concat":
        return build_concatenation((owner, *arguments))
    text = find_constant_text(owner)
    if text is None:
        return owner if name in _KEEPING_METHODS else None
    texts = _find_known_texts(arguments)
    apply = _TEXT_METHODS.get(name)
    if apply is None or texts is None:
        return None
    try:
        return apply(text, texts)
    except (ValueError, IndexError, OverflowError, binascii.Error):
        return None


# Methods that change at most the blanks around a text.
_KEEPING_METHODS: Final = split_words("toString valueOf trim normalize trimEnd trimStart")


def _find_known_texts(values: Sequence[Value]) -> list[str] | None:
    """Return the texts of values; None where one is not known."""
    texts = [text for text in map(find_constant_text, values) if text is not None]
    return texts if len(texts) == len(values) else None


def compute_function(name: str, arguments: Sequence[Value]) -> Value | None:
    """Return what a pure function gives, by its resolved name; None where it is not known."""
    if name in _JOINS:
        return _build_path(name, arguments)
    if name in _DIRECTORIES:
        return Const(_DIRECTORIES[name])
    if name in _OF_URLS and arguments:
        return _OF_URLS[name]([to_url_text(argument) for argument in arguments])
    texts = _find_known_texts(arguments)
    apply = _TEXT_FUNCTIONS.get(name)
    if apply is None or not texts:
        return None
    try:
        return apply(texts)
    except (ValueError, OverflowError, RecursionError, binascii.Error):
        return None


def _parse_whole_number(texts: list[str]) -> Value:
    return Const(str(int(texts[0], int(texts[1]) if len(texts) > 1 else 10)))


def _evaluate_json(texts: list[str]) -> Value | None:
    is_plain = len(texts) == 1 and len(texts[0]) <= _MAX_JSON
    return _build_from_json(json.loads(texts[0])) if is_plain else None


def _build_from_char_codes(texts: list[str]) -> Value:
    return Const("".join(chr(int(float(one))) for one in texts))


def _decode_url_component(texts: list[str]) -> Value:
    return Const(urllib.parse.unquote(texts[0]))


def _encode_url_component(texts: list[str]) -> Value:
    return Const(urllib.parse.quote(texts[0]))


# What is made of a URL; a request is judged where it is sent.
_OF_URLS: Final[dict[str, Callable[[list[Value]], Value]]] = {
    "Request": lambda arguments: arguments[0],
    "URL": lambda arguments: _build_url(arguments),
}

_TEXT_FUNCTIONS: Final[dict[str, Callable[[list[str]], Value | None]]] = {
    **dict.fromkeys(("String.fromCharCode", "String.fromCodePoint"), _build_from_char_codes),
    **dict.fromkeys(("decodeURIComponent", "decodeURI", "unescape"), _decode_url_component),
    **dict.fromkeys(("encodeURIComponent", "encodeURI", "escape"), _encode_url_component),
    "Buffer.from": lambda texts: Const(_decode_buffer(texts[0], texts[1] if len(texts) > 1 else "utf8")),
    "JSON.parse": _evaluate_json,
    "JSON.stringify": lambda texts: Const(json.dumps(texts[0], ensure_ascii=False)),
    "String": lambda texts: Const(texts[0]),
    "atob": lambda texts: Const(base64.b64decode(texts[0]).decode("latin-1")),
    "btoa": lambda texts: Const(base64.b64encode(texts[0].encode("latin-1")).decode()),
    "parseInt": _parse_whole_number,
    "path.basename": lambda texts: Const(posixpath.basename(texts[0])),
    "path.dirname": lambda texts: Const(posixpath.dirname(texts[0])),
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


def _build_url(arguments: Sequence[Value]) -> Value:
    """Build a `URL`, of one text or relative to another."""
    url = find_constant_text(arguments[0])
    is_absolute = url is not None and "://" in url
    if len(arguments) == 1 or is_absolute:
        return Object({"href": arguments[0] if is_text(arguments[0]) else UNKNOWN})
    base = arguments[1]
    if url is not None and isinstance(base, Ref) and base.name.partition(".")[0] in _OWN_PLACES:
        return arguments[0]  # relative to the module itself, or to its page
    base_url = find_constant_text(base)
    if url is None or base_url is None:
        return Object({"href": UNKNOWN})
    return Object({"href": Const(urllib.parse.urljoin(_normalise_url(base_url), _normalise_url(url)))})


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


def _build_path(name: str, arguments: Sequence[Value]) -> Value:
    options = [list_options(argument) for argument in arguments]
    if 1 < prod(map(len, options)) <= _MOST_TEXTS:
        return build_union_of(_build_path(name, one) for one in product(*options))
    parts: list[Value] = []
    for argument in arguments:
        if name == "path.resolve" and (to_pieces(argument)[0] or "").startswith("/"):
            parts = []
        parts.extend([Const("/"), argument] if parts else [argument])
    return build_concatenation(parts)


def _compute_array_method(owner: Items, name: str, arguments: Sequence[Value]) -> Value | None:
    method = _ARRAY_METHODS.get(name)
    return method(owner, arguments) if method is not None else None


def _compute_join(owner: Items, arguments: Sequence[Value]) -> Value | None:
    if owner.more:
        return None
    separator = find_constant_text(arguments[0]) if arguments else ","
    if separator is None:
        return UNKNOWN
    parts = [part for item in owner.items for part in (Const(separator), item)]
    return build_concatenation(parts[1:])


def _compute_at(owner: Items, arguments: Sequence[Value]) -> Value | None:
    if owner.more or not arguments:
        return None
    index = find_constant_text(arguments[0]) or ""
    is_inside = index.lstrip("-").isdigit() and -len(owner.items) <= int(index) < len(owner.items)
    return owner.items[int(index)] if is_inside else build_union_of(owner.items)


def _compute_concat(owner: Items, arguments: Sequence[Value]) -> Value:
    items, whole = list(owner.items), not owner.more
    for argument in arguments:
        added, is_whole = ([argument], True) if is_text(argument) else list_spread(argument)
        items.extend(added)
        whole = whole and is_whole
    return Items(items) if whole else build_unordered_array(items)


def _compute_array_slice(owner: Items, arguments: Sequence[Value]) -> Value:
    bounds = [find_constant_text(argument) or "" for argument in arguments]
    if owner.more or not all(map(_WHOLE.fullmatch, bounds)):
        return _compute_other_order(owner, arguments)
    start, stop = (*map(int, bounds), None, None)[:2]
    return Items(owner.items[start:stop])


def _compute_other_order(owner: Items, arguments: Sequence[Value]) -> Value:
    """Return an array with some of the items and arguments, in any order."""
    return build_unordered_array([*owner.items, *arguments])


def _compute_flat(owner: Items, _arguments: Sequence[Value]) -> Value:
    return build_unordered_array(
        [inner for item in owner.items for inner in (item.items if isinstance(item, Items) else [item])]
    )


_ARRAY_METHODS: dict[str, Callable[[Items, Sequence[Value]], Value | None]] = {
    "at": _compute_at,
    "concat": _compute_concat,
    "flat": _compute_flat,
    "join": _compute_join,
    "reverse": lambda owner, _: Items(list(reversed(owner.items)), more=owner.more),
    "slice": _compute_array_slice,
    "toSorted": _compute_other_order,
    "toSpliced": _compute_other_order,
    "toString": lambda owner, _: _compute_join(owner, []),
    "with": _compute_other_order,
}

_WHOLE: Final = re.compile(r"-?\d{1,9}")


def _compute_slice(text: str, arguments: list[str]) -> Value:
    bounds = [int(float(one)) for one in arguments]
    start, end = [*bounds, None, None][:2]
    return Const(text[start:end])


def _compute_split(text: str, arguments: list[str]) -> Value:
    if not arguments:
        return Items([Const(text)])
    separator = arguments[0]
    parts = text.split(separator) if separator else list(text)
    return Items([Const(part) for part in parts])


def _compute_repeat(text: str, arguments: list[str]) -> Value:
    times = int(float(arguments[0]))
    if 0 <= times * len(text) <= MAX_TEXT:
        return Const(text * times)
    return UNKNOWN


def _compute_replace_all(text: str, arguments: list[str]) -> Value:
    bounded = (len(text) + 1) * (len(arguments[1]) + 1) <= 16 * MAX_TEXT
    if bounded:
        return build_text([text.replace(arguments[0], arguments[1])], CLEAN)
    return UNKNOWN


_TEXT_METHODS: dict[str, Callable[[str, list[str]], Value]] = {
    "toLowerCase": lambda text, arguments: Const(text.lower()),
    "toUpperCase": lambda text, arguments: Const(text.upper()),
    "trim": lambda text, arguments: Const(text.strip()),
    "toString": lambda text, arguments: Const(text),
    "valueOf": lambda text, arguments: Const(text),
    "normalize": lambda text, arguments: Const(text),
    "slice": _compute_slice,
    "substring": _compute_slice,
    "substr": lambda text, arguments: Text(
        (text[int(arguments[0]) :][: int(arguments[1]) if len(arguments) > 1 else None],)
    ),
    "charAt": lambda text, arguments: Const(text[int(arguments[0])]),
    "at": lambda text, arguments: Const(text[int(arguments[0])]),
    "split": _compute_split,
    "repeat": _compute_repeat,
    "replace": lambda text, arguments: Const(text.replace(arguments[0], arguments[1], 1)),
    "replaceAll": _compute_replace_all,
}
