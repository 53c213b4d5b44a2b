"""Fast JSON of values that consist of JSON's own types, as most of what agents pass on does.

In comes any value; out comes its JSON, or None where `serialise` has to walk it: other types, subclasses, too
many members, or something redacted. Runs no code of the host's and never raises.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import isfinite
from typing import Any, Final

from spanproof.instrumentors.content.texts import well_formed

_MAX_MEMBERS = 2_000
"""Members up to which a value is written as a whole."""
_MAX_DEPTH = 254
"""Nesting that orjson writes; a circular value gets no further either."""


def plain_json(value: object, max_chars: int) -> str | None:
    """Return JSON of a plain value that is no longer than this, None of any other."""
    return json_or_none(value, max_chars) if is_plain(value, max_chars) else None


def json_or_none(value: object, max_chars: int) -> str | None:
    """Return JSON of a plain value that is no longer than this, None where the encoder refuses it."""
    try:
        written: Any = _dumps(value)
        text = well_formed(written) if type(written) is str else written.decode()
    except (TypeError, ValueError, RecursionError, RuntimeError):
        # A long integer, a lone surrogate, too deep, or changed by another thread meanwhile.
        return None
    return text if len(text) <= max_chars else None


def is_plain(value: object, room: int) -> bool:
    """Return whether a value has only JSON's own types, few members, and no more than `room` characters."""
    level: list[Any] = [(value,)]
    members = 0
    try:
        for _ in range(_MAX_DEPTH):
            below: list[Any] = []
            for each in level:
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
                    # One by one: looking it up in a set would call the metaclass's `__hash__`.
                    if kind is str:
                        room -= len(member)
                    elif kind is dict or kind is list or kind is tuple:
                        below.append(member)
                    elif kind is float:
                        if not isfinite(member):
                            return False
                    elif not (kind is int or kind is bool or member is None):
                        return False
                if room < 0:
                    return False
            if not below:
                return True
            level = below
    except RuntimeError:  # changed by another thread meanwhile
        pass
    return False


encode_json: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False
).encode
"""JSON of what consists of JSON's own types; raises as `json.dumps` does."""

_dumps: Callable[[object], str | bytes] = encode_json
with suppress(ImportError):  # it takes a tenth of the time
    from orjson import dumps as _dumps
