"""OTLP requests from a file, whatever wrote it: OTLP itself, or a product that exports traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.trace.codec import load_json
from spanproof.trace.otlp.errors import MalformedOtlp
from spanproof.trace.otlp.files import check_file, read_content, read_what_is_good
from spanproof.trace.otlp.jsonformat import decode_json

if TYPE_CHECKING:
    from spanproof.trace.exports.products import Product
    from spanproof.trace.exports.rows import Row

_OTLP_KEYS = frozenset({"resourceSpans", "resource_spans"})

# In place of the document of a line that is no JSON.
_BROKEN = object()

Read = tuple[list[ExportTraceServiceRequest], list[MalformedOtlp]]


def read_file(path: Path) -> Read:
    """Return every request of the file that can be read, in order, and what is wrong with the others.

    Raises:
        MalformedOtlp: the file's name is not one of the forms that are read.
        OSError: the file cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _read_documents(path, [(0, _read_parquet_rows(path))])
    if suffix not in (".json", ".jsonl", ".ndjson"):
        return read_what_is_good(path)
    documents = _parse_documents(read_content(path))
    if not documents or any(_is_otlp(document) for _, document in documents):
        return read_what_is_good(path)
    return _read_documents(path, documents)


def _parse_documents(body: bytes) -> list[tuple[int, Any]]:
    """Return the JSON document, or those of the lines with their numbers; none where it is neither."""
    try:
        return [(0, load_json(body))]
    except (ValueError, RecursionError):
        pass
    found = []
    for number, line in enumerate(body.splitlines(), start=1):
        if line.strip():
            try:
                found.append((number, load_json(line)))
            except (ValueError, RecursionError):
                found.append((number, _BROKEN))
    return found


def _is_otlp(document: object) -> bool:
    # An empty object is an empty request.
    return isinstance(document, dict) and (not document or not _OTLP_KEYS.isdisjoint(document))


def _read_documents(path: Path, documents: list[tuple[int, Any]]) -> Read:
    """Read a product's documents: their rows together, as the rows of a trace stand on several lines."""
    from spanproof.trace.exports.products import UnknownExport, find_rows, read_rows

    rows: list[tuple[Product, Row]] = []
    requests: list[ExportTraceServiceRequest] = []
    malformed: list[MalformedOtlp] = []
    for number, document in documents:
        place = f"{path}:{number}" if number else str(path)
        if isinstance(document, dict) and _is_otlp(document.get("result")):
            try:
                requests.append(decode_json(json.dumps(document["result"]).encode()))  # the API of Jaeger 2
            except MalformedOtlp as problem:
                malformed.append(MalformedOtlp(f"{place}: {problem}"))
            continue
        try:
            rows += find_rows(document)
        except UnknownExport as unknown:
            malformed.append(MalformedOtlp(f"{place}: {'not JSON' if document is _BROKEN else unknown}"))
    if rows:
        request, problems = read_rows(rows)
        requests.append(request)
        malformed += [MalformedOtlp(f"{path}: {problem}") for problem in problems]
    return requests, malformed


def _read_parquet_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of LangSmith's bulk export, or of a data frame of Phoenix."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        check_file(path)
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    except arrow.ArrowInvalid as problem:
        raise MalformedOtlp(f"{path}: not a Parquet file: {problem}") from problem
    return rows
