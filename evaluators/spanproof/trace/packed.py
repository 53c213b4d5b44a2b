"""Model values as documents that hold nothing twice: how the store keeps evaluations.

In: any dataclass of the model. Out: JSON text, from which an equal value is read. A span's text is its
attribute, its input, the value of that and a message, and a tool call is in its step and on a tape; `codec`
writes each of them. Here a long text is written once, into a table, and so is an object that several others
hold; fields with their default value are left out. A trace of 32 KB makes a document of 37 KB instead of 200.

A default that is left out is read as the default of the reader: a field whose default changes needs another
name, or a migration of the store.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

from spanproof.trace.codec import (
    CUT,
    ESCAPES,
    MAX_DEPTH,
    MalformedDocument,
    encode_json,
    encode_scalar,
    from_plain,
    load_json,
)
from spanproof.trace.tree import Trace

T = TypeVar("T")

_TEXT: Final = "$text"
_OBJECT: Final = "$object"
_ESCAPES: Final = ESCAPES | {_TEXT, _OBJECT}
_PARTS: Final = frozenset({"root", "texts", "objects"})

# Characters from which a text is in the table: a reference takes 12, and ids of 32 are mostly unique.
_LONG_TEXT: Final = 40

_NO_DEFAULT: Final = object()
_PLAIN: Final = frozenset({bool, type(None)})


def encode_packed(value: object) -> str:
    """Return a model value as a document, in one line.

    Raises:
        TypeError: the value holds something that is no part of the model.
    """
    writer = _Writer()
    root = writer.build_plain(value, 0)
    return encode_json({"root": root, "texts": list(writer.texts), "objects": writer.objects})


def decode_packed(kind: type[T], text: str | bytes) -> T:
    """Return the value of this type that `encode_packed` or, before, `codec.encode` wrote.

    Raises:
        MalformedDocument: no JSON, or not of this type; the message names the place.
    """
    plain = load_json(text)
    if isinstance(plain, dict) and plain.keys() == _PARTS:
        plain = _decode_references(plain)
    return from_plain(kind, plain)


class _Writer:
    """Writes one document.

    Attributes:
        texts: long texts, with their place in the table.
        objects: what several others hold.
    """

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.objects: list[dict[str, Any]] = []
        # By identity: all that is written is held by the value, so that no id is used again meanwhile.
        self._written: dict[int, dict[str, Any]] = {}

    def build_plain(self, value: Any, depth: int) -> Any:
        """Return a value as plain data with references."""
        kind = type(value)
        if kind is str:
            if len(value) < _LONG_TEXT:
                return value
            return {_TEXT: self.texts.setdefault(value, len(self.texts))}
        if kind in _PLAIN:
            return value
        write = _WRITERS.get(kind)
        if write is None:
            write = _WRITERS[kind] = _get_writer(kind)
        return write(self, value, depth)

    def build_object(self, value: Any, depth: int) -> dict[str, Any]:
        """Return an object's fields, or a reference where it is written already."""
        written = self._written.get(id(value))
        if written is not None:
            return self._build_reference(written)
        kind: Any = type(value)
        plain: dict[str, Any] = {}
        self._written[id(value)] = plain
        read, names = _list_fields(kind)
        for item, (name, default) in zip(read(value), names, strict=True):
            if item is not default:
                plain[name] = item if type(item) in _PLAIN else self.build_plain(item, depth)
        return plain

    def _build_reference(self, written: dict[str, Any]) -> dict[str, Any]:
        """Return the reference to an object, which takes the place of the object where it was first."""
        if _OBJECT not in written:
            self.objects.append(dict(written))
            written.clear()
            written[_OBJECT] = len(self.objects) - 1
        return written

    def build_trace(self, trace: Trace, depth: int) -> dict[str, Any]:
        """Return a trace without the links between spans, which follow from the spans."""
        return {
            "trace_id": trace.trace_id,
            "spans": self.build_list(trace.spans, depth),
            "defects": sorted(defect.value for defect in trace.defects),
        }

    def build_list(self, items: Iterable[Any], depth: int) -> Any:
        """Return a list, or the mark of one that nests too deeply."""
        if depth > MAX_DEPTH:
            return CUT
        return [self.build_plain(item, depth + 1) for item in items]

    def build_mapping(self, mapping: Mapping[Any, Any], depth: int) -> Any:
        """Return an object of JSON, or the mark of one that nests too deeply."""
        if depth > MAX_DEPTH:
            return CUT
        plain = {str(key): self.build_plain(item, depth + 1) for key, item in mapping.items()}
        if _ESCAPES & plain.keys():
            return {"$dict": plain}
        return plain


_Write: TypeAlias = Callable[[_Writer, Any, int], Any]

# By class: filled with each class when it is first met.
_WRITERS: Final[dict[type, _Write]] = {
    Trace: _Writer.build_trace,
    tuple: _Writer.build_list,
    list: _Writer.build_list,
}


def _get_writer(kind: type) -> _Write:
    """Return how values of a class are written."""
    if is_dataclass(kind):
        return _Writer.build_object
    if issubclass(kind, Mapping):
        return _Writer.build_mapping
    if issubclass(kind, tuple | list):
        return _Writer.build_list
    if issubclass(kind, Enum):
        return lambda _, value, __: value.value
    return lambda _, value, __: encode_scalar(value)


@cache
def _list_fields(kind: Any) -> tuple[Callable[[Any], Sequence[Any]], tuple[tuple[str, object], ...]]:
    """Return what reads all fields of a class, and their names, each with the one object that is left out."""
    found = tuple((field.name, _get_default(field)) for field in fields(kind))
    names = [name for name, _ in found]
    if len(names) == 1:
        return lambda value: (getattr(value, names[0]),), found
    return operator.attrgetter(*names), found


def _get_default(field: Field[Any]) -> object:
    """Return a default that is one object in each process, such as None and the empty tuple."""
    default = field.default
    if default is MISSING or not isinstance(default, str | bool | tuple | None | int):
        return _NO_DEFAULT
    return default


def _decode_references(document: Mapping[str, Any]) -> Any:
    """Return the plain data of a document, with its references replaced.

    Raises:
        MalformedDocument: a reference to something that the document does not hold.
    """
    texts, objects = document["texts"], document["objects"]
    read: dict[int, Any] = {}

    def resolve(plain: Any) -> Any:
        if isinstance(plain, list):
            return [resolve(item) for item in plain]
        if not isinstance(plain, dict):
            return plain
        if len(plain) == 1:
            ((key, value),) = plain.items()
            if key == _TEXT:
                return texts[value]
            if key == _OBJECT:
                if value not in read:
                    read[value] = resolve(objects[value])
                return read[value]
            if key == "$dict":
                return {key: {name: resolve(item) for name, item in value.items()}}
        return {key: resolve(value) for key, value in plain.items()}

    try:
        return resolve(document["root"])
    except (LookupError, TypeError, AttributeError, RecursionError) as problem:
        raise MalformedDocument(f"a reference of the document leads nowhere: {problem}") from problem
