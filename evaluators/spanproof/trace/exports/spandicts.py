"""Spans as OpenTelemetry's SDKs print them: `span.to_json()`, `ConsoleSpanExporter`, `ReadableSpan`.

Plain dictionaries of the same fields are read too, whatever form their ids have and in any spelling: spans
of Zipkin, whose attributes are `tags`, and rows of Logfire's queries among them.
A span without a time is placed by its order in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.trace.exports.rows import (
    Fields,
    Row,
    add_event,
    build_span,
    normalise_attributes,
    parse_document,
)

_CONTEXTS: Final = ("context", "spanContext", "_spanContext", "span_context")
_TRACE_IDS: Final = ("trace_id", "traceId")
_SPAN_IDS: Final = ("span_id", "spanId")
_PARENTS: Final = ("parent_id", "parentId", "parent_span_id", "parentSpanId")
_PARENT_CONTEXTS: Final = ("parent", "parentSpanContext", "parent_context")
_STARTS: Final = (
    "start_time",
    "startTime",
    "start_time_unix_nano",
    "startTimeUnixNano",
    "start_timestamp",
    "timestamp",
    "start",
)
_ENDS: Final = ("end_time", "endTime", "end_time_unix_nano", "endTimeUnixNano", "end_timestamp", "end")
_NAMES: Final = ("name", "span_name")
_MESSAGES: Final = ("otel_status_message", "exception_message", "status_message")
_SCOPES: Final = (
    "instrumentation_scope",
    "instrumentationScope",
    "instrumentation_info",
    "instrumentationLibrary",
    "scope",
    "otel_scope_name",
)
# What Logfire writes when a span starts; the span itself follows.
_PENDING: Final = "pending_span"
_FAILED: Final = frozenset({"ERROR", "StatusCode.ERROR", "STATUS_CODE_ERROR", "2"})
_SCOPE_NAME: Final = "otel.scope.name"
# Where spans without a time begin: a second apart, in the order of the file.
_NO_TIME: Final = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp())


def is_row(row: Row) -> bool:
    """Whether this is a span."""
    if _get_attributes(row) is None or _get_value(row, _NAMES) is None or row.get("kind") == _PENDING:
        return False
    return _find_id(row, _SPAN_IDS) is not None and _find_id(row, _TRACE_IDS) is not None


def iter_row_spans(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the spans."""
    for number, row in enumerate(rows):
        yield _read_row(row, number)


def read_resource(row: Row) -> dict[str, object]:
    """Return the attributes of the resource that a span names."""
    resource = row.get("resource")
    held = resource if isinstance(resource, Mapping) else {}
    endpoint = row.get("localEndpoint")
    if isinstance(endpoint, Mapping):
        service = endpoint.get("serviceName")
    else:
        service = row.get("service_name")
    named = {"service.name": service} if isinstance(service, str) else {}
    return named | _read_attributes(held.get("attributes") or held.get("_attributes"))


def _read_row(row: Row, number: int) -> Span:
    start = _read_time(_get_value(row, _STARTS))
    end = _read_time(_get_value(row, _ENDS))
    start = start if start is not None else _NO_TIME + number
    attributes = _read_attributes(_get_attributes(row))
    scope = next((row[name] for name in _SCOPES if row.get(name)), None)
    scope = scope.get("name") if isinstance(scope, Mapping) else scope
    span = build_span(
        Fields(
            trace_id=_find_id(row, _TRACE_IDS),
            span_id=_find_id(row, _SPAN_IDS),
            parent_id=_find_parent(row),
            name=_get_value(row, _NAMES),
            start=start,
            end=end if end is not None else _add_duration(start, row.get("duration")),
            attributes={**attributes, _SCOPE_NAME: scope},
            error=_find_error(row, attributes),
        )
    )
    for event in row.get("events") or ():
        if isinstance(event, Mapping):
            when = _read_time(event.get("timestamp") or event.get("time") or event.get("timeUnixNano"))
            add_event(span, str(event.get("name") or ""), _read_attributes(event.get("attributes")), when)
    return span


def _get_attributes(row: Row) -> object:
    """Return a span's attributes, which Zipkin names tags; None where it has none."""
    held = parse_document(row.get("attributes"))
    if isinstance(held, dict | list):
        return held
    tags = row.get("tags")
    return tags if isinstance(tags, dict) else None


def _find_error(row: Row, attributes: Mapping[str, object]) -> str | None:
    """Return what a span failed with: by its status, by Zipkin's tag, or by Logfire's columns."""
    status = row.get("status")
    status = status if isinstance(status, Mapping) else {"code": status}
    code = status.get("status_code", status.get("code")) or row.get("otel_status_code")
    if str(code) in _FAILED or row.get("is_exception") is True:
        message = status.get("description") or status.get("message") or _get_value(row, _MESSAGES)
        return str(message or "")
    tagged = attributes.get("error") if "localEndpoint" in row else None
    return str(tagged) if tagged not in (None, False, "false") else None


def _find_id(row: Row, names: Sequence[str]) -> str | None:
    contexts = (row[name] for name in _CONTEXTS if isinstance(row.get(name), Mapping))
    for held in (*contexts, row):
        value = next((held[name] for name in names if held.get(name) not in (None, "")), None)
        if value is not None:
            return str(value)
    # The exporter to the console of JavaScript's SDK names a span's id `id`.
    if names is _SPAN_IDS and "traceId" in row and row.get("id"):
        return str(row["id"])
    return None


def _find_parent(row: Row) -> str | None:
    for name in _PARENT_CONTEXTS:
        held = row.get(name)
        if isinstance(held, Mapping):
            return _find_id(dict(held), _SPAN_IDS)
    value = _get_value(row, _PARENTS)
    parent = str(value) if value is not None else ""
    return parent if parent.removeprefix("0x").strip("0") else None


def _get_value(row: Row, names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _read_time(value: Any) -> Any:
    """Return a time; JavaScript's high-resolution one is a pair of seconds and nanoseconds."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int | float) for part in value):
        return int(value[0]) * 10**9 + int(value[1])
    return value


def _add_duration(start: Any, duration: Any) -> Any:
    """Return the end of a span whose length alone is there, in microseconds as its start."""
    lasted = _read_time(duration)
    if (
        isinstance(duration, list)
        or not isinstance(lasted, int | float)
        or not isinstance(start, int | float)
    ):
        return None
    return start + lasted


def _read_attributes(attributes: object) -> dict[str, object]:
    """Return attributes, which are an object, a tree of their dotted names, or OTLP's list of pairs."""
    if isinstance(attributes, Mapping):
        held = {str(key): value for key, value in attributes.items()}
        is_tree = bool(held) and not any("." in key for key in held)
        return normalise_attributes(held) if is_tree else held
    pairs = attributes if isinstance(attributes, list) else ()
    return {
        str(pair["key"]): _get_plain_value(pair.get("value"))
        for pair in pairs
        if isinstance(pair, Mapping) and "key" in pair
    }


def _get_plain_value(value: object) -> object:
    """Return an attribute's value out of the object by which OTLP's JSON types it."""
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, inner),) = value.items()
        if name == "intValue":
            return int(inner)
        return inner if str(name).endswith("Value") else value
    return value
