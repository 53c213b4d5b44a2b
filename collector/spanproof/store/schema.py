"""The tables, as data, and how a store comes to the newest schema.

`TABLES` alone defines what is stored: the DDL and the column lists of inserts follow from it.
`migrate` brings any store of an older version up, statement by statement, each safe to repeat, and refuses a
newer one. Every table is a ReplacingMergeTree whose key is a function of what was evaluated, so a batch
written twice, or half written and written again, ends in the same rows; the truth is read with FINAL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from clickhouse_connect.driver.client import Client

from spanproof.store.errors import SchemaTooNew, StoreError
from spanproof.trace import Cohort

DIMENSIONS = tuple(field.name for field in fields(Cohort))
"""The columns of a cohort; every score has them."""

FINAL_SETTINGS = {
    # Keys hold the hour of the span, so one key is never in two partitions.
    "do_not_merge_across_partitions_select_final": 1,
    # Indexes are on parts of the key, which all versions of a row share.
    "use_skip_indexes_if_final": 1,
}
"""With these, reading with FINAL costs what it must."""

_WORD = "LowCardinality(String)"
_TIME = "DateTime64(9, 'UTC')"
_TEXT = "String CODEC(ZSTD(3))"
_ATTRIBUTES = "Map(LowCardinality(String), String) CODEC(ZSTD(3))"


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        columns: name to type, in order.
        key: expressions rows are ordered by and replaced by.
        partition: expression; empty for none.
        version: arguments of ReplacingMergeTree: the version column, then the deletion mark.
        indexes: name to `expression TYPE …`.
        nested: columns given as arrays `Outer.Inner`, which the DDL writes as `Nested`.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    partition: str
    version: tuple[str, ...] = ("evaluated_ns", "is_deleted")
    indexes: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, as an insert names them."""
        return tuple(name for name, _ in self.columns)

    def ddl(self, database: str) -> str:
        """The statement that creates it where it is not there."""
        lines = [f"`{name}` {kind}" for name, kind in self.columns]
        lines += [f"INDEX {name} {expression}" for name, expression in self.indexes]
        partition = f"PARTITION BY {self.partition} " if self.partition else ""
        return (
            f"CREATE TABLE IF NOT EXISTS {database}.{self.name} (\n  " + ",\n  ".join(lines) + "\n)"
            f" ENGINE = ReplacingMergeTree({', '.join(self.version)})"
            f" {partition}ORDER BY ({', '.join(self.key)})"
        )


_VERSIONED = (("evaluated_ns", "UInt64"), ("is_deleted", "UInt8 DEFAULT 0"))
_PLACE = (("project", _WORD), ("trace_id", "String"), ("run_span_id", "String"), ("span_id", "String"))
_BY_TRACE = (("by_trace", "trace_id TYPE bloom_filter(0.001) GRANULARITY 1"),)

OTEL_TRACES = Table(
    "otel_traces",
    # Names and types of the OpenTelemetry Collector's ClickHouse exporter; our own columns are at the end.
    (
        ("Timestamp", f"{_TIME} CODEC(Delta(8), ZSTD(1))"),
        ("TraceId", "String CODEC(ZSTD(1))"),
        ("SpanId", "String CODEC(ZSTD(1))"),
        ("ParentSpanId", "String CODEC(ZSTD(1))"),
        ("TraceState", "String CODEC(ZSTD(1))"),
        ("SpanName", _WORD),
        ("SpanKind", _WORD),
        ("ServiceName", _WORD),
        ("ResourceAttributes", _ATTRIBUTES),
        ("ScopeName", "String CODEC(ZSTD(1))"),
        ("ScopeVersion", "String CODEC(ZSTD(1))"),
        ("SpanAttributes", _ATTRIBUTES),
        ("Duration", "UInt64 CODEC(ZSTD(1))"),
        ("StatusCode", _WORD),
        ("StatusMessage", "String CODEC(ZSTD(1))"),
        ("Events.Timestamp", f"Array({_TIME}) CODEC(ZSTD(1))"),
        ("Events.Name", "Array(LowCardinality(String)) CODEC(ZSTD(1))"),
        ("Events.Attributes", "Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1))"),
        ("Links.TraceId", "Array(String) CODEC(ZSTD(1))"),
        ("Links.SpanId", "Array(String) CODEC(ZSTD(1))"),
        ("Links.TraceState", "Array(String) CODEC(ZSTD(1))"),
        ("Links.Attributes", "Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1))"),
        ("SpanproofKind", _WORD),
        ("SpanproofProject", _WORD),
        ("SpanproofWritten", "UInt64"),
    ),
    # Identity alone: a span that is sent again with another name or time takes the place of the former row,
    # which no key or partition with the name or time in it allows.
    key=("TraceId", "SpanId"),
    partition="",
    version=("SpanproofWritten",),
    indexes=(
        ("idx_time", "Timestamp TYPE minmax GRANULARITY 1"),
        ("idx_span_attr_key", "mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1"),
        ("idx_duration", "Duration TYPE minmax GRANULARITY 1"),
    ),
)

OTEL_TRACE_TIMES = Table(
    # The exporter fills this one by a materialised view; Grafana's trace view looks traces up in it.
    "otel_traces_trace_id_ts",
    (
        ("TraceId", "String CODEC(ZSTD(1))"),
        ("Start", "DateTime('UTC') CODEC(Delta(4), ZSTD(1))"),
        ("End", "DateTime('UTC') CODEC(Delta(4), ZSTD(1))"),
    ),
    key=("TraceId", "Start", "End"),
    partition="toDate(Start)",
    version=(),
)

SCORES = Table(
    "scores",
    (
        *_PLACE,
        ("snippet_id", "String"),
        ("layer", _WORD),
        ("name", _WORD),
        ("evaluator", _WORD),
        ("version", _WORD),
        ("span_time", f"{_TIME} CODEC(Delta(8), ZSTD(1))"),
        ("span_time_ns", "UInt64 CODEC(ZSTD(1))"),
        ("id", "String CODEC(ZSTD(1))"),
        ("outcome", "Enum8('scored' = 1, 'skipped' = 2, 'errored' = 3)"),
        ("value", "Nullable(Float64)"),
        # Of metrics: the amount behind the value, and what it is counted in.
        ("raw", "Nullable(Float64)"),
        ("unit", _WORD),
        ("label", _WORD),
        ("explanation", _TEXT),
        ("evidence", _TEXT),
        ("error_type", _WORD),
        ("input_digest", "String CODEC(ZSTD(1))"),
        *((name, _WORD) for name in DIMENSIONS if name != "project"),
        # 0 on scores of a version of an evaluator that a newer one has taken over from.
        ("current", "UInt8 DEFAULT 1"),
        *_VERSIONED,
    ),
    key=(
        "project",
        "toStartOfHour(span_time)",
        "trace_id",
        "span_id",
        "snippet_id",
        "layer",
        "name",
        "evaluator",
        "version",
    ),
    partition="toDate(span_time)",
    indexes=(*_BY_TRACE, ("by_id", "id TYPE bloom_filter(0.001) GRANULARITY 1")),
)

SNIPPETS = Table(
    "snippets",
    (
        *_PLACE,
        ("snippet_id", "String"),
        ("span_time", f"{_TIME} CODEC(Delta(8), ZSTD(1))"),
        ("language", _WORD),
        ("path", _WORD),
        ("source", _TEXT),
        ("executed", "UInt8"),
        ("truncated", "UInt8"),
        ("verdict", _WORD),
        ("Findings.Rule", "Array(LowCardinality(String))"),
        ("Findings.Severity", "Array(LowCardinality(String))"),
        ("Findings.Verdict", "Array(LowCardinality(String))"),
        ("Findings.Line", "Array(UInt32)"),
        ("Findings.Message", "Array(String) CODEC(ZSTD(3))"),
        *_VERSIONED,
    ),
    key=("project", "toStartOfHour(span_time)", "trace_id", "span_id", "snippet_id"),
    partition="toDate(span_time)",
    indexes=_BY_TRACE,
)

REPLAYS = Table(
    "replays",
    (
        *_PLACE,
        ("snippet_id", "String"),
        ("span_time", f"{_TIME} CODEC(Delta(8), ZSTD(1))"),
        ("backend", _WORD),
        ("failure_class", _WORD),
        ("unreplayed", _TEXT),
        ("exit_code", "Nullable(Int32)"),
        ("signal", "Nullable(Int32)"),
        ("stdout", _TEXT),
        ("stderr", _TEXT),
        ("wall_s", "Float64"),
        ("cpu_s", "Float64"),
        ("peak_memory_bytes", "UInt64"),
        ("agrees", "Nullable(UInt8)"),
        ("difference", _TEXT),
        ("divergences", "UInt32"),
        ("Attempts.Kind", "Array(LowCardinality(String))"),
        ("Attempts.Target", "Array(String)"),
        ("Attempts.Allowed", "Array(UInt8)"),
        *_VERSIONED,
    ),
    key=("project", "toStartOfHour(span_time)", "trace_id", "span_id", "snippet_id"),
    partition="toDate(span_time)",
    indexes=_BY_TRACE,
)

TRACES = Table(
    "traces",
    (
        ("project", _WORD),
        ("trace_id", "String"),
        ("start", f"{_TIME} CODEC(Delta(8), ZSTD(1))"),
        ("start_ns", "UInt64"),
        ("end_ns", "UInt64"),
        ("spans", "UInt32"),
        ("defects", "Array(LowCardinality(String))"),
        # The whole evaluation, in the form of spanproof.trace.codec: what `show` and `promote` read.
        ("document", _TEXT),
        ("document_format", "UInt16"),
        *_VERSIONED,
    ),
    key=("project", "toStartOfHour(start)", "trace_id"),
    partition="toDate(start)",
    indexes=_BY_TRACE,
)

DEAD_LETTERS = Table(
    # Traces that no attempt could evaluate, with their spans: what `spanproof retry` reads.
    "dead_letters",
    (
        ("trace_id", "String"),
        ("failed", f"{_TIME} CODEC(Delta(8), ZSTD(1))"),
        ("stage", _WORD),
        ("error_type", _WORD),
        ("error", _TEXT),
        ("attempts", "UInt32"),
        # An OTLP request in base64: the driver gives strings as UTF-8.
        ("body", _TEXT),
        *_VERSIONED,
    ),
    key=("trace_id",),
    partition="",
)

ALERT_EVENTS = Table(
    # What happened to each alert, in order: the newest event is its state. The rows of one insert are one
    # part, as there are no partitions: all of them are there after a crash, or none.
    "alert_events",
    (
        ("rule", _WORD),
        # Of the values it is grouped by: one rule has an alert for each.
        ("fingerprint", "String"),
        # From pending to resolved is an episode, known by its start.
        ("episode_ns", "UInt64"),
        ("sequence", "UInt32"),
        ("status", _WORD),
        ("at_ns", "UInt64"),
        ("fired_ns", "UInt64"),
        ("notified_ns", "UInt64"),
        # The notification it is part of, and the targets that get it; empty for none.
        ("notification", "String"),
        ("targets", "Array(LowCardinality(String))"),
        ("repeated", "UInt8"),
        ("document", _TEXT),
        *_VERSIONED,
    ),
    key=("rule", "fingerprint", "episode_ns", "sequence"),
    partition="",
)

ALERT_DELIVERIES = Table(
    # How far each notification got at each target.
    "alert_deliveries",
    (
        ("notification", "String"),
        ("target", _WORD),
        ("rule", _WORD),
        ("state", _WORD),
        ("attempts", "UInt32"),
        ("error", _TEXT),
        ("at_ns", "UInt64"),
        *_VERSIONED,
    ),
    key=("notification", "target"),
    partition="",
)

ALERT_SILENCES = Table(
    "alert_silences",
    (
        ("id", "String"),
        # A JSON object: label to a pattern with `*` and `?`; all must fit.
        ("matchers", _TEXT),
        ("starts_ns", "UInt64"),
        ("ends_ns", "UInt64"),
        ("author", "String"),
        ("comment", _TEXT),
        *_VERSIONED,
    ),
    key=("id",),
    partition="",
)

ALERT_ACKNOWLEDGEMENTS = Table(
    "alert_acknowledgements",
    (
        ("rule", _WORD),
        ("fingerprint", "String"),
        ("episode_ns", "UInt64"),
        ("author", "String"),
        ("comment", _TEXT),
        ("at_ns", "UInt64"),
        *_VERSIONED,
    ),
    key=("rule", "fingerprint", "episode_ns"),
    partition="",
)

ALERT_TABLES = (ALERT_EVENTS, ALERT_DELIVERIES, ALERT_SILENCES, ALERT_ACKNOWLEDGEMENTS)

EXTERNAL_SCORES = Table(
    # Scores from elsewhere as they were given; `scores` has them too, once their trace is stored.
    "external_scores",
    (
        ("trace_id", "String"),
        ("span_id", "String"),
        ("layer", _WORD),
        ("name", _WORD),
        ("source", _WORD),
        ("value", "Float64"),
        ("label", _WORD),
        ("explanation", _TEXT),
        ("raw", "Nullable(Float64)"),
        ("unit", _WORD),
        ("given", f"{_TIME} CODEC(Delta(8), ZSTD(1))"),
        *_VERSIONED,
    ),
    key=("trace_id", "span_id", "layer", "name", "source"),
    partition="",
)


FAILURES = Table(
    # The causes of failed verdicts, one row for each cause and span; see spanproof.failures.
    "failures",
    (
        *_PLACE,
        ("fingerprint", "String"),
        ("span_time", f"{_TIME} CODEC(Delta(8), ZSTD(1))"),
        ("layer", _WORD),
        ("checked", _WORD),
        ("failure_class", _WORD),
        ("error_type", _WORD),
        ("message", _WORD),
        ("subject", _WORD),
        ("package", _WORD),
        ("cause", _WORD),
        ("cause_key", _WORD),
        ("sample", _TEXT),
        *((name, _WORD) for name in DIMENSIONS if name != "project"),
        *_VERSIONED,
    ),
    key=("project", "toStartOfHour(span_time)", "trace_id", "span_id", "fingerprint"),
    partition="toDate(span_time)",
    indexes=(*_BY_TRACE, ("by_fingerprint", "fingerprint TYPE bloom_filter(0.001) GRANULARITY 1")),
)

FAILURE_TRIAGE = Table(
    # What people decided about clusters of failures: the latest decision of each action counts.
    "failure_triage",
    (
        ("subject", "String"),
        ("action", _WORD),
        ("value", _TEXT),
        ("note", _TEXT),
        ("changed_ns", "UInt64"),
    ),
    key=("subject", "action"),
    partition="",
    version=("changed_ns",),
)

TRIAGE_INSERT = (
    f"INSERT INTO {{database}}.{FAILURE_TRIAGE.name} (subject, action, value, note, changed_ns)"
    " SELECT {subject:String}, {action:String}, {value:String}, {note:String}, {changed:UInt64}"
)
"""How a decision is written; `{database}` is replaced by its name."""

TABLES = (
    OTEL_TRACES,
    OTEL_TRACE_TIMES,
    SCORES,
    SNIPPETS,
    REPLAYS,
    TRACES,
    DEAD_LETTERS,
    *ALERT_TABLES,
    EXTERNAL_SCORES,
    FAILURES,
    FAILURE_TRIAGE,
)


@dataclass(frozen=True, slots=True)
class Migration:
    """A step from `version - 1` to `version`, safe to repeat where it was cut off."""

    version: int
    apply: Callable[[Client, str], None]


def _run(*statements: str) -> Callable[[Client, str], None]:
    """Return a step of statements; `{database}` is replaced by the database's name."""

    def apply(client: Client, database: str) -> None:
        for statement in statements:
            client.command(statement.replace("{database}", database))

    return apply


def _key_spans_by_identity(client: Client, database: str) -> None:
    """Copy `otel_traces` into a table that is ordered by trace and span alone, and put that in its place."""
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


MIGRATIONS = (
    # Makes the newest tables: each later step changes nothing where they have its columns already.
    Migration(1, _run(*(table.ddl("{database}") for table in TABLES))),
    Migration(
        2,
        _run(
            "ALTER TABLE {database}.scores ADD COLUMN IF NOT EXISTS raw Nullable(Float64) AFTER value",
            f"ALTER TABLE {{database}}.scores ADD COLUMN IF NOT EXISTS unit {_WORD} AFTER raw",
        ),
    ),
    Migration(3, _key_spans_by_identity),
    Migration(4, _run(DEAD_LETTERS.ddl("{database}"))),
    Migration(5, _run(*(table.ddl("{database}") for table in ALERT_TABLES))),
    Migration(6, _run(EXTERNAL_SCORES.ddl("{database}"))),
    Migration(7, _run(FAILURES.ddl("{database}"), FAILURE_TRIAGE.ddl("{database}"))),
)
"""In order. A released step never changes: a later one alters what it made."""


def migrate(client: Client, database: str) -> None:
    """Bring the database up to the newest schema; does nothing where it is there already.

    Raises:
        SchemaTooNew: a newer Spanproof wrote it.
    """
    there = client.query(
        "SELECT count() FROM system.databases WHERE name = {name:String}", parameters={"name": database}
    ).result_rows[0][0]
    if not there:  # checked first: who is given a database is often not allowed to make one
        client.command(f"CREATE DATABASE IF NOT EXISTS {database} ENGINE = Atomic")
    client.command(
        f"CREATE TABLE IF NOT EXISTS {database}.migrations"
        " (version UInt32, applied DateTime('UTC') DEFAULT now())"
        " ENGINE = ReplacingMergeTree ORDER BY version"
    )
    found = _version(client, database)
    for migration in MIGRATIONS:
        if migration.version > found:
            migration.apply(client, database)
            client.insert(f"{database}.migrations", [[migration.version]], column_names=["version"])


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
    found, newest = _version(client, database), MIGRATIONS[-1].version
    if found < newest:
        raise StoreError(
            f"the database {database} has schema version {found}, this Spanproof reads {newest}: start the"
            " server of this version once, it brings the store up to date"
        )


def _version(client: Client, database: str) -> int:
    found = int(client.query(f"SELECT max(version) FROM {database}.migrations").result_rows[0][0])  # noqa: S608
    newest = MIGRATIONS[-1].version
    if found > newest:
        raise SchemaTooNew(
            f"the database {database} has schema version {found}, this Spanproof knows {newest}:"
            " upgrade spanproof, or use another store"
        )
    return found
