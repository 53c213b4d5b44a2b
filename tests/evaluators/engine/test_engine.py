"""The engine over the real detection, scanners, sandbox and layers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.evaluators.engine import Engine, run_evaluator
from spanproof.evaluators.evaluator import LAYER_RULES, Cost, Evaluator
from spanproof.evaluators.model import NoReplay, NoReplayCause, Replay
from spanproof.evaluators.replay import ApiIndex
from spanproof.sandbox import SandboxBroken, SandboxUnavailable, Tier
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    Errored,
    Judgement,
    Label,
    Layer,
    Payload,
    Scored,
    Skipped,
    SpanError,
    SpanKind,
    trace_of,
)

from .runs import ROOT, Failing, agent, layer_of, span, step


def test_the_misquote_run_fails_groundedness_and_nothing_that_judges_its_code(engine, misquote):
    evaluation = engine.evaluate(misquote)
    labels = {layer: layer_of(evaluation, layer).label for layer in Layer}
    assert labels[Layer.GROUNDEDNESS] is Label.FAIL
    assert {labels[Layer.CORRECTNESS], labels[Layer.BOUNDARY], labels[Layer.EXECUTION]} == {Label.PASS}
    assert [s.agrees for s in evaluation.runs[0].replay.steps] == [True, True, True]


KEY = "sk-live-" + "51Hq8xyzPq7RtV2wLm9Kd3"
KEY_ERROR = SpanError("AgentExecutionError", "…", ("AgentExecutionError", "KeyError"))
SCENARIOS = {
    "faithful": (
        [agent("The total is 45.0."), step(1, "x = 4500 / 100\nprint(x)", logs="45.0\n")],
        dict.fromkeys(Layer, Label.PASS),
    ),
    "loop": (
        [
            replace(agent("I could not find it."), error=None),
            *(step(number, "{}['total']", error=KEY_ERROR) for number in range(1, 6)),
        ],
        {Layer.EXECUTION: Label.FAIL, Layer.TRAJECTORY: Label.FAIL, Layer.BOUNDARY: Label.PASS},
    ),
    "secret": (
        [agent("Done."), step(1, f"key = '{KEY}'\nprint(key)", logs=f"{KEY}\n")],
        {Layer.BOUNDARY: Label.FAIL, Layer.CORRECTNESS: Label.PASS, Layer.EXECUTION: Label.PASS},
    ),
    "tampered": (
        [agent("The total is 54.0."), step(1, "print(4500 / 100)", logs="54.0\n")],
        {Layer.CORRECTNESS: Label.FAIL, Layer.BOUNDARY: Label.PASS},
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_gets_the_verdicts_it_should(engine, name):
    spans, expected = SCENARIOS[name]
    evaluation = engine.evaluate(trace_of(spans))
    found = {layer: layer_of(evaluation, layer) for layer in expected}
    assert {layer: getattr(outcome, "label", outcome) for layer, outcome in found.items()} == expected


def test_no_verdict_carries_a_secret(engine):
    evaluation = engine.evaluate(trace_of(SCENARIOS["secret"][0]))
    assert KEY[:16] not in repr([score.outcome for score in evaluation.scores])


def test_every_span_that_bears_code_is_named_in_the_order_of_the_trace(engine, misquote):
    assert engine.evaluate(misquote).code_bearing_span_ids == tuple(f"{n:016x}" for n in (1, 2, 3))


def test_the_same_trace_gives_the_same_scores_and_ids(engine, misquote):
    first, second = engine.evaluate(misquote), engine.evaluate(trace_of(reversed(misquote.spans)))
    assert [score.id for score in first.scores] == [score.id for score in second.scores]
    assert [score.outcome for score in first.scores] == [score.outcome for score in second.scores]


def test_every_score_has_an_id_of_its_own(engine, misquote):
    ids = [score.id for score in engine.evaluate(misquote).scores]
    assert len(set(ids)) == len(ids)


def test_another_record_gives_other_ids(engine, misquote):
    changed = trace_of(
        replace(s, output=Payload("no refund", "no refund")) if s.span_id == ROOT else s
        for s in misquote.spans
    )
    before, after = engine.evaluate(misquote), engine.evaluate(changed)
    assert {s.id for s in before.scores if s.snippet_id is None}.isdisjoint(s.id for s in after.scores)
    assert {s.id for s in before.scores if s.snippet_id} == {s.id for s in after.scores if s.snippet_id}


def test_scores_of_our_own_are_not_scored(engine, misquote):
    ours = span(
        "e" * 16, ROOT, SpanKind.EVALUATOR, 2000, 2001, scope="spanproof.collector", name="groundedness"
    )
    below = span("f" * 16, "e" * 16, SpanKind.LLM, 2000, 2001, name="judge")
    with_ours = trace_of([*misquote.spans, ours, below])
    assert [s.id for s in engine.evaluate(with_ours).scores] == [
        s.id for s in engine.evaluate(misquote).scores
    ]
    alone = trace_of([replace(ours, parent_id=None)])
    assert engine.evaluate(alone).runs == ()


def test_evaluators_of_others_stay_in_the_trace(engine, misquote):
    theirs = span("e" * 16, ROOT, SpanKind.EVALUATOR, 0, 1, scope="someone.else")
    evaluation = engine.evaluate(trace_of([*misquote.spans, theirs]))
    assert "e" * 16 in evaluation.trace.by_id


def test_without_a_sandbox_the_record_judges_and_the_reason_is_given(misquote):
    evaluation = Engine(
        pipeline=Pipeline(), sandbox=None, replay_disabled_reason="no user namespaces"
    ).evaluate(misquote)
    assert evaluation.runs[0].replay == NoReplay("no user namespaces", NoReplayCause.SWITCHED_OFF)
    assert layer_of(evaluation, Layer.EXECUTION).label is Label.PASS
    skipped = [s.outcome for s in evaluation.scores if s.name == "replay_agrees"]
    assert all(isinstance(o, Skipped) and "no user namespaces" in o.reason for o in skipped)


def test_a_layer_that_raises_costs_its_own_score_and_no_other(engine, misquote, monkeypatch):
    def broken(evidence):
        raise RuntimeError("a bug")

    rules = next(each for each in LAYER_RULES if each.layer is Layer.BOUNDARY)
    monkeypatch.setattr(rules, "_rules", broken)
    evaluation = engine.evaluate(misquote)
    assert layer_of(evaluation, Layer.BOUNDARY) == Errored("RuntimeError", "a bug")
    assert isinstance(layer_of(evaluation, Layer.EXECUTION), Scored)


def test_a_sandbox_that_broke_is_tried_once_more(jail, misquote):
    sandbox = Failing(jail, SandboxBroken("a slot died"), 1)
    evaluation = Engine(pipeline=Pipeline(), sandbox=sandbox).evaluate(misquote)
    assert isinstance(evaluation.runs[0].replay, Replay)
    assert len(evaluation.runs[0].replay.steps) == 3


@pytest.mark.parametrize("failure", [SandboxBroken("a slot died"), SandboxUnavailable("no user namespaces")])
def test_a_sandbox_that_fails_for_good_costs_the_replay_only(jail, misquote, failure):
    sandbox = Failing(jail, failure, 10)
    evaluation = Engine(pipeline=Pipeline(), sandbox=sandbox).evaluate(misquote)
    assert str(failure) in evaluation.runs[0].replay.reason
    assert layer_of(evaluation, Layer.EXECUTION).label is Label.PASS


class Reduced(Failing):
    """The real sandbox, as if it ran in its reduced tier."""

    def availability(self):
        return replace(self.real.availability(), tier=Tier.REDUCED)


@pytest.mark.parametrize(
    ("demanded", "replayed"), [(None, True), (Tier.REDUCED, True), (Tier.FULL, False)], ids=str
)
def test_code_is_not_run_behind_a_weaker_wall_than_its_policy_demands(jail, misquote, demanded, replayed):
    policy = Policy(name="strict", sandbox_tier=demanded)
    sandbox = Reduced(jail, SandboxBroken(""), 0)
    found = Engine(pipeline=Pipeline(policy), sandbox=sandbox).evaluate(misquote).runs[0].replay
    assert isinstance(found, Replay) is replayed
    if not replayed:
        assert "'strict' demands the sandbox's full tier" in found.reason
        assert "reduced tier here" in found.reason


def test_every_snippet_is_scanned_before_anything_runs(jail, misquote):
    order = []

    class Watched(Pipeline):
        def scan(self, language, source):
            order.append("scan")
            return super().scan(language, source)

    class Watching(Failing):
        def session(self, spec, answer):
            order.append("session")
            return super().session(spec, answer)

    sandbox = Watching(jail, SandboxBroken(""), 0)
    Engine(pipeline=Watched(), sandbox=sandbox).evaluate(misquote)
    assert order == ["scan", "scan", "scan", "session"]


def test_hidden_content_is_skipped_by_every_layer_that_needs_it(engine):
    hidden = replace(agent(""), input=None, output=None, hidden=True)
    evaluation = engine.evaluate(trace_of([hidden]))
    assert [s.outcome for s in evaluation.scores if isinstance(s.outcome, Scored)] == []


@pytest.mark.parametrize("source", ["", "\x00", "\ud800", "x" * 1_000_000, "(" * 3000])
def test_a_hostile_snippet_gets_a_result(engine, source):
    evaluation = engine.evaluate(trace_of([agent("done"), step(1, source)]))
    assert not [s.outcome for s in evaluation.scores if isinstance(s.outcome, Errored)]


def test_judging_a_layer_gives_its_judgements(build):
    evidence = build.evidence(build.run([]))
    rules = next(each for each in LAYER_RULES if each.layer is Layer.EXECUTION)
    assert [j.name for j in run_evaluator(rules, evidence, ())] == ["execution", "wall_s"]


class Opinion(Evaluator):
    """Settles an execution score, and says so of its own."""

    name, version, layer, cost = "tests.opinion", "3", Layer.EXECUTION, Cost.MODEL

    def judge(self, evidence, so_far):
        self.heard = so_far
        outcome = Scored(0.25, Label.FAIL, "an opinion")
        names = ("execution", "opinion")
        return [
            Judgement(self.layer, name, evidence.run.span_id, outcome, self.name, self.version)
            for name in names
        ]


def test_a_costlier_evaluator_hears_the_cheaper_ones_and_takes_their_place(jail, misquote):
    opinion = Opinion()
    evaluation = Engine(pipeline=Pipeline(), sandbox=jail, evaluators=[opinion]).evaluate(misquote)
    assert {heard.layer for heard in opinion.heard} == set(Layer)
    said = {s.name: s for s in evaluation.scores if s.evaluator == "tests.opinion"}
    assert said.keys() == {"execution", "opinion"}
    assert layer_of(evaluation, Layer.EXECUTION).value == 0.25
    assert len([s for s in evaluation.scores if s.name == "execution"]) == 1


def test_an_evaluator_that_raises_errs_under_its_own_name(jail, misquote, monkeypatch):
    monkeypatch.setattr(Opinion, "judge", lambda *_: 1 / 0)
    evaluation = Engine(pipeline=Pipeline(), sandbox=jail, evaluators=[Opinion()]).evaluate(misquote)
    (errored,) = [s for s in evaluation.scores if isinstance(s.outcome, Errored)]
    assert (errored.name, errored.outcome.error_type) == ("tests.opinion", "ZeroDivisionError")
    assert layer_of(evaluation, Layer.EXECUTION).label is Label.PASS


def test_a_replay_that_fails_on_our_side_is_errored_never_skipped(jail, misquote):
    evaluation = Engine(pipeline=Pipeline(), sandbox=Failing(jail, RuntimeError("a bug"), 10)).evaluate(
        misquote
    )
    assert evaluation.runs[0].replay.cause is NoReplayCause.FAILED
    for name in ("reproduced", "replay_agrees", "imports_exist", "attributes_exist"):
        outcomes = [score.outcome for score in evaluation.scores if score.name == name]
        assert outcomes
        assert all(isinstance(each, Errored) and each.error_type == "RuntimeError" for each in outcomes), name
    skipped = [score.outcome for score in evaluation.scores if isinstance(score.outcome, Skipped)]
    assert not [outcome.reason for outcome in skipped if "a bug" in outcome.reason]


def test_a_look_up_of_names_that_fails_on_our_side_is_errored_and_costs_no_other(jail, misquote, monkeypatch):
    monkeypatch.setattr(ApiIndex, "get_reports", lambda *_: 1 / 0)
    evaluation = Engine(pipeline=Pipeline(), sandbox=jail).evaluate(misquote)
    named = [score.outcome for score in evaluation.scores if score.name == "attributes_exist"]
    assert named
    assert all(isinstance(each, Errored) and each.error_type == "ZeroDivisionError" for each in named)
    assert layer_of(evaluation, Layer.EXECUTION).label is Label.PASS


@pytest.mark.parametrize("failure", [MemoryError(), RecursionError("too deep"), KeyError("x")])
def test_a_layer_that_fails_is_errored_with_its_class_and_the_others_stand(misquote, monkeypatch, failure):
    def fail(*_):
        raise failure

    monkeypatch.setattr("spanproof.evaluators.engine.list_settled_judgements", fail)
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(misquote)
    of_layer = {score.name: score.outcome for score in evaluation.scores if score.name in tuple(Layer)}
    assert isinstance(of_layer["groundedness"], Errored)
    assert of_layer["groundedness"].error_type == type(failure).__name__
    assert of_layer["execution"].label is Label.PASS
