"""The tables, as data.

`TABLES` alone defines what is stored: the DDL and the column lists of inserts follow from it. Every table is
a ReplacingMergeTree whose key is a function of what was evaluated, so a batch written twice, or half written
and written again, ends in the same rows; the truth is read with FINAL.
"""

from __future__ import annotations

from spanproof.store.decision_tables import (
    ALERT_RULES,
    ALERT_TABLES,
    AUDIT_EVENTS,
    FAILURE_TRIAGE,
    REVIEW_ASSIGNMENTS,
    SAVED_VIEWS,
)
from spanproof.store.table import ATTRIBUTES, COUNT, SUM, TEXT, TIME, VERSIONED, WORD, Table
from spanproof.trace.dimensions import DIMENSIONS

_PLACE = (("project", WORD), ("trace_id", "String"), ("run_span_id", "String"), ("span_id", "String"))
_BY_TRACE = (("by_trace", "trace_id TYPE bloom_filter(0.001) GRANULARITY 1"),)

# Substrings of four characters: a granule has some 200 documents, and their text 30,000 such substrings.
TEXT_INDEX = ("by_text", "text TYPE ngrambf_v1(4, 32768, 3, 0) GRANULARITY 1")

OTEL_TRACES = Table(
    "otel_traces",
    # Names and types of the OpenTelemetry Collector's ClickHouse exporter; our own columns are at the end.
    (
        ("Timestamp", f"{TIME} CODEC(Delta(8), ZSTD(1))"),
        ("TraceId", "String CODEC(ZSTD(1))"),
        ("SpanId", "String CODEC(ZSTD(1))"),
        ("ParentSpanId", "String CODEC(ZSTD(1))"),
        ("TraceState", "String CODEC(ZSTD(1))"),
        ("SpanName", WORD),
        ("SpanKind", WORD),
        ("ServiceName", WORD),
        ("ResourceAttributes", ATTRIBUTES),
        ("ScopeName", "String CODEC(ZSTD(1))"),
        ("ScopeVersion", "String CODEC(ZSTD(1))"),
        ("SpanAttributes", ATTRIBUTES),
        ("Duration", "UInt64 CODEC(ZSTD(1))"),
        ("StatusCode", WORD),
        ("StatusMessage", "String CODEC(ZSTD(1))"),
        ("Events.Timestamp", f"Array({TIME}) CODEC(ZSTD(1))"),
        ("Events.Name", "Array(LowCardinality(String)) CODEC(ZSTD(1))"),
        ("Events.Attributes", "Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1))"),
        ("Links.TraceId", "Array(String) CODEC(ZSTD(1))"),
        ("Links.SpanId", "Array(String) CODEC(ZSTD(1))"),
        ("Links.TraceState", "Array(String) CODEC(ZSTD(1))"),
        ("Links.Attributes", "Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1))"),
        ("SpanproofKind", WORD),
        ("SpanproofProject", WORD),
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
        ("SpanproofProject", WORD),
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
        ("layer", WORD),
        ("name", WORD),
        ("evaluator", WORD),
        ("version", WORD),
        ("span_time", f"{TIME} CODEC(Delta(8), ZSTD(1))"),
        ("span_time_ns", "UInt64 CODEC(ZSTD(1))"),
        ("id", "String CODEC(ZSTD(1))"),
        ("outcome", "Enum8('scored' = 1, 'skipped' = 2, 'errored' = 3)"),
        ("value", "Nullable(Float64)"),
        # Of metrics: the amount behind the value, and what it is counted in.
        ("raw", "Nullable(Float64)"),
        ("unit", WORD),
        ("label", WORD),
        ("explanation", TEXT),
        # Of what is open or skipped: why, and what that is about.
        ("cause", WORD),
        ("cause_detail", TEXT),
        ("evidence", TEXT),
        ("error_type", WORD),
        ("input_digest", "String CODEC(ZSTD(1))"),
        *((name, WORD) for name in DIMENSIONS if name != "project"),
        # 0 on scores of a version of an evaluator that a newer one has taken over from.
        ("current", "UInt8 DEFAULT 1"),
        *VERSIONED,
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
        ("span_time", f"{TIME} CODEC(Delta(8), ZSTD(1))"),
        ("language", WORD),
        ("path", WORD),
        ("source", TEXT),
        ("executed", "UInt8"),
        ("truncated", "UInt8"),
        ("verdict", WORD),
        ("Findings.Rule", "Array(LowCardinality(String))"),
        ("Findings.Severity", "Array(LowCardinality(String))"),
        ("Findings.Verdict", "Array(LowCardinality(String))"),
        ("Findings.Line", "Array(UInt32)"),
        ("Findings.Message", "Array(String) CODEC(ZSTD(3))"),
        ("Findings.Cwe", "Array(UInt32)"),
        *VERSIONED,
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
        ("span_time", f"{TIME} CODEC(Delta(8), ZSTD(1))"),
        ("backend", WORD),
        ("failure_class", WORD),
        ("unreplayed", TEXT),
        ("exit_code", "Nullable(Int32)"),
        ("signal", "Nullable(Int32)"),
        ("stdout", TEXT),
        ("stderr", TEXT),
        ("wall_s", "Float64"),
        ("cpu_s", "Float64"),
        ("peak_memory_bytes", "UInt64"),
        ("agrees", "Nullable(UInt8)"),
        ("difference", TEXT),
        ("divergences", "UInt32"),
        ("Attempts.Kind", "Array(LowCardinality(String))"),
        ("Attempts.Target", "Array(String)"),
        ("Attempts.Allowed", "Array(UInt8)"),
        *VERSIONED,
    ),
    key=("project", "toStartOfHour(span_time)", "trace_id", "span_id", "snippet_id"),
    partition="toDate(span_time)",
    indexes=_BY_TRACE,
    time="span_time",
)

TRACES = Table(
    "traces",
    (
        ("project", WORD),
        ("trace_id", "String"),
        ("start", f"{TIME} CODEC(Delta(8), ZSTD(1))"),
        ("start_ns", "UInt64"),
        ("end_ns", "UInt64"),
        ("spans", "UInt32"),
        ("defects", "Array(LowCardinality(String))"),
        # The layers that fail in one of its runs, and what its runs are together: both with the verdicts of
        # people in place of ours.
        ("failing", "Array(LowCardinality(String))"),
        ("state", WORD),
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
        ("document", TEXT),
        ("document_format", "UInt16"),
        *VERSIONED,
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
        ("project", WORD),
        ("trace_id", "String"),
        ("failed", f"{TIME} CODEC(Delta(8), ZSTD(1))"),
        ("stage", WORD),
        ("error_type", WORD),
        ("error", TEXT),
        ("attempts", "UInt32"),
        # An OTLP request in base64: the driver gives strings as UTF-8.
        ("body", TEXT),
        *VERSIONED,
    ),
    key=("project", "trace_id"),
    partition="",
    time="failed",
)

EXTERNAL_SCORES = Table(
    # Scores from elsewhere as they were given; `scores` has them too, once their trace is stored. The project
    # is empty where the sender may write for all of them and named none.
    "external_scores",
    (
        ("project", WORD),
        ("trace_id", "String"),
        ("span_id", "String"),
        ("layer", WORD),
        ("name", WORD),
        ("source", WORD),
        ("value", "Float64"),
        ("label", WORD),
        ("explanation", TEXT),
        ("raw", "Nullable(Float64)"),
        ("unit", WORD),
        ("given", f"{TIME} CODEC(Delta(8), ZSTD(1))"),
        *VERSIONED,
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
        ("span_time", f"{TIME} CODEC(Delta(8), ZSTD(1))"),
        ("layer", WORD),
        ("checked", WORD),
        ("failure_class", WORD),
        ("error_type", WORD),
        ("message", WORD),
        ("subject", WORD),
        ("package", WORD),
        ("cause", WORD),
        ("cause_key", WORD),
        ("sample", TEXT),
        *((name, WORD) for name in DIMENSIONS if name != "project"),
        *VERSIONED,
    ),
    key=("project", "toStartOfHour(span_time)", "trace_id", "span_id", "fingerprint"),
    partition="toDate(span_time)",
    indexes=(*_BY_TRACE, ("by_fingerprint", "fingerprint TYPE bloom_filter(0.001) GRANULARITY 1")),
    time="span_time",
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


def _build_rollup(name: str, at: str) -> Table:
    """Return a table of counted scores by cohort and stretch of time; see `spanproof.store.rollups`."""
    return Table(
        name,
        (
            (at, "DateTime('UTC') CODEC(Delta(4), ZSTD(1))"),
            ("layer", WORD),
            ("name", WORD),
            *((dimension, WORD) for dimension in DIMENSIONS),
            *((name, SUM if name.endswith("_sum") else COUNT) for name in ROLLUP_SUMS),
            ("unit", WORD),
            *VERSIONED,
        ),
        key=("layer", "name", at, *DIMENSIONS),
        partition=f"toYYYYMM({at})",
        time=at,
        shard=at,
    )


VERDICT_HOURS = _build_rollup("verdict_hours", "hour")
VERDICT_DAYS = _build_rollup("verdict_days", "day")

ROLLUP_MARKS = Table(
    # Hours whose scores changed since they were counted. A mark that comes back after its removal was
    # forgotten only has its hour counted once more.
    "rollup_marks",
    (
        ("hour", "DateTime('UTC')"),
        ("mark", "String"),
        ("marked", "DateTime('UTC')"),
        *VERSIONED,
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
        *VERSIONED,
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
