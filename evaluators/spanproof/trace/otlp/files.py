"""OTLP requests from files: `.pb` (one request), `.json` (one request), `.jsonl` (one request per line).

A `.json` file that holds one request per line, as the OpenTelemetry Collector's file exporter writes it, is
read as `.jsonl`. Each may be compressed, as `.json.gz` and its likes. Errors name the file, and the line
where there are lines.
"""

from __future__ import annotations

import gzip
import stat
import zlib
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.trace.otlp.errors import MalformedOtlp
from spanproof.trace.otlp.jsonformat import decode_json
from spanproof.trace.otlp.protobuf import decode_protobuf

_COMPRESSED = ".gz"

MAX_FILE_BYTES = 4 * 1024**3
"""Of a file of traces, which is held in memory several times over while it is decoded."""


def read_content(path: Path) -> bytes:
    """Return the bytes of a file of traces, links followed, decompressed where it is named `.gz`.

    Raises:
        MalformedOtlp: as `check_file`; or it is named `.gz` and is not compressed, or holds too much.
        OSError: the file cannot be read.
    """
    check_file(path)
    if path.suffix.lower() != _COMPRESSED:
        return path.read_bytes()
    try:
        with gzip.open(path) as compressed:
            content = compressed.read(MAX_FILE_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise MalformedOtlp(f"{path}: not compressed by gzip, or cut off: {problem}") from problem
    if len(content) > MAX_FILE_BYTES:
        raise MalformedOtlp(f"{path}: more than {MAX_FILE_BYTES >> 30} GiB decompressed; split the file")
    return content


def get_suffix(path: Path) -> str:
    """Return the suffix of a file of traces in small letters, without that of its compression."""
    if path.suffix.lower() == _COMPRESSED:
        named = path.with_suffix("")
    else:
        named = path
    return named.suffix.lower()


def check_file(path: Path) -> None:
    """Check that a file of traces can be read to its end.

    Raises:
        MalformedOtlp: it is a device, a pipe or a socket, or has more than `MAX_FILE_BYTES`.
        OSError: it is not there.
    """
    about = path.stat()
    if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
        raise MalformedOtlp(f"{path}: not a regular file; name one")
    if about.st_size > MAX_FILE_BYTES:
        raise MalformedOtlp(f"{path}: more than {MAX_FILE_BYTES >> 30} GiB; split the file")


def read_file(path: Path) -> list[ExportTraceServiceRequest]:
    """Return every request of the file, in order.

    Raises:
        MalformedOtlp: the file's name or content is not one of the three forms.
        OSError: the file cannot be read.
    """
    requests, malformed = read_what_is_good(path)
    if malformed:
        raise malformed[0]
    return requests


def read_what_is_good(path: Path) -> tuple[list[ExportTraceServiceRequest], list[MalformedOtlp]]:
    """Return every request of the file that can be read, in order, and what is wrong with the others.

    Raises:
        MalformedOtlp: the file's name is not one of the three forms.
        OSError: the file cannot be read.
    """
    suffix = get_suffix(path)
    if suffix not in {".pb", ".json", ".jsonl"} and path.is_file():
        raise MalformedOtlp(
            f"{path}: expected a file named .pb, .json or .jsonl, got {suffix or 'no suffix'!r}"
        )
    body = read_content(path)
    if not body.strip():
        # As protobuf no bytes are the empty request, but an empty file that is named is a lost export.
        return [], [MalformedOtlp(f"{path}: the file is empty")]
    if suffix == ".jsonl" or (suffix == ".json" and _has_one_request_per_line(body)):
        return _read_lines(path, body)
    try:
        return [decode_protobuf(body) if suffix == ".pb" else decode_json(body)], []
    except MalformedOtlp as bad:
        return [], [MalformedOtlp(f"{path}: {bad}")]


def _has_one_request_per_line(body: bytes) -> bool:
    first, _, rest = body.lstrip().partition(b"\n")
    return first.startswith(b"{") and first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{")


def _read_lines(path: Path, body: bytes) -> tuple[list[ExportTraceServiceRequest], list[MalformedOtlp]]:
    requests, malformed = [], []
    for number, line in enumerate(body.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            requests.append(decode_json(line))
        except MalformedOtlp as bad:
            malformed.append(MalformedOtlp(f"{path}:{number}: {bad}"))
    return requests, malformed
