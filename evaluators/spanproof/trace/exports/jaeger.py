"""Jaeger: traces as its UI downloads them and its API gives them, with the attributes of any producer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.trace.exports.rows import Fields, Row, add_event, build_span

_STATUS = ("otel.status_code", "error", "otel.status_description")


def is_row(row: Row) -> bool:
    """Whether this is a trace."""
    return "traceID" in row and isinstance(row.get("spans"), list)


def iter_row_spans(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the spans of the traces."""
    for row in rows:
        yield from (_read_span(span) for span in row["spans"])


def _read_span(row: Mapping[str, Any]) -> Span:
    tags = _read_fields(row.get("tags"))
    failed = tags.get("otel.status_code") == "ERROR" or tags.get("error") in (True, "true")
    start_us, took_us = int(row.get("startTime") or 0), int(row.get("duration") or 0)
    trace_id, span_id = str(row.get("traceID") or ""), str(row.get("spanID") or "")
    span = build_span(
        Fields(
            trace_id=trace_id.zfill(32),
            span_id=span_id.zfill(16),
            parent_id=_find_parent(row),
            name=row.get("operationName"),
            start=start_us * 1000,
            end=(start_us + took_us) * 1000,
            attributes={key: value for key, value in tags.items() if key not in _STATUS},
            error=str(tags.get("otel.status_description") or "") if failed else None,
        )
    )
    for log in row.get("logs") or ():
        fields = _read_fields(log.get("fields"))
        name = str(fields.pop("event", fields.pop("message", "")))
        add_event(span, name, fields, int(log.get("timestamp") or 0) * 1000)
    return span


def _find_parent(row: Mapping[str, Any]) -> str | None:
    for reference in row.get("references") or ():
        if reference.get("refType") == "CHILD_OF" and reference.get("traceID") == row.get("traceID"):
            return str(reference.get("spanID")).zfill(16)
    parent = row.get("parentSpanID")
    return str(parent).zfill(16) if parent else None


def _read_fields(pairs: object) -> dict[str, Any]:
    found = pairs if isinstance(pairs, list) else ()
    return {str(pair.get("key")): pair.get("value") for pair in found if isinstance(pair, Mapping)}
