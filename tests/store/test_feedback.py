"""The feedback of a user on a run is stored, shown with the run, and counts in the gate."""

import json
from dataclasses import replace

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from spanproof.cli.app import run
from spanproof.evaluators.engine import Engine
from spanproof.instrumentors import feedback, trace
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store
from spanproof.store.filters import Filter
from spanproof.store.measures import Groups
from spanproof.store.windows import Windows
from spanproof.trace import Layer, trace_of
from spanproof.trace.dialects import normalise_request


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """Where a store is that holds two runs and ratings of them, and the ids of their traces."""
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.configure(provider)
    ids = []
    try:
        for name in ("clerk", "cashier"):
            with trace.agent(name) as block:
                block.input("How much?")
                block.output("$45.00")
            ids.append(block.trace_id)
        feedback(ids[0], "thumbs_down", comment="the total is wrong")
        feedback(ids[1], "thumbs_up", span_id=exporter.get_finished_spans()[1].context.span_id)
    finally:
        trace.configure()
    by_trace = {}
    request = encode_spans(exporter.get_finished_spans())
    for span in normalise_request(request):
        by_trace.setdefault(span.trace_id, []).append(span)
    engine = Engine(pipeline=Pipeline(), sandbox=None)
    directory = tmp_path_factory.mktemp("stored")
    with open_store(directory) as store:
        store.write_spans([request])
        for _ in range(2):  # evaluating anew loses none of it
            store.write([engine.evaluate(trace_of(spans)) for spans in by_trace.values()])
    return str(directory), ids


def test_feedback_is_shown_with_its_run(rated, capfd):
    location, (clerk, cashier) = rated
    assert run(["show", clerk, "--store", location]) == 0
    assert "user feedback: thumbs down: the total is wrong" in capfd.readouterr().out
    assert run(["show", cashier, "--store", location, "--json"]) == 0
    (said,) = json.loads(capfd.readouterr().out)["feedback"]
    assert (said["trace_id"], said["kind"]) == (cashier, "thumbs_up")


def test_feedback_is_a_column_of_the_list_and_no_row(rated, capfd):
    location, _ = rated
    assert run(["traces", "--store", location]) == 0
    listed = capfd.readouterr().out
    header, *lines = listed.splitlines()
    assert header.split()[-1] == "feedback"
    rows = [line for line in lines if line.split()[-2:-1] == ["thumbs"]]
    assert sorted(" ".join(row.split()[-2:]) for row in rows) == ["thumbs down", "thumbs up"]


def test_the_gate_counts_feedback_as_a_sub_score_of_the_trajectory(rated, capfd):
    location, _ = rated
    half = ["gate", "--store", location, "--assert", "trajectory.feedback == pass for at_least 50% of cases"]
    assert run(half) == 0
    assert run([*half[:-1], "trajectory.feedback == pass for all cases"]) == 1
    assert "user feedback: thumbs down: the total is wrong" in " ".join(capfd.readouterr().out.split())
    assert run([*half[:-1], 'trajectory.feedback == pass for all cases where agent = "cashier"']) == 0


def test_ratings_are_measured_as_scores_of_their_runs(rated):
    location, (clerk, _) = rated
    chosen = Filter(Layer.TRAJECTORY, "feedback", {}, None, 1, 2**62)
    with open_store(location) as store:
        by_agent = store.measures.count_verdicts(chosen, ("agent",), None)
        assert {values[0]: (each.passed, each.failed) for values, each in by_agent.items()} == {
            "clerk": (0, 1),
            "cashier": (1, 0),
        }
        assert store.measures.count_failures(chosen, Groups((), ()), None, 3)[()] == [
            ("user feedback: thumbs down: the total is wrong", 1)
        ]
        groups = Groups(("agent",), [("clerk",), ("cashier",)])
        ((score,),) = store.measures.group_failing_scores(chosen, groups, None, 9).values()
        assert (score.trace_id, score.name, score.outcome.label) == (clerk, "feedback", "fail")
        late = Filter(Layer.TRAJECTORY, "feedback", {}, None, 2**61, 2**62)
        assert store.measures.count_verdicts(late, ("agent",), None) == {}
        windows = Windows([2**59, 2**60], 2**60)
        both = Filter(Layer.TRAJECTORY, "feedback", {}, None, windows.start_ns, windows.end_ns)
        of_each = [
            replace(both, start_ns=start_ns, end_ns=start_ns + 2**60) for start_ns in windows.starts_ns
        ]
        assert store.measures.with_windows(windows).count_verdicts(both, (), None) == {
            (str(number),): store.measures.count_verdicts(one, (), None)[()]
            for number, one in enumerate(of_each)
        }
