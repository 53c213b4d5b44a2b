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
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.trace.otlp import unknown
from spanproof.trace.otlp.errors import MalformedOtlp

_Document = dict[str, Any]
"""Decoded JSON of unknown shape: checked step by step below."""

_ID_BYTES = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
_SNAKE = {"traceId": "trace_id", "spanId": "span_id", "parentSpanId": "parent_span_id"}
_HEX = re.compile(r"[0-9a-fA-F]*")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def decode_json(body: bytes) -> ExportTraceServiceRequest:
    """The request that this JSON document holds; `{}` is the empty request.

    Raises:
        MalformedOtlp: it is no JSON, or no such message; names the place.
    """
    document = _object(_loads(body), "the request")
    for span, place in _spans(document):
        for holder, at in ((span, place), *_links(span, place)):
            _turn_ids(holder, at, _hex_to_base64)
    try:
        request = json_format.ParseDict(document, ExportTraceServiceRequest(), ignore_unknown_fields=True)
        unknown.keep(document, request)
    except (json_format.ParseError, TypeError, ValueError, RecursionError) as refused:
        raise MalformedOtlp(f"not an OTLP trace request in JSON: {refused}") from refused
    return request


def encode_json(request: ExportTraceServiceRequest) -> bytes:
    """The request as one JSON document. Unknown fields of protobuf have no name to be written by."""
    document = json_format.MessageToDict(request, use_integers_for_enums=True)
    unknown.restore(document, request)
    for span, place in _spans(document):
        for holder, at in ((span, place), *_links(span, place)):
            _turn_ids(holder, at, _base64_to_hex)
    return orjson.dumps(document)


def _loads(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as strict:
        try:
            # Lone surrogates in escapes are legal JSON text that orjson refuses and protobuf cannot hold.
            return json.loads(_without_surrogates(json.loads(body)))
        except (ValueError, RecursionError):
            raise MalformedOtlp(f"not JSON: {strict}") from strict


def _without_surrogates(document: object) -> str:
    text = json.dumps(document, ensure_ascii=False)
    return _LONE_SURROGATE.sub("�", text)


def _spans(document: _Document) -> Iterator[tuple[_Document, str]]:
    for resource, at_resource in _items(document, "resourceSpans", "resource_spans", ""):
        for scope, at_scope in _items(resource, "scopeSpans", "scope_spans", at_resource + "."):
            yield from _items(scope, "spans", "spans", at_scope + ".")


def _links(span: _Document, place: str) -> Iterator[tuple[_Document, str]]:
    return _items(span, "links", "links", place + ".")


def _items(holder: _Document, camel: str, snake: str, prefix: str) -> Iterator[tuple[_Document, str]]:
    items = holder.get(camel, holder.get(snake))
    if items is None:
        return
    if not isinstance(items, list):
        raise MalformedOtlp(f"{prefix}{camel} must be an array, got {type(items).__name__}")
    for index, item in enumerate(items):
        place = f"{prefix}{camel}[{index}]"
        yield _object(item, place), place


def _object(value: object, place: str) -> _Document:
    if not isinstance(value, dict):
        raise MalformedOtlp(f"{place} must be a JSON object, got {type(value).__name__}")
    return value


def _turn_ids(holder: _Document, place: str, turn: Callable[[object, int, str], str]) -> None:
    for camel, size in _ID_BYTES.items():
        for key in (camel, _SNAKE[camel]):
            if holder.get(key):
                holder[key] = turn(holder[key], size, f"{place}.{camel}")


def _hex_to_base64(value: object, size: int, place: str) -> str:
    if not isinstance(value, str):
        raise MalformedOtlp(f"{place} must be hexadecimal text, got {type(value).__name__}")
    if not _HEX.fullmatch(value) or len(value) != 2 * size:
        looks = "; it looks like base64, which OTLP does not use for ids" if _is_base64(value, size) else ""
        raise MalformedOtlp(f"{place} must be {2 * size} hexadecimal digits, got {value[:40]!r}{looks}")
    return base64.b64encode(bytes.fromhex(value)).decode("ascii")


def _is_base64(value: str, size: int) -> bool:
    try:
        return len(base64.b64decode(value, validate=True)) == size
    except ValueError:
        return False


def _base64_to_hex(value: object, size: int, place: str) -> str:
    del size, place
    return base64.b64decode(str(value)).hex()
