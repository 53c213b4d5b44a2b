"""Removing traces for good: personal data that must not be kept.

A deletion goes to every table with rows about a trace, and rows are gone from disk when it returns. Counts of
verdicts stay true: the hours of the removed scores are counted again. Counts hold no text and no ids.
"""

from __future__ import annotations

from collections.abc import Sequence

from clickhouse_connect.driver.client import Client

from spanproof.semconv import spanproof as ours
from spanproof.store.dimensions import SUBJECT_KEYS
from spanproof.store.keys import list_ids
from spanproof.store.layout import Layout
from spanproof.store.rollups import list_trace_hours, write_marks
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
from spanproof.trace.project import TraceKey

_OF_ROW = ("project", "trace_id")
_OF_SPAN = ("SpanproofProject", "TraceId")
_TABLES = {
    # Spans go last: by them a session or a user is found, also again where a deletion was cut off.
    SCORES: _OF_ROW,
    SNIPPETS: _OF_ROW,
    REPLAYS: _OF_ROW,
    FAILURES: _OF_ROW,
    EXTERNAL_SCORES: _OF_ROW,
    DEAD_LETTERS: _OF_ROW,
    TRACES: _OF_ROW,
    OTEL_TRACE_TIMES: _OF_SPAN,
    OTEL_TRACES: _OF_SPAN,
}
_BATCH = 1000


def list_subject_traces(
    client: Client, database: str, subject: Subject, value: str, project: str | None = None
) -> list[str]:
    """Return the ids of the traces with a span that names this session or user, in order."""
    fits = " OR ".join(
        f"{column}['{key}'] = {{value:String}}"
        for key in SUBJECT_KEYS[subject]
        for column in ("SpanAttributes", "ResourceAttributes")
    )
    rows = client.query(
        f"SELECT DISTINCT TraceId FROM {database}.{OTEL_TRACES.name}"  # noqa: S608
        f" WHERE ({fits}) AND {_build_project_condition('SpanproofProject', project)} ORDER BY TraceId",
        parameters={"value": value, "project": project or ""},
    ).result_rows
    return [str(row[0]) for row in rows]


def remove_traces(
    client: Client, layout: Layout, trace_ids: Sequence[str], project: str | None = None
) -> int:
    """Delete everything about these traces, and ratings of them; returns how many of them had any row.

    Args:
        client: of the store.
        layout: of the store.
        trace_ids: of the traces.
        project: only what is of this one; None is every project that has a trace with such an id.
    """
    there = _list_stored(client, layout.database, trace_ids, project)
    for first in range(0, len(there), _BATCH):
        batch = there[first : first + _BATCH]
        hours = list_trace_hours(client, layout.database, batch)
        write_marks(client, layout.database, hours)
        for statement in build_deletions(layout, project):
            bound = {"ids": list_ids(batch), "project": project or ""}
            client.command(statement, parameters=bound)
        write_marks(client, layout.database, hours)
    return len(list_ids(there))


def build_deletions(layout: Layout, project: str | None = None) -> tuple[str, ...]:
    """Return the statements that delete traces, in order; they take `ids` and `project`."""
    ratings = f"SpanAttributes['{ours.FEEDBACK_TRACE_ID}']"
    columns = (
        (OTEL_TRACES.name, (_OF_SPAN[0], ratings)),
        *((table.name, columns) for table, columns in _TABLES.items()),
    )
    return tuple(
        layout.build_mutation(
            table,
            f"DELETE WHERE {trace_id} IN {{ids:Array(String)}}"
            f" AND {_build_project_condition(named, project)} SETTINGS mutations_sync = 2",
        )
        for table, (named, trace_id) in columns
    )


def _build_project_condition(column: str, project: str | None) -> str:
    return "1" if project is None else f"{column} = {{project:String}}"


def _list_stored(
    client: Client, database: str, trace_ids: Sequence[str], project: str | None
) -> list[TraceKey]:
    found: set[TraceKey] = set()
    for table, (named, trace_id) in _TABLES.items():
        rows = client.query(
            f"SELECT DISTINCT {named}, {trace_id} FROM {database}.{table.name}"  # noqa: S608
            f" WHERE {trace_id} IN {{ids:Array(String)}} AND {_build_project_condition(named, project)}",
            parameters={"ids": list(trace_ids), "project": project or ""},
        ).result_rows
        found.update(TraceKey(str(row[0]), str(row[1])) for row in rows)
    return sorted(found, key=lambda key: (key.trace_id, key.project))
