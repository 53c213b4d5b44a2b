# ruff: noqa: S608 - names of columns come from the schema alone, values are bound
"""What traces came to: states, latency, tokens and cost, over time and by agent and model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from clickhouse_connect.driver.client import Client

from spanproof.store.trace_list import TraceTerms

_MOST_SHARES: Final = 20
_NS: Final = 10**9


@dataclass(frozen=True, slots=True)
class UsagePoint:
    """The traces that began in a stretch of time.

    Attributes:
        p50_s, p95_s: of their latency.
        cost_usd: of those whose price is known; None where none is.
    """

    start_ns: int
    traces: int
    failed: int
    errored: int
    open: int
    passed: int
    p50_s: float
    p95_s: float
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class UsageShare:
    """The runs of an agent with a model; `cost_usd` is None where no price is known."""

    agent: str
    model: str
    runs: int
    tokens: int
    cost_usd: float | None


def fetch_usage_points(
    client: Client, database: str, chosen: TraceTerms, start_ns: int, bucket_ns: int
) -> list[UsagePoint]:
    """Return latency, tokens and cost over time, in its order; stretches without a trace are left out."""
    condition, bound = replace(chosen, since_ns=start_ns).build_condition(database)
    candidates, likes = chosen.build_candidate_condition(database, "1")
    rows = client.query(
        "SELECT intDiv(start_ns, {bucket:UInt64}) * {bucket:UInt64} AS at, count(),"
        " countIf(state = 'fail'), countIf(state = 'errored'), countIf(state = 'open'),"
        " countIf(state = 'pass'),"
        f" quantileExact(0.5)((greatest(end_ns, start_ns) - start_ns) / {_NS}),"
        f" quantileExact(0.95)((greatest(end_ns, start_ns) - start_ns) / {_NS}),"
        " sum(tokens), sum(cost_usd)"
        f" FROM {database}.traces FINAL WHERE {candidates} AND {condition} GROUP BY at ORDER BY at",
        parameters={**bound, **likes, "bucket": bucket_ns},
    ).result_rows
    return [
        UsagePoint(
            start_ns=int(row[0]),
            traces=int(row[1]),
            failed=int(row[2]),
            errored=int(row[3]),
            open=int(row[4]),
            passed=int(row[5]),
            p50_s=row[6],
            p95_s=row[7],
            tokens=int(row[8]),
            cost_usd=row[9],
        )
        for row in rows
    ]


def fetch_usage_shares(client: Client, database: str, chosen: TraceTerms) -> list[UsageShare]:
    """Return tokens and cost by agent and model; the most tokens first."""
    condition, bound = chosen.build_condition(database)
    if chosen.since_ns is None:
        within = "1"
    else:
        within = "span_time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')"
    rows = client.query(
        "SELECT agent, model, uniqExact(project, trace_id, run_span_id) AS runs,"
        " sumIf(raw, name = 'tokens') AS tokens, sumIf(raw, name = 'cost_usd') AS cost"
        f" FROM {database}.scores FINAL WHERE layer = 'trajectory' AND current = 1 AND {within}"
        " AND name IN ('trajectory', 'tokens', 'cost_usd')"
        " AND (project, trace_id) IN"
        f" (SELECT project, trace_id FROM {database}.traces FINAL WHERE {condition})"
        f" GROUP BY agent, model ORDER BY tokens DESC, runs DESC, agent, model LIMIT {_MOST_SHARES}",
        parameters=bound,
    ).result_rows
    return [UsageShare(row[0], row[1], int(row[2]), int(row[3] or 0), row[4]) for row in rows]
