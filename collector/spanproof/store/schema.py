"""The tables, as data.

`TABLES` alone defines what is stored: the DDL and the column lists of inserts follow from it. Every table is
a ReplacingMergeTree whose key is a function of what was evaluated, so a batch written twice, or half written
and written again, ends in the same rows; the truth is read with FINAL.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.trace.dimensions import DIMENSIONS

"""The columns of a cohort; every score has them."""

FINAL_SETTINGS = {
    # Keys hold the hour of the span, so one key is never in two partitions.
    "do_not_merge_across_partitions_select_final": 1,
    # Indexes are on parts of the key, which all versions of a row share.
    "use_skip_indexes_if_final": 1,
    # Of conditions only those on the key are moved ahead, which all versions of a row meet alike.
    "optimize_move_to_prewhere_if_final": 1,
}
"""With these, reading with FINAL costs what it must."""

EMBEDDED_SETTINGS = {
    # Compiling an expression takes the engine 40 to 130 ms, anew in each process; over 1.5 million scores no
    # query is faster for it.
    "compile_expressions": 0,
    "compile_aggregate_expressions": 0,
    "compile_sort_description": 0,
}
"""Of queries on an engine within this process."""

_WORD = "LowCardinality(String)"
_TIME = "DateTime64(9, 'UTC')"
_COUNT, _SUM = "UInt64 CODEC(T64, ZSTD(1))", "Float64 CODEC(ZSTD(1))"
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
        time: the column by which rows grow old; empty where they do not.
        shard: what the shard of a row in a cluster follows from: a part of the key.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    partition: str
    version: tuple[str, ...] = ("evaluated_ns", "is_deleted")
    indexes: tuple[tuple[str, str], ...] = ()
    time: str = ""
    shard: str = "trace_id"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, as an insert names them."""
        return tuple(name for name, _ in self.columns)

    def ddl(self, database: str, *, name: str = "", engine: str = "", on: str = "") -> str:
        """Return the statement that creates it if missing, under another name or engine if given."""
        lines = [f"`{column}` {kind}" for column, kind in self.columns]
        lines += [f"INDEX {index} {expression}" for index, expression in self.indexes]
        partition = f"PARTITION BY {self.partition} " if self.partition else ""
        engine = engine or f"ReplacingMergeTree({', '.join(self.version)})"
        head = f"CREATE TABLE IF NOT EXISTS {database}.{name or self.name}{on}"
        body = ",\n  ".join(lines)
        return f"{head} (\n  {body}\n) ENGINE = {engine} {partition}ORDER BY ({', '.join(self.key)})"


_VERSIONED = (("evaluated_ns", "UInt64"), ("is_deleted", "UInt8 DEFAULT 0"))
_PLACE = (("project", _WORD), ("trace_id", "String"), ("run_span_id", "String"), ("span_id", "String"))
_BY_TRACE = (("by_trace", "trace_id TYPE bloom_filter(0.001) GRANULARITY 1"),)

# Substrings of four characters: a granule has some 200 documents, and their text 30,000 such substrings.
TEXT_INDEX = ("by_text", "text TYPE ngrambf_v1(4, 32768, 3, 0) GRANULARITY 1")

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
    # which no key or partition with the name or time in it allows. Ids are chosen by senders: the project is
    # a part of the identity, and last, as spans are looked up by their trace.
    key=("TraceId", "SpanId", "SpanproofProject"),
    partition="",
    version=("SpanproofWritten",),
    indexes=(
        ("idx_time", "Timestamp TYPE minmax GRANULARITY 1"),
        ("idx_span_attr_key", "mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1"),
        ("idx_duration", "Duration TYPE minmax GRANULARITY 1"),
    ),
    time="Timestamp",
    shard="TraceId",
)

OTEL_TRACE_TIMES = Table(
    # The exporter fills this one by a materialised view; Grafana's trace view looks traces up in it.
    "otel_traces_trace_id_ts",
    (
        ("TraceId", "String CODEC(ZSTD(1))"),
        ("Start", "DateTime('UTC') CODEC(Delta(4), ZSTD(1))"),
        ("End", "DateTime('UTC') CODEC(Delta(4), ZSTD(1))"),
        ("SpanproofProject", _WORD),
    ),
    key=("TraceId", "Start", "End", "SpanproofProject"),
    partition="toDate(Start)",
    version=(),
    time="Start",
    shard="TraceId",
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
        # Of what is open or skipped: why, and what that is about.
        ("cause", _WORD),
        ("cause_detail", _TEXT),
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
    time="span_time",
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
        ("Findings.Cwe", "Array(UInt32)"),
        *_VERSIONED,
    ),
    key=("project", "toStartOfHour(span_time)", "trace_id", "span_id", "snippet_id"),
    partition="toDate(span_time)",
    indexes=_BY_TRACE,
    time="span_time",
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
    time="span_time",
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
        # The layers that fail in one of its runs, and what its runs are together: both with the verdicts of
        # people in place of ours.
        ("failing", "Array(LowCardinality(String))"),
        ("state", _WORD),
        # What a list shows of its runs, and what their sums are; see `spanproof.store.summary`.
        ("Runs.SpanId", "Array(String)"),
        ("Runs.Task", "Array(String) CODEC(ZSTD(3))"),
        ("Runs.Answer", "Array(String) CODEC(ZSTD(3))"),
        ("Runs.Tokens", "Array(UInt64)"),
        ("Runs.CostUsd", "Array(Nullable(Float64))"),
        ("tokens", "UInt64"),
        ("cost_usd", "Nullable(Float64)"),
        # What a search reads: quick to decompress rather than small.
        ("text", "String CODEC(LZ4)"),
        # The whole evaluation, in the form of spanproof.trace.codec: what `show` and `promote` read.
        ("document", _TEXT),
        ("document_format", "UInt16"),
        *_VERSIONED,
    ),
    key=("project", "toStartOfHour(start)", "trace_id"),
    partition="toDate(start)",
    indexes=(*_BY_TRACE, TEXT_INDEX),
    time="start",
)

DEAD_LETTERS = Table(
    # Traces that no attempt could evaluate, with their spans: what `spanproof retry` reads.
    "dead_letters",
    (
        ("project", _WORD),
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
    key=("project", "trace_id"),
    partition="",
    time="failed",
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
    shard="rule",
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
    shard="notification",
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
    shard="id",
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
    shard="rule",
)

ALERT_RULES = Table(
    # Rules that people made in the console, as the YAML of a configuration.
    "alert_rules",
    (
        ("name", "String"),
        ("text", _TEXT),
        ("author", "String"),
        ("saved_ns", "UInt64"),
        *_VERSIONED,
    ),
    key=("name",),
    partition="",
    shard="name",
)

ALERT_TABLES = (ALERT_EVENTS, ALERT_DELIVERIES, ALERT_SILENCES, ALERT_ACKNOWLEDGEMENTS)

EXTERNAL_SCORES = Table(
    # Scores from elsewhere as they were given; `scores` has them too, once their trace is stored. The project
    # is empty where the sender may write for all of them and named none.
    "external_scores",
    (
        ("project", _WORD),
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
    key=("project", "trace_id", "span_id", "layer", "name", "source"),
    partition="",
    time="given",
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
    time="span_time",
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
    shard="subject",
)

TRIAGE_INSERT = (
    f"INSERT INTO {{database}}.{FAILURE_TRIAGE.name} (subject, action, value, note, changed_ns)"
    " SELECT {subject:String}, {action:String}, {value:String}, {note:String}, {changed:UInt64}"
)
"""How a decision is written; `{database}` is replaced by its name."""

SAVED_VIEWS = Table(
    # Query lines that people keep for all readers of a project; an empty project is every one.
    "saved_views",
    (
        ("project", _WORD),
        ("name", "String"),
        ("query", _TEXT),
        ("author", "String"),
        ("saved_ns", "UInt64"),
        *_VERSIONED,
    ),
    key=("project", "name"),
    partition="",
    shard="name",
)

REVIEW_ASSIGNMENTS = Table(
    # Who reviews a verdict, and by when; an empty assignee takes it back.
    "review_assignments",
    (
        ("project", _WORD),
        ("trace_id", "String"),
        ("run_span_id", "String"),
        ("layer", _WORD),
        ("assignee", "String"),
        ("due_ns", "UInt64"),
        ("author", "String"),
        ("assigned_ns", "UInt64"),
        *_VERSIONED,
    ),
    key=("project", "trace_id", "run_span_id", "layer"),
    partition="",
    shard="trace_id",
)

AUDIT_EVENTS = Table(
    # Who had code run by hand, and of which trace.
    "audit_events",
    (
        ("id", "String"),
        ("at_ns", "UInt64"),
        ("project", _WORD),
        ("actor", "String"),
        ("action", _WORD),
        ("subject", "String"),
        ("detail", _TEXT),
        *_VERSIONED,
    ),
    key=("at_ns", "id"),
    partition="",
    shard="id",
)

ROLLUP_SUMS = (
    "passed",
    "failed",
    "errored",
    "skipped",
    "open",
    "advice",
    "values",
    "value_sum",
    "raws",
    "raw_sum",
)
"""What is added up over scores: verdicts, then how many values and raw amounts there are, and their sums.

The value of an open verdict is a placeholder and not among the values.
"""

VERDICT_COUNTS = ROLLUP_SUMS[:6]
"""Those that count verdicts, in the order of the fields of `FailRate`."""


def _make_rollup(name: str, at: str) -> Table:
    """Return a table of counted scores by cohort and stretch of time; see `spanproof.store.rollups`."""
    return Table(
        name,
        (
            (at, "DateTime('UTC') CODEC(Delta(4), ZSTD(1))"),
            ("layer", _WORD),
            ("name", _WORD),
            *((dimension, _WORD) for dimension in DIMENSIONS),
            *((each, _SUM if each.endswith("_sum") else _COUNT) for each in ROLLUP_SUMS),
            ("unit", _WORD),
            *_VERSIONED,
        ),
        key=("layer", "name", at, *DIMENSIONS),
        partition=f"toYYYYMM({at})",
        time=at,
        shard=at,
    )


VERDICT_HOURS = _make_rollup("verdict_hours", "hour")
VERDICT_DAYS = _make_rollup("verdict_days", "day")

ROLLUP_MARKS = Table(
    # Hours whose scores changed since they were counted. A mark that comes back after its removal was
    # forgotten only has its hour counted once more.
    "rollup_marks",
    (
        ("hour", "DateTime('UTC')"),
        ("mark", "String"),
        ("marked", "DateTime('UTC')"),
        *_VERSIONED,
    ),
    key=("hour", "mark"),
    partition="",
    shard="hour",
)

LEASES = Table(
    # Which process does what only one does at a time; see `spanproof.store.leases`.
    "leases",
    (
        ("name", "String"),
        ("holder", "String"),
        ("since_ns", "UInt64"),
        ("expires_ns", "UInt64"),
        *_VERSIONED,
    ),
    key=("name", "holder"),
    partition="",
    shard="name",
)

MIGRATED = Table(
    "migrations",
    (("version", "UInt32"), ("applied", "DateTime('UTC') DEFAULT now()")),
    key=("version",),
    partition="",
    version=(),
    shard="1",
)

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
    SAVED_VIEWS,
    AUDIT_EVENTS,
    ALERT_RULES,
    REVIEW_ASSIGNMENTS,
    VERDICT_HOURS,
    VERDICT_DAYS,
    ROLLUP_MARKS,
    LEASES,
    MIGRATED,
)
