"""`spanproof rescore` over a real embedded store: new versions beside old ones, other layers untouched."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from spanproof.cli.app import run
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import LAYER_RULES
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store
from spanproof.trace import (
    ExecutedCode,
    Label,
    Layer,
    Payload,
    Scored,
    Span,
    SpanKind,
    StepInfo,
    ToolCall,
    trace_of,
)
from spanproof.trace.otlp import ExportTraceServiceRequest

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
WITHOUT_REPLAY = ("--set", "evaluation.replay=false")


@pytest.fixture
def location(tmp_path):
    root = Span(
        TRACE_ID,
        "a" * 16,
        None,
        kind=SpanKind.AGENT,
        name="pricing",
        start_ns=10**18,
        end_ns=10**18 + 9,
        input=Payload("price of tea?", "price of tea?"),
        output=Payload("45", "45"),
        dialect="spanproof",
        scope="test",
    )
    step = replace(
        root, span_id="b" * 16, parent_id="a" * 16, kind=SpanKind.CHAIN, name="step 1", step=StepInfo(1)
    )
    call = replace(
        root,
        span_id="c" * 16,
        parent_id="b" * 16,
        kind=SpanKind.TOOL,
        name="price_of",
        tool=ToolCall("price_of", {"item": "tea"}),
    )
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace_of([root, step, call]))
    with open_store(tmp_path / "store") as store:
        store.write([evaluation])
    return str(tmp_path / "store")


def of_layer(location, layer, **chosen):
    with open_store(location, read_only=True) as store:
        return [score for score in store.scores(layer=layer, **chosen) if score.name == layer.value]


def test_a_new_version_is_added_to_the_old_and_other_layers_keep_their_scores(location, capfd, monkeypatch):
    (was,) = of_layer(location, Layer.GROUNDEDNESS)
    rules = next(each for each in LAYER_RULES if each.layer is Layer.GROUNDEDNESS)

    def second_version(evidence, old=rules._rules):
        failed = Scored(0.0, Label.FAIL, "a stricter rule")
        return [
            replace(judgement, version="next", outcome=failed)
            for judgement in old(evidence)
            if judgement.name == "groundedness"
        ]

    monkeypatch.setattr(rules, "_rules", second_version)
    untouched = of_layer(location, Layer.TRAJECTORY)
    arguments = ["rescore", "--store", location, "--layer", "groundedness", "--json", *WITHOUT_REPLAY]
    assert run(arguments) == 0
    (row,) = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert row["trace_id"] == TRACE_ID
    assert row["changes"] == ["groundedness pass → fail"]
    assert (row["state_before"], row["state"]) == ("pass", "fail")
    (now,) = of_layer(location, Layer.GROUNDEDNESS)
    assert (now.version, now.outcome.label) == ("next", Label.FAIL)
    versions = [score.version for score in of_layer(location, Layer.GROUNDEDNESS, every_version=True)]
    assert sorted(versions) == sorted([was.version, "next"])
    assert of_layer(location, Layer.TRAJECTORY) == untouched


def test_an_edited_evaluator_of_the_user_is_added_to_the_old_and_the_change_is_reported(
    location, tmp_path, capfd
):
    file, config = tmp_path / "short.py", tmp_path / "spanproof.yaml"
    config.write_text(f"evaluators:\n  - {{name: short, file: {file}, pass_at: 1.0}}\n")
    requested = ["rescore", "--store", location, "--layer", "correctness", "--config", str(config)]
    for source in ("def main(c, t, **v): return 0", "def main(c, t, **v): return 1"):
        file.write_text(source)
        assert run(requested) == 0
    reported = capfd.readouterr().out
    assert "1 verdict changed: 1 none → fail\n  short none → fail: 1" in reported
    assert "1 verdict changed: 1 fail → pass\n  short fail → pass: 1" in reported
    with open_store(location, read_only=True) as store:
        history = list(store.scores(name="short", every_version=True))
        (current,) = store.scores(name="short")
    assert len({score.version for score in history}) == 2
    assert current.outcome.label is Label.PASS


def test_the_same_version_changes_nothing(location, capfd):
    before = of_layer(location, Layer.TRAJECTORY)
    assert run(["rescore", "--store", location, *WITHOUT_REPLAY]) == 0
    reported = capfd.readouterr().out
    assert "1 trace scored again" in reported
    assert "→" not in reported
    assert "no verdict changed" in reported
    assert of_layer(location, Layer.TRAJECTORY) == before


def test_traces_outside_of_the_window_are_left_alone(location, capfd):
    assert run(["rescore", "--store", location, "--since", "1h", *WITHOUT_REPLAY]) == 0
    assert "0 traces" in capfd.readouterr().out


NOWHERE = ("--set", "sandbox.backend=docker", "--set", "sandbox.settings={host: unix:///nowhere.sock}")


def test_a_sandbox_is_started_only_where_what_is_requested_runs_code(location_of_code, capfd, caplog):
    requested = ["rescore", "--store", location_of_code, *NOWHERE]
    assert run([*requested, "--layer", "trajectory", "--layer", "groundedness"]) == 0
    assert (capfd.readouterr().err, caplog.text) == ("", "")
    assert run([*requested, "--layer", "execution"]) == 0
    assert caplog.text.count("snippets are not run again") == 1
    assert "nowhere.sock" in caplog.text


@pytest.fixture
def location_of_code(tmp_path, location):
    root = Span(
        "1" * 32, "a" * 16, None, "pricing", SpanKind.AGENT, 10**18, 10**18 + 9, "spanproof",
        output=Payload("45", "45"), scope="test",
    )  # fmt: skip
    code = ExecutedCode("print(45)", "spanproof.code.source", "python", logs="45\n")
    step = replace(
        root, span_id="b" * 16, parent_id=root.span_id, kind=SpanKind.CHAIN, step=StepInfo(1), code=code,
        observation="Execution logs:\n45\n",
    )  # fmt: skip
    engine = Engine(pipeline=Pipeline(), sandbox=None)
    traces = ([replace(span, trace_id=each * 32) for span in (root, step)] for each in "12")
    with open_store(location) as store:
        store.write([engine.evaluate(trace_of(spans)) for spans in traces])
    return location


def test_a_run_that_lost_its_parent_finds_it_again_in_the_spans_as_received(location, capfd):
    with open_store(location) as store:
        evaluation = store.evaluation(TRACE_ID)
        assert evaluation is not None
        request = ExportTraceServiceRequest()
        scope = request.resource_spans.add().scope_spans.add()
        for span in evaluation.trace.spans:
            scope.spans.add(
                trace_id=bytes.fromhex(TRACE_ID),
                span_id=bytes.fromhex(span.span_id),
                parent_span_id=bytes.fromhex(span.parent_id or ""),
                start_time_unix_nano=span.start_ns,
                end_time_unix_nano=span.end_ns,
            )
        store.write_spans([request])
        # As a former version stored it: the root came so late that the others had been cut off from it.
        cut = trace_of([replace(span, parent_id=None) for span in evaluation.trace.spans])
        store.write([Engine(pipeline=Pipeline(), sandbox=None).evaluate(cut)])
    assert run(["rescore", "--store", location, *WITHOUT_REPLAY]) == 0
    assert "1 trace scored again" in capfd.readouterr().out
    with open_store(location, read_only=True) as store:
        mended = store.evaluation(TRACE_ID)
    assert mended is not None
    assert mended.trace == evaluation.trace
    assert [each.run.span_id for each in mended.runs] == ["a" * 16]
