"""Removing traces for good: personal data that must not be kept.

A deletion goes to every table with rows about a trace, and rows are gone from disk when it returns. Counts of
verdicts stay true: the hours of the removed scores are counted again. Counts hold no text and no ids.
"""

from __future__ import annotations

from collections.abc import Sequence

from clickhouse_connect.driver.client import Client

from spanproof.semconv import spanproof as ours
from spanproof.store.dimensions import SUBJECT_KEYS
from spanproof.store.layout import Layout
from spanproof.store.rollups import find_trace_hours, mark_hours
from spanproof.store.schema import (
    DEAD_LETTERS,
    EXTERNAL_SCORES,
    FAILURES,
    OTEL_TRACE_TIMES,
    OTEL_TRACES,
    REPLAYS,
    SCORES,
    SNIPPETS,
    TRACES,
)
from spanproof.trace.dimensions import Subject

_TABLES = {
    # Spans go last: by them a session or a user is found, also again where a deletion was cut off.
    SCORES: "trace_id",
    SNIPPETS: "trace_id",
    REPLAYS: "trace_id",
    FAILURES: "trace_id",
    EXTERNAL_SCORES: "trace_id",
    DEAD_LETTERS: "trace_id",
    TRACES: "trace_id",
    OTEL_TRACE_TIMES: "TraceId",
    OTEL_TRACES: "TraceId",
}
_BATCH = 1000


def find_subject_traces(client: Client, database: str, subject: Subject, value: str) -> list[str]:
    """Return the ids of the traces with a span that names this session or user, in order."""
    fits = " OR ".join(
        f"{column}['{key}'] = {{value:String}}"
        for key in SUBJECT_KEYS[subject]
        for column in ("SpanAttributes", "ResourceAttributes")
    )
    rows = client.query(
        f"SELECT DISTINCT TraceId FROM {database}.{OTEL_TRACES.name} WHERE {fits} ORDER BY TraceId",  # noqa: S608
        parameters={"value": value},
    ).result_rows
    return [str(row[0]) for row in rows]


def erase_traces(client: Client, layout: Layout, trace_ids: Sequence[str]) -> int:
    """Delete everything about these traces, and ratings of them; returns how many of them had any row."""
    there = _find_stored(client, layout.database, trace_ids)
    for first in range(0, len(there), _BATCH):
        batch = there[first : first + _BATCH]
        hours = find_trace_hours(client, layout.database, batch)
        mark_hours(client, layout.database, hours)
        for statement in build_deletions(layout):
            client.command(statement, parameters={"ids": batch})
        mark_hours(client, layout.database, hours)
    return len(there)


def build_deletions(layout: Layout) -> tuple[str, ...]:
    """Return the statements that delete traces, in order; they take `ids`."""
    ratings = f"SpanAttributes['{ours.FEEDBACK_TRACE_ID}']"
    columns = ((OTEL_TRACES.name, ratings), *((table.name, column) for table, column in _TABLES.items()))
    return tuple(
        layout.mutate(table, f"DELETE WHERE {column} IN {{ids:Array(String)}} SETTINGS mutations_sync = 2")
        for table, column in columns
    )


def _find_stored(client: Client, database: str, trace_ids: Sequence[str]) -> list[str]:
    found: set[str] = set()
    for table, column in _TABLES.items():
        rows = client.query(
            f"SELECT DISTINCT {column} FROM {database}.{table.name} WHERE {column} IN {{ids:Array(String)}}",  # noqa: S608
            parameters={"ids": list(trace_ids)},
        ).result_rows
        found.update(str(row[0]) for row in rows)
    return sorted(found)
