"""What a new evaluation of a trace takes back from the one before.

Rows with the same key are replaced by the engine. What is left is what the new evaluation no longer says: a
snippet that late spans moved elsewhere, a score on a span that is gone. Those rows are marked deleted. Scores
of an older version of an evaluator stay, as history, but no longer count as current.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clickhouse_connect.driver.client import Client

from spanproof.store.rows import Row
from spanproof.store.schema import REPLAYS, SCORES, SNIPPETS, TRACES, Table


def supersede(
    client: Client,
    database: str,
    batch: Mapping[Table, Sequence[Row]],
    trace_ids: Sequence[str],
    written_ns: int,
) -> None:
    """Withdraw what earlier evaluations of these traces say and the batch does not."""
    known = _evaluated_before(client, database, trace_ids)
    if not known:
        return
    for table in (SCORES, SNIPPETS, REPLAYS, TRACES):
        _withdraw(client, database, table, batch.get(table, ()), known, written_ns)


def _evaluated_before(client: Client, database: str, trace_ids: Sequence[str]) -> list[str]:
    found: set[str] = set()
    # A write that was cut off has left scores without the trace's row: so scores are asked too.
    for table in (TRACES, SCORES):
        rows = client.query(
            f"SELECT DISTINCT trace_id FROM {database}.{table.name}"  # noqa: S608
            " WHERE trace_id IN {ids:Array(String)}",
            parameters={"ids": list(trace_ids)},
        ).result_rows
        found.update(row[0] for row in rows)
    return sorted(found)


def _withdraw(
    client: Client,
    database: str,
    table: Table,
    rows: Sequence[Row],
    trace_ids: Sequence[str],
    written_ns: int,
) -> None:
    time = "start" if table is TRACES else "span_time"
    identity = [name for name in table.key if "(" not in name]
    kept = {(*(row[name] for name in identity), _hour(row[time])) for row in rows}
    versions: dict[str, set[str]] = {}
    if table is SCORES:
        for row in rows:
            versions.setdefault(row["evaluator"], set()).add(row["version"])
    stored = client.query(
        f"SELECT {', '.join(identity)}, toUnixTimestamp64Nano({time}) AS time_ns"  # noqa: S608
        f" FROM {database}.{table.name} FINAL WHERE trace_id IN {{ids:Array(String)}}"
        + (" AND current = 1" if table is SCORES else ""),
        parameters={"ids": list(trace_ids)},
    ).result_rows
    gone = [row for row in stored if (*row[:-1], _hour(row[-1])) not in kept]
    old = [
        row
        for row in gone
        if table is SCORES and _is_older_version(dict(zip(identity, row, strict=False)), versions)
    ]
    dead = [row for row in gone if row not in old]
    _rewrite(client, database, table, identity, time, dead, "1 AS is_deleted", written_ns)
    if old:
        _rewrite(client, database, table, identity, time, old, "0 AS current", written_ns)


def _is_older_version(row: Mapping[str, Any], versions: Mapping[str, set[str]]) -> bool:
    now = versions.get(row["evaluator"])
    return now is not None and row["version"] not in now


def _rewrite(
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
    place = ", ".join([*identity, f"toUnixTimestamp64Nano({time})"])
    kinds = ", ".join(["String"] * len(identity) + ["Int64"])
    client.command(
        f"INSERT INTO {database}.{table.name}"  # noqa: S608
        f" SELECT * REPLACE ({change}, {{written:UInt64}} AS evaluated_ns)"
        f" FROM {database}.{table.name} FINAL"
        f" WHERE trace_id IN {{ids:Array(String)}}"
        f" AND ({place}) IN {{rows:Array(Tuple({kinds}))}}",
        parameters={
            "ids": sorted({str(row[list(identity).index("trace_id")]) for row in rows}),
            "rows": [tuple(row) for row in rows],
            "written": written_ns,
        },
    )


def _hour(ns: int) -> int:
    return ns // (3600 * 10**9)
