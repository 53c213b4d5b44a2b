"""All texts of a decoded request, laid end to end, so that one look by a pattern covers them all.

Comes in: a message of any signal. Goes out: its texts, or, for a pattern, the values in which it matches.
Most requests hold nothing that a rule matches: their texts are joined without a note of whose they are.
Texts are separated by a line break: a pattern whose `^` and `$` hold at each line matches there what it
matches in the text alone, and perhaps more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, Final, NamedTuple

import orjson
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

_PAIR: Final = KeyValue.DESCRIPTOR.full_name
_VALUE: Final = AnyValue.DESCRIPTOR.full_name


class Node(NamedTuple):
    """A value.

    Attributes:
        message: an attribute, a value, or a message with a field of text.
        field: the name of that field.
        span: the span whose attribute it is.
    """

    message: Any
    field: str | None = None
    span: Any = None


class Values:
    """The values of one request."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._texts: list[bytes] = []
        self._owners: list[int] = []
        self._places_of_key: dict[str, list[int]] = {}

    def add_message(self, message: Message) -> None:
        """Add every value of a message."""
        span = message if isinstance(message, OtlpSpan) else None
        for field, value in message.ListFields():
            kind = field.message_type
            items = value if field.is_repeated else (value,)
            if kind is None:
                if field.type == FieldDescriptor.TYPE_STRING:
                    self._add(Node(message, field.name), items)
            elif kind.full_name == _PAIR:
                self._add_pairs(items, span)
            elif kind.full_name == _VALUE:
                self._add(Node(value), _iter_value_texts(value))
            else:
                for item in items:
                    self.add_message(item)

    def list_matches(self, pattern: Any) -> set[int]:
        """Return the places of the values in which a pattern matches."""
        keys = list(self._places_of_key)
        self._texts += [key.encode() for key in keys]
        joined = b"\n".join(self._texts)
        starts = [0, *accumulate(len(text) + 1 for text in self._texts)]
        found: set[int] = set()
        for match in pattern.finditer(joined):
            first, last = match.span()
            for text in range(bisect_right(starts, first) - 1, bisect_right(starts, max(first, last - 1))):
                if text < len(self._owners):
                    found.add(self._owners[text])
                elif text < len(self._texts):
                    found.update(self._places_of_key[keys[text - len(self._owners)]])
        return found

    def _add_pairs(self, pairs: Iterable[KeyValue], span: Any) -> None:
        for pair in pairs:
            index = len(self.nodes)
            self.nodes.append(Node(pair, None, span))
            # The same keys are on every span.
            self._places_of_key.setdefault(pair.key, []).append(index)
            value = pair.value
            if value.WhichOneof("value") == "string_value" and "\\" not in (text := value.string_value):
                self._texts.append(text.encode())
                self._owners.append(index)
                continue
            for text in _iter_value_texts(value):
                self._texts.append(text.encode("utf-8", "replace"))
                self._owners.append(index)

    def _add(self, node: Node, texts: Iterable[str]) -> None:
        index = len(self.nodes)
        self.nodes.append(node)
        for text in texts:
            self._texts.append(text.encode("utf-8", "replace"))
            self._owners.append(index)


def encode_texts(message: Message) -> bytes:
    """Return every text of a message, as `Values` has them, with a line break between two."""
    texts: list[str] = []
    keys: set[str] = set()
    _add_texts(message, texts, keys)
    return "\n".join([*texts, *keys]).encode("utf-8", "replace")


def _add_texts(message: Message, texts: list[str], keys: set[str]) -> None:
    for field, value in message.ListFields():
        kind = field.message_type
        items = value if field.is_repeated else (value,)
        if kind is None:
            if field.type == FieldDescriptor.TYPE_STRING:
                texts += items
        elif kind.full_name == _PAIR:
            _add_pair_texts(items, texts, keys)
        elif kind.full_name == _VALUE:
            texts += _iter_value_texts(value)
        else:
            for item in items:
                _add_texts(item, texts, keys)


def _add_pair_texts(pairs: Iterable[KeyValue], texts: list[str], keys: set[str]) -> None:
    for pair in pairs:
        keys.add(pair.key)
        value = pair.value
        # A look at the kind of each value would take as long as all else here.
        text = value.string_value
        if text and "\\" not in text:
            texts.append(text)
        else:
            texts += _iter_value_texts(value)


def is_document(text: str) -> bool:
    """Return whether a text may be a JSON document."""
    return text[:1] in ("{", "[") or text[:20].lstrip()[:1] in ("{", "[")


def _iter_pair_texts(pair: KeyValue) -> Iterator[str]:
    yield pair.key
    yield from _iter_value_texts(pair.value)


def _iter_value_texts(value: AnyValue) -> Iterator[str]:
    match value.WhichOneof("value"):
        case "string_value":
            yield from _iter_texts(value.string_value)
        case "int_value":
            yield str(value.int_value)
        case "double_value":
            yield str(value.double_value)
        case "bytes_value":
            yield from _iter_texts(value.bytes_value.decode("latin-1"))
            yield from _iter_texts(value.bytes_value.decode("utf-8", "replace"))
        case "array_value":
            for item in value.array_value.values:
                yield from _iter_value_texts(item)
        case "kvlist_value":
            for pair in value.kvlist_value.values:
                yield from _iter_pair_texts(pair)


def _iter_texts(text: str) -> Iterator[str]:
    """Yield a text and, where it is a document in which escapes hide what it says, the texts in that."""
    yield text
    if "\\" in text and is_document(text):
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError:
            return
        yield from _iter_document_texts(document)


def _iter_document_texts(document: Any) -> Iterator[str]:
    waiting = [document]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield from _iter_texts(text)
            case dict() as members:
                yield from members
                waiting += members.values()
            case list() as items:
                waiting += items
