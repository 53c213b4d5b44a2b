"""Spans from the rows that products export: ids, times and attributes in whatever form they have.

Comes in: one exported row, as JSON data. Goes out: an OTLP span, with attributes that a dialect reads.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, TypeAlias

from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanproof.trace.model import AttributeValue
from spanproof.trace.otlp.values import build_any_value

Row: TypeAlias = dict[str, Any]

_TRACE_ID_BYTES, _SPAN_ID_BYTES = 16, 8
# Attributes of OpenInference whose lists are part of the name: `llm.input_messages.0.message.role`.
_LISTS_IN_NAMES = ("llm.", "retrieval.", "embedding.", "reranker.")


class UnreadableRow(ValueError):  # noqa: N818 - names the input
    """A row of an export lacks what a span needs."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What every product knows of a span.

    Attributes:
        start, end: as exported: ISO 8601, or a number of seconds, milliseconds, microseconds or nanoseconds.
        error: why it failed; None where it did not.
    """

    trace_id: object
    span_id: object
    parent_id: object
    name: object
    start: object
    end: object
    attributes: Mapping[str, object] = field(default_factory=dict)
    error: str | None = None


UNREADABLE: Final = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError)
"""What a row raises that is not as its product writes rows; `UnreadableRow` is one."""


def build_span(fields: Fields) -> Span:
    """Return the span.

    Raises:
        UnreadableRow: it has no ids or no start.
    """
    start_ns = to_unix_ns(fields.start)
    if start_ns is None:
        raise UnreadableRow(f"the span {fields.span_id!r} has no readable start: {fields.start!r}")
    span = Span(
        trace_id=build_id(fields.trace_id, _TRACE_ID_BYTES),
        span_id=build_id(fields.span_id, _SPAN_ID_BYTES),
        parent_span_id=build_id(fields.parent_id, _SPAN_ID_BYTES) if fields.parent_id else b"",
        name=str(fields.name or ""),
        start_time_unix_nano=start_ns,
        end_time_unix_nano=to_unix_ns(fields.end) or start_ns,
    )
    add_attributes(span, fields.attributes)
    if fields.error is not None:
        record_error(span, fields.error)
    return span


def add_attributes(span: Span | Resource, attributes: Mapping[str, object]) -> None:
    """Add the attributes that are not None; documents are written as JSON."""
    for key, value in attributes.items():
        if value is not None:
            span.attributes.add(key=key, value=build_any_value(_to_attribute(value)))


def record_error(span: Span, message: str) -> None:
    """Make the span's status an error with this message."""
    span.status.code = Status.STATUS_CODE_ERROR
    span.status.message = message


def add_event(span: Span, name: str, attributes: Mapping[str, object], when: object = None) -> None:
    """Add an event at a time, or at the span's end."""
    event = span.events.add(name=name, time_unix_nano=to_unix_ns(when) or span.end_time_unix_nano)
    for key, value in attributes.items():
        if value is not None:
            event.attributes.add(key=key, value=build_any_value(_to_attribute(value)))


def build_id(value: object, length: int) -> bytes:
    """Return an id of this many bytes: its own where it has one of that length, else one made of it.

    Raises:
        UnreadableRow: it is none.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    else:
        value = value
    if not isinstance(value, str) or not value:
        raise UnreadableRow(f"a span has the id {value!r}")
    for plain in (value.replace("-", "").removeprefix("0x"), value.rpartition("-")[2]):
        try:
            found = bytes.fromhex(plain)
        except ValueError:
            continue
        # Jaeger writes ids without the zeros in front.
        if len(found) == length and any(found):
            return found
    # The ids of most products are UUIDs: a span's is twice as long as OTLP's, and any part of it may repeat.
    return sha256(value.encode()).digest()[:length]


def decode_base64_id(value: str, length: int) -> str:
    """Return as hex an id that protobuf's JSON writes in base64; any other text as it is."""
    try:
        found = b64decode(value, validate=True)
    except ValueError:
        return value
    return found.hex() if len(found) == length else value


def to_unix_ns(value: object) -> int | None:
    """Return a time in nanoseconds since 1970; None where there is none."""
    if isinstance(value, datetime):
        return _to_nanoseconds(value)
    if isinstance(value, str):
        if value.isdecimal():
            return to_unix_ns(int(value))
        try:
            return _to_nanoseconds(datetime.fromisoformat(value))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    # Any time from 1973 to 5138 has at least nine digits of seconds, and at most eleven.
    scale = next((scale for scale in (10**9, 10**6, 10**3) if value * scale < 10**20), 1)
    return int(value * scale)


def _to_nanoseconds(moment: datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    # In whole microseconds: as a float a time of today has none of its last digits.
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


def parse_document(value: object) -> Any:
    """Return the document in a field that holds one as JSON, or as itself; any other text as it is."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def normalise_attributes(attributes: Mapping[str, object]) -> dict[str, object]:
    """Return attributes by dotted names, as their producer wrote them, of a tree of them."""
    return dict(_iter_leaves("", attributes))


def _iter_leaves(prefix: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping) and value:
        for name, member in value.items():
            yield from _iter_leaves(f"{prefix}.{name}" if prefix else str(name), member)
    elif isinstance(value, list) and prefix.startswith(_LISTS_IN_NAMES) and _holds_objects(value):
        for index, member in enumerate(value):
            yield from _iter_leaves(f"{prefix}.{index}", member)
    elif value is not None:
        yield prefix, value


def _holds_objects(items: list[object]) -> bool:
    return any(isinstance(item, Mapping) for item in items)


def as_json(value: object) -> str | None:
    """Return a document as JSON, a text as it is, None as None."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def build_value_attributes(side: str, value: object) -> dict[str, object]:
    """Return the attributes of OpenInference for what a span took (`input`) or gave (`output`)."""
    if value is None:
        return {}
    mime_type = "text/plain" if isinstance(value, str) else "application/json"
    return {f"{side}.value": as_json(value), f"{side}.mime_type": mime_type}


def get_last_line(text: str) -> str:
    """Return the last line that is not blank; empty where there is none."""
    return text.strip().rpartition("\n")[2].strip()


def _to_attribute(value: object) -> AttributeValue:
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list) and all(isinstance(item, str | bool | int | float) for item in value):
        return list(value)
    return as_json(value)
