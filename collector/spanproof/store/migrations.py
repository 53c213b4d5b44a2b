"""How a store of an older version comes to the newest schema.

`update_schema` brings it up step by step, each safe to repeat where it was cut off, and refuses a newer one.
The way back is a backup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from clickhouse_connect.driver.client import Client

from spanproof.sandbox.scanners.rules import RULES
from spanproof.store.decision_tables import (
    ALERT_RULES,
    ALERT_TABLES,
    AUDIT_EVENTS,
    FAILURE_TRIAGE,
    REVIEW_ASSIGNMENTS,
    SAVED_VIEWS,
)
from spanproof.store.documents import NEEDED_A_JUDGE, read_document
from spanproof.store.errors import SchemaTooNew, StoreError
from spanproof.store.filters import HAS_VERDICT
from spanproof.store.inserting import write_rows
from spanproof.store.keys import build_key_condition
from spanproof.store.layout import Layout
from spanproof.store.queries import update_states
from spanproof.store.schema import (
    DEAD_LETTERS,
    EXTERNAL_SCORES,
    FAILURES,
    LEASES,
    MIGRATED,
    OTEL_TRACE_TIMES,
    OTEL_TRACES,
    ROLLUP_MARKS,
    SCORES,
    SNIPPETS,
    TABLES,
    TEXT_INDEX,
    TRACES,
    VERDICT_DAYS,
    VERDICT_HOURS,
)
from spanproof.store.summary import build_summary_columns
from spanproof.store.table import Table
from spanproof.trace import OPEN_VALUE, Cause, Cohort
from spanproof.trace.project import TraceKey


@dataclass(frozen=True, slots=True)
class Migration:
    """A step from `version - 1` to `version`, safe to repeat where it was cut off."""

    version: int
    apply: Callable[[Client, Layout], None]


def _build_create_step(*tables: Table) -> Callable[[Client, Layout], None]:
    """Return a step that makes tables where they are not there."""

    def apply(client: Client, layout: Layout) -> None:
        for table in tables:
            for statement in layout.build_create_table(table):
                client.command(statement)

    return apply


def _add_amounts(client: Client, layout: Layout) -> None:
    """Add the amount behind a metric to scores, and what it is counted in."""
    for column in ("raw Nullable(Float64) AFTER value", "unit LowCardinality(String) AFTER raw"):
        for statement in layout.build_alter_table(SCORES.name, f"ADD COLUMN IF NOT EXISTS {column}"):
            client.command(statement)


def _update_span_order(client: Client, layout: Layout) -> None:
    """Copy `otel_traces` into a table that is ordered by trace and span alone, and put that in its place."""
    database = layout.database
    rows = client.query(
        "SELECT name, sorting_key FROM system.tables WHERE database = {database:String}",
        parameters={"database": database},
    ).result_rows
    keys = {str(row[0]): str(row[1]) for row in rows}
    fresh = replace(OTEL_TRACES, name="otel_traces_by_identity")
    if keys.get(OTEL_TRACES.name, "") not in ("", ", ".join(OTEL_TRACES.key)):
        client.command(fresh.build_ddl(database))
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


def _write_marks_of_every_hour(client: Client, layout: Layout, mark: str = "migration") -> None:
    """Mark every hour that has scores, so that it is counted.

    Each step has a mark of its own: one that was removed does not come back.
    """
    database = layout.database
    client.command(
        f"INSERT INTO {database}.{ROLLUP_MARKS.name} (hour, mark, marked, evaluated_ns)"  # noqa: S608
        f" SELECT DISTINCT toStartOfHour(span_time), {{mark:String}}, now(), 1 FROM {database}.{SCORES.name}",
        parameters={"mark": mark},
    )


def _add_failing_layers(client: Client, layout: Layout) -> None:
    """Add `traces.failing`, which `_add_states` fills."""
    column = "failing Array(LowCardinality(String)) AFTER defects"
    for statement in layout.build_alter_table(TRACES.name, f"ADD COLUMN IF NOT EXISTS {column}"):
        client.command(statement)


def _add_weaknesses(client: Client, layout: Layout) -> None:
    """Add the CWE number of each finding; earlier rows have that of the rule, where it is one of ours."""
    cwe_numbers = {name: rule.cwe for name, rule in RULES.items() if rule.cwe is not None}
    rule_name = "replaceRegexpOne(toString(rule), '^(python|shell|sql|javascript)[.]', '')"
    cwe = f"transform({rule_name}, {list(cwe_numbers)}, {list(cwe_numbers.values())}, 0)"
    column = f"`Findings.Cwe` Array(UInt32) DEFAULT arrayMap(rule -> {cwe}, `Findings.Rule`)"
    for statement in layout.build_alter_table(
        SNIPPETS.name, f"ADD COLUMN IF NOT EXISTS {column} AFTER `Findings.Message`"
    ):
        client.command(statement)


# Traces whose states are computed at once.
_SETTLED_AT_ONCE = 2_000


def _add_states(client: Client, layout: Layout) -> None:
    """Add causes, states of traces and counts of what is open.

    Answers that were skipped for want of a judge become open; other outcomes of before have no cause until
    they are evaluated again.
    """
    columns = (
        (SCORES, "cause LowCardinality(String) AFTER explanation"),
        (SCORES, "cause_detail String AFTER cause"),
        (TRACES, "state LowCardinality(String) AFTER failing"),
    )
    for table, column in columns:
        for statement in layout.build_alter_table(table.name, f"ADD COLUMN IF NOT EXISTS {column}"):
            client.command(statement)
    _update_undecided(client, layout)
    for (day,) in _list_days(client, layout, SCORES):
        _update_unsettled_answers(client, layout.database, day)
    for (day,) in _list_days(client, layout, TRACES):
        _update_states_of_day(client, layout.database, day)
    _write_marks_of_every_hour(client, layout, "states")


def _update_undecided(client: Client, layout: Layout) -> None:
    """Make `undecided` of the counts `open`, and count advice apart.

    Hours whose scores are there are counted again; here are the counts that outlived their scores.
    """
    for table in (VERDICT_HOURS, VERDICT_DAYS):
        for clause in (
            "RENAME COLUMN IF EXISTS undecided TO open",
            "ADD COLUMN IF NOT EXISTS advice UInt64 AFTER open",
        ):
            for statement in layout.build_alter_table(table.name, clause):
                client.command(statement)
        name = f"{layout.database}.{table.name}"
        client.command(
            f"INSERT INTO {name} SELECT * EXCEPT (unlabelled)"  # noqa: S608
            " REPLACE (0 AS open, unlabelled AS advice, evaluated_ns + 1 AS evaluated_ns)"
            # Within: outside, `open` is what takes its place.
            f" FROM (SELECT *, open AS unlabelled FROM {name} FINAL WHERE open > 0 AND NOT ({HAS_VERDICT}))"
        )


def _update_unsettled_answers(client: Client, database: str, day: object) -> None:
    client.command(
        f"INSERT INTO {database}.scores SELECT * REPLACE ('scored' AS outcome,"  # noqa: S608
        " {value:Float64} AS value, {cause:String} AS cause, evaluated_ns + 1 AS evaluated_ns)"
        f" FROM (SELECT * FROM {database}.scores FINAL WHERE toDate(span_time) = {{day:Date}}"
        " AND outcome = 'skipped' AND layer = 'groundedness' AND name = layer"
        " AND startsWith(explanation, {reason:String}))",
        parameters={
            "day": day,
            "value": OPEN_VALUE,
            "cause": Cause.VALUE_NOT_CERTAIN.value,
            "reason": NEEDED_A_JUDGE,
        },
    )


def _update_states_of_day(client: Client, database: str, day: object) -> None:
    traces = _list_traces_of_day(client, database, day)
    for first in range(0, len(traces), _SETTLED_AT_ONCE):
        update_states(client, database, traces[first : first + _SETTLED_AT_ONCE], 0)


def _list_traces_of_day(client: Client, database: str, day: object) -> list[TraceKey]:
    rows = client.query(
        f"SELECT project, trace_id FROM {database}.traces FINAL WHERE toDate(start) = {{day:Date}}",  # noqa: S608
        parameters={"day": day},
    ).result_rows
    return [TraceKey(str(row[0]), str(row[1])) for row in rows]


def _list_days(client: Client, layout: Layout, table: Table) -> Sequence[Sequence[object]]:
    """Return the days that a table has rows of: more of them than one insert may touch partitions."""
    return client.query(
        f"SELECT DISTINCT toDate({table.time}) AS day FROM {layout.database}.{table.name} ORDER BY day"  # noqa: S608
    ).result_rows


def _add_project_to_keys(client: Client, layout: Layout) -> None:
    """Make the project a part of the identity of spans, dead letters and scores from elsewhere.

    Scores from elsewhere get no project: they are of every trace with their id, as they were.
    """
    database = layout.database
    _update_sorting_key(client, layout, OTEL_TRACES, f"SELECT {{names}} FROM {database}.{{former}} FINAL")  # noqa: S608
    times = (
        "SELECT TraceId, toDateTime(min(Timestamp), 'UTC'),"  # noqa: S608
        " toDateTime(max(addNanoseconds(Timestamp, Duration)), 'UTC'),"
        f" SpanproofProject FROM {database}.{OTEL_TRACES.name} GROUP BY SpanproofProject, TraceId"
    )
    _update_sorting_key(client, layout, OTEL_TRACE_TIMES, times)
    letters = ", ".join(f"letters.{name}" for name in DEAD_LETTERS.names if name != "project")
    _update_sorting_key(
        client,
        layout,
        DEAD_LETTERS,
        f"SELECT if(spans.found = '', {{default:String}}, spans.found), {letters}"  # noqa: S608
        f" FROM (SELECT * FROM {database}.{{former}} FINAL) AS letters LEFT JOIN"
        f" (SELECT TraceId, any(SpanproofProject) AS found FROM {database}.{OTEL_TRACES.name}"
        " GROUP BY TraceId) AS spans ON letters.trace_id = spans.TraceId",
    )
    columns = ", ".join(name for name in EXTERNAL_SCORES.names if name != "project")
    rows = f"SELECT '', {columns} FROM {database}.{{former}} FINAL"  # noqa: S608
    _update_sorting_key(client, layout, EXTERNAL_SCORES, rows)


def _update_sorting_key(client: Client, layout: Layout, table: Table, rows: str) -> None:
    """Put a table with its present key in the place of one with a former key.

    Args:
        client: of the store.
        layout: of the store.
        table: as it is to be.
        rows: selects its rows; `{former}` is the name of the former table, `{names}` are its columns.
    """
    database, fresh = layout.database, replace(table, name=f"{table.name}_by_project")
    keys = _read_sorting_keys(client, database)
    kept, copy = layout.get_local_name(table.name), layout.get_local_name(fresh.name)
    if kept in keys and keys[kept] != ", ".join(table.key):
        # A copy that was cut off is begun again: the former table is still whole.
        _remove_table(client, layout, fresh.name)
        for statement in layout.build_create_table(fresh):
            client.command(statement)
        names = ", ".join(f"`{name}`" for name in table.names)
        selected = rows.replace("{former}", table.name).replace("{names}", names)
        client.command(
            f"INSERT INTO {database}.{fresh.name} ({names}) {selected}",
            parameters={"default": Cohort().project},
        )
        _remove_table(client, layout, table.name)
        keys = _read_sorting_keys(client, database)
    if kept in keys:
        _remove_table(client, layout, fresh.name)
        return
    # Cut off after the drop, the copy is whole, and only its name is left to change.
    if copy in keys:
        client.command(layout.build_rename_table(copy, kept))
    for statement in layout.build_create_table(table):
        client.command(statement)
    _remove_table(client, layout, fresh.name)


def _read_sorting_keys(client: Client, database: str) -> dict[str, str]:
    """Return what each table is ordered by."""
    rows = client.query(
        "SELECT name, sorting_key FROM system.tables WHERE database = {database:String}",
        parameters={"database": database},
    ).result_rows
    return {str(row[0]): str(row[1]) for row in rows}


def _remove_table(client: Client, layout: Layout, name: str) -> None:
    for statement in layout.build_drop_table(name):
        client.command(statement)


# Documents that are read at once.
_SUMMARISED_AT_ONCE = 200


def _add_summaries(client: Client, layout: Layout) -> None:
    """Add what a list of traces shows and searches, from the documents of the traces that are there."""
    name, expression = TEXT_INDEX
    added = TRACES.columns[TRACES.names.index("Runs.SpanId") : TRACES.names.index("document")]
    before = "state"
    for column, kind in added:
        clause = f"ADD COLUMN IF NOT EXISTS `{column}` {kind} AFTER `{before}`"
        for statement in layout.build_alter_table(TRACES.name, clause):
            client.command(statement)
        before = column
    client.command(layout.build_mutation(TRACES.name, f"ADD INDEX IF NOT EXISTS {name} {expression}"))
    for (day,) in _list_days(client, layout, TRACES):
        keys = _list_traces_of_day(client, layout.database, day)
        for first in range(0, len(keys), _SUMMARISED_AT_ONCE):
            _add_summaries_of_traces(client, layout.database, keys[first : first + _SUMMARISED_AT_ONCE])


def _add_summaries_of_traces(client: Client, database: str, keys: Sequence[TraceKey]) -> None:
    """Write the rows of these traces again, with the columns that describe their runs."""
    condition, bound = build_key_condition(keys)
    found = client.query(
        "SELECT * REPLACE (toUnixTimestamp64Nano(start) AS start, evaluated_ns + 1 AS evaluated_ns)"  # noqa: S608
        f" FROM {database}.{TRACES.name} FINAL WHERE {condition}",
        parameters=bound,
    )
    rows = []
    for row in found.named_results():
        try:
            evaluation = read_document(row["trace_id"], row["document"], row["document_format"])
        except StoreError:
            # A newer Spanproof wrote it, or it is broken: the trace is listed without task and answer.
            continue
        rows.append({**row, **build_summary_columns(evaluation)})
    if rows:
        write_rows(client, database, TRACES, rows)


MIGRATIONS = (
    Migration(1, _build_create_step(*TABLES)),
    Migration(2, _add_amounts),
    Migration(3, _update_span_order),
    Migration(4, _build_create_step(DEAD_LETTERS)),
    Migration(5, _build_create_step(*ALERT_TABLES)),
    Migration(6, _build_create_step(EXTERNAL_SCORES)),
    Migration(7, _build_create_step(FAILURES, FAILURE_TRIAGE)),
    Migration(8, _build_create_step(VERDICT_HOURS, VERDICT_DAYS, ROLLUP_MARKS)),
    Migration(9, _write_marks_of_every_hour),
    Migration(10, _add_failing_layers),
    Migration(11, _build_create_step(LEASES)),
    Migration(12, _add_weaknesses),
    Migration(13, _add_states),
    Migration(14, _add_project_to_keys),
    Migration(15, _add_summaries),
    Migration(16, _build_create_step(SAVED_VIEWS)),
    Migration(17, _build_create_step(AUDIT_EVENTS)),
    Migration(18, _build_create_step(ALERT_RULES, REVIEW_ASSIGNMENTS)),
)
"""In order. A released step never changes: a later one alters what it made."""


def update_schema(client: Client, layout: Layout) -> None:
    """Bring the database up to the newest schema; does nothing where it is there already.

    Raises:
        SchemaTooNew: a newer Spanproof wrote it.
    """
    database = layout.database
    there = client.query(
        "SELECT count() FROM system.databases WHERE name = {name:String}", parameters={"name": database}
    ).result_rows[0][0]
    if not there:  # checked first: who is given a database is often not allowed to make one
        client.command(layout.build_create_database())
    for statement in layout.build_create_table(MIGRATED):
        client.command(statement)
    found = _read_version(client, database)
    if not found:
        # Migrations lead here from older stores; a new one, also one cut off half made, gets it at once.
        for statement in (statement for table in TABLES for statement in layout.build_create_table(table)):
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
