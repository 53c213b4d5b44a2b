"""JSON of values that consist of JSON's own types and little else, which most of what agents pass on does.

In comes any value; out comes its JSON, or None where a walk has to look at it: other types, subclasses, too
much of it, or something kept back. Runs no code of the host's and never raises.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, Final

from spanproof.instrumentors.content.texts import well_formed

_MAX_MEMBERS = 2_000
"""Members up to which a value is looked at as a whole; a circular one gets no further either."""
_MAX_DEPTH = 254
"""How deep orjson writes lists and dictionaries within each other."""


def plain_json(value: object, max_chars: int) -> str | None:
    """JSON of a value that is plain and no longer than this, None of any other."""
    return json_or_none(value, max_chars) if is_plain(value, max_chars) else None


def json_or_none(value: object, max_chars: int) -> str | None:
    """JSON of a plain value that is no longer than this, None where `json` refuses it after all."""
    try:
        written = _quick(value)
        text = well_formed(written) if type(written) is str else written.decode()
    except (TypeError, ValueError, RecursionError, RuntimeError):
        # A long integer, a lone surrogate, too deep, or changed by another thread meanwhile.
        return None
    return text if len(text) <= max_chars else None


def is_plain(value: object, room: int) -> bool:
    """Whether a value is of exactly JSON's own types, of few members, and its texts no longer than `room`."""
    waiting: list[Any] = [(value,)]
    members = 0
    try:
        for each in waiting:  # which grows meanwhile
            members += len(each)
            if members > _MAX_MEMBERS:
                return False
            values: Iterable[Any] = each
            if type(each) is dict:
                for name in each:
                    if type(name) is not str:
                        return False
                    room -= len(name)
                values = each.values()
            for member in values:
                kind = type(member)
                # One by one: to look for it in a set would ask the metaclass for a hash.
                if kind is str:
                    room -= len(member)
                elif kind is int or kind is bool or member is None:
                    pass
                elif kind is dict or kind is list or kind is tuple:
                    waiting.append(member)
                elif kind is not float or not isfinite(member):
                    return False
            if room < 0:
                return False
    except RuntimeError:  # changed by another thread meanwhile
        return False
    return True


def _make_encoder() -> Callable[[object], Any]:
    """Orjson's where it is installed: it takes a tenth of the time, and writes bytes; else `json`'s best.

    Of plain values they write the same but for the exponents of numbers.
    """
    try:
        from orjson import dumps
    except ImportError:
        return _as_shallow(standard_encoder())
    return dumps


def _as_shallow(encode: Callable[[object], str]) -> Callable[[object], str]:
    """An encoder that refuses what orjson does, so that a value is recorded alike with it and without."""

    def encode_shallow(document: object) -> str:
        text = encode(document)
        # The brackets are counted first, because that takes next to no time and is mostly all.
        if text.count("[") + text.count("{") > _MAX_DEPTH and _depth(document) > _MAX_DEPTH:
            raise RecursionError
        return text

    return encode_shallow


def _depth(document: object) -> int:
    level: list[Any] = [document]
    depth = 0
    while level := [each for each in level if type(each) in (dict, list, tuple)]:
        members = (each.values() if type(each) is dict else each for each in level)
        level, depth = [member for each in members for member in each], depth + 1
    return depth


def standard_encoder() -> Callable[[object], str]:
    """`JSONEncoder.encode`, which makes its C encoder anew for each value, with one made once."""
    slow = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False)
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return slow.encode
    string = json.encoder.encode_basestring
    chunks = make(None, slow.default, string, None, ":", ",", False, False, False)  # noqa: FBT003 - C's order

    def encode(document: object) -> str:
        return string(document) if type(document) is str else "".join(chunks(document, 0))

    return encode


encode_json: Final = standard_encoder()
"""JSON of what consists of JSON's own types; raises as `json.dumps` does."""
_quick: Final = _make_encoder()
