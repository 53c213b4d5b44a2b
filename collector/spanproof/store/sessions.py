# ruff: noqa: S608 - names of columns come from the schema alone, values are bound
"""Conversations: spans with one session id, in whichever convention they name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from clickhouse_connect.driver.client import Client

from spanproof.store.dimensions import SUBJECT_KEYS
from spanproof.trace.dimensions import Subject

_SESSION_KEYS: Final = SUBJECT_KEYS[Subject.SESSION]
_SESSION: Final = (
    "arrayFirst(value -> value != '', ["
    + ", ".join(f"SpanAttributes['{key}'], ResourceAttributes['{key}']" for key in _SESSION_KEYS)
    + "])"
)
_HAS_SESSION: Final = (
    "("
    + " OR ".join(
        f"mapContains({column}, '{key}')"
        for column in ("SpanAttributes", "ResourceAttributes")
        for key in _SESSION_KEYS
    )
    + ")"
)
_OF_PROJECT: Final = "({every:UInt8} = 1 OR SpanproofProject = {project:String})"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A conversation: all spans of the traces that name its id, also those that do not name it themselves."""

    id: str
    start_ns: int
    end_ns: int
    traces: int
    spans: int
    errors: int
    services: tuple[str, ...]


def fetch_sessions(
    client: Client,
    database: str,
    *,
    start_ns: int,
    limit: int,
    after: tuple[int, str] | None,
    project: str | None,
) -> list[SessionRow]:
    """Return conversations, the latest first; `after` is the end and id of the row before."""
    bound: dict[str, Any] = {
        "from_ns": start_ns,
        "limit": limit,
        "every": int(project is None),
        "project": project or "",
    }
    having = "1"
    if after is not None:
        having = "(end_ns < {after_ns:Int64} OR end_ns = {after_ns:Int64} AND id > {after_id:String})"
        bound |= {"after_ns": after[0], "after_id": after[1]}
    # The page is found among the spans that name a session, then all spans of its traces are counted.
    page = (
        f"SELECT {_SESSION} AS id, max(toUnixTimestamp64Nano(Timestamp) + toInt64(Duration)) AS end_ns,"
        " groupUniqArray((SpanproofProject, TraceId)) AS keys"
        f" FROM {database}.otel_traces FINAL"
        f" WHERE {_HAS_SESSION} AND {_OF_PROJECT}"
        " AND Timestamp >= fromUnixTimestamp64Nano({from_ns:Int64}, 'UTC')"
        f" GROUP BY id HAVING id != '' AND {having} ORDER BY end_ns DESC, id LIMIT {{limit:UInt32}}"
    )
    traces = f"SELECT id, end_ns, arrayJoin(keys) AS key FROM ({page})"
    rows = client.query(
        "SELECT id, min(toUnixTimestamp64Nano(Timestamp)), named.end_ns,"
        " uniqExact(SpanproofProject, TraceId), count(),"
        " countIf(StatusCode IN ('Error', 'STATUS_CODE_ERROR')), groupUniqArray(5)(ServiceName)"
        f" FROM (SELECT * FROM {database}.otel_traces FINAL"
        f" WHERE (TraceId, SpanproofProject) IN (SELECT key.2, key.1 FROM ({traces}))) AS spans"
        f" INNER JOIN ({traces}) AS named"
        " ON spans.SpanproofProject = named.key.1 AND spans.TraceId = named.key.2"
        " GROUP BY id, named.end_ns ORDER BY named.end_ns DESC, id",
        parameters=bound,
    ).result_rows
    return [
        SessionRow(
            row[0], int(row[1]), int(row[2]), int(row[3]), int(row[4]), int(row[5]), tuple(sorted(row[6]))
        )
        for row in rows
    ]


def fetch_traces_of_session(
    client: Client, database: str, session_id: str, limit: int, project: str | None
) -> list[str]:
    """Return ids of the traces of a conversation, in order of time."""
    rows = client.query(
        f"SELECT TraceId, min(Timestamp) AS start FROM {database}.otel_traces FINAL"
        f" WHERE {_HAS_SESSION} AND {_SESSION} = {{session:String}} AND {_OF_PROJECT}"
        " GROUP BY TraceId ORDER BY start, TraceId LIMIT {limit:UInt32}",
        parameters={
            "session": session_id,
            "limit": limit,
            "every": int(project is None),
            "project": project or "",
        },
    ).result_rows
    return [row[0] for row in rows]
