"""One table: what a run, a case, a gate, a page and an alert say of every combination of layer states.

It is the table of docs/layers.md. Each place is read through its own door, on the same evaluations.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement, product

import pytest
from rich.console import Console
from starlette.testclient import TestClient

from spanproof.alerts import AlertRule
from spanproof.alerts.rules import read_rule
from spanproof.api import ConsoleSettings, build_app
from spanproof.cli.output.run_page import build_run_page
from spanproof.evaluators.score_rows import build_run_row
from spanproof.gate import evaluate_assertions, parse_assertion
from spanproof.gate.open_policy import OpenPolicy
from spanproof.gate.outputs import Verdict
from spanproof.store import open_store
from spanproof.suites.requirements import Attempt, list_failure_requirements
from spanproof.trace import Cause, Errored, Label, Layer, Outcome, Scored, Skipped, State

from ..store.conftest import START_NS, make_evaluation

OUTCOMES: Mapping[State, Outcome] = {
    State.PASS: Scored(1.0, Label.PASS, "right"),
    State.FAIL: Scored(0.0, Label.FAIL, "wrong"),
    State.OPEN: Scored(0.5, None, "45.00 is nowhere", cause=Cause.VALUE_NOT_FOUND, detail="45.00"),
    State.SKIPPED: Skipped("the run has no code", Cause.NO_CODE),
    State.ERRORED: Errored("SandboxBroken", "it broke"),
}
SHARED = [
    dict(zip(Layer, states, strict=True)) for states in combinations_with_replacement(State, len(Layer))
]
"""Every combination of the states of five layers, without regard to which layer has which."""

HEADLINES = {
    State.PASS: "PASS",
    State.FAIL: "FAIL",
    State.OPEN: "OPEN",
    State.SKIPPED: "SKIPPED",
    State.ERRORED: "ERROR",
}
SECOND = 10**9
PASSES = [parse_assertion(f"{layer}.score == pass for all cases") for layer in Layer]


def find_expected(states) -> State:
    """Return the state of a run as docs/layers.md has it: the gravest."""
    order = (State.FAIL, State.ERRORED, State.OPEN, State.PASS, State.SKIPPED)
    return next(state for state in order if state in states)


def evaluate(states: Mapping[Layer, State], number: int = 1):
    verdicts = {layer: OUTCOMES[state] for layer, state in states.items()}
    return make_evaluation(number, verdicts=verdicts, start_ns=START_NS + number * SECOND)


def test_a_run_and_its_row_are_in_the_gravest_state_of_their_layers():
    for states in product(State, repeat=len(Layer)):
        evaluation = evaluate(dict(zip(Layer, states, strict=True)))
        (run,) = evaluation.runs
        expected = find_expected(states)
        assert (run.state, evaluation.state) == (expected, expected), states
        assert build_run_row(run)["state"] == expected.value


def test_a_promoted_case_is_met_only_where_no_layer_fails_errored_or_is_open():
    for states in product(State, repeat=len(Layer)):
        (run,) = evaluate(dict(zip(Layer, states, strict=True))).runs
        findings = [each.evaluate(Attempt(run)) for each in list_failure_requirements()]
        assert all(each.holds is True for each in findings) is (set(states) <= {State.PASS, State.SKIPPED})
        assert any(each.holds is False for each in findings) is (State.FAIL in states)
        assert [each.is_open for each in findings] == [state is State.OPEN for state in states]


@pytest.mark.parametrize("policy", OpenPolicy)
def test_a_gate_passes_only_what_was_judged_and_is_right(policy):
    counted_as = {OpenPolicy.PASS: State.PASS, OpenPolicy.FAIL: State.FAIL, OpenPolicy.IGNORE: State.SKIPPED}
    for states in product(State, repeat=len(Layer)):
        (run,) = evaluate(dict(zip(Layer, states, strict=True))).runs
        report = evaluate_assertions(PASSES, run.scores, open_policy=policy)
        for state, assertion in zip(states, report.assertions, strict=True):
            state = counted_as.get(policy, state) if state is State.OPEN else state
            assert (assertion.verdict is Verdict.PASSED) is (state is State.PASS), (states, assertion)
            assert (assertion.verdict is Verdict.FAILED) is (state is State.FAIL), (states, assertion)
        assert report.passed is all(each.verdict is Verdict.PASSED for each in report.assertions)


def test_show_heads_a_run_with_its_state():
    for states in SHARED:
        evaluation = evaluate(states)
        console = Console(width=120, record=True, file=None)
        with console.capture() as captured:
            console.print(build_run_page(evaluation, evaluation.runs[0]))
        word, _, _ = captured.get().partition(" ")
        assert word == HEADLINES[find_expected(states.values())], states


def test_pages_lists_rates_and_alerts_say_the_same(tmp_path):
    with open_store(tmp_path / "store") as store:
        store.write([evaluate(states, number) for number, states in enumerate(SHARED, start=1)])
        app = TestClient(build_app(lambda: store, ConsoleSettings()))
        for number, states in enumerate(SHARED, start=1):
            expected = find_expected(states.values())
            page = app.get(f"/api/v1/traces/{number:032x}").json()
            assert (page["state"], page["runs"][0]["state"]) == (expected, expected)
        for state in State:
            rows = app.get(f"/api/v1/traces?hours=8784&limit=500&state={state}").json()["traces"]
            found = {int(row["trace_id"], 16) for row in rows}
            assert found == {
                number
                for number, states in enumerate(SHARED, start=1)
                if find_expected(states.values()) is state
            }
        for layer in Layer:
            _check_rates(store, layer, [states[layer] for states in SHARED])


def _check_rates(store, layer, states):
    """Compare what alert rules read of a layer with the states that were written."""
    failed, passed, unsettled = (states.count(state) for state in (State.FAIL, State.PASS, State.OPEN))
    now_ns = START_NS + 1000 * SECOND
    base = {"name": "watch", "layer": layer.value, "window_s": 2000, "min_count": 1, "threshold": 0.01}
    (fails,) = read_rule(AlertRule.model_validate(base), store, now_ns)
    assert (fails.part, fails.whole) == (failed, failed + passed)
    (opens,) = read_rule(AlertRule.model_validate({**base, "measure": "open_rate"}), store, now_ns)
    assert (opens.part, opens.whole) == (unsettled, failed + passed + unsettled)
    enough = AlertRule.model_validate({**base, "min_count": failed + passed + 1})
    assert not read_rule(enough, store, now_ns)[0].firing
