"""Pages of the spans of one trace, from the rows that were received: no document of the trace is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from clickhouse_connect.driver.client import Client

from spanproof.store.schema import OTEL_TRACES
from spanproof.trace.project import TraceKey

_START_NS: Final = "toUnixTimestamp64Nano(Timestamp)"


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """A span as it was received, without its attributes; times are Unix nanoseconds."""

    span_id: str
    parent_id: str | None
    name: str
    kind: str
    start_ns: int
    end_ns: int
    error: str | None


def fetch_span_page(
    client: Client, database: str, key: TraceKey, after: tuple[int, str] | None, limit: int
) -> list[ReceivedSpan]:
    """Return spans of a trace, the earliest first.

    Args:
        client: of the store.
        database: with the spans.
        key: of the trace.
        after: start and id of the last span of the page before.
        limit: at most so many.
    """
    start_ns, span_id = after or (-1, "")
    rows = client.query(
        f"SELECT SpanId, ParentSpanId, SpanName, SpanproofKind, {_START_NS} AS start_ns, Duration,"  # noqa: S608
        f" StatusCode = 'Error', StatusMessage FROM {database}.{OTEL_TRACES.name} FINAL"
        " WHERE TraceId = {trace_id:String} AND SpanproofProject = {project:String}"
        " AND (start_ns, SpanId) > ({start_ns:Int64}, {span_id:String})"
        " ORDER BY start_ns, SpanId LIMIT {limit:UInt32}",
        parameters={
            "trace_id": key.trace_id,
            "project": key.project,
            "start_ns": start_ns,
            "span_id": span_id,
            "limit": limit,
        },
    ).result_rows
    return [
        ReceivedSpan(
            row[0], row[1] or None, row[2], row[3], row[4], row[4] + row[5], row[7] if row[6] else None
        )
        for row in rows
    ]
