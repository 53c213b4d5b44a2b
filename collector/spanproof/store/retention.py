"""How long rows are kept: ClickHouse drops those that are older, by a TTL on each table."""

from __future__ import annotations

from collections.abc import Mapping

from clickhouse_connect.driver.client import Client

from spanproof.store.layout import Layout
from spanproof.store.schema import (
    DEAD_LETTERS,
    EXTERNAL_SCORES,
    FAILURES,
    OTEL_TRACE_TIMES,
    OTEL_TRACES,
    REPLAYS,
    ROLLUP_MARKS,
    SCORES,
    SNIPPETS,
    TRACES,
    VERDICT_DAYS,
    VERDICT_HOURS,
)
from spanproof.store.table import Table

KEPT: Mapping[str, tuple[Table, ...]] = {
    "spans": (OTEL_TRACES, OTEL_TRACE_TIMES),
    "evaluations": (TRACES, SNIPPETS, REPLAYS),
    "scores": (SCORES, EXTERNAL_SCORES, FAILURES),
    "counts": (VERDICT_HOURS, VERDICT_DAYS),
    "dead_letters": (DEAD_LETTERS,),
}
"""What may be kept for a time of its own, and its tables."""

# Marks of hours that were counted again are of no use.
_SEEN_MARKS = "marked + toIntervalDay(1) WHERE is_deleted = 1"


def add_retention(client: Client, layout: Layout, days: Mapping[str, int | None]) -> list[str]:
    """Make tables keep their rows for so many days, by the names of `KEPT`; None is for ever.

    Returns:
        The tables of `KEPT` that were changed. The marks of rollups are none of them: how long
        they are kept is not a setting.
    """
    wanted: dict[str, str | None] = {ROLLUP_MARKS.name: _SEEN_MARKS}
    for what, tables in KEPT.items():
        kept = days.get(what)
        for table in tables:
            by_age = f"toDateTime({table.time}) + toIntervalDay({kept})"
            wanted[table.name] = None if kept is None else by_age
    there = _fetch_ttls(client, layout)
    changed = []
    for name, ttl in wanted.items():
        if there[name] != ttl:
            client.command(layout.build_mutation(name, f"MODIFY TTL {ttl}" if ttl else "REMOVE TTL"))
            if name != ROLLUP_MARKS.name:
                changed.append(name)
    return changed


def _fetch_ttls(client: Client, layout: Layout) -> dict[str, str | None]:
    """Return the TTL of every table, None where it has none."""
    names = {layout.get_local_name(table.name): table.name for tables in KEPT.values() for table in tables}
    names[layout.get_local_name(ROLLUP_MARKS.name)] = ROLLUP_MARKS.name
    rows = client.query(
        "SELECT name, engine_full FROM system.tables WHERE database = {database:String}",
        parameters={"database": layout.database},
    ).result_rows
    found: dict[str, str | None] = {}
    for name, engine in rows:
        if name in names:
            _, has_ttl, ttl = str(engine).partition(" TTL ")
            found[names[name]] = ttl.partition(" SETTINGS ")[0] if has_ttl else None
    return found
