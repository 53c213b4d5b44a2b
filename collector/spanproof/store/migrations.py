"""How a store of an older version comes to the newest schema.

`migrate` brings it up step by step, each safe to repeat where it was cut off, and refuses a newer one. The
way back is a backup.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from clickhouse_connect.driver.client import Client

from spanproof.sandbox.scanners.rules import RULES
from spanproof.store.errors import SchemaTooNew, StoreError
from spanproof.store.layout import Layout
from spanproof.store.schema import (
    ALERT_TABLES,
    DEAD_LETTERS,
    EXTERNAL_SCORES,
    FAILURE_TRIAGE,
    FAILURES,
    LEASES,
    MIGRATED,
    OTEL_TRACES,
    ROLLUP_MARKS,
    SCORES,
    SNIPPETS,
    TABLES,
    TRACES,
    VERDICT_DAYS,
    VERDICT_HOURS,
    Table,
)


@dataclass(frozen=True, slots=True)
class Migration:
    """A step from `version - 1` to `version`, safe to repeat where it was cut off."""

    version: int
    apply: Callable[[Client, Layout], None]


def _create(*tables: Table) -> Callable[[Client, Layout], None]:
    """Return a step that makes tables where they are not there."""

    def apply(client: Client, layout: Layout) -> None:
        for table in tables:
            for statement in layout.create(table):
                client.command(statement)

    return apply


def _add_amounts(client: Client, layout: Layout) -> None:
    """Add the amount behind a metric to scores, and what it is counted in."""
    for column in ("raw Nullable(Float64) AFTER value", "unit LowCardinality(String) AFTER raw"):
        for statement in layout.alter(SCORES.name, f"ADD COLUMN IF NOT EXISTS {column}"):
            client.command(statement)


def _order_spans_by_identity(client: Client, layout: Layout) -> None:
    """Copy `otel_traces` into a table that is ordered by trace and span alone, and put that in its place."""
    database = layout.database
    rows = client.query(
        "SELECT name, sorting_key FROM system.tables WHERE database = {database:String}",
        parameters={"database": database},
    ).result_rows
    keys = {str(row[0]): str(row[1]) for row in rows}
    fresh = replace(OTEL_TRACES, name="otel_traces_by_identity")
    if keys.get(OTEL_TRACES.name, "") not in ("", ", ".join(OTEL_TRACES.key)):
        client.command(fresh.ddl(database))
        names = ", ".join(f"`{name}`" for name in OTEL_TRACES.names)
        client.command(
            f"INSERT INTO {database}.{fresh.name} ({names}) SELECT {names} FROM {database}.otel_traces FINAL"  # noqa: S608
        )
        client.command(f"DROP TABLE {database}.otel_traces SYNC")
    elif fresh.name not in keys:
        return
    # Cut off after the drop, the copy is whole, and only its name is left to change.
    if OTEL_TRACES.name in keys and keys[OTEL_TRACES.name] == ", ".join(OTEL_TRACES.key):
        client.command(f"DROP TABLE {database}.{fresh.name} SYNC")
        return
    client.command(f"RENAME TABLE {database}.{fresh.name} TO {database}.otel_traces")


def _mark_every_hour(client: Client, layout: Layout) -> None:
    """Mark every hour that has scores, so that it is counted."""
    database = layout.database
    client.command(
        f"INSERT INTO {database}.{ROLLUP_MARKS.name} (hour, mark, marked, evaluated_ns)"  # noqa: S608
        f" SELECT DISTINCT toStartOfHour(span_time), 'migration', now(), 1 FROM {database}.{SCORES.name}"
    )


def _add_failing_layers(client: Client, layout: Layout) -> None:
    """Add `traces.failing`, and fill it day by day, so that no more than a day of documents is in memory."""
    database = layout.database
    column = "failing Array(LowCardinality(String)) AFTER defects"
    for statement in layout.alter(TRACES.name, f"ADD COLUMN IF NOT EXISTS {column}"):
        client.command(statement)
    traces = f"{database}.traces"
    days = client.query(f"SELECT DISTINCT toDate(start) AS day FROM {traces} ORDER BY day").result_rows  # noqa: S608
    names = ", ".join(TRACES.names)
    filled = ", ".join(_FILLED.get(name, name) for name in TRACES.names)
    for (day,) in days:
        client.command(
            f"INSERT INTO {traces} ({names}) SELECT {filled} FROM"  # noqa: S608
            f" (SELECT * FROM {traces} FINAL WHERE toDate(start) = {{day:Date}} AND empty(failing)) AS traces"
            " INNER JOIN (SELECT trace_id, arraySort(groupUniqArray(layer)) AS layers"
            f" FROM {database}.scores FINAL WHERE label = 'fail' AND current = 1 AND name = layer"
            " AND span_time >= toDateTime({day:Date}, 'UTC') GROUP BY trace_id) AS failed USING (trace_id)",
            parameters={"day": day},
        )


# What a trace's row gets in the columns that filling it changes.
_FILLED = {"failing": "layers", "evaluated_ns": "evaluated_ns + 1"}


def _add_weaknesses(client: Client, layout: Layout) -> None:
    """Add the CWE number of each finding; earlier rows have that of the rule, where it is one of ours."""
    known = {name: rule.cwe for name, rule in RULES.items() if rule.cwe is not None}
    given = (
        f"transform(replaceRegexpOne(toString(rule), '^(python|shell|sql|javascript)[.]', ''), {list(known)},"
    )
    given += f" {list(known.values())}, 0)"
    column = f"`Findings.Cwe` Array(UInt32) DEFAULT arrayMap(rule -> {given}, `Findings.Rule`)"
    for statement in layout.alter(
        SNIPPETS.name, f"ADD COLUMN IF NOT EXISTS {column} AFTER `Findings.Message`"
    ):
        client.command(statement)


def _add_causes(client: Client, layout: Layout) -> None:
    """Add why a score is open or skipped; earlier rows have none until they are evaluated again."""
    for column in (
        "cause LowCardinality(String) AFTER explanation",
        "cause_detail String AFTER cause",
    ):
        for statement in layout.alter(SCORES.name, f"ADD COLUMN IF NOT EXISTS {column}"):
            client.command(statement)


MIGRATIONS = (
    Migration(1, _create(*TABLES)),
    Migration(2, _add_amounts),
    Migration(3, _order_spans_by_identity),
    Migration(4, _create(DEAD_LETTERS)),
    Migration(5, _create(*ALERT_TABLES)),
    Migration(6, _create(EXTERNAL_SCORES)),
    Migration(7, _create(FAILURES, FAILURE_TRIAGE)),
    Migration(8, _create(VERDICT_HOURS, VERDICT_DAYS, ROLLUP_MARKS)),
    Migration(9, _mark_every_hour),
    Migration(10, _add_failing_layers),
    Migration(11, _create(LEASES)),
    Migration(12, _add_weaknesses),
    Migration(13, _add_causes),
)
"""In order. A released step never changes: a later one alters what it made."""


def migrate(client: Client, layout: Layout) -> None:
    """Bring the database up to the newest schema; does nothing where it is there already.

    Raises:
        SchemaTooNew: a newer Spanproof wrote it.
    """
    database = layout.database
    there = client.query(
        "SELECT count() FROM system.databases WHERE name = {name:String}", parameters={"name": database}
    ).result_rows[0][0]
    if not there:  # checked first: who is given a database is often not allowed to make one
        client.command(layout.create_database())
    for statement in layout.create(MIGRATED):
        client.command(statement)
    found = _read_version(client, database)
    if not found:
        # Migrations lead here from older stores; a new one, also one cut off half made, gets it at once.
        for statement in (each for table in TABLES for each in layout.create(table)):
            client.command(statement)
        _record_version(client, database, MIGRATIONS[-1].version)
    for migration in MIGRATIONS:
        if 0 < found < migration.version:
            migration.apply(client, layout)
            _record_version(client, database, migration.version)


def _record_version(client: Client, database: str, version: int) -> None:
    client.command(f"INSERT INTO {database}.{MIGRATED.name} (version) VALUES ({version})")  # noqa: S608


def check_schema(client: Client, database: str) -> None:
    """Check that the database can be read without a change.

    Raises:
        StoreError: there is none, or an older Spanproof wrote it.
        SchemaTooNew: a newer Spanproof wrote it.
    """
    tables = client.query(
        "SELECT count() FROM system.tables WHERE database = {database:String} AND name = 'migrations'",
        parameters={"database": database},
    ).result_rows[0][0]
    if not tables:
        raise StoreError(f"there is no Spanproof store in the database {database}; a server makes one")
    found, newest = _read_version(client, database), MIGRATIONS[-1].version
    if found < newest:
        raise StoreError(
            f"the database {database} has schema version {found}, this Spanproof reads {newest}: start the"
            " server of this version once, it brings the store up to date"
        )


def _read_version(client: Client, database: str) -> int:
    found = int(client.query(f"SELECT max(version) FROM {database}.migrations").result_rows[0][0])  # noqa: S608
    newest = MIGRATIONS[-1].version
    if found > newest:
        raise SchemaTooNew(
            f"the database {database} has schema version {found}, this Spanproof knows {newest}:"
            " upgrade spanproof, or use another store"
        )
    return found
