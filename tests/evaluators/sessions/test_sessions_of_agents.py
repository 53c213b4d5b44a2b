"""Whole conversations of real smolagents teams with scripted models."""

from __future__ import annotations

import pytest
from agents_of_a_desk import OTHER, REQUEST, RIGHT, WRONG, desk

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.sessions import evaluate_session
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, trace_of
from spanproof.trace.dialects import normalise_request


@pytest.fixture(scope="module")
def evaluate():
    engine = Engine(pipeline=Pipeline(), sandbox=None)
    with desk() as run:
        yield lambda *turns: engine.evaluate(trace_of(list(normalise_request(run(*turns)))))


def test_a_request_that_is_answered_well_in_the_end_passes(evaluate):
    verdict = evaluate_session([evaluate(REQUEST, WRONG), evaluate(REQUEST, RIGHT)])
    assert [turn.label for turn in verdict.turns] == [Label.FAIL, Label.PASS]
    assert [turn.is_retry for turn in verdict.turns] == [False, True]
    assert verdict.label is Label.PASS
    assert verdict.value == 1.0
    assert verdict.first_mistake.turn == 1


def test_a_request_whose_last_answer_is_wrong_fails(evaluate):
    verdict = evaluate_session([evaluate(REQUEST, RIGHT), evaluate(REQUEST, WRONG)])
    assert verdict.label is Label.FAIL
    assert verdict.value == 0.0
    assert verdict.explanation.startswith("0 of 1 request ended well")


def test_another_request_is_judged_by_itself(evaluate):
    verdict = evaluate_session(
        [evaluate(REQUEST, WRONG), evaluate("What is the refund of order A-71?", OTHER)]
    )
    assert verdict.label is Label.FAIL
    assert verdict.value == 0.5


def test_a_hand_over_that_keeps_what_is_needed_is_no_mistake(evaluate):
    team = evaluate(
        f"{REQUEST} The customer is mara@example.org.",
        ["print(billing(task='Find the refund of order A-17'))", "final_answer('The refund is $45.00.')"],
        RIGHT,
    )
    verdict = evaluate_session([team])
    (hand_over,) = verdict.hand_overs
    assert (hand_over.giver, hand_over.receiver) == ("desk", "billing")
    assert hand_over.lost == ("mara@example.org",)
    assert not hand_over.replaced
    assert verdict.label is not Label.FAIL
    assert verdict.first_mistake is None


def test_the_agent_that_hands_over_another_order_makes_the_first_mistake(evaluate):
    team = evaluate(
        REQUEST,
        ["print(billing(task='Find the refund of order A-71'))", "final_answer('The refund is $12.00.')"],
        OTHER,
    )
    verdict = evaluate_session([team])
    (replaced,) = verdict.hand_overs[0].replaced
    assert (replaced.given, replaced.used) == ("A-17", "A-71")
    assert verdict.label is Label.FAIL
    assert verdict.first_mistake.agent == "desk"
    assert "A-71 instead of A-17" in verdict.first_mistake.why


def test_traces_come_in_any_order(evaluate):
    first, second = evaluate(REQUEST, WRONG), evaluate(REQUEST, RIGHT)
    assert evaluate_session([second, first]) == evaluate_session([first, second])


def test_a_session_without_a_run_has_no_verdict():
    verdict = evaluate_session([])
    assert verdict.label is None
    assert verdict.value is None
