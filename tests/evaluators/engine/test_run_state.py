"""The state of a run from its scores, those of people among them; what is skipped has a cause."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.run_state import EXTERNAL_PREFIX, PERSON_VERDICT, select_layer_outcomes
from spanproof.evaluators.scores import find_score, find_state
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Cause, Errored, Label, Layer, Scored, Skipped, State, fold_states


@pytest.fixture
def run(misquote):
    (found,) = Engine(pipeline=Pipeline(), sandbox=None).evaluate(misquote).runs
    return found


def with_outcomes(run, outcomes, *more):
    """Return the run with other outcomes of its layers."""
    scores = [
        replace(score, outcome=outcomes.get(score.layer, score.outcome))
        if score.name == score.layer.value
        else score
        for score in run.scores
    ]
    return replace(run, scores=(*scores, *more))


def by_person(run, layer, label):
    (own,) = [score for score in run.scores if score.name == layer.value]
    outcome = Scored(float(label is Label.PASS), label, "I looked")
    return replace(own, name=PERSON_VERDICT, evaluator=f"{EXTERNAL_PREFIX}human", outcome=outcome)


OPEN = Scored(0.5, None, "not settled", cause=Cause.VALUE_NOT_FOUND)
PASSED = dict.fromkeys(Layer, Scored(1.0, Label.PASS, "right"))


def test_a_run_with_an_open_layer_is_open(run):
    assert with_outcomes(run, PASSED).state is State.PASS
    assert with_outcomes(run, PASSED | {Layer.GROUNDEDNESS: OPEN}).state is State.OPEN


def test_a_run_with_a_failed_and_an_open_layer_fails(run):
    failed = PASSED | {Layer.GROUNDEDNESS: OPEN, Layer.BOUNDARY: Scored(0.0, Label.FAIL, "denied")}
    assert with_outcomes(run, failed).state is State.FAIL


def test_a_run_of_which_a_layer_errored_has_not_passed(run):
    errored = PASSED | {Layer.EXECUTION: Errored("SandboxBroken", "it broke")}
    assert with_outcomes(run, errored).state is State.ERRORED


@pytest.mark.parametrize(("label", "state"), [(Label.PASS, State.PASS), (Label.FAIL, State.FAIL)])
def test_a_persons_verdict_settles_the_layer(run, label, state):
    left_open = with_outcomes(run, PASSED | {Layer.GROUNDEDNESS: OPEN})
    settled = replace(left_open, scores=(*left_open.scores, by_person(run, Layer.GROUNDEDNESS, label)))
    assert settled.state is state
    assert settled.layers[Layer.GROUNDEDNESS].explanation == "I looked"


def test_the_order_of_scores_does_not_matter(run):
    left_open = with_outcomes(run, PASSED | {Layer.GROUNDEDNESS: OPEN})
    label = by_person(run, Layer.GROUNDEDNESS, Label.PASS)
    first = select_layer_outcomes(run.run.span_id, (label, *left_open.scores))
    assert first == select_layer_outcomes(run.run.span_id, (*left_open.scores, label))


def test_metrics_and_advice_have_no_state_and_open_no_run(run):
    without = [find_state(score.layer, score.name, score.outcome) for score in run.scores if is_advice(score)]
    assert without
    assert set(without) == {None}
    assert run.state is fold_states(
        find_state(score.layer, score.name, score.outcome)
        for score in run.scores
        if score.name == score.layer.value
    )


def is_advice(score):
    spec = find_score(score.layer, score.name)
    return spec is not None and spec.advisory


def test_a_score_of_the_users_without_a_label_is_advice_unless_it_has_a_cause():
    assert find_state(Layer.CORRECTNESS, "tone", Scored(0.7, None, "polite")) is None
    assert find_state(Layer.CORRECTNESS, "tone", OPEN) is State.OPEN
    assert find_state(Layer.CORRECTNESS, "tone", Scored(1.0, Label.PASS, "polite")) is State.PASS


def test_built_in_evaluators_name_the_cause_of_what_they_skip(run):
    skipped = [score.outcome for score in run.scores if isinstance(score.outcome, Skipped)]
    assert skipped
    assert all(outcome.cause is not Cause.EVALUATOR for outcome in skipped), skipped
