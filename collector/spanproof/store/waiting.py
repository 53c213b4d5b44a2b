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

from spanproof.store.schema import DEAD_LETTERS, OTEL_TRACE_TIMES, OTEL_TRACES, TRACES

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

    trace_id: str
    start_ns: int
    stored_ns: int
    is_whole: bool


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
    recent = _fetch_recent_ids(client, database, now_ns)
    evaluated_ns = _fetch_evaluated(client, database, recent)
    given_up = _fetch_given_up(client, database, recent) if len(evaluated_ns) < len(recent) else set()
    open_ids = [each for each in recent if each not in evaluated_ns and each not in given_up]
    if not open_ids:
        return Waiting()
    traces = _fetch_shapes(client, database, open_ids, project)
    latest = sorted(evaluated_ns, key=lambda each: -evaluated_ns[each])[:_MEASURED]
    waits = [
        (evaluated_ns[each.trace_id] - each.stored_ns) / 1e9
        for each in _fetch_shapes(client, database, latest, None)
        if each.is_whole
    ]
    return Waiting(tuple(traces), median(waits) if waits else None)


def _fetch_recent_ids(client: Client, database: str, now_ns: int) -> list[str]:
    rows = client.query(
        f"SELECT TraceId FROM {database}.{OTEL_TRACE_TIMES.name}"  # noqa: S608 - names of the schema
        " WHERE End >= toDateTime({since:UInt32}, 'UTC')"
        " ORDER BY End DESC LIMIT 1 BY TraceId LIMIT {most:UInt32}",
        parameters={"since": max(0, now_ns // 10**9 - _LOOKED_BACK_S), "most": _MOST_TRACES},
    ).result_rows
    return [row[0] for row in rows]


def _fetch_evaluated(client: Client, database: str, trace_ids: Sequence[str]) -> dict[str, int]:
    """Return when these traces were evaluated, by id; those that were not are left out."""
    rows = client.query(
        f"SELECT trace_id, max(evaluated_ns) FROM {database}.{TRACES.name}"  # noqa: S608
        " WHERE trace_id IN {ids:Array(String)} GROUP BY trace_id",
        parameters={"ids": list(trace_ids)},
    ).result_rows
    return {row[0]: int(row[1]) for row in rows}


def _fetch_given_up(client: Client, database: str, trace_ids: Sequence[str]) -> set[str]:
    """Return those of the traces that no attempt could evaluate: `spanproof retry` has them."""
    rows = client.query(
        f"SELECT DISTINCT trace_id FROM {database}.{DEAD_LETTERS.name} FINAL"  # noqa: S608
        " WHERE trace_id IN {ids:Array(String)}",
        parameters={"ids": list(trace_ids)},
    ).result_rows
    return {row[0] for row in rows}


def _fetch_shapes(
    client: Client, database: str, trace_ids: Sequence[str], project: str | None
) -> list[WaitingTrace]:
    """Return when these traces began and were stored, and whether they are whole; newest first."""
    of_project = "" if project is None else " HAVING has(groupUniqArray(SpanproofProject), {project:String})"
    rows: Sequence[Sequence[Any]] = client.query(
        "SELECT TraceId, min(toUnixTimestamp64Nano(Timestamp)) AS start, max(SpanproofWritten),"  # noqa: S608
        # Counted and not compared one by one: a trace may have a hundred thousand spans.
        " countIf(ParentSpanId = '') > 0 AND length(arrayIntersect(groupUniqArray(SpanId), parents))"
        " = length(groupUniqArrayIf(ParentSpanId, ParentSpanId != '') AS parents)"
        f" FROM {database}.{OTEL_TRACES.name} WHERE TraceId IN {{ids:Array(String)}}"
        f" GROUP BY TraceId{of_project} ORDER BY start DESC, TraceId",
        parameters={"ids": list(trace_ids), "project": project or ""},
    ).result_rows
    return [WaitingTrace(row[0], int(row[1]), int(row[2]), bool(row[3])) for row in rows]
