"""OTLP requests from a file: OTLP itself, printed spans, exports of products, transcripts of harnesses."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.trace.codec import load_json
from spanproof.trace.exports.inspected import iter_inspected
from spanproof.trace.exports.otlp_variants import is_strict_otlp, list_otlp
from spanproof.trace.exports.tables import parse_csv
from spanproof.trace.otlp.errors import MalformedOtlp
from spanproof.trace.otlp.files import (
    MAX_FILE_BYTES,
    check_file,
    get_suffix,
    read_content,
    read_what_is_good,
)
from spanproof.trace.otlp.jsonformat import decode_json

if TYPE_CHECKING:
    from spanproof.trace.exports.products import Product
    from spanproof.trace.exports.rows import Row
    from spanproof.trace.exports.transcripts import Transcript

_PRINTED = frozenset({".traj", ".log", ".txt", ".out"})
_TABLES = frozenset({".csv", ".tsv"})
_DOCUMENTS = _PRINTED | {".json", ".jsonl", ".ndjson"}

_INSPECTED = re.compile(
    r"^\s*(?:\{\s*)?(?:traceId|_spanContext|spanContext|instrumentationScope|attributes): ", re.MULTILINE
)

_CONTAINER = re.compile(rb"^[\w.-]+\s*\| ?")

# In place of the document of a line that is no JSON.
_BROKEN = object()

Read = tuple[list[ExportTraceServiceRequest], list[MalformedOtlp]]


def read_file(path: Path) -> Read:
    """Return every request of the file that can be read, in order, and what is wrong with the others.

    Raises:
        MalformedOtlp: the file's name is not one of the forms that are read.
        OSError: the file cannot be read.
    """
    suffix = get_suffix(path)
    if suffix == ".parquet":
        return _read_documents(path, [(0, _read_parquet_rows(path))])
    if suffix == ".eval":
        return _read_documents(path, [(0, sample) for sample in _read_samples(path)])
    if suffix in _TABLES:
        return _read_documents(path, [(0, parse_csv(read_content(path).decode("utf-8", "replace")))])
    if suffix not in _DOCUMENTS:
        return read_what_is_good(path)
    body = _without_prefixes(read_content(path))
    documents = _parse_documents(body)
    if suffix in _PRINTED:
        return _read_log(path, documents)
    if not documents or any(is_strict_otlp(document) for _, document in documents):
        return read_what_is_good(path)
    requests, malformed = _read_documents(path, documents)
    is_unread = suffix == ".json" and not requests and bool(malformed)
    broken = _find_broken_json(body) if is_unread else None
    if broken is None:
        return (requests, malformed)
    return ([], [MalformedOtlp(f"{path}: {broken}")])


def _without_prefixes(body: bytes) -> bytes:
    """Return the lines of a log without the name of the container that Docker Compose puts before each."""
    lines = body.splitlines(keepends=True)
    prefixed = [_CONTAINER.match(line) for line in lines if line.strip()]
    if not prefixed or not all(prefixed):
        return body
    return b"".join(_CONTAINER.sub(b"", line, count=1) for line in lines)


def _find_broken_json(body: bytes) -> str | None:
    """Return what is wrong with a file's first document, and where; None where it is JSON."""
    text = body.decode("utf-8-sig", "replace")
    try:
        json.JSONDecoder().raw_decode(text, len(text) - len(text.lstrip()))
    except json.JSONDecodeError as problem:
        before, after = text[: problem.pos].rstrip(), text[problem.pos :].lstrip(", \t\r\n")
        # Python 3.13 has the position of the comma, earlier versions that of what follows it.
        is_comma = before.endswith(",") or text[problem.pos : problem.pos + 1] == ","
        if is_comma and after[:1] in "]}":
            reason = "a comma before the closing bracket"
        else:
            reason = problem.msg
        return f"not JSON: {reason}, line {problem.lineno}, column {problem.colno}"
    except RecursionError:
        return "not JSON: nested too deeply"
    return None


def _parse_documents(body: bytes) -> list[tuple[int, Any]]:
    """Return the JSON document, or those of the lines with their numbers; none where it is neither."""
    try:
        return [(0, load_json(body))]
    except (ValueError, RecursionError):
        pass
    found = _parse_printed(body)
    if found:
        return found
    text = body.decode("utf-8", "replace")
    if _is_inspected(text):
        return list(iter_inspected(text))
    for number, line in enumerate(body.splitlines(), start=1):
        if line.strip():
            try:
                found.append((number, load_json(line)))
            except (ValueError, RecursionError):
                found.append((number, _BROKEN))
    return found


def _is_inspected(text: str) -> bool:
    """Whether this looks like what JavaScript's console prints of a span: its names have no quotes."""
    return _INSPECTED.search(text) is not None


def _parse_printed(body: bytes) -> list[tuple[int, Any]]:
    """Return documents of several lines each, one behind the other, as exporters to the console print them.

    Lines between them are those of other programs. None where each line is a document of its own.
    """
    text = body.decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    found: list[tuple[int, Any]] = []
    at, several_lines = 0, False
    for start in re.finditer(r"^[ \t]*[\[{]", text, re.MULTILINE):
        if start.start() < at:
            continue
        try:
            document, at = decoder.raw_decode(text, start.end() - 1)
        except (ValueError, RecursionError):
            continue
        several_lines = several_lines or "\n" in text[start.start() : at].strip()
        found.append((text.count("\n", 0, start.end()) + 1, document))
    return found if several_lines else []


def _read_samples(path: Path) -> list[Any]:
    """Return the samples in inspect_ai's log, an archive of JSON documents, each with what the run was.

    Raises:
        MalformedOtlp: it is no such archive.
        OSError: the file cannot be read.
    """
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            held = {name: archive.read(name) for name in _select_members(path, archive)}
        documents = {name: load_json(content) for name, content in held.items()}
    except (zipfile.BadZipFile, ValueError, RecursionError, NotImplementedError) as problem:
        raise MalformedOtlp(f"{path}: not a log of inspect_ai: {problem}") from problem
    run = documents.get("header.json") or documents.get("_journal/start.json") or {}
    about = run.get("eval") if isinstance(run, dict) else None
    samples = [document for name, document in documents.items() if name.startswith("samples/")]
    if samples:
        return [{"eval": about or {}, "samples": samples}]
    return [_BROKEN]


def _select_members(path: Path, archive: zipfile.ZipFile) -> list[str]:
    wanted = [
        member
        for member in archive.infolist()
        if member.filename.endswith(".json")
        and member.filename.startswith(("samples/", "header", "_journal/start"))
    ]
    if sum(member.file_size for member in wanted) > MAX_FILE_BYTES:
        raise MalformedOtlp(f"{path}: more than {MAX_FILE_BYTES >> 30} GiB; split the log")
    return [member.filename for member in wanted]


def _read_log(path: Path, documents: list[tuple[int, Any]]) -> Read:
    """Read what was printed between the lines of a program; where nothing was, say so once."""
    printed = [(number, document) for number, document in documents if document is not _BROKEN]
    if printed:
        return _read_documents(path, printed)
    return [], [MalformedOtlp(f"{path}: no line of it is JSON, and none is a printed span")]


def _format_origin(path: Path, line: int) -> str:
    return f"{path}:{line}" if line else str(path)


def _read_documents(path: Path, documents: list[tuple[int, Any]]) -> Read:
    """Read a product's documents: their rows together, as the rows of a trace stand on several lines."""
    from spanproof.trace.exports.harnesses import is_one_run, list_transcripts
    from spanproof.trace.exports.model_calls import list_unrepeated
    from spanproof.trace.exports.products import UnknownExport, build_request, list_rows, read_rows

    rows: list[tuple[Product, Row]] = []
    requests: list[ExportTraceServiceRequest] = []
    malformed: list[MalformedOtlp] = []
    transcripts: list[Transcript] = []
    messages = [document for _, document in documents]
    if len(messages) > 1 and is_one_run(messages) and (spoken := list_transcripts(messages)):
        return [build_request(spoken)], []
    for number, document in documents:
        origin = _format_origin(path, number)
        if held := list_otlp(document):
            try:
                requests += [decode_json(json.dumps(request).encode()) for request in held]
            except MalformedOtlp as problem:
                malformed.append(MalformedOtlp(f"{origin}: {problem}"))
            continue
        try:
            rows += list_rows(document)
        except UnknownExport as unknown:
            found = list_transcripts(document)
            if found:
                transcripts += found
                continue
            malformed.append(MalformedOtlp(f"{origin}: {'not JSON' if document is _BROKEN else unknown}"))
    if transcripts:
        requests.append(build_request(list_unrepeated(transcripts)))
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
