"""Frames between host, supervisor and guest: a bounded JSON header and bounded binary parts.

A frame is two 32-bit lengths, then the header (a JSON object), then the parts one after the other; the
header's `parts` gives their lengths. Whatever arrives is untrusted: lengths are checked before anything is
read for them, and only `json.loads` ever looks inside. Standard library only: the guest imports this too.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

Header = dict[str, Any]
"""A decoded JSON object from the other side; every reader checks the fields it takes."""

_LENGTHS = struct.Struct("!II")
# What `json.dumps` makes anew for each text; a value that holds itself is a RecursionError here.
_chunks = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    markers=None,
    default=json.JSONEncoder().default,
    encoder=json.encoder.encode_basestring_ascii,
    indent=None,
    key_separator=":",
    item_separator=",",
    sort_keys=False,
    skipkeys=False,
    allow_nan=True,
)
_escape = json.encoder.encode_basestring_ascii
# What `json.loads` does, without its searches for an encoding and for blanks.
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


class BadFrame(ValueError):  # noqa: N818 - names what arrived
    """The other side sent something that is no frame, or one over its bound."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large the header and all parts together may be, in bytes, and how deep the header may nest."""

    header: int
    parts: int
    nesting: int | None = None


FROM_GUEST = Bounds(header=1024 * 1024, parts=0, nesting=64)
"""Deeper than any value that may leave a guest, and not too deep for the receiver it is passed on to."""
FROM_SUPERVISOR = Bounds(header=16 * 1024 * 1024, parts=64 * 1024 * 1024)
FROM_HOST = Bounds(header=64 * 1024 * 1024, parts=1024 * 1024 * 1024)


class Frame(NamedTuple):
    """One decoded frame."""

    header: Header
    parts: tuple[bytes, ...]


def encode_frame(header: Header, parts: Sequence[bytes] = ()) -> bytes:
    """Return the bytes of a frame; lone surrogates travel as JSON escapes."""
    lengths = [*map(len, parts)]
    text = "".join(_chunks({**header, "parts": lengths}, 0)).encode("ascii")
    return b"".join((_LENGTHS.pack(len(text), sum(lengths)), text, *parts))


def count_text_bytes(text: str) -> int:
    """Return how many bytes a text takes in a header, where a character may take twelve."""
    return len(_escape(text))


class Decoder:
    """Takes bytes as they come and gives the frames that are complete."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._buffer = bytearray()

    def add_bytes(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self._buffer += data

    def find_frame(self) -> Frame | None:
        """Return the next complete frame, None while one is still on its way.

        Raises:
            BadFrame: a length is over its bound, or the header is not what it must be.
        """
        if len(self._buffer) < _LENGTHS.size:
            return None
        header_length, parts_length = _LENGTHS.unpack_from(self._buffer)
        if header_length > self._bounds.header or parts_length > self._bounds.parts:
            raise BadFrame(f"a frame of {header_length} + {parts_length} bytes is over its bound")
        start = _LENGTHS.size + header_length
        end = start + parts_length
        if len(self._buffer) < end:
            return None
        header = _decode_header(self._buffer[_LENGTHS.size : start], self._bounds.nesting)
        frame = Frame(header, _split_parts(header, bytes(self._buffer[start:end])))
        del self._buffer[:end]
        return frame


class Readable(Protocol):
    """A socket, or what is read like one."""

    def recv(self, size: int, /) -> bytes:
        """Return what has arrived; empty when the other side is gone."""


def wait_for_frame(stream: Readable, decoder: Decoder) -> Frame:
    """Wait for one frame.

    Raises:
        EOFError: the other side is gone.
        BadFrame: what came is no frame.
        TimeoutError: the socket's timeout passed.
    """
    while (frame := decoder.find_frame()) is None:
        data = stream.recv(65536)  # of more, malloc would make a mapping and unmake it
        if not data:
            raise EOFError("the other side closed the channel")
        decoder.add_bytes(data)
    return frame


def _decode_header(encoded: bytearray, nesting: int | None) -> Header:
    try:
        text = encoded.decode("utf-8", "surrogatepass")
        header, end = _scan(text, 0)
    except (ValueError, StopIteration, RecursionError) as problem:
        raise BadFrame(f"a frame's header is not JSON: {problem}") from None
    if type(header) is not dict or end != len(text):
        raise BadFrame("a frame's header is no JSON object")
    if (
        nesting is not None
        and text.count("[") + text.count("{") > nesting
        and _is_nested_deeper(header, nesting)
    ):
        raise BadFrame("a frame's header nests too deep")
    return header


def _is_nested_deeper(value: Any, levels: int) -> bool:
    """Whether it nests deeper than that."""
    level = [value]
    for _ in range(levels):
        boxes = [
            item.values() if type(item) is dict else item for item in level if type(item) in (dict, list)
        ]
        level = [item for box in boxes for item in box]
    return any(type(item) in (dict, list) for item in level)


def _split_parts(header: Header, body: bytes) -> tuple[bytes, ...]:
    lengths = header.pop("parts", None)
    if type(lengths) is not list:
        raise BadFrame("a frame's header gives no lengths of its parts")
    parts, position = [], 0
    for length in lengths:
        if type(length) is not int or length < 0:
            raise BadFrame("a frame's header gives no lengths of its parts")
        parts.append(body[position : position + length])
        position += length
    if position != len(body):
        raise BadFrame("a frame's parts are not as long as its header says")
    return tuple(parts)
