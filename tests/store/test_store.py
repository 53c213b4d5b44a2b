from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import Store, StoreError, StoreUnavailable
from spanproof.store.cells import Row
from spanproof.store.table import Table
from spanproof.trace import Cohort, Label, Layer, Scored
from spanproof.trace.otlp import build_any_value


@pytest.fixture
def store(emptied: Store) -> Store:
    return emptied


def test_an_evaluation_comes_back_as_it_was_written(store, evaluation):
    written = evaluation()
    store.write([written])
    assert store.evaluation(written.trace.trace_id) == written


def test_a_trace_that_is_not_there_is_none(store):
    assert store.evaluation("f" * 32) is None


def test_many_evaluations_come_back_in_the_order_they_are_requested_for(store, evaluation):
    written = [evaluation(number) for number in range(1, 6)]
    store.write(written)
    ids = [each.trace.trace_id for each in written]
    assert store.evaluations([ids[3], "f" * 32, ids[0]]) == [written[3], written[0]]
    assert store.evaluations([]) == []


def test_ids_are_reported_by_project_and_time(store, evaluation):
    written = [evaluation(number) for number in range(1, 6)]
    store.write(written)
    rows = store.traces(limit=100)
    start = sorted(row.start_ns for row in rows)[2]
    newest_first = [row.trace_id for row in rows]
    assert store.trace_ids(limit=100) == newest_first
    later = [row.trace_id for row in rows if row.start_ns >= start]
    assert store.trace_ids(limit=100, since_ns=start) == later
    assert store.trace_ids(limit=100, project="another") == []
    assert store.trace_ids(limit=100, project=rows[0].project) == [
        row.trace_id for row in rows if row.project == rows[0].project
    ]


def test_scores_come_back_as_they_were_written(store, evaluation):
    written = evaluation()
    store.write([written])
    assert sorted(store.scores(), key=lambda score: score.layer) == sorted(
        written.scores, key=lambda score: score.layer
    )


def test_a_metric_comes_back_with_its_raw_value_and_unit(store, evaluation):
    metric = Scored(0.59, None, "7 steps", raw=7.0, unit="steps")
    written = evaluation(verdicts={Layer.TRAJECTORY: metric})
    store.write([written])
    (found,) = store.scores(layer=Layer.TRAJECTORY)
    assert found.outcome == metric
    assert store.evaluation(written.trace.trace_id) == written


def test_writing_twice_changes_nothing(store, evaluation):
    written = [evaluation(number) for number in range(1, 6)]
    for _ in range(3):
        store.write(written)
    assert len(list(store.scores())) == 25
    assert len(store.traces()) == 5
    assert store.evaluation(written[0].trace.trace_id) == written[0]


def test_the_later_evaluation_of_a_trace_wins(store, evaluation):
    store.write([evaluation(sub_score="compiles")])
    later = evaluation(verdicts={Layer.GROUNDEDNESS: Scored(1.0, Label.PASS, "now it is")}, source="x = 1")
    store.write([later])
    assert list(store.scores()) == list(later.scores)
    assert store.evaluation(later.trace.trace_id) == later
    assert _count(store, "snippets") == 1
    assert _count(store, "replays") == 1


@pytest.mark.parametrize("settle", [False, True])
def test_what_was_withdrawn_stays_so_when_the_engine_merges(store, evaluation, settle):
    store.write([evaluation(sub_score="compiles", version="1")])
    store.write([evaluation(version="1")])
    later = evaluation(version="2", source="x = 1")
    store.write([later])
    if settle:
        with store._connections.lease() as client:
            for table in ("scores", "snippets", "replays", "traces"):
                client.command(f"OPTIMIZE TABLE {store._database}.{table} FINAL")
    assert _ids(store) == {score.id for score in later.scores}
    assert len(list(store.scores(every_version=True))) == 10
    assert _count(store, "snippets") == _count(store, "replays") == len(store.traces()) == 1
    store.write([later])
    assert _ids(store) == {score.id for score in later.scores}


def test_of_one_trace_given_twice_in_a_batch_the_last_wins(store, evaluation):
    last = evaluation(verdicts={Layer.EXECUTION: Scored(1.0, Label.PASS, "ok")})
    store.write([evaluation(), last])
    assert list(store.scores()) == list(last.scores)


def test_an_evaluation_that_moves_in_time_leaves_one_trace(store, evaluation):
    store.write([evaluation()])
    store.write([evaluation(start_ns=1_780_000_000_000_000_000)])
    assert [row.start_ns for row in store.traces()] == [1_780_000_000_000_000_000]
    assert len(list(store.scores())) == 5
    assert _count(store, "snippets") == 1


def test_the_later_evaluation_wins_though_the_clock_was_set_back(store, evaluation, monkeypatch):
    store.write([evaluation()])
    later = evaluation(verdicts={Layer.GROUNDEDNESS: Scored(1.0, Label.PASS, "now it is")})
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000)
    store.write([later])
    store.write([later])
    assert list(store.scores()) == list(later.scores)
    assert store.evaluation(later.trace.trace_id) == later


def test_a_write_that_was_cut_off_is_made_whole_by_writing_again(store, evaluation, monkeypatch):
    whole, insert = evaluation(sub_score="compiles"), Store._write_rows
    tables: list[str] = []

    def cut(self: Store, client: object, table: Table, rows: list[Row]) -> None:
        tables.append(table.name)
        if len(tables) == 3:
            raise StoreUnavailable("the server went away")
        insert(self, client, table, rows)

    monkeypatch.setattr(Store, "_write_rows", cut)
    with pytest.raises(StoreUnavailable):
        store.write([whole])
    monkeypatch.undo()
    assert store.evaluation(whole.trace.trace_id) is None
    store.write([evaluation()])
    assert store.evaluation(whole.trace.trace_id) == evaluation()
    assert len(list(store.scores())) == 5


def test_a_new_version_of_an_evaluator_writes_beside_the_old(store, evaluation):
    store.write([evaluation(version="1")])
    store.write([evaluation(version="2")])
    assert {score.version for score in store.scores()} == {"2"}
    assert len(list(store.scores(every_version=True))) == 10
    rate = store.fail_rate(Layer.GROUNDEDNESS, start_ns=0, end_ns=2**62)
    assert (rate.passed, rate.failed) == (0, 1)


def test_traces_are_listed_newest_first_with_a_verdict_per_layer(store, evaluation):
    store.write([evaluation(number, start_ns=1_790_000_000_000_000_000 + number) for number in (1, 2, 3)])
    rows = store.traces(limit=2)
    assert [int(row.trace_id, 16) for row in rows] == [3, 2]
    (run,) = rows[0].runs
    assert run.agent == "pricer"
    assert run.layers[Layer.GROUNDEDNESS] == evaluation(3).scores[3].outcome
    assert run.layers.keys() == set(Layer)


def test_traces_are_chosen_by_project_time_and_failing_layer(store, evaluation):
    good = {layer: Scored(1.0, Label.PASS, "fine") for layer in Layer}
    early, late = 1_790_000_000_000_000_000, 1_790_000_060_000_000_000
    store.write(
        [
            evaluation(1, verdicts=good, start_ns=early),
            evaluation(2, start_ns=late),
            evaluation(3, cohort=Cohort(project="other"), start_ns=late),
        ]
    )

    def chosen(**how: object) -> set[int]:
        return {int(row.trace_id, 16) for row in store.traces(**how)}

    assert chosen(project="shop") == {1, 2}
    assert chosen(since_ns=late) == {2, 3}
    assert chosen(failing=True) == {2, 3}
    assert chosen(failing=False) == {1}
    assert chosen(failing=Layer.GROUNDEDNESS) == {2, 3}
    assert chosen(failing=Layer.BOUNDARY) == set()


def test_the_fail_rate_counts_verdicts_only(store, evaluation):
    good = {Layer.GROUNDEDNESS: Scored(1.0, Label.PASS, "fine")}
    uncertain = {Layer.GROUNDEDNESS: Scored(0.5, None, "free prose")}
    store.write(
        [
            evaluation(1, verdicts=good),
            evaluation(2),
            evaluation(3, verdicts=uncertain),
            evaluation(4, cohort=Cohort(project="other")),
        ]
    )
    rate = store.fail_rate(Layer.GROUNDEDNESS, cohort={"project": "shop"}, start_ns=0, end_ns=2**62)
    assert (rate.passed, rate.failed, rate.open, rate.rate) == (1, 1, 1, 0.5)
    assert [score.trace_id for score in rate.failing] == [f"{2:032x}"]
    execution = store.fail_rate(Layer.EXECUTION, start_ns=0, end_ns=2**62)
    assert (execution.judged, execution.errored, execution.rate) == (0, 3 - 1, None)
    trajectory = store.fail_rate(Layer.TRAJECTORY, start_ns=0, end_ns=2**62)
    assert (trajectory.judged, trajectory.skipped) == (0, 2)


def test_a_window_holds_its_start_and_not_its_end(store, evaluation):
    at = 1_790_000_000_123_456_789
    store.write([evaluation(start_ns=at)])

    def failed(start_ns: int, end_ns: int) -> int:
        return store.fail_rate(Layer.GROUNDEDNESS, start_ns=start_ns, end_ns=end_ns).failed

    assert failed(at, at + 1) == 1
    assert failed(at + 1, at + 2) == 0
    assert failed(at - 1, at) == 0


def test_an_unknown_dimension_is_named_with_those_there_are(store):
    with pytest.raises(StoreError, match="unknown dimension 'agnet'; the dimensions are project, service"):
        store.fail_rate(Layer.BOUNDARY, cohort={"agnet": "x"}, start_ns=0, end_ns=1)


def test_values_of_a_filter_are_values_never_sql(store, evaluation):
    store.write([evaluation()])
    hostile = "x' OR 1=1 --\\"
    assert list(store.scores(cohort={"agent": hostile})) == []
    store.write([evaluation(2, cohort=Cohort(agent=hostile))])
    assert len(list(store.scores(cohort={"agent": hostile}))) == 5


def test_traces_of_many_days_fit_in_one_write(store, evaluation):
    day = 86_400 * 10**9
    store.write([evaluation(number, start_ns=number * day) for number in range(1, 131)])
    assert len(store.traces(limit=500)) == 130


@pytest.mark.parametrize("start_ns", [0, 2**63, 2**64 - 10_000, 2**64 - 9_000])
def test_times_no_clock_shows_are_stored_all_the_same(store, evaluation, start_ns):
    written = evaluation(start_ns=start_ns)
    store.write([written])
    store.write([written])
    assert store.evaluation(written.trace.trace_id) == written
    assert {score.span_time_ns for score in store.scores()} == {start_ns}
    assert len(store.traces()) == 1


def test_many_threads_write_and_read_one_store(store, evaluation):
    failures: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for number in range(first, first + 5):
                store.write([evaluation(number)])
                assert store.evaluation(f"{number:032x}") is not None
        except BaseException as problem:
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(100, 600, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store.traces(limit=100)) == 25


def test_prefixes_of_trace_ids_find_them(store, evaluation):
    store.write([evaluation(0x10), evaluation(0x11), evaluation(0x20)])
    assert set(store.trace_ids(f"{1:031x}")) == {f"{0x10:032x}", f"{0x11:032x}"}
    assert store.trace_ids("nothing") == []


def request_of(*spans: tuple[str, int, int]) -> ExportTraceServiceRequest:
    """Spans of one trace: name, number, start in nanoseconds."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "api"
    scope = resource.scope_spans.add()
    scope.scope.name = "a scope"
    for name, number, start_ns in spans:
        span = scope.spans.add(
            trace_id=bytes(15) + b"\x01", span_id=number.to_bytes(8, "big"), name=name, kind=3
        )
        span.start_time_unix_nano, span.end_time_unix_nano = start_ns, start_ns + 9_000
        span.status.code, span.status.message = 2, "ValueError: no"
        for key, value in {"text": "t", "count": 7, "many": ["a", 1, 2.5, None], "yes": True}.items():
            span.attributes.add(key=key, value=build_any_value(value))
        span.events.add(name="exception", time_unix_nano=start_ns).attributes.add(
            key="exception.type", value=build_any_value("ValueError")
        )
        span.links.add(trace_id=bytes(15) + b"\x02", span_id=bytes(7) + b"\x09")
    return request


SPAN_COLUMNS = (
    "SpanName, ServiceName, SpanKind, Duration, StatusCode, StatusMessage, SpanAttributes, Events.Name,"
    " Events.Attributes, Links.SpanId, SpanproofProject, toUnixTimestamp64Nano(Timestamp)"
)


def spans_in(store: Store) -> list[tuple[object, ...]]:
    with store._connections.lease() as client:
        return client.query(
            f"SELECT {SPAN_COLUMNS} FROM {store._database}.otel_traces FINAL ORDER BY SpanId"
        ).result_rows


def test_spans_are_in_the_exporters_table_as_the_exporter_writes_them(store):
    assert store.write_spans([request_of(("step", 1, 1_790_000_000_123_456_789))], "shop") == 1
    assert spans_in(store) == [
        (
            "step",
            "api",
            "Client",
            9_000,
            "Error",
            "ValueError: no",
            {"text": "t", "count": "7", "many": '["a",1,2.5,null]', "yes": "true"},
            ["exception"],
            [{"exception.type": "ValueError"}],
            [f"{9:016x}"],
            "shop",
            1_790_000_000_123_456_789,
        )
    ]


def test_a_span_sent_again_with_another_name_and_day_is_one_row_the_later(store):
    day = 86_400 * 10**9
    store.write_spans([request_of(("first", 1, 1_790_000_000 * 10**9), ("other", 2, 5))])
    store.write_spans([request_of(("second", 1, 1_790_000_000 * 10**9 + day))])
    assert [row[0] for row in spans_in(store)] == ["second", "other"]


@pytest.mark.parametrize("start_ns", [0, 2**63, 2**64 - 10_000])
def test_spans_of_times_no_clock_shows_are_stored(store, start_ns):
    store.write_spans([request_of(("odd", 1, start_ns))])
    assert [row[0] for row in spans_in(store)] == ["odd"]


def test_many_days_of_spans_make_no_more_parts_than_one(store):
    day = 86_400 * 10**9
    store.write_spans([request_of(*((f"s{number}", number, number * day) for number in range(1, 3_000)))])
    with store._connections.lease() as client:
        parts = client.query(
            "SELECT count() FROM system.parts WHERE active AND table = 'otel_traces'"
            f" AND database = '{store._database}'"
        ).result_rows
    assert parts[0][0] < 10


def test_a_run_without_snippets_or_scores_is_stored(store, evaluation):
    whole = evaluation(cohort=Cohort())
    bare = replace(whole.runs[0], scores=(), scans={}, run=replace(whole.runs[0].run, steps=()))
    store.write([TraceEvaluation(whole.trace, (bare,), ())])
    store.write([TraceEvaluation(whole.trace, (), ())])
    assert store.evaluation(whole.trace.trace_id) == TraceEvaluation(whole.trace, (), ())


def _count(store: Store, table: str) -> int:
    with store._connections.lease() as client:
        return client.query(f"SELECT count() FROM {store._database}.{table} FINAL").result_rows[0][0]


def _ids(store: Store) -> set[str]:
    found = [score.id for score in store.scores()]
    assert len(found) == len(set(found))
    return set(found)
