"""Spans to rows of the tables that the OpenTelemetry Collector's ClickHouse exporter also writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spanproof.store.cells import Row, storable, table_time, unsigned
from spanproof.trace import Span, SpanError, Trace
from spanproof.trace.codec import dump_json, to_plain


def times_row(trace: Trace) -> Row:
    """First and last time of a trace, as a row of the exporter's look-up table."""
    spans = trace.spans
    return {
        "TraceId": trace.trace_id,
        "Start": table_time(min(span.start_ns for span in spans)) // 10**9,
        "End": table_time(max(span.end_ns for span in spans)) // 10**9,
    }


def span_rows(trace: Trace, project: str, written_ns: int) -> Iterator[Row]:
    """A row per span."""
    for span in trace.spans:
        yield {
            **_exporter_columns(span),
            "SpanproofKind": span.kind.value,
            "SpanproofProject": project,
            "SpanproofWritten": written_ns,
        }


def _exporter_columns(span: Span) -> Row:
    attributes = _texts(span.attributes)
    return {
        "Timestamp": table_time(span.start_ns),
        "TraceId": span.trace_id,
        "SpanId": span.span_id,
        "ParentSpanId": span.parent_id or "",
        "TraceState": "",
        "SpanName": storable(span.name),
        # Our model does not keep which side of a call a span is; this is the exporter's word for that.
        "SpanKind": "Unspecified",
        "ServiceName": _texts(span.resource).get("service.name", ""),
        "ResourceAttributes": _texts(span.resource),
        "ScopeName": storable(span.scope),
        "ScopeVersion": "",
        "SpanAttributes": attributes,
        "Duration": unsigned(span.end_ns - span.start_ns),
        "StatusCode": "Error" if span.error else "Unset",
        "StatusMessage": _status_message(span.error),
        "Events.Timestamp": [table_time(event.time_ns) for event in span.events],
        "Events.Name": [storable(event.name) for event in span.events],
        "Events.Attributes": [_texts(event.attributes) for event in span.events],
        "Links.TraceId": [],
        "Links.SpanId": [],
        "Links.TraceState": [],
        "Links.Attributes": [],
    }


def _status_message(error: SpanError | None) -> str:
    if error is None:
        return ""
    return storable(f"{error.type}: {error.message}" if error.type else error.message)


def _texts(attributes: Mapping[str, Any]) -> dict[str, str]:
    """Attributes as the exporter writes them: strings as they are, all else as JSON."""
    return {
        storable(key): storable(value if isinstance(value, str) else dump_json(to_plain(value)))
        for key, value in attributes.items()
    }
