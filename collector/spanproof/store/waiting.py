"""Traces whose spans are stored and that are not evaluated yet, and how long an evaluation takes to come.

Spans are stored as they arrive, a trace once it was quiet and is evaluated; what lies between both is what
waits. It is read from the tables alone, so that a reader needs no collector, and no configuration of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from clickhouse_connect.driver.client import Client

from spanproof.store.keys import build_key_condition
from spanproof.store.schema import DEAD_LETTERS, OTEL_TRACE_TIMES, OTEL_TRACES, TRACES
from spanproof.trace.project import TraceKey

# Traces whose last span ended longer ago are not looked for: three times the default of
# `assembly.max_wait_s`, after which a trace is evaluated whatever still comes.
_LOOKED_BACK_S: Final = 2_700

# Most of the newest traces that are looked at.
_MOST_TRACES: Final = 10_000

# Evaluated traces that the usual wait is measured on.
_MEASURED: Final = 20


@dataclass(frozen=True, slots=True)
class WaitingTrace:
    """A trace that is not evaluated yet.

    Attributes:
        start_ns: of its first span, Unix time in nanoseconds.
        stored_ns: when its latest spans were stored.
        is_whole: its root has ended, and no parent is missing.
    """

    key: TraceKey
    start_ns: int
    stored_ns: int
    is_whole: bool

    @property
    def trace_id(self) -> str:
        """In hexadecimal."""
        return self.key.trace_id


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for its evaluation.

    Attributes:
        traces: newest first.
        usual_wait_s: from the last span of a whole trace to its evaluation, the median of the latest; None
            where none was evaluated lately.
    """

    traces: tuple[WaitingTrace, ...] = ()
    usual_wait_s: float | None = None


def fetch_waiting(client: Client, database: str, now_ns: int, project: str | None = None) -> Waiting:
    """Return the traces that wait, of one project or of all."""
    recent = _fetch_recent_keys(client, database, now_ns, project)
    evaluated_ns = _fetch_evaluated(client, database, recent)
    if len(evaluated_ns) < len(recent):
        given_up = _fetch_given_up(client, database, recent)
    else:
        given_up = set()
    open_keys = [key for key in recent if key not in evaluated_ns and key not in given_up]
    if not open_keys:
        return Waiting()
    traces = _fetch_shapes(client, database, open_keys)
    latest = sorted(evaluated_ns, key=lambda key: -evaluated_ns[key])[:_MEASURED]
    waits = [
        (evaluated_ns[shape.key] - shape.stored_ns) / 1e9
        for shape in _fetch_shapes(client, database, latest)
        if shape.is_whole
    ]
    return Waiting(tuple(traces), median(waits) if waits else None)


def _fetch_recent_keys(client: Client, database: str, now_ns: int, project: str | None) -> list[TraceKey]:
    of_project = "" if project is None else " AND SpanproofProject = {project:String}"
    rows = client.query(
        f"SELECT SpanproofProject, TraceId FROM {database}.{OTEL_TRACE_TIMES.name}"  # noqa: S608 - of the schema
        f" WHERE End >= toDateTime({{since:UInt32}}, 'UTC'){of_project}"
        " ORDER BY End DESC LIMIT 1 BY SpanproofProject, TraceId LIMIT {most:UInt32}",
        parameters={
            "since": max(0, now_ns // 10**9 - _LOOKED_BACK_S),
            "most": _MOST_TRACES,
            "project": project or "",
        },
    ).result_rows
    return [TraceKey(row[0], row[1]) for row in rows]


def _fetch_evaluated(client: Client, database: str, keys: Sequence[TraceKey]) -> dict[TraceKey, int]:
    """Return when these traces were evaluated; those that were not are left out."""
    condition, bound = build_key_condition(keys)
    rows = client.query(
        f"SELECT project, trace_id, max(evaluated_ns) FROM {database}.{TRACES.name}"  # noqa: S608
        f" WHERE {condition} GROUP BY project, trace_id",
        parameters=bound,
    ).result_rows
    return {TraceKey(row[0], row[1]): int(row[2]) for row in rows}


def _fetch_given_up(client: Client, database: str, keys: Sequence[TraceKey]) -> set[TraceKey]:
    """Return those of the traces that no attempt could evaluate: `spanproof retry` has them."""
    condition, bound = build_key_condition(keys)
    rows = client.query(
        f"SELECT DISTINCT project, trace_id FROM {database}.{DEAD_LETTERS.name} FINAL"  # noqa: S608
        f" WHERE {condition}",
        parameters=bound,
    ).result_rows
    return {TraceKey(row[0], row[1]) for row in rows}


def _fetch_shapes(client: Client, database: str, keys: Sequence[TraceKey]) -> list[WaitingTrace]:
    """Return when these traces began and were stored, and whether they are whole; newest first."""
    condition, bound = build_key_condition(keys, ("SpanproofProject", "TraceId"))
    rows: Sequence[Sequence[Any]] = client.query(
        "SELECT SpanproofProject, TraceId, min(toUnixTimestamp64Nano(Timestamp)) AS start,"  # noqa: S608
        " max(SpanproofWritten),"
        # Counted and not compared one by one: a trace may have a hundred thousand spans.
        " countIf(ParentSpanId = '') > 0 AND length(arrayIntersect(groupUniqArray(SpanId), parents))"
        " = length(groupUniqArrayIf(ParentSpanId, ParentSpanId != '') AS parents)"
        f" FROM {database}.{OTEL_TRACES.name} WHERE {condition}"
        " GROUP BY SpanproofProject, TraceId ORDER BY start DESC, TraceId, SpanproofProject",
        parameters=bound,
    ).result_rows
    return [WaitingTrace(TraceKey(row[0], row[1]), int(row[2]), int(row[3]), bool(row[4])) for row in rows]
