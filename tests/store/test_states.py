"""What is open, in every combination of layers: lists by state, rates, causes, and the queue of people."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from spanproof.gate.assertion import Comparison
from spanproof.store import ExternalScore, FailRate, FailsWhen, Store
from spanproof.store.browse import PASS_SAMPLE_SHARE
from spanproof.store.filters import Filter
from spanproof.store.measures import Groups
from spanproof.trace import Cause, Errored, Label, Layer, Outcome, Scored, Skipped, State

from .conftest import DIRECT, RUN, START_NS

SECOND = 10**9
LAYERS = (Layer.CORRECTNESS, Layer.GROUNDEDNESS, Layer.TRAJECTORY)
WINDOW = {"start_ns": 0, "end_ns": 2**62}
OUTCOMES: dict[State, Outcome] = {
    State.PASS: Scored(0.9, Label.PASS, "yes"),
    State.FAIL: Scored(0.1, Label.FAIL, "no"),
    State.OPEN: Scored(0.5, None, "45.00 is nowhere", cause=Cause.VALUE_NOT_FOUND, detail="45.00"),
    State.SKIPPED: Skipped("the run has no code", Cause.NO_CODE),
    State.ERRORED: Errored("SandboxBroken", "gone"),
}

# What is counted, and how: the ways to reach a store are those of test_store.
pytestmark = pytest.mark.parametrize("shared_store", DIRECT, indirect=True, scope="module")


@pytest.fixture
def store(emptied: Store) -> Store:
    return emptied


def find_gravest(states) -> State:
    """What the issue says: a fail before all, only what was judged and is right is green."""
    for state in (State.FAIL, State.ERRORED, State.OPEN, State.PASS):
        if state in states:
            return state
    return State.SKIPPED


def judge(number: int, layer: Layer, label: Label, *, author: str = "human", given_ns: int = 1):
    value = 1.0 if label is Label.PASS else 0.0
    return ExternalScore(
        f"{number:032x}", RUN, layer, "verdict", author, value, label, "", None, "", given_ns
    )


def numbers(rows) -> set[int]:
    return {int(row.trace_id, 16) for row in rows}


@pytest.fixture
def combined(store, evaluation):
    """Every combination of the states of three layers, a trace each."""
    combinations = dict(enumerate(product(State, repeat=len(LAYERS)), start=1))
    store.write(
        [
            evaluation(
                number,
                verdicts={layer: OUTCOMES[state] for layer, state in zip(LAYERS, states, strict=True)},
                start_ns=START_NS + number * SECOND,
            )
            for number, states in combinations.items()
        ]
    )
    return combinations


def test_traces_are_listed_by_their_gravest_state(store, combined):
    for state in State:
        expected = {number for number, states in combined.items() if find_gravest(states) is state}
        rows = store.traces(states=[state], limit=1000)
        assert numbers(rows) == expected
        assert {row.state for row in rows} == {state}
        assert {run.state for row in rows for run in row.runs} == {state}
    assert sum(len(store.traces(states=[state], limit=1000)) for state in State) == len(combined)


def test_rates_count_each_state_apart(store, combined):
    each = len(combined) // len(State)
    for layer in LAYERS:
        rate = store.fail_rate(layer, failing=0, **WINDOW)
        assert rate == FailRate(passed=each, failed=each, errored=each, skipped=each, open=each)
        assert (rate.rate, rate.open_rate) == (0.5, 1 / 3)
        assert rate.words == f"fails {each} of {2 * each}, {each} open, {each} errored"
    (group,) = store.groups(Layer.GROUNDEDNESS, "groundedness", **WINDOW)
    assert group.mean == pytest.approx((0.9 + 0.1) / 2)


def test_counts_ahead_say_the_same(store, combined):
    before = [store.groups(layer, layer.value, ("agent",), **WINDOW) for layer in LAYERS]
    while store.refresh_rollups():
        pass
    assert [store.groups(layer, layer.value, ("agent",), **WINDOW) for layer in LAYERS] == before


def test_the_queue_is_open_first_then_fails_then_a_sample_of_passes(store, combined):
    waiting = store.browse.list_unlabelled(start_ns=0, limit=1000)
    found = [
        (
            {None: 0, Label.FAIL: 1, Label.PASS: 2}[score.outcome.label],
            -score.span_time_ns,
        )
        for score in waiting
    ]
    assert found == sorted(found)
    each = len(LAYERS) * len(combined) // len(State)
    ranks = [rank for rank, _ in found]
    assert (ranks.count(0), ranks.count(1)) == (each, each)
    assert 0 < ranks.count(2) < 3 * PASS_SAMPLE_SHARE * each
    assert store.browse.list_unlabelled(start_ns=0, limit=1000) == waiting
    assert store.browse.count_unlabelled(start_ns=0, most=1000) == len(waiting)
    assert store.browse.count_unlabelled(start_ns=0, most=2) == 2
    assert {score.layer for score in waiting} == set(LAYERS)
    of_layer = store.browse.list_unlabelled(Layer.TRAJECTORY, start_ns=0, limit=1000)
    assert of_layer == [score for score in waiting if score.layer is Layer.TRAJECTORY]


def test_a_person_settles_every_open_layer_until_nothing_waits(store, combined):
    for label, settled in ((Label.PASS, State.PASS), (Label.FAIL, State.FAIL)):
        given_ns = 1 if label is Label.PASS else 2
        store.write_external(
            [
                judge(number, layer, label, given_ns=given_ns)
                for number, states in combined.items()
                for layer, state in zip(LAYERS, states, strict=True)
                if state is State.OPEN
            ]
        )
        for state in State:
            expected = {
                number
                for number, states in combined.items()
                if find_gravest([settled if each is State.OPEN else each for each in states]) is state
            }
            assert numbers(store.traces(states=[state], limit=1000)) == expected
    assert all(score.outcome.label for score in store.browse.list_unlabelled(start_ns=0, limit=1000))


def test_causes_are_counted_by_layer_state_and_cause(store, combined):
    each = len(combined) // len(State)
    found = store.causes(**WINDOW)
    assert {(one.layer, one.state, one.cause) for one in found} == {
        (layer, state, cause)
        for layer in LAYERS
        for state, cause in (
            (State.OPEN, Cause.VALUE_NOT_FOUND),
            (State.SKIPPED, Cause.NO_CODE),
            (State.ERRORED, None),
        )
    }
    assert {one.count for one in found} == {each}
    newest_open = max(number for number, states in combined.items() if states[1] is State.OPEN)
    (of_answers,) = [one for one in store.causes(Layer.GROUNDEDNESS, **WINDOW) if one.state is State.OPEN]
    assert of_answers.words == f"{each} answers hold a value that no source has"
    assert (of_answers.detail, of_answers.trace_id) == ("45.00", f"{newest_open:032x}")
    assert {one.words for one in found if one.state is State.ERRORED} == {
        f"{each} outcomes errored: SandboxBroken"
    }


def test_a_pass_by_a_person_takes_a_layer_out_of_the_failing_ones(store, evaluation):
    store.write([evaluation(1, verdicts={Layer.GROUNDEDNESS: OUTCOMES[State.FAIL]})])
    assert numbers(store.traces(failing=Layer.GROUNDEDNESS)) == {1}
    assert store.write_external([judge(1, Layer.GROUNDEDNESS, Label.PASS)]) == 1
    assert numbers(store.traces(failing=True)) == set()
    assert numbers(store.traces(states=[State.PASS])) == {1}
    # The evaluation that comes later keeps what the person said.
    store.write([evaluation(1, verdicts={Layer.GROUNDEDNESS: OUTCOMES[State.FAIL]})])
    assert numbers(store.traces(failing=False, states=[State.PASS])) == {1}
    assert store.evaluation(f"{1:032x}").state is State.PASS


def test_of_two_people_the_one_who_judged_last_counts(store, evaluation):
    store.write([evaluation(1, verdicts={Layer.GROUNDEDNESS: OUTCOMES[State.OPEN]})])
    store.write_external([judge(1, Layer.GROUNDEDNESS, Label.FAIL, author="ann", given_ns=9)])
    store.write_external([judge(1, Layer.GROUNDEDNESS, Label.PASS, author="zoe", given_ns=5)])
    (row,) = store.traces()
    assert (row.state, store.evaluation(row.trace_id).state) == (State.FAIL, State.FAIL)
    assert numbers(store.traces(states=[State.FAIL])) == {1}
    assert store.browse.fetch_trace_rows([row.trace_id]) == [row]


def test_a_label_that_comes_before_its_trace_settles_it(store, evaluation):
    assert store.write_external([judge(1, Layer.GROUNDEDNESS, Label.PASS)]) == 0
    store.write([evaluation(1, verdicts={Layer.GROUNDEDNESS: OUTCOMES[State.OPEN]})])
    assert numbers(store.traces(states=[State.PASS])) == {1}
    assert store.browse.list_unlabelled(start_ns=0, limit=10) == []


def test_advice_is_never_open(store, evaluation):
    judged = evaluation(1)
    (run,) = judged.runs
    advice = replace(run.scores[-1], name="step_efficiency", outcome=Scored(0.4, None, "7 steps"))
    store.write([replace(judged, runs=(replace(run, scores=(*run.scores, advice)),))])
    rate = store.fail_rate(Layer.TRAJECTORY, name="step_efficiency", **WINDOW)
    assert rate == FailRate(0, 0, 0, 0, 0, advice=1)
    assert (rate.open_rate, rate.words) == (None, "nothing judged")


@pytest.mark.parametrize("threshold", [0.4, 0.6])
def test_an_open_verdict_stays_open_whatever_its_placeholder_is_compared_with(store, evaluation, threshold):
    store.write(
        [
            evaluation(number, verdicts={Layer.GROUNDEDNESS: OUTCOMES[state]})
            for number, state in enumerate((State.OPEN, State.PASS, State.FAIL), start=1)
        ]
    )
    fails_when = FailsWhen(raw=False, comparison=Comparison.BELOW, threshold=threshold)
    rate = store.fail_rate(Layer.GROUNDEDNESS, fails_when=fails_when, **WINDOW)
    assert (rate.passed, rate.failed, rate.open) == (1, 1, 1)


def test_means_and_percentiles_leave_placeholders_out(store, evaluation):
    store.write(
        [
            evaluation(number, verdicts={Layer.GROUNDEDNESS: OUTCOMES[state]})
            for number, state in enumerate((State.OPEN, State.OPEN, State.PASS), start=1)
        ]
    )
    chosen = Filter(Layer.GROUNDEDNESS, "groundedness", {}, None, 0, 2**62)
    for aggregate in ("mean", "p50", "p95"):
        (amount,) = store.measures.compute_amounts(chosen, (), aggregate, raw=False).values()
        assert (amount.value, amount.count) == (0.9, 1)
    worst = store.measures.group_extreme_scores(chosen, Groups((), []), 9, raw=False, highest=False)
    assert [score.outcome.value for score in worst[()]] == [0.9]
