"""OTLP in protobuf.

The generated classes do the work and keep unknown fields. What they do not do is say what is wrong with bytes
they refuse, so on failure, and only then, the bytes are walked once more along the message descriptor to name
the field at which they break.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.trace.otlp.errors import MalformedOtlp
from spanproof.trace.otlp.mending import Changes, build_repaired

_VARINT, _FIXED64, _LENGTH, _START_GROUP, _END_GROUP, _FIXED32 = range(6)
_MAX_DEPTH = 100  # The recursion limit of protobuf's own decoders
_MOST_FIELDS = 20_000
_MOST_TEXT_BYTES = 16 * 1024 * 1024


def decode_protobuf(
    body: bytes, kind: Any = ExportTraceServiceRequest, changes: Changes | None = None
) -> Any:
    """Return the request that these bytes hold; an empty body is the empty request.

    Args:
        body: the bytes.
        kind: the class of the request.
        changes: is informed of text that was not UTF-8, and of values that were nested too deeply.

    Raises:
        MalformedOtlp: the bytes are no such message; names the field and the offset.
    """
    try:
        return kind.FromString(body)
    except DecodeError as refused:
        try:
            return kind.FromString(build_repaired(body, kind, changes if changes is not None else Changes()))
        except (DecodeError, ValueError, RecursionError):
            pass
        reason = _describe_refusal(body, refused, kind)
        raise MalformedOtlp(f"not an OTLP {get_signal_name(kind)} request in protobuf: {reason}") from refused


def get_signal_name(kind: Any) -> str:
    """Return the word for a class of export requests: trace, logs or metrics."""
    name: str = kind.DESCRIPTOR.name
    return name.removeprefix("Export").removesuffix("ServiceRequest").lower()


def encode_protobuf(request: ExportTraceServiceRequest) -> bytes:
    """Return the bytes of this request, unknown fields included."""
    return bytes(request.SerializeToString())


class _BrokenError(Exception):
    """Where and how the walk stopped."""


def _describe_refusal(body: bytes, refused: DecodeError, kind: Any) -> str:
    try:
        _Walk().check_message(memoryview(body), 0, kind.DESCRIPTOR, "", 0)
    except _BrokenError as found:
        return str(found)
    return str(refused)


class _Walk:
    """A walk within a budget: bytes made for it could keep one busy for ever."""

    def __init__(self) -> None:
        self._fields = _MOST_FIELDS
        self._text_bytes = _MOST_TEXT_BYTES

    def check_message(self, body: memoryview, base: int, message: Descriptor, path: str, depth: int) -> None:
        """Walk a message.

        Raises:
            _BrokenError: where it breaks, or where the budget ends.
        """
        if depth > _MAX_DEPTH:
            raise _BrokenError(f"{path} is nested more than {_MAX_DEPTH} levels deep")
        seen: dict[int, int] = {}
        at = 0
        while at < len(body):
            if self._fields <= 0:
                raise _BrokenError(f"the first {_MOST_FIELDS} fields are well-formed, a later one is not")
            self._fields -= 1
            where = path or "the request"
            key, at = _read_varint(body, at, base, f"a field key of {where}")
            number, wire_type = key >> 3, key & 7
            field = message.fields_by_number.get(number)
            name = _format_field(path, field, number, seen)
            if wire_type == _LENGTH:
                size, at = _read_varint(body, at, base, f"the length of {name}")
                left = len(body) - at
                if size > left:
                    self._check_content(body[at:], base + at, field, name, depth)
                    raise _BrokenError(
                        f"{name} claims {size} bytes, only {left} are left (offset {base + at})"
                    )
                self._check_content(body[at : at + size], base + at, field, name, depth)
                at += size
            else:
                at = _get_end_of_scalar(body, at, base, wire_type, name)

    def _check_content(
        self, content: memoryview, base: int, field: FieldDescriptor | None, name: str, depth: int
    ) -> None:
        if field is None:
            return
        if field.message_type is not None:
            self.check_message(content, base, field.message_type, name, depth + 1)
        elif field.type == FieldDescriptor.TYPE_STRING and self._text_bytes >= len(content):
            self._text_bytes -= len(content)
            try:
                str(content, "utf-8")
            except UnicodeDecodeError as bad:
                raise _BrokenError(f"{name} is not UTF-8 (offset {base + bad.start})") from bad


def _format_field(path: str, field: FieldDescriptor | None, number: int, seen: dict[int, int]) -> str:
    name = field.name if field is not None else f"field {number}"
    if field is not None and field.is_repeated:
        name = f"{name}[{seen.get(number, 0)}]"
        seen[number] = seen.get(number, 0) + 1
    return f"{path}.{name}" if path else name


def _get_end_of_scalar(body: memoryview, at: int, base: int, wire_type: int, name: str) -> int:
    if wire_type == _VARINT:
        return _read_varint(body, at, base, name)[1]
    size = {_FIXED64: 8, _FIXED32: 4, _START_GROUP: 0, _END_GROUP: 0}.get(wire_type)
    if size is None:
        raise _BrokenError(f"{name} has the unknown wire type {wire_type} (offset {base + at})")
    if size > len(body) - at:
        raise _BrokenError(f"{name} needs {size} bytes, only {len(body) - at} are left (offset {base + at})")
    return at + size


def _read_varint(body: memoryview, at: int, base: int, what: str) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(body):
            raise _BrokenError(f"{what} is cut off (offset {base + at})")
        byte = body[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise _BrokenError(f"{what} is no varint (offset {base + at})")
