"""Any Python value as JSON text, whatever it does to stop that.

In comes a value of the host's; out goes JSON with what was lost on the way named. Containers are read with
the built-in types' own methods, so that an overridden `__iter__` or `items` does not run; of foreign code
`repr` is called, and what it raises is kept. Never consumes an iterator, never recurses without end, never
raises (but `KeyboardInterrupt`, which is the user's).
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import sys
import uuid
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from spanproof.instrumentors.content.redaction import Path, Redactor, get_subpaths
from spanproof.instrumentors.content.texts import (
    cuts_bytes,
    format_clipped,
    format_encodable,
    get_type_name,
    to_text,
)

_MAX_DEPTH = 32
_MAX_NODES = 20_000
# Python refuses to print integers of more than 4,300 digits.
_MAX_DIGITS = 4_000
# Elements up to which a numpy array is written out.
_MAX_ARRAY = 10_000
# What is kept of a string at least, whatever room is left.
_CUT_CHARS = 64
# A rough measure of a number, a bracket or a comma.
_CHARS_OF_A_NODE = 4
# Of these the text would be made in full, however long they are.
_SEQUENCES: tuple[Any, ...] = (deque, array, type({}.keys()), type({}.values()), type({}.items()))
# Names under which messages hold values of the host: a path begins anew there, or it would have to be
# written once for a tool's span and once more for every message that repeats the call.
_OF_THE_HOST = frozenset({"arguments", "response", "content", "args"})


@dataclass(frozen=True, slots=True)
class Encoded:
    """JSON text of a value.

    Attributes:
        text: valid JSON, no lone surrogates.
        lossy: an object JSON cannot hold was written as text.
        truncated: a string or container was cut.
        redacted: something was kept back.
    """

    text: str
    lossy: bool = False
    truncated: bool = False
    redacted: bool = False


def encode_value(
    value: object, max_chars: int, redaction: Redactor | None = None, *, plain: bool = False
) -> Encoded:
    """Return the value as JSON whose texts are no longer than `max_chars` in all.

    What is over that is cut inside the document, so that what remains is still JSON. A value that is known to
    be `plain`, of JSON's own types, is not looked through for others.
    """
    if redaction is not None and redaction.hides_all:
        return Encoded(encode_json(redaction.replacement), redacted=True)
    if redaction is None:
        written = find_plain(value, max_chars, checked=plain)
    else:
        written = None
    if written is not None:
        return Encoded(written)
    walk = _Walk(max_chars, redaction)
    text = format_encodable(encode_json(walk.encode_member(value, 0, walk.paths)))
    return Encoded(text, walk.lossy, walk.truncated, walk.redacted)


def format_redacted_text(value: str, redaction: Redactor) -> str:
    """Return a text without what must be redacted, also within a JSON document."""
    if redaction.hides_all:
        return redaction.replacement
    if redaction.sees_members and value.lstrip()[:1] in ("{", "["):
        try:
            document = json.loads(value)
        except ValueError:
            document = None
        except RecursionError:  # it is one, and cannot be looked into
            return redaction.replacement
        walk = _Walk(len(value), redaction)
        shown = walk.encode_member(document, 0, walk.paths)
        if walk.redacted:
            value = encode_json(shown)
    return redaction.format_redacted(value)


class _Walk:
    """One pass over a value, turning it into what `json` takes, until its room is used up."""

    __slots__ = ("_nodes", "_open", "_redaction", "_room", "lossy", "paths", "redacted", "truncated")

    def __init__(self, room: int, redaction: Redactor | None) -> None:
        self._room = room
        self._redaction = redaction
        self.paths: Sequence[Path] = () if redaction is None else redaction.paths
        self.redacted = False
        self._nodes = 0
        self._open: set[int] = set()
        self.lossy = False
        self.truncated = False

    def encode_member(self, value: Any, depth: int, paths: Sequence[Path]) -> Any:
        kind = type(value)
        if kind is str:
            return self._encode_string(value)
        if kind is bool or value is None:
            return value
        if kind is int:
            return self._encode_integer(value)
        if kind is float:
            return self._encode_float(value)
        try:
            return self._encode_composite(value, depth, paths)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - properties and metaclasses may raise anything
            self.lossy = True
            return f"<{get_type_name(value)}: unreadable, {type(error).__name__}>"

    def _encode_composite(self, value: Any, depth: int, paths: Sequence[Path]) -> Any:
        self._nodes += 1
        if depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            self.truncated = True
            return "[…]"
        if id(value) in self._open:
            self.lossy = True
            return f"<{get_type_name(value)}: contains itself>"
        self._open.add(id(value))
        try:
            return self._encode_container(value, depth + 1, paths)
        finally:
            self._open.discard(id(value))

    def _encode_container(self, value: Any, depth: int, paths: Sequence[Path]) -> Any:
        # By the real type: `isinstance` would ask `__class__`, which a proxy answers with side effects.
        kind = type(value)
        if issubclass(kind, dict):
            return dict(
                self._encode_item(key, item, depth, paths)
                for key, item in self._encode_items(dict.items(value))
            )
        if issubclass(kind, list):
            return self._encode_members(list.__iter__(value), depth, paths)
        if issubclass(kind, tuple):
            return self._encode_members(tuple.__iter__(value), depth, paths)
        if issubclass(kind, set | frozenset):
            self.lossy = True
            base = set if issubclass(kind, set) else frozenset
            return self._encode_members(base.__iter__(value), depth, paths)
        for sequence in _SEQUENCES:
            if issubclass(kind, sequence):
                self.lossy = True
                return self._encode_members(sequence.__iter__(value), depth, paths)
        if dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
            return dict(self._encode_item(name, getattr(value, name), depth, paths) for name in names)
        return self._encode_scalar(value, kind, depth, paths)

    def _encode_scalar(self, value: Any, kind: type, depth: int, paths: Sequence[Path]) -> Any:
        if issubclass(kind, enum.Enum):
            return self.encode_member(value.value, depth, paths)
        if issubclass(kind, str):
            return self._encode_string(str.__str__(value))
        if issubclass(kind, int):
            return self._encode_integer(int.__int__(value))
        if issubclass(kind, float):
            return self._encode_float(float.__float__(value))
        if kind.__module__ == "numpy" and hasattr(kind, "tolist") and value.size <= _MAX_ARRAY:
            return self.encode_member(value.tolist(), depth, paths)
        return self._encode_object(value, kind, depth, paths)

    def _encode_object(self, value: Any, kind: type, depth: int, paths: Sequence[Path]) -> Any:
        """Return what JSON has no form for: a time, a path, a model, else its `repr`."""
        self.lossy = True
        # One by one: to look for it among several would ask its metaclass whether it is equal.
        if kind is datetime.datetime or kind is datetime.date or kind is datetime.time:
            return value.isoformat()
        if kind is decimal.Decimal or kind is uuid.UUID or issubclass(kind, pathlib.PurePath):
            return str(value)
        model_fields = getattr(kind, "__pydantic_fields__", None)
        if isinstance(model_fields, dict):
            return dict(
                self._encode_item(name, value.__dict__.get(name), depth, paths) for name in model_fields
            )
        if self._redaction is not None and self._redaction.sees_members:
            return self._format_placeholder()
        if self._redaction is not None:  # of a secret that is cut in two a pattern would see neither half
            return self._encode_string(to_text(value, sys.maxsize))
        if (kind is bytes or kind is bytearray) and cuts_bytes(value):
            self.truncated = True
        return self._encode_string(to_text(value))

    def _format_placeholder(self) -> str:
        assert self._redaction is not None
        self.redacted = True
        return self._redaction.replacement

    def _encode_members(self, items: Any, depth: int, paths: Sequence[Path]) -> list[Any]:
        if not paths:
            return [self.encode_member(item, depth, paths) for item in self._encode_items(items)]
        return [
            self._encode_item_value(number, item, depth, paths)
            for number, item in enumerate(self._encode_items(items))
        ]

    def _encode_item_value(self, name: str | int, item: Any, depth: int, paths: Sequence[Path]) -> Any:
        left, arrived = get_subpaths(paths, name)
        if arrived:
            return self._format_placeholder()
        return self.encode_member(item, depth, [*left, *self.paths] if name in _OF_THE_HOST else left)

    def _encode_items(self, items: Any) -> Any:
        for item in items:
            if self._nodes > _MAX_NODES or self._room <= 0:
                self.truncated = True
                return
            self._nodes += 1
            self._room -= _CHARS_OF_A_NODE
            yield item

    def _encode_item(self, key: object, item: Any, depth: int, paths: Sequence[Path]) -> tuple[str, Any]:
        written = self._encode_key(key)
        if self._redaction is None:
            return written, self.encode_member(item, depth, paths)
        name = to_text(key)  # what is written may have been redacted itself
        if self._redaction.hides_key(name):
            return written, self._format_placeholder()
        return written, self._encode_item_value(name, item, depth, paths)

    def _encode_key(self, key: object) -> str:
        if type(key) is str:
            return self._encode_string(key)
        self.lossy = True
        return self._encode_string(to_text(key))

    def _encode_string(self, value: str) -> str:
        if self._redaction is not None:
            kept = format_redacted_text(value, self._redaction)
            self.redacted = self.redacted or kept != value
            value = kept
        if len(value) > self._room:
            self.truncated = True
            # Half of what is left: the members that come after it want to be seen too.
            value = format_clipped(value, max(self._room // 2, _CUT_CHARS))
        self._room -= len(value)
        return value

    def _encode_integer(self, value: int) -> int | str:
        if value.bit_length() < _MAX_DIGITS * 3:
            return value
        self.lossy = True
        return f"<int of {value.bit_length()} bits>"

    def _encode_float(self, value: float) -> float | str:
        if math.isfinite(value):
            return value
        self.lossy = True
        return repr(value)


# Members up to which a value is written as a whole.
_MAX_MEMBERS = 2_000
# Nesting that orjson writes; a circular value gets no further either.
_MAX_PLAIN_DEPTH = 254


def find_plain(value: object, max_chars: int, *, checked: bool = False) -> str | None:
    """Return JSON of a plain value that is no longer than this, None of any other."""
    try:
        if not checked and not _is_plain(value, max_chars):
            return None
        written: Any = _dumps(value)
        if type(written) is str:
            text = format_encodable(written)
        else:
            text = written.decode()
    except (TypeError, ValueError, RecursionError, RuntimeError):
        # A long integer, a lone surrogate, too deep, or changed by another thread meanwhile.
        return None
    return text if len(text) <= max_chars else None


def _is_plain(value: object, room: int) -> bool:
    """Return whether a value has only JSON's own types, few members, and no more than `room` characters."""
    level: list[Any] = [value]
    members_left = _MAX_MEMBERS
    for _ in range(_MAX_PLAIN_DEPTH):
        found = _find_plain_members(level, members_left)
        if found is None:
            return False
        level, characters = found
        members_left -= len(level)
        room -= characters
        if room < 0:
            return False
        if not level:
            return True
    return False


def _find_plain_members(level: list[Any], most: int) -> tuple[list[Any], int] | None:
    """Return the members of values, and the characters of their texts and names.

    None where a value has not JSON's own types, or where there are more than `most` members. One loop over
    a level, in the agent's own process: a call for each number made it 14 % slower.
    """
    members: list[Any] = []
    characters = 0
    for item in level:
        kind = type(item)
        # One by one: looking it up in a set would call the metaclass's `__hash__`.
        if kind is str:
            characters += len(item)
        elif kind is dict or kind is list or kind is tuple:
            if len(members) + len(item) > most:
                return None
            if kind is dict:
                if not all(type(name) is str for name in item):
                    return None
                characters += sum(map(len, item))
                item = item.values()
            members.extend(item)
        elif kind is float:
            if not math.isfinite(item):
                return None
        elif not (kind is int or kind is bool or item is None):
            return None
    return members, characters


encode_json: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False
).encode
"""JSON of what consists of JSON's own types; raises as `json.dumps` does."""

_dumps: Callable[[object], str | bytes] = encode_json
with suppress(ImportError):  # it takes a tenth of the time
    from orjson import dumps as _dumps
