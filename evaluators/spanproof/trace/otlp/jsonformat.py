"""OTLP in JSON.

OTLP's JSON is protobuf's JSON with two differences: ids are hexadecimal, not base64, and enums are written
as integers. So orjson reads the text, the ids are turned, and protobuf's own JSON mapping does the rest: it
takes 64-bit integers as text or number, enums by number or name, and both spellings of field names. Fields it
does not know are kept, see `unknown`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from google.protobuf import json_format
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.trace.otlp import unknown
from spanproof.trace.otlp.errors import MalformedOtlp
from spanproof.trace.otlp.mending import Changes, without_deep_json
from spanproof.trace.otlp.protobuf import get_signal_name

_Document = dict[str, Any]  # Decoded JSON of unknown shape: checked step by step below
_Holder = tuple[_Document, str]
# Arrays by their two names: whether an item has ids of its own, and the arrays below it.
_Fields = dict[tuple[str, str], tuple[bool, Any]]

_OF_DATA: _Fields = {("dataPoints", "data_points"): (False, {("exemplars", "exemplars"): (True, {})})}
_METRIC_DATA = (
    ("gauge", "gauge"),
    ("sum", "sum"),
    ("histogram", "histogram"),
    ("exponentialHistogram", "exponential_histogram"),
    ("summary", "summary"),
)
_OF_METRIC: _Fields = {}
_HOLDERS: _Fields = {
    ("resourceSpans", "resource_spans"): (
        False,
        {
            ("scopeSpans", "scope_spans"): (
                False,
                {("spans", "spans"): (True, {("links", "links"): (True, {})})},
            )
        },
    ),
    ("resourceLogs", "resource_logs"): (
        False,
        {("scopeLogs", "scope_logs"): (False, {("logRecords", "log_records"): (True, {})})},
    ),
    ("resourceMetrics", "resource_metrics"): (
        False,
        {("scopeMetrics", "scope_metrics"): (False, {("metrics", "metrics"): (False, _OF_METRIC)})},
    ),
}

_ID_BYTES = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
_SNAKE = {"traceId": "trace_id", "spanId": "span_id", "parentSpanId": "parent_span_id"}
_HEX = re.compile(r"[0-9a-fA-F]*")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def decode_json(body: bytes, kind: Any = ExportTraceServiceRequest, changes: Changes | None = None) -> Any:
    """Return the request that this JSON document holds; `{}` is the empty request.

    Args:
        body: the document.
        kind: the class of the request.
        changes: is informed of text that was not UTF-8, and of values that were nested too deeply.

    Raises:
        MalformedOtlp: it is no JSON, or no such message; names the place.
    """
    try:
        return _decode_document(body, kind)
    except MalformedOtlp:
        found = Changes()
        mended = without_deep_json(_normalise_encoding(body, found), found)
        if not found.list_changes():
            raise
        request = _decode_document(mended, kind)
        if changes is not None:
            changes.not_utf8 += found.not_utf8
            changes.cut += found.cut
        return request


def _normalise_encoding(body: bytes, changes: Changes) -> bytes:
    """Return the document in UTF-8, U+FFFD where it breaks; as it is where it is none of JSON's encodings."""
    try:
        body.decode()
    except UnicodeDecodeError as bad:
        if not body.lstrip().startswith(b"{"):
            return body
        changes.not_utf8.append(f"the document at byte {bad.start}")
        return body.decode("utf-8", "replace").encode()
    return body


def _decode_document(body: bytes, kind: Any) -> Any:
    document = _get_object(_parse_json(body), "the request")
    for holder, path in _iter_id_holders(document):
        _update_ids(holder, path, _encode_hex_as_base64)
    try:
        request = json_format.ParseDict(document, kind(), ignore_unknown_fields=True)
        unknown.record_unknown(document, request)
    except (json_format.ParseError, TypeError, ValueError, RecursionError) as refused:
        raise MalformedOtlp(f"not an OTLP {get_signal_name(kind)} request in JSON: {refused}") from refused
    return request


def encode_json(request: Message) -> bytes:
    """Return the request as one JSON document. Unknown fields of protobuf have no name to be written by."""
    document = json_format.MessageToDict(request, use_integers_for_enums=True)
    unknown.add_unknown(document, request)
    for holder, path in _iter_id_holders(document):
        _update_ids(holder, path, _decode_base64_to_hex)
    return orjson.dumps(document)


def _parse_json(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as strict:
        try:
            # Lone surrogates in escapes are legal JSON text that orjson refuses and protobuf cannot hold.
            return json.loads(_format_without_surrogates(json.loads(body)))
        except (ValueError, RecursionError):
            raise MalformedOtlp(f"not JSON: {strict}") from strict


def _format_without_surrogates(document: object) -> str:
    text = json.dumps(document, ensure_ascii=False)
    return _LONE_SURROGATE.sub("�", text)


def _iter_id_holders(holder: _Document, path: str = "", fields: _Fields = _HOLDERS) -> Iterator[_Holder]:
    """Yield every span, link, log record and exemplar, with its place."""
    prefix = f"{path}." if path else ""
    for (camel, snake), (holds, below) in fields.items():
        for item, at in _iter_items(holder, camel, snake, prefix):
            if holds:
                yield item, at
            if below or below is _OF_METRIC:
                yield from _iter_id_holders(item, at, below)
    if fields is _OF_METRIC:
        for camel, snake in _METRIC_DATA:
            data = holder.get(camel, holder.get(snake))
            if isinstance(data, dict):
                yield from _iter_id_holders(data, f"{prefix}{camel}", _OF_DATA)


def _iter_items(holder: _Document, camel: str, snake: str, prefix: str) -> Iterator[tuple[_Document, str]]:
    items = holder.get(camel, holder.get(snake))
    if items is None:
        return
    if not isinstance(items, list):
        raise MalformedOtlp(f"{prefix}{camel} must be an array, got {type(items).__name__}")
    for index, item in enumerate(items):
        path = f"{prefix}{camel}[{index}]"
        yield _get_object(item, path), path


def _get_object(value: object, path: str) -> _Document:
    if not isinstance(value, dict):
        raise MalformedOtlp(f"{path} must be a JSON object, got {type(value).__name__}")
    return value


def _update_ids(holder: _Document, path: str, turn: Callable[[object, int, str], str]) -> None:
    for camel, size in _ID_BYTES.items():
        for key in (camel, _SNAKE[camel]):
            if holder.get(key):
                holder[key] = turn(holder[key], size, f"{path}.{camel}")


def _encode_hex_as_base64(value: object, size: int, path: str) -> str:
    if not isinstance(value, str):
        raise MalformedOtlp(f"{path} must be hexadecimal text, got {type(value).__name__}")
    if not _HEX.fullmatch(value) or len(value) != 2 * size:
        if _is_base64(value, size):
            looks = "; it looks like base64, which OTLP does not use for ids"
        else:
            looks = ""
        raise MalformedOtlp(f"{path} must be {2 * size} hexadecimal digits, got {value[:40]!r}{looks}")
    return base64.b64encode(bytes.fromhex(value)).decode("ascii")


def _is_base64(value: str, size: int) -> bool:
    try:
        return len(base64.b64decode(value, validate=True)) == size
    except ValueError:
        return False


def _decode_base64_to_hex(value: object, size: int, path: str) -> str:
    del size, path
    return base64.b64decode(str(value)).hex()
