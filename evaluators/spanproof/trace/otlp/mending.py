"""Requests of which one value breaks the format: the value is changed, and all others are kept.

Two faults are of one value alone: text that is not UTF-8, which becomes U+FFFD where it breaks, and a value
nested more deeply than decoders go, which is cut there. In: the bytes of a request that a decoder refused.
Out: bytes that it takes, and what was changed; what is wrong in another way stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

CUT: Final = "[cut: nested too deeply]"
"""What a value is replaced by where it is nested too deeply."""

# Messages within messages, of which protobuf's decoders take 100; the request itself has six around a value.
_MOST_MESSAGES: Final = 90
# Brackets within brackets of JSON: a list of OTLP has three for two messages, an object four for three.
_MOST_BRACKETS: Final = 110
_MOST_NAMED: Final = 5
_LENGTH: Final = 2
_FIXED: Final = {1: 8, 5: 4}
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


@dataclass(slots=True)
class Changes:
    """What was changed in a request.

    Attributes:
        not_utf8: the fields whose text was not UTF-8, by their place.
        cut: how many values were cut.
    """

    not_utf8: list[str] = field(default_factory=list)
    cut: int = 0

    def list_changes(self) -> Sequence[str]:
        """Return a sentence for each kind of change; empty where nothing was changed."""
        found: list[str] = []
        if self.not_utf8:
            places = ", ".join(self.not_utf8[:_MOST_NAMED])
            if len(self.not_utf8) > _MOST_NAMED:
                more = f" and {len(self.not_utf8) - _MOST_NAMED} more"
            else:
                more = ""
            found.append(f"text that is not UTF-8 was replaced by U+FFFD: {places}{more}")
        if self.cut:
            found.append(f"{self.cut} values nested too deeply were cut")
        return found


def build_repaired(body: bytes, kind: Any, changes: Changes) -> bytes:
    """Return the bytes of a request with its text in UTF-8 and its values within bounds.

    Raises:
        ValueError: the bytes break in another way.
    """
    return _build_repaired_message(memoryview(body), kind.DESCRIPTOR, "", 0, changes)


def _build_repaired_message(
    body: memoryview, message: Descriptor, path: str, depth: int, changes: Changes
) -> bytes:
    made = bytearray()
    seen: dict[int, int] = {}
    at = 0
    while at < len(body):
        start = at
        key, at = _read_varint(body, at)
        number, wire_type = key >> 3, key & 7
        if wire_type != _LENGTH:
            if wire_type == 0:
                at = _read_varint(body, at)[1]
            else:
                at = at + _get_fixed_size(wire_type)
            made += body[start:at]
            continue
        header = at
        size, at = _read_varint(body, at)
        if size > len(body) - at:
            raise ValueError("a length is beyond the end")
        content = body[at : at + size]
        at += size
        described = message.fields_by_number.get(number)
        mended = None
        if described is not None:
            where = _format_place(path, described, seen)
            mended = _find_repaired_field(content, described, where, depth, changes)
        if mended is None:
            made += body[start:at]
        else:
            made += body[start:header]
            made += _encode_varint(len(mended)) + mended
    return bytes(made)


def _find_repaired_field(
    content: memoryview, described: FieldDescriptor, path: str, depth: int, changes: Changes
) -> bytes | None:
    """Return the content of a field, None where it is as it should be."""
    if described.message_type is not None:
        if depth >= _MOST_MESSAGES and described.message_type.name == "AnyValue":
            changes.cut += 1
            return AnyValue(string_value=CUT).SerializeToString()
        if depth > _MOST_MESSAGES + 2:
            raise ValueError("messages are nested too deeply")
        return _build_repaired_message(content, described.message_type, path, depth + 1, changes)
    if described.type != FieldDescriptor.TYPE_STRING:
        return None
    try:
        str(content, "utf-8")
    except UnicodeDecodeError:
        changes.not_utf8.append(path)
        return str(content, "utf-8", "replace").encode()
    return None


def without_deep_json(body: bytes, changes: Changes) -> bytes:
    """Return a JSON document without what is nested too deeply; the same where nothing is."""
    made: list[bytes] = []
    depth, kept = 0, 0
    for token in _TOKEN.finditer(body):
        mark = token[0]
        if mark in b"[{":
            depth += 1
            if depth == _MOST_BRACKETS + 1:
                made.append(body[kept : token.start()])
                made.append(b"[]" if mark == b"[" else b'{"stringValue":"%b"}' % CUT.encode())
                changes.cut += 1
        elif mark in b"]}":
            if depth == _MOST_BRACKETS + 1:
                kept = token.end()
            depth -= 1
    made.append(body[kept:])
    return b"".join(made)


def _format_place(path: str, described: FieldDescriptor, seen: dict[int, int]) -> str:
    name = described.name
    if described.is_repeated:
        name = f"{name}[{seen.get(described.number, 0)}]"
        seen[described.number] = seen.get(described.number, 0) + 1
    return f"{path}.{name}" if path else name


def _get_fixed_size(wire_type: int) -> int:
    if wire_type not in _FIXED:
        raise ValueError(f"wire type {wire_type}")
    return _FIXED[wire_type]


def _read_varint(body: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(body):
            raise ValueError("a number is cut off")
        byte = body[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number has no end")


def _encode_varint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
