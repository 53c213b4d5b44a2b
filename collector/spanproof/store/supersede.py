"""Withdraws rows of an earlier evaluation of a trace.

Rows with the same key are replaced by the engine. What is left is what the new evaluation no longer has: a
snippet that late spans moved elsewhere, a score on a span that is gone. Those rows are marked deleted. Scores
of an older version of an evaluator stay, as history, but no longer count as current.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clickhouse_connect.driver.client import Client

from spanproof.store.cells import Row
from spanproof.store.keys import build_key_condition
from spanproof.store.schema import FAILURES, REPLAYS, SCORES, SNIPPETS, TRACES
from spanproof.store.table import Table
from spanproof.trace.project import TraceKey


@dataclass(frozen=True, slots=True)
class Before:
    """Which of the traces the store knows already, and when they were last written (0: never)."""

    keys: tuple[TraceKey, ...]
    written_ns: int


def read_known(client: Client, database: str, keys: Sequence[TraceKey]) -> Before:
    """Return what the store knows of these traces."""
    stored: set[TraceKey] = set()
    condition, bound = build_key_condition(keys)
    latest = 0
    # A write that was cut off has left scores without the trace's row: so scores are read too.
    for table in (TRACES, SCORES):
        rows = client.query(
            f"SELECT project, trace_id, max(evaluated_ns) FROM {database}.{table.name}"  # noqa: S608
            f" WHERE {condition} GROUP BY project, trace_id",
            parameters=bound,
        ).result_rows
        stored.update(TraceKey(row[0], row[1]) for row in rows)
        latest = max([latest, *(int(row[2]) for row in rows)])
    return Before(tuple(sorted(stored)), latest)


def update_superseded(
    client: Client,
    database: str,
    batch: Mapping[Table, Sequence[Row]],
    stored: Before,
    written_ns: int,
) -> None:
    """Withdraw what earlier evaluations of stored traces hold and the batch does not."""
    if stored.keys:
        for table in (SCORES, SNIPPETS, REPLAYS, FAILURES, TRACES):
            _update_withdrawn(client, database, table, batch.get(table, ()), stored.keys, written_ns)


def _update_withdrawn(
    client: Client,
    database: str,
    table: Table,
    rows: Sequence[Row],
    keys: Sequence[TraceKey],
    written_ns: int,
) -> None:
    time = "start" if table is TRACES else "span_time"
    identity = [name for name in table.key if "(" not in name]
    kept = {(*(row[name] for name in identity), _to_hour(row[time])) for row in rows}
    versions: dict[str, set[str]] = {}
    if table is SCORES:
        for written in rows:
            versions.setdefault(written["evaluator"], set()).add(written["version"])
    condition, bound = build_key_condition(keys)
    stored = client.query(
        f"SELECT {', '.join(identity)}, toUnixTimestamp64Nano({time}) AS time_ns"  # noqa: S608
        f" FROM {database}.{table.name} FINAL WHERE {condition}"
        + (" AND current = 1" if table is SCORES else ""),
        parameters=bound,
    ).result_rows
    dead: list[Sequence[Any]] = []
    old: list[Sequence[Any]] = []
    for row in stored:
        if (*row[:-1], _to_hour(row[-1])) not in kept:
            stored_row = dict(zip(identity, row, strict=False))
            now = versions.get(stored_row.get("evaluator", ""))
            (old if now and stored_row["version"] not in now else dead).append(row)
    _write_changed(client, database, table, identity, time, dead, "1 AS is_deleted", written_ns)
    _write_changed(client, database, table, identity, time, old, "0 AS current", written_ns)


def _write_changed(
    client: Client,
    database: str,
    table: Table,
    identity: Sequence[str],
    time: str,
    rows: Sequence[Sequence[Any]],
    change: str,
    written_ns: int,
) -> None:
    """Write these rows again with one column changed: ClickHouse then keeps the later of each."""
    if not rows:
        return
    identity_and_time = ", ".join([*identity, f"toUnixTimestamp64Nano({time})"])
    kinds = ", ".join(["String"] * len(identity) + ["Int64"])
    client.command(
        f"INSERT INTO {database}.{table.name}"  # noqa: S608
        f" SELECT * REPLACE ({change}, {{written:UInt64}} AS evaluated_ns)"
        f" FROM {database}.{table.name} FINAL"
        f" WHERE trace_id IN {{ids:Array(String)}}"
        f" AND ({identity_and_time}) IN {{rows:Array(Tuple({kinds}))}}",
        parameters={
            "ids": sorted({str(row[list(identity).index("trace_id")]) for row in rows}),
            "rows": [tuple(row) for row in rows],
            "written": written_ns,
        },
    )


def _to_hour(ns: int) -> int:
    return ns // (3600 * 10**9)
