"""MLflow: traces as `Trace.to_json()` and its API write them, in both of its formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanproof.trace.exports.rows import Fields, Row, add_event, as_json, build_span, decode_base64_id
from spanproof.trace.otlp.values import get_attribute_value


def is_row(row: Row) -> bool:
    """Whether this is a trace, or a span of one, as Phoenix's API gives them too."""
    return {"span_id", "start_time_unix_nano"} <= row.keys() or (
        bool({"info", "trace_info"} & row.keys()) and isinstance(_find_spans(row), list)
    )


def iter_row_spans(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the spans of the traces."""
    for row in rows:
        spans = _find_spans(row)
        yield from (read_span(span) for span in ([row] if spans is None else spans))


def _find_spans(row: Row) -> list[Any] | None:
    data = row.get("data")
    if isinstance(data, Mapping):
        spans = data.get("spans")
    else:
        spans = row.get("spans")
    return spans if isinstance(spans, list) else None


def read_span(row: Mapping[str, Any]) -> Span:
    """Return one span."""
    context = row.get("context") or {}
    trace_id = row.get("trace_id") or context.get("trace_id")
    span_id = row.get("span_id") or context.get("span_id")
    parent_id = row.get("parent_span_id") or row.get("parent_id")
    start = row.get("start_time_unix_nano") or row.get("start_time")
    end = row.get("end_time_unix_nano") or row.get("end_time")
    span = build_span(
        Fields(
            trace_id=_decode_id(trace_id, 16),
            span_id=_decode_id(span_id, 8),
            parent_id=_decode_id(parent_id, 8),
            name=row.get("name"),
            start=start,
            end=end,
            attributes=_read_attributes(row.get("attributes")),
            error=_find_error(row),
        )
    )
    for event in row.get("events") or ():
        when = event.get("time_unix_nano") or event.get("timestamp")
        add_event(span, str(event.get("name")), _read_attributes(event.get("attributes")), when)
    return span


def _find_error(row: Mapping[str, Any]) -> str | None:
    """Return the message of a span that failed, which may be empty; None of one that did not."""
    status = row.get("status")
    code, message = row.get("status_code"), row.get("status_message")
    if isinstance(status, Mapping):
        code, message = status.get("code"), status.get("message")
    return str(message or "") if _is_error(code) else None


def _is_error(code: object) -> bool:
    return code == Status.STATUS_CODE_ERROR or "ERROR" in str(code)


def _decode_id(value: object, length: int) -> object:
    if isinstance(value, str):
        return decode_base64_id(value, length)
    return value


def _read_attributes(attributes: object) -> dict[str, object]:
    """Return the attributes, which are an object, or OTLP's list of pairs."""
    if isinstance(attributes, list):
        return {str(pair["key"]): _decode_any_value(pair.get("value")) for pair in attributes}
    if isinstance(attributes, Mapping):
        return {key: as_json(value) for key, value in attributes.items()}
    return {}


def _decode_any_value(encoded: object) -> object:
    value = json_format.ParseDict(_without_nulls(encoded) or {}, AnyValue(), ignore_unknown_fields=True)
    return get_attribute_value(value)


def _without_nulls(value: Any) -> Any:
    """Return a document without the fields that are null, which protobuf's JSON leaves out."""
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
