"""Phoenix: spans as its API gives them, or as rows of the data frame that its client makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.trace.exports.rows import (
    Fields,
    Row,
    add_event,
    build_span,
    normalise_attributes,
    parse_document,
)


def is_row(row: Row) -> bool:
    """Whether this is a span of Phoenix."""
    return "span_kind" in row and (isinstance(row.get("context"), dict) or "context.span_id" in row)


def iter_row_spans(rows: Sequence[Row]) -> Iterator[Span]:
    """Yield the spans."""
    return map(_read_row, rows)


def _read_row(row: Row) -> Span:
    columns = normalise_attributes(
        {key: value for key, value in row.items() if key not in ("attributes", "events")}
    )
    held = row.get("attributes")
    attributes = normalise_attributes(held) if isinstance(held, Mapping) else {}
    for key, value in row.items():
        if key.startswith("attributes."):
            attributes |= normalise_attributes(
                {key.removeprefix("attributes."): parse_document(value) if _is_tree(key) else value}
            )
    failed = columns.get("status_code") == "ERROR"
    span = build_span(
        Fields(
            trace_id=columns.get("context.trace_id"),
            span_id=columns.get("context.span_id"),
            parent_id=columns.get("parent_id"),
            name=columns.get("name"),
            start=columns.get("start_time"),
            end=columns.get("end_time"),
            attributes={"openinference.span.kind": columns["span_kind"], **attributes},
            error=str(columns.get("status_message") or "") if failed else None,
        )
    )
    events = parse_document(row.get("events"))
    for event in events if isinstance(events, list) else ():
        if isinstance(event, Mapping):
            fields = normalise_attributes(event.get("attributes") or {}) or {
                key: value for key, value in event.items() if str(key).startswith("exception.")
            }
            add_event(span, str(event.get("name") or ""), fields, event.get("timestamp"))
    return span


def _is_tree(key: str) -> bool:
    return key.startswith("attributes.llm.") and key.endswith("_messages")
