"""The judge behind the rules: run_evaluator where they are open, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.evaluators.judge.conftest import rule

from spanproof.evaluators.engine import Engine, run_evaluator
from spanproof.evaluators.evaluator import LAYER_RULES
from spanproof.evaluators.judge import BESIDE, Judge, JudgeSettings, build_cascades, load_rubrics
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    Errored,
    Label,
    Layer,
    Payload,
    Span,
    SpanKind,
    State,
    StepInfo,
    get_state,
    trace_of,
)
from spanproof.trace.model import ExecutedCode

MODEL = "gpt-4.1-mini-2025-04-14"
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def reply(score, quotes=()):
    return json.dumps({"reasoning": "so it reads", "quotes": list(quotes), "score": score})


def engine(**settings):
    beside = settings.pop("beside_share", 0.0)
    judge = Judge(JudgeSettings(**{"model": MODEL, "timeout_s": 5.0, **settings}))
    return Engine(pipeline=Pipeline(), sandbox=None, evaluators=build_cascades(judge, load_rubrics(), beside))


def trace(answer, logs="The weather was mild and the shop sold well.\n"):
    common = {"dialect": "spanproof", "scope": "spanproof.instrumentors.smolagents"}
    root = Span(
        TRACE_ID, "a" * 16, None, kind=SpanKind.AGENT, name="shop", start_ns=1, end_ns=9,
        input=Payload("how was it?", "how was it?"), output=Payload(answer, answer), **common,
    )  # fmt: skip
    step = Span(
        TRACE_ID, "b" * 16, "a" * 16, kind=SpanKind.CHAIN, name="step 1", start_ns=2, end_ns=3,
        code=ExecutedCode("print(look())", "python", logs=logs), step=StepInfo(1), **common,
    )  # fmt: skip
    return trace_of([root, step])


def score_of(evaluation, name):
    (found,) = [score for score in evaluation.scores if score.name == name]
    return found


def test_an_open_answer_is_settled_by_the_judge_with_its_name_and_the_rubrics_version(endpoint):
    endpoint.answers = [rule("false", quotes=("The weather was mild",))]
    score = score_of(engine().evaluate(trace("It went badly.")), "groundedness")
    assert score.outcome.label is Label.FAIL
    assert "so it reads" in score.outcome.explanation
    assert score.outcome.evidence[0].recorded == "The weather was mild"
    assert score.evaluator == f"judge:Groundedness:{MODEL}"
    assert score.version == load_rubrics()["Groundedness"].version
    assert len(endpoint.requests) == 1


def test_a_settled_answer_calls_no_one(endpoint):
    evaluation = engine().evaluate(trace("There were 12 apples.", "12 apples\n"))
    assert score_of(evaluation, "groundedness").outcome.label is Label.PASS
    assert endpoint.requests == []


def test_a_judge_that_fails_is_an_error_and_never_a_zero(endpoint):
    endpoint.answers = [500]
    outcome = score_of(engine().evaluate(trace("It went badly.")), "groundedness").outcome
    assert isinstance(outcome, Errored)
    assert outcome.error_type == "JudgeFailed.refused"


def test_over_budget_stays_open_with_both_reasons(endpoint):
    alone = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace("It went badly."))
    without = score_of(alone, "groundedness").outcome
    outcome = score_of(engine(dollars_per_hour=0.0).evaluate(trace("It went badly.")), "groundedness").outcome
    assert (get_state(outcome), outcome.cause) == (State.OPEN, without.cause)
    assert outcome.explanation.startswith(without.explanation)
    assert "budget" in outcome.explanation
    assert endpoint.requests == []


def test_beside_execution_the_judge_gives_advice_that_takes_no_ones_place(endpoint):
    endpoint.answers = [reply(0.0)]
    evaluation = engine(beside_share=1.0).evaluate(trace("There were 12 apples.", "12 apples\n"))
    advice = score_of(evaluation, BESIDE).outcome
    assert (advice.value, advice.label) == (0.0, None)
    assert score_of(evaluation, "correctness").outcome.label is Label.PASS


@pytest.mark.parametrize("layer", [Layer.CORRECTNESS, Layer.BOUNDARY])
def test_code_that_did_not_run_and_code_under_review_are_open(build, layer):
    source = "open(name).read()" if layer is Layer.BOUNDARY else "print(1)"
    snippet = build.snippet(source, executed=False)
    scans = {snippet.id: Pipeline().scan("python", source)}
    evidence = replace(build.evidence(build.run([snippet])), scans=scans)
    rules = next(each for each in LAYER_RULES if each.layer is layer)
    own = [j for j in run_evaluator(rules, evidence, ()) if j.name == layer.value]
    assert [get_state(j.outcome) for j in own] == [State.OPEN]
