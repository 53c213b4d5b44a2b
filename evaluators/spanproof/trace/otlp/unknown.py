"""JSON fields that this build does not know, kept in the protobuf message.

OTLP has a receiver pass over fields it does not know, and protobuf keeps unknown fields of its own encoding.
To lose nothing of JSON either, the unknown members of an object are laid into its message as one unknown
field: JSON text under a number OTLP does not use, which every protobuf reader passes over. `restore` puts
them back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

# Near the top of protobuf's field numbers, where no OTLP field will ever be.
_NUMBER = 536_870_000

_LENGTH_DELIMITED = 2


def record_unknown(document: dict[str, Any], message: Message) -> None:
    """Lay members of the document that the message has no field for into the message, at every depth."""
    names = _get_fields_by_name(message)
    unknown = {key: value for key, value in document.items() if key not in names}
    if unknown:
        text = orjson.dumps(unknown)
        message.MergeFromString(
            _encode_varint(_NUMBER << 3 | _LENGTH_DELIMITED) + _encode_varint(len(text)) + text
        )
    for inner_document, inner in _iter_object_pairs(document, message, names):
        record_unknown(inner_document, inner)


def add_unknown(document: dict[str, Any], message: Message) -> None:
    """Put kept members back into the document that was written from this message."""
    for inner_document, inner in _iter_object_pairs(document, message, _get_fields_by_name(message)):
        add_unknown(inner_document, inner)
    for key, value in _iter_kept(message):
        document.setdefault(key, value)


def _iter_kept(message: Message) -> Iterator[tuple[str, Any]]:
    fields: Iterable[Any] = UnknownFieldSet(message)  # type: ignore[assignment]
    for field in fields:
        if field.field_number == _NUMBER and field.wire_type == _LENGTH_DELIMITED:
            try:
                members = orjson.loads(field.data)
            except orjson.JSONDecodeError:
                continue  # not ours: some sender uses the number, and its bytes stay in the message
            yield from members.items() if isinstance(members, dict) else ()


def _get_fields_by_name(message: Message) -> dict[str, FieldDescriptor]:
    fields: Iterable[Any] = message.DESCRIPTOR.fields
    return {name: field for field in fields for name in (field.name, field.json_name)}


def _iter_object_pairs(
    document: dict[str, Any], message: Message, names: dict[str, FieldDescriptor]
) -> Iterator[tuple[dict[str, Any], Message]]:
    """Yield objects within the document beside the messages they stand for."""
    for key, value in document.items():
        field = names.get(key)
        if field is None or field.message_type is None:
            continue
        inner = getattr(message, field.name)
        if isinstance(value, dict):
            yield value, inner
        elif isinstance(value, list):
            yield from (
                (member, of) for member, of in zip(value, inner, strict=False) if isinstance(member, dict)
            )


def _encode_varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
