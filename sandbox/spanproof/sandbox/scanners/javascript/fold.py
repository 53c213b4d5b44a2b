"""Constant folding for JavaScript: what pure methods and functions give for known texts and arrays."""

# ruff: noqa: ARG005 - methods of one table share one signature

from __future__ import annotations

import base64
import binascii
import posixpath
import re
import urllib.parse
from collections.abc import Callable, Sequence
from typing import Final

from spanproof.sandbox.scanners.javascript.values import (
    UNKNOWN,
    Array,
    Object,
    Ref,
    Text,
    Value,
    any_of,
    of_any_length,
    pieces_of,
    spread,
    text,
    text_of,
)
from spanproof.sandbox.scanners.pieces import MAX_TEXT


def method(owner: Value, name: str, arguments: Sequence[Value]) -> Value | None:
    """A pure method of a text or array; None where it is not known."""
    if isinstance(owner, Array):
        return _array_method(owner, name, arguments)
    if not isinstance(owner, Text):
        return None
    known = text_of(owner)
    if name in {"toString", "valueOf", "trim", "normalize", "trimEnd", "trimStart"} and known is None:
        return owner
    if name == "concat":
        return text([piece for one in (owner, *arguments) for piece in pieces_of(one)])
    if known is None:
        return None
    given = [text_of(argument) for argument in arguments]
    if any(one is None for one in given):
        return None
    apply = _TEXT_METHODS.get(name)
    if apply is None:
        return None
    try:
        return apply(known, [one or "" for one in given])
    except (ValueError, IndexError, OverflowError, binascii.Error):
        return None


def function(name: str, arguments: Sequence[Value]) -> Value | None:
    """A pure function by its resolved name; None where it is not known."""
    if name in {"path.join", "path.resolve", "path.normalize", "path.posix.join"}:
        return _path_join(name, arguments)
    if name in _DIRECTORIES:
        return Text((_DIRECTORIES[name],))
    given = [text_of(argument) for argument in arguments]
    if name == "URL" and arguments:
        return _url(arguments, given)
    if not given or any(one is None for one in given):
        return None
    known = [one or "" for one in given]
    try:
        if name == "String.fromCharCode" or name == "String.fromCodePoint":
            return Text(("".join(chr(int(float(one))) for one in known),))
        if name == "atob":
            return Text((base64.b64decode(known[0]).decode("latin-1"),))
        if name == "btoa":
            return Text((base64.b64encode(known[0].encode("latin-1")).decode(),))
        if name == "Buffer.from":
            return Text((_buffer(known[0], known[1] if len(known) > 1 else "utf8"),))
        if name in {"decodeURIComponent", "decodeURI", "unescape"}:
            return Text((urllib.parse.unquote(known[0]),))
        if name in {"encodeURIComponent", "encodeURI", "escape"}:
            return Text((urllib.parse.quote(known[0]),))
        if name == "parseInt":
            return Text((str(int(known[0], int(known[1]) if len(known) > 1 else 10)),))
        if name in {"String", "JSON.stringify"}:
            return Text((known[0],)) if name == "String" else None
        if name == "path.dirname":
            return Text((posixpath.dirname(known[0]),))
        if name == "path.basename":
            return Text((posixpath.basename(known[0]),))
    except (ValueError, OverflowError, binascii.Error):
        return None
    return None


def _url(arguments: Sequence[Value], given: Sequence[str | None]) -> Value:
    """A `URL`, of one text or relative to another."""
    first, base = given[0], given[1] if len(given) > 1 else None
    other = arguments[1] if len(arguments) > 1 else None
    is_own = isinstance(other, Ref) and other.name.partition(".")[0] in _OWN_PLACES
    if is_own and first is not None and "://" not in first:
        return arguments[0]  # relative to the module itself, or to its page
    if len(arguments) == 1 or (first is not None and "://" in first):
        return Object({"href": arguments[0] if isinstance(arguments[0], Text) else UNKNOWN})
    joined = urllib.parse.urljoin(base, first) if base is not None and first is not None else None
    return Object({"href": UNKNOWN if joined is None else Text((joined,))})


_OWN_PLACES: Final = frozenset({"document", "import", "location", "self", "url", "window"})
"""What names the place of the module (`import.meta.url`, `url.pathToFileURL()`) or of its page."""

_DIRECTORIES: Final = {"process.cwd": ".", "os.tmpdir": "/tmp"}  # noqa: S108 - inside the sandbox


def _buffer(content: str, encoding: str) -> str:
    if encoding in {"base64", "base64url"}:
        return base64.b64decode(content.replace("-", "+").replace("_", "/") + "===").decode(
            "utf-8", "replace"
        )
    if encoding == "hex":
        return binascii.unhexlify(content).decode("utf-8", "replace")
    return content


def _path_join(name: str, arguments: Sequence[Value]) -> Value:
    pieces: list[str | None] = []
    for argument in arguments:
        part = pieces_of(argument)
        if name == "path.resolve" and part[0] is not None and part[0].startswith("/"):
            pieces = []
        if pieces:
            pieces.append("/")
        pieces.extend(part)
    return text(pieces)


def _array_method(owner: Array, name: str, arguments: Sequence[Value]) -> Value | None:
    if name == "join" and not owner.more:
        separator = text_of(arguments[0]) if arguments else ","
        if separator is None:
            return UNKNOWN
        pieces: list[str | None] = []
        for index, item in enumerate(owner.items):
            if index:
                pieces.append(separator)
            pieces.extend(pieces_of(item))
        return text(pieces)
    if name == "at" and not owner.more and arguments:
        place = text_of(arguments[0]) or ""
        known = place.lstrip("-").isdigit() and -len(owner.items) <= int(place) < len(owner.items)
        return owner.items[int(place)] if known else any_of(owner.items)
    if name == "reverse":
        return Array(list(reversed(owner.items)), owner.more)
    if name == "concat":
        items, whole = list(owner.items), not owner.more
        for argument in arguments:
            added, known = ([argument], True) if isinstance(argument, Text) else spread(argument)
            items.extend(added)
            whole = whole and known
        return Array(items) if whole else of_any_length(items)
    if name in {"slice", "toSpliced", "toSorted", "with"}:
        bounds = [text_of(argument) or "" for argument in arguments]
        if name != "slice" or owner.more or not all(map(_WHOLE.fullmatch, bounds)):
            return of_any_length([*owner.items, *arguments])
        start, stop = (*map(int, bounds), None, None)[:2]
        return Array(owner.items[start:stop])
    if name == "flat":
        held = [
            inner for item in owner.items for inner in (item.items if isinstance(item, Array) else [item])
        ]
        return of_any_length(held)
    return _array_method(owner, "join", []) if name == "toString" else None


_WHOLE: Final = re.compile(r"-?\d{1,9}")


def _slice(known: str, given: list[str]) -> Value:
    bounds = [int(float(one)) for one in given]
    return Text((known[slice(*bounds)] if len(bounds) > 1 else known[bounds[0] :] if bounds else known,))


def _split(known: str, given: list[str]) -> Value:
    parts = list(known) if given and given[0] == "" else known.split(given[0]) if given else [known]
    return Array([Text((part,)) for part in parts])


def _repeat(known: str, given: list[str]) -> Value:
    times = int(float(given[0]))
    return Text((known * times,)) if 0 <= times * len(known) <= MAX_TEXT else UNKNOWN


def _replace_all(known: str, given: list[str]) -> Value:
    bounded = (len(known) + 1) * (len(given[1]) + 1) <= 16 * MAX_TEXT
    return text([known.replace(given[0], given[1])]) if bounded else UNKNOWN


_TEXT_METHODS: dict[str, Callable[[str, list[str]], Value]] = {
    "toLowerCase": lambda known, given: Text((known.lower(),)),
    "toUpperCase": lambda known, given: Text((known.upper(),)),
    "trim": lambda known, given: Text((known.strip(),)),
    "toString": lambda known, given: Text((known,)),
    "valueOf": lambda known, given: Text((known,)),
    "normalize": lambda known, given: Text((known,)),
    "slice": _slice,
    "substring": _slice,
    "substr": lambda known, given: Text(
        (known[int(given[0]) :][: int(given[1]) if len(given) > 1 else None],)
    ),
    "charAt": lambda known, given: Text((known[int(given[0])],)),
    "at": lambda known, given: Text((known[int(given[0])],)),
    "split": _split,
    "repeat": _repeat,
    "replace": lambda known, given: Text((known.replace(given[0], given[1], 1),)),
    "replaceAll": _replace_all,
}
