"""OTLP requests from files: `.pb` (one request), `.json` (one request), `.jsonl` (one request per line).

A `.json` file that holds one request per line, as the OpenTelemetry Collector's file exporter writes it, is
read as `.jsonl`. Errors name the file, and the line where there are lines.
"""

from __future__ import annotations

from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.trace.otlp.errors import MalformedOtlp
from spanproof.trace.otlp.jsonformat import decode_json
from spanproof.trace.otlp.protobuf import decode_protobuf


def read_file(path: Path) -> list[ExportTraceServiceRequest]:
    """Every request of the file, in order.

    Raises:
        MalformedOtlp: the file's name or content is not one of the three forms.
        OSError: the file cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix not in {".pb", ".json", ".jsonl"}:
        raise MalformedOtlp(
            f"{path}: expected a file named .pb, .json or .jsonl, got {suffix or 'no suffix'!r}"
        )
    body = path.read_bytes()
    try:
        if suffix == ".pb":
            return [decode_protobuf(body)]
        if suffix == ".json" and not _has_one_request_per_line(body):
            return [decode_json(body)]
    except MalformedOtlp as bad:
        raise MalformedOtlp(f"{path}: {bad}") from bad
    return _lines(path, body)


def _has_one_request_per_line(body: bytes) -> bool:
    first, _, rest = body.lstrip().partition(b"\n")
    return first.startswith(b"{") and first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{")


def _lines(path: Path, body: bytes) -> list[ExportTraceServiceRequest]:
    requests = []
    for number, line in enumerate(body.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            requests.append(decode_json(line))
        except MalformedOtlp as bad:
            raise MalformedOtlp(f"{path}:{number}: {bad}") from bad
    return requests
