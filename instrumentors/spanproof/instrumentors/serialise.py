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
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from spanproof.instrumentors.json_paths import Path, below

_MAX_DEPTH = 32
_MAX_NODES = 20_000
_MAX_DIGITS = 4_000
"""Python refuses to print integers of more than 4,300 digits."""
_MAX_ARRAY = 10_000
"""Elements up to which a numpy array is written out."""
_CUT_CHARS = 64
"""What is kept of a string at least, whatever room is left."""
_CHARS_OF_A_NODE = 4
"""A rough measure of a number, a bracket or a comma."""
_MAX_EASY_NODES = 2_000
"""Members up to which a value is looked at as a whole; a circular one gets no further either."""
_EASY_SCALARS = frozenset({int, float, bool, type(None)})
_EASY_CONTAINERS = frozenset({dict, list, tuple})


_OF_THE_HOST = frozenset({"arguments", "response", "content", "args"})
"""Names under which values of the host's stand in messages: a path begins anew there, or it would have to be
written once for a tool's span and once more for every message that repeats the call."""


class Redacting(Protocol):
    """What keeps parts of the content back."""

    replacement: str
    """Stands in the place of what is kept back."""
    hides_all: bool
    """Whether whole documents are kept back."""
    sees_members: bool
    """Whether it has to see the members of documents, and what shows none is kept back."""
    paths: list[Path]
    """Places in a document that are kept back."""

    def text(self, value: str) -> str:
        """The text without what must be kept back."""

    def hides_key(self, key: str) -> bool:
        """Whether the values of a key are kept back."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """JSON text of a value.

    Attributes:
        text: valid JSON, no lone surrogates.
        lossy: an object JSON cannot hold stands in it as text.
        truncated: a string or container was cut.
        redacted: something was kept back.
    """

    text: str
    lossy: bool = False
    truncated: bool = False
    redacted: bool = False


def encode(value: object, max_chars: int, redaction: Redacting | None = None) -> Encoded:
    """The value as JSON whose texts are no longer than `max_chars` in all.

    What is over that is cut inside the document, so that what remains is still JSON.
    """
    if redaction is None and is_easy(value, max_chars):
        easy = dumps_or_none(value)
        if easy is not None and len(easy) <= max_chars:
            return Encoded(easy)
    if redaction is not None and redaction.hides_all:
        return Encoded(_encode_json(redaction.replacement), redacted=True)
    walk = _Walk(max_chars, redaction)
    text = well_formed(_encode_json(walk.plain(value, 0, walk.paths)))
    return Encoded(text, walk.lossy, walk.truncated, walk.redacted)


def redacted_text(value: str, redaction: Redacting) -> str:
    """A text without what must be kept back; one that is a JSON document is looked into."""
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
        shown = walk.plain(document, 0, walk.paths)
        if walk.redacted:
            value = _encode_json(shown)
    return redaction.text(value)


def dumps_or_none(value: object) -> str | None:
    """JSON of an easy value, None where `json` refuses it after all."""
    try:
        return well_formed(_encode_json(value))
    except (TypeError, ValueError, RecursionError, RuntimeError):
        # No number, an integer of too many digits, too deep, or changed by another thread meanwhile.
        return None


def clip(text: str, max_chars: int) -> str:
    """Head and tail of a text around a mark: how much is left out, and the digest of the whole."""
    if len(text) <= max_chars:
        return text
    head = max_chars * 2 // 3
    tail = max_chars - head
    left_out = len(text) - head - tail
    whole = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    mark = f"[… {left_out} of {len(text)} characters left out, sha256 {whole} …]"
    return f"{text[:head]}\n{mark}\n{text[len(text) - tail :]}"


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced: UTF-8, and so OTLP, has no form for them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def text_of(value: object, max_chars: int = 100_000) -> str:
    """What a value says of itself, or that it would not say."""
    kind = type(value)
    if issubclass(kind, str):
        return well_formed(str.__str__(value))
    try:
        said = str(value) if issubclass(kind, BaseException) else repr(value)
        return well_formed(clip(str.__str__(said), max_chars))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a repr may raise SystemExit as well
        return f"<{type_name(value)}: no text, {type(error).__name__}>"


def type_name(value: object) -> str:
    """`int`, `decimal.Decimal`: the type's name, with its module unless it is built in."""
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"


def _make_encoder() -> Callable[[object], str]:
    """`JSONEncoder.encode`, which makes its C encoder anew for each value, with one made once."""
    slow = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False)
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return slow.encode
    string = json.encoder.encode_basestring
    chunks = make(None, slow.default, string, None, ":", ",", False, False, False)  # noqa: FBT003 - C's order

    def encode_json(document: object) -> str:
        return string(document) if type(document) is str else "".join(chunks(document, 0))

    return encode_json


_encode_json = _make_encoder()


def is_easy(value: object, room: int) -> bool:
    """Whether a value consists of few members of exactly JSON's own types: `json` may have it as it is."""
    waiting: list[Any] = [(value,)]
    nodes = 0
    try:
        for members in waiting:  # which grows meanwhile
            nodes += len(members)
            if nodes > _MAX_EASY_NODES:
                return False
            if type(members) is dict:
                for name in members:
                    if type(name) is not str:
                        return False
                    room -= len(name)
                members = members.values()
            for each in members:
                kind = type(each)
                if kind is str:
                    room -= len(each)
                elif kind in _EASY_CONTAINERS:
                    waiting.append(each)
                elif kind not in _EASY_SCALARS:
                    return False
            if room < 0:
                return False
    except RuntimeError:  # changed by another thread meanwhile
        return False
    return True


class _Walk:
    """One pass over a value, turning it into what `json` takes, until its room is used up."""

    __slots__ = ("_nodes", "_open", "_redaction", "_room", "lossy", "paths", "redacted", "truncated")

    def __init__(self, room: int, redaction: Redacting | None) -> None:
        self._room = room
        self._redaction = redaction
        self.paths: Sequence[Path] = () if redaction is None else redaction.paths
        self.redacted = False
        self._nodes = 0
        self._open: set[int] = set()
        self.lossy = False
        self.truncated = False

    def plain(self, value: Any, depth: int, paths: Sequence[Path]) -> Any:
        kind = type(value)
        if kind is str:
            return self._string(value)
        if kind is bool or value is None:
            return value
        if kind is int:
            return self._integer(value)
        if kind is float:
            return self._float(value)
        try:
            return self._composite(value, depth, paths)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - properties and metaclasses may raise anything
            self.lossy = True
            return f"<{type_name(value)}: unreadable, {type(error).__name__}>"

    def _composite(self, value: Any, depth: int, paths: Sequence[Path]) -> Any:
        self._nodes += 1
        if depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            self.truncated = True
            return "[…]"
        if id(value) in self._open:
            self.lossy = True
            return f"<{type_name(value)}: contains itself>"
        self._open.add(id(value))
        try:
            return self._container(value, depth + 1, paths)
        finally:
            self._open.discard(id(value))

    def _container(self, value: Any, depth: int, paths: Sequence[Path]) -> Any:
        # By the real type: `isinstance` would ask `__class__`, which a proxy answers with side effects.
        kind = type(value)
        if issubclass(kind, dict):
            return dict(self._item(key, item, depth, paths) for key, item in self._some(dict.items(value)))
        if issubclass(kind, list):
            return self._members(list.__iter__(value), depth, paths)
        if issubclass(kind, tuple):
            return self._members(tuple.__iter__(value), depth, paths)
        if issubclass(kind, set | frozenset):
            self.lossy = True
            base = set if issubclass(kind, set) else frozenset
            return self._members(base.__iter__(value), depth, paths)
        if dataclasses.is_dataclass(kind):
            names = [each.name for each in dataclasses.fields(kind)]
            return dict(self._item(name, getattr(value, name), depth, paths) for name in names)
        return self._scalar(value, kind, depth, paths)

    def _scalar(self, value: Any, kind: type, depth: int, paths: Sequence[Path]) -> Any:
        if issubclass(kind, enum.Enum):
            return self.plain(value.value, depth, paths)
        if issubclass(kind, str):
            return self._string(str.__str__(value))
        if issubclass(kind, int):
            return self._integer(int.__int__(value))
        if issubclass(kind, float):
            return self._float(float.__float__(value))
        if kind.__module__ == "numpy" and hasattr(kind, "tolist") and value.size <= _MAX_ARRAY:
            return self.plain(value.tolist(), depth, paths)
        self.lossy = True
        if kind in (datetime.datetime, datetime.date, datetime.time):
            return value.isoformat()
        if kind in (decimal.Decimal, uuid.UUID) or issubclass(kind, pathlib.PurePath):
            return str(value)
        model_fields = getattr(kind, "__pydantic_fields__", None)
        if isinstance(model_fields, dict):
            return dict(self._item(name, value.__dict__.get(name), depth, paths) for name in model_fields)
        if self._redaction is not None and self._redaction.sees_members:
            return self._kept_back()
        return self._string(text_of(value))

    def _kept_back(self) -> str:
        assert self._redaction is not None
        self.redacted = True
        return self._redaction.replacement

    def _members(self, items: Any, depth: int, paths: Sequence[Path]) -> list[Any]:
        if not paths:
            return [self.plain(item, depth, paths) for item in self._some(items)]
        return [self._member(number, item, depth, paths) for number, item in enumerate(self._some(items))]

    def _member(self, name: str | int, item: Any, depth: int, paths: Sequence[Path]) -> Any:
        left, arrived = below(paths, name)
        if arrived:
            return self._kept_back()
        return self.plain(item, depth, [*left, *self.paths] if name in _OF_THE_HOST else left)

    def _some(self, items: Any) -> Any:
        for item in items:
            if self._nodes > _MAX_NODES or self._room <= 0:
                self.truncated = True
                return
            self._nodes += 1
            self._room -= _CHARS_OF_A_NODE
            yield item

    def _item(self, key: object, item: Any, depth: int, paths: Sequence[Path]) -> tuple[str, Any]:
        written = self._key(key)
        if self._redaction is None:
            return written, self.plain(item, depth, paths)
        name = text_of(key)  # what is written may have been redacted itself
        if self._redaction.hides_key(name):
            return written, self._kept_back()
        return written, self._member(name, item, depth, paths)

    def _key(self, key: object) -> str:
        if type(key) is str:
            return self._string(key)
        self.lossy = True
        return self._string(text_of(key))

    def _string(self, value: str) -> str:
        if self._redaction is not None:
            kept = redacted_text(value, self._redaction)
            self.redacted = self.redacted or kept != value
            value = kept
        if len(value) > self._room:
            self.truncated = True
            # Half of what is left: the members that come after it want to be seen too.
            value = clip(value, max(self._room // 2, _CUT_CHARS))
        self._room -= len(value)
        return value

    def _integer(self, value: int) -> int | str:
        if value.bit_length() < _MAX_DIGITS * 3:
            return value
        self.lossy = True
        return f"<int of {value.bit_length()} bits>"

    def _float(self, value: float) -> float | str:
        if math.isfinite(value):
            return value
        self.lossy = True
        return repr(value)
