"""A request body as it came to a decoded OTLP request, within bounds.

Comes in: bytes with their content type and encoding. Goes out: the request, or `Refused`. A body is never
unpacked beyond the limit: a gigabyte of zeros fits in 5 MB of gzip.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import zstandard
from google.protobuf.message import DecodeError
from isal import isal_zlib
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.signals import SHAPES, Signal
from spanproof.collector.wal.file import Encoding, Record
from spanproof.trace.otlp import Changes, MalformedOtlp, decode_json, decode_protobuf

# What isal raises; its stubs call the class an instance.
_DAMAGED: tuple[type[Exception], ...] = (isal_zlib.error, EOFError)  # type: ignore[assignment]

_GZIP_WINDOW = 31
_ZLIB_WINDOW = 15
# Largest window of a zstd frame: what every decoder must be able to read (RFC 8878).
_ZSTD_WINDOW = 8 * 1024 * 1024

_PIECE_BYTES = 1024 * 1024
# Bound on what a log record is unpacked to, which was checked when it was written.
_STORED_BYTES = 1 << 31


def parse_content_type(content_type: str) -> Encoding:
    """Return protobuf or JSON, by the content type; parameters such as a charset do not matter.

    Raises:
        Refused: it is another one.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == "application/x-protobuf":
        return Encoding.PROTOBUF
    if media_type == "application/json":
        return Encoding.JSON
    raise Refused(
        Reason.UNSUPPORTED,
        f"content type {media_type or '(none)'!r} is not OTLP's; "
        "send application/x-protobuf or application/json",
    )


def decode_body(
    body: bytes, content_encoding: str, limit: int, grow: Callable[[int], None] = lambda _: None
) -> bytes:
    """Return a body without its compression.

    Args:
        body: as it was sent.
        content_encoding: how it is packed.
        limit: most bytes of it unpacked.
        grow: called with each further number of unpacked bytes before they are made.

    Raises:
        Refused: an encoding we do not know, damaged data, or more than `limit` bytes; or what `grow` raised.
    """
    encoding = content_encoding.strip().lower()
    if encoding in {"", "identity"}:
        if len(body) > limit:
            raise build_too_large_refusal(limit)
        return body
    if encoding == "gzip":
        return _decode_gzip(body, _GZIP_WINDOW, limit, grow)
    if encoding == "deflate":
        return _decode_gzip(body, _ZLIB_WINDOW, limit, grow)
    if encoding == "zstd":
        return _decode_zstd(body, limit, grow)
    raise Refused(
        Reason.UNSUPPORTED, f"content encoding {encoding!r} is not known; send gzip, zstd, deflate or none"
    )


def decode_request(
    form: Encoding, body: bytes, signal: Signal = Signal.TRACES, changes: Changes | None = None
) -> Any:
    """Return the request of an unpacked body, of the signal's class; `changes` is given what was mended.

    Raises:
        Refused: it is not one; the message names the place.
    """
    kind = SHAPES[signal].request
    try:
        decoder = decode_json if form is Encoding.JSON else decode_protobuf
        return decoder(body, kind, changes)
    except (MalformedOtlp, DecodeError) as malformed:
        raise Refused(Reason.MALFORMED, str(malformed)) from malformed


def decode_record(record: Record) -> ExportTraceServiceRequest:
    """Return the request of a log record, which was within bounds when it was written.

    Raises:
        Refused: it cannot be read, which only a bug or a damaged disk explains.
    """
    form, payload = record.encoding, record.payload
    match record.encoding:
        case Encoding.PROTOBUF_GZIP:
            form, payload = Encoding.PROTOBUF, _decode_gzip(payload, _GZIP_WINDOW, _STORED_BYTES)
        case Encoding.JSON_GZIP:
            form, payload = Encoding.JSON, _decode_gzip(payload, _GZIP_WINDOW, _STORED_BYTES)
        case Encoding.PROTOBUF_ZSTD:
            form, payload = Encoding.PROTOBUF, _decode_zstd(payload, _STORED_BYTES)
    request: ExportTraceServiceRequest = decode_request(form, payload)
    return request


def build_too_large_refusal(limit: int) -> Refused:
    """Return the refusal of a body over the limit."""
    return Refused(
        Reason.TOO_LARGE,
        f"the body is larger than {limit} bytes after decompression; send smaller batches, "
        "or raise limits.max_body_bytes",
    )


def _decode_gzip(body: bytes, window: int, limit: int, grow: Callable[[int], None] = lambda _: None) -> bytes:
    """Unpack all members of a gzip stream, or one zlib stream, up to the limit."""
    parts: list[bytes] = []
    room = limit
    rest = body
    try:
        while rest:
            member = isal_zlib.decompressobj(wbits=window)
            while not member.eof:
                # One byte more than there is room for distinguishes a body that fits from one that was cut.
                unpacked = member.decompress(rest, min(room + 1, _PIECE_BYTES))
                rest = member.unconsumed_tail
                if len(unpacked) > room:
                    raise build_too_large_refusal(limit)
                if not unpacked and not member.eof:
                    raise Refused(Reason.BAD_COMPRESSION, "the compressed body ends too early")
                grow(len(unpacked))
                parts.append(unpacked)
                room -= len(unpacked)
            rest = member.unused_data
    except _DAMAGED as damaged:
        raise Refused(Reason.BAD_COMPRESSION, f"the compressed body is damaged: {damaged}") from damaged
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _decode_zstd(body: bytes, limit: int, grow: Callable[[int], None] = lambda _: None) -> bytes:
    """Unpack all frames of a zstd stream, up to the limit."""
    parts: list[bytes] = []
    room = limit
    reader = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).stream_reader(
        body, read_across_frames=True
    )
    try:
        while part := reader.read(min(room + 1, _PIECE_BYTES)):
            if len(part) > room:
                raise build_too_large_refusal(limit)
            grow(len(part))
            parts.append(part)
            room -= len(part)
    except zstandard.ZstdError as damaged:
        raise Refused(Reason.BAD_COMPRESSION, f"the compressed body is damaged: {damaged}") from damaged
    return b"".join(parts)
