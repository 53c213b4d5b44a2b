"""A store of every earlier schema comes to the newest one, with what it holds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.sandbox.scanners.model import Finding, Scan, Severity, Verdict
from spanproof.store import DeadLetter, ExternalScore, open_store
from spanproof.store.breakdown import Fact
from spanproof.store.migrations import MIGRATIONS
from spanproof.store.trace_list import TraceOrder, TraceTerms
from spanproof.trace import Cause, Label, Layer, Scored, Skipped, State

SUMMARY_COLUMNS = (
    "Runs.SpanId", "Runs.Task", "Runs.Answer", "Runs.Tokens", "Runs.CostUsd", "tokens", "cost_usd", "text",
)  # fmt: skip
UNDONE = {
    2: ("ALTER TABLE {db}.scores DROP COLUMN IF EXISTS raw, DROP COLUMN IF EXISTS unit",),
    4: ("DROP TABLE IF EXISTS {db}.dead_letters SYNC",),
    5: tuple(
        f"DROP TABLE IF EXISTS {{db}}.alert_{name} SYNC"
        for name in ("events", "deliveries", "silences", "acknowledgements")
    ),
    6: ("DROP TABLE IF EXISTS {db}.external_scores SYNC",),
    7: ("DROP TABLE IF EXISTS {db}.failures SYNC", "DROP TABLE IF EXISTS {db}.failure_triage SYNC"),
    8: tuple(
        f"DROP TABLE IF EXISTS {{db}}.{name} SYNC"
        for name in ("verdict_hours", "verdict_days", "rollup_marks")
    ),
    10: ("ALTER TABLE {db}.traces DROP COLUMN IF EXISTS failing",),
    11: ("DROP TABLE IF EXISTS {db}.leases SYNC",),
    12: ("ALTER TABLE {db}.snippets DROP COLUMN IF EXISTS `Findings.Cwe`",),
    13: (
        "ALTER TABLE {db}.scores DROP COLUMN IF EXISTS cause, DROP COLUMN IF EXISTS cause_detail",
        "ALTER TABLE {db}.traces DROP COLUMN IF EXISTS state",
        *(
            f"ALTER TABLE {{db}}.{name} {change}"
            for name in ("verdict_hours", "verdict_days")
            for change in ("DROP COLUMN advice", "RENAME COLUMN open TO undecided")
        ),
    ),
    14: tuple(
        statement
        for name, key, columns, engine in (
            ("otel_traces", "TraceId, SpanId", "*", "SpanproofWritten"),
            ("otel_traces_trace_id_ts", "TraceId, Start, End", "* EXCEPT SpanproofProject", ""),
            ("dead_letters", "trace_id", "* EXCEPT project", "evaluated_ns, is_deleted"),
            (
                "external_scores",
                "trace_id, span_id, layer, name, source",
                "* EXCEPT project",
                "evaluated_ns, is_deleted",
            ),
        )
        for statement in (
            (
                f"CREATE TABLE {{db}}.former ENGINE = ReplacingMergeTree({engine}) ORDER BY ({key})"
                f" AS SELECT {columns} FROM {{db}}.{name} FINAL"
            ),
            f"DROP TABLE {{db}}.{name} SYNC",
            f"RENAME TABLE {{db}}.former TO {{db}}.{name}",
        )
    ),
    15: (
        "ALTER TABLE {db}.traces DROP INDEX IF EXISTS by_text",
        *(f"ALTER TABLE {{db}}.traces DROP COLUMN IF EXISTS `{name}`" for name in SUMMARY_COLUMNS),
    ),
    16: ("DROP TABLE IF EXISTS {db}.saved_views SYNC",),
    17: ("DROP TABLE IF EXISTS {db}.audit_events SYNC",),
    18: (
        "DROP TABLE IF EXISTS {db}.alert_rules SYNC",
        "DROP TABLE IF EXISTS {db}.review_assignments SYNC",
    ),
}
"""What takes a store back to before each step."""


@pytest.mark.parametrize("version", range(1, MIGRATIONS[-1].version))
def test_a_store_of_every_earlier_schema_is_brought_up_to_date(tmp_path, evaluation, version):
    with open_store(tmp_path) as store:
        store.write([evaluation(number) for number in (1, 2)])
        with store._connections.lease() as client:
            for step in range(MIGRATIONS[-1].version, version, -1):
                for statement in UNDONE.get(step, ()):
                    client.command(statement.format(db=store._database))
            client.command(f"TRUNCATE TABLE {store._database}.migrations")
            client.insert(f"{store._database}.migrations", [[version]], column_names=["version"])
    with open_store(tmp_path) as store:
        store.write([evaluation(3)])
        while store.refresh_rollups():
            pass
        assert len(store.traces(failing=Layer.GROUNDEDNESS)) == 3
        assert len(store.traces(states=[State.FAIL])) == 3
        found = store.browse.list_traces(
            TraceTerms(texts=["TEA in dollars"]), order=TraceOrder.NEWEST, limit=10
        )
        assert [row.summaries["a" * 16].answer for row in found] == ["$54.00"] * 3
        assert store.fail_rate(Layer.GROUNDEDNESS, failing=0, start_ns=0, end_ns=2**62).failed == 3
        with store._connections.lease() as client:
            noted = client.query(f"SELECT max(version) FROM {store._database}.migrations").result_rows
    assert noted[0][0] == MIGRATIONS[-1].version


def test_steps_are_numbered_in_order():
    assert [migration.version for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_findings_of_an_earlier_store_have_the_weakness_of_their_rule(tmp_path, evaluation):
    whole = evaluation(1)
    (run,) = whole.runs
    found = [
        Finding(rule, Severity.ADVISORY, Verdict.ALLOW, 1, 1, 1, 2, "found", cwe=None)
        for rule in ("python.weakness.hash", "secret.assigned", "user.mine")
    ]
    run = replace(run, scans=dict.fromkeys(run.scans, Scan(Verdict.ALLOW, tuple(found))))
    with open_store(tmp_path) as store:
        store.write([replace(whole, runs=(run,))])
        with store._connections.lease() as client:
            client.command(UNDONE[12][0].format(db=store._database))
            client.command(f"TRUNCATE TABLE {store._database}.migrations")
            client.insert(f"{store._database}.migrations", [[11]], column_names=["version"])
    with open_store(tmp_path) as store:
        counts = store.break_down(Fact.CWE, start_ns=0, end_ns=2**62)
    assert {each.item for each in counts} == {"CWE-328", "CWE-798"}


def test_answers_that_an_earlier_store_skipped_for_want_of_a_judge_are_open(tmp_path, evaluation):
    unsettled = Skipped("the answer needs a judge: it states nothing that can be bound to an output")
    good = Scored(1.0, Label.PASS, "fine")
    stored = [
        evaluation(1, verdicts={Layer.CORRECTNESS: good, Layer.GROUNDEDNESS: unsettled}),
        evaluation(2, verdicts={Layer.CORRECTNESS: good, Layer.GROUNDEDNESS: Skipped("no answer")}),
    ]
    advice = replace(stored[0].runs[0].scores[0], name="lint", outcome=Scored(0.4, None, "long lines"))
    window = {"start_ns": 0, "end_ns": 2**62}
    with open_store(tmp_path) as store:
        run = stored[0].runs[0]
        store.write([replace(stored[0], runs=(replace(run, scores=(*run.scores, advice)),)), stored[1]])
        with store._connections.lease() as client:
            # An earlier step marked the hours as well, and they were counted.
            MIGRATIONS[8].apply(client, store._connections.layout)
        while store.refresh_rollups():
            pass
        with store._connections.lease() as client:
            # Counts outlive their scores, with advice and open verdicts in one number.
            client.command(
                f"INSERT INTO {store._database}.verdict_hours SELECT * REPLACE"
                " (toDateTime(86400, 'UTC') AS hour, 7 AS open, 0 AS advice)"
                f" FROM {store._database}.verdict_hours FINAL WHERE name IN ('correctness', 'lint')"
            )
            for statement in UNDONE[13]:
                client.command(statement.format(db=store._database))
            client.command(f"TRUNCATE TABLE {store._database}.migrations")
            client.insert(f"{store._database}.migrations", [[12]], column_names=["version"])
    with open_store(tmp_path) as store:
        (opened,) = store.traces(states=[State.OPEN])
        assert opened.runs[0].layers[Layer.GROUNDEDNESS].cause is Cause.VALUE_NOT_CERTAIN
        assert store.evaluation(opened.trace_id).state is State.OPEN
        assert len(store.traces(states=[State.PASS])) == 1
        rate = store.fail_rate(Layer.GROUNDEDNESS, **window)
        assert (rate.judged, rate.open, rate.skipped) == (0, 1, 1)
        long_ago = {"start_ns": 86_400 * 10**9, "end_ns": 90_000 * 10**9}
        assert store.fail_rate(Layer.CORRECTNESS, **long_ago).open == 7
        assert store.fail_rate(Layer.CORRECTNESS, name="lint", **long_ago).advice == 7
        (cause,) = [each for each in store.causes(**window) if each.state is State.SKIPPED]
        assert (cause.cause, cause.words) == (None, "1 outcome without a recorded cause")


def test_spans_letters_and_labels_of_an_earlier_store_are_of_the_project_of_their_trace(tmp_path, evaluation):
    known = evaluation(1)
    trace_id, run_id = known.trace.trace_id, known.runs[0].run.span_id
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(
        trace_id=bytes.fromhex(trace_id), span_id=bytes.fromhex(run_id), name="run"
    )
    label = ExternalScore(
        trace_id, run_id, Layer.GROUNDEDNESS, "tone", "human", 1.0, Label.PASS, "fine", None, "", 7, "shop"
    )
    letters = [
        DeadLetter(trace_id, "evaluate", "ValueError", "no", 3, b"", 7, "shop"),
        DeadLetter("f" * 32, "evaluate", "ValueError", "no spans are left", 3, b"", 7, "shop"),
    ]
    with open_store(tmp_path) as store:
        store.write([known])
        store.write_spans([request], "shop")
        store.write_external([label])
        store.write_dead_letters(letters)
        with store._connections.lease() as client:
            for statement in UNDONE[14]:
                client.command(statement.format(db=store._database))
            client.command(f"TRUNCATE TABLE {store._database}.migrations")
            client.insert(f"{store._database}.migrations", [[13]], column_names=["version"])
    for _ in range(2):  # again, as where a step was cut off
        with open_store(tmp_path) as store:
            assert store.span_parents([known.key]) == {known.key: {run_id: None}}
            assert {each.trace_id: each.project for each in store.dead_letters()} == {
                trace_id: "shop",
                "f" * 32: "default",
            }
            assert "tone" in {score.name for score in store.evaluation(trace_id).scores}
            assert [row.note for row in store.browse.list_labels(limit=5)] == []
            with store._connections.lease() as client:
                MIGRATIONS[13].apply(client, store._connections.layout)
