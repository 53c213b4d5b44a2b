"""The five states, and the one fold of layers into runs and of runs into cases."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.trace import (
    CAUSE_WORDS,
    GRAVITY,
    OPEN_VALUE,
    Cause,
    Errored,
    Label,
    Scored,
    Skipped,
    State,
    describe_cause,
    fold_outcomes,
    fold_states,
    get_state,
)

OUTCOMES = {
    State.PASS: Scored(1.0, Label.PASS, "right"),
    State.FAIL: Scored(0.0, Label.FAIL, "wrong"),
    State.OPEN: Scored(OPEN_VALUE, None, "not settled", cause=Cause.VALUE_NOT_FOUND),
    State.SKIPPED: Skipped("no code", Cause.NO_CODE),
    State.ERRORED: Errored("SandboxBroken", "it broke"),
}
states = st.sampled_from(State)


def expect_of_run(layers):
    """Return what a reader of docs/layers.md expects of a run with these layers."""
    if State.FAIL in layers:
        return State.FAIL
    if State.ERRORED in layers:
        return State.ERRORED
    if State.OPEN in layers:
        return State.OPEN
    return State.PASS if State.PASS in layers else State.SKIPPED


@pytest.mark.parametrize("state", State)
def test_an_outcome_has_its_state(state):
    assert get_state(OUTCOMES[state]) is state
    assert state.is_judged is (state in (State.PASS, State.FAIL))


def test_no_outcome_at_all_is_skipped():
    assert get_state(None) is State.SKIPPED
    assert fold_states(()) is State.SKIPPED


def test_every_combination_of_five_layers_folds_to_the_gravest():
    for layers in combinations_with_replacement(State, 5):
        assert fold_states(layers) is expect_of_run(layers), layers
        assert fold_outcomes(OUTCOMES[layer] for layer in layers) is expect_of_run(layers), layers


@given(st.lists(states), st.lists(states))
def test_folding_in_parts_folds_the_whole(first, second):
    whole = fold_states([*first, *second])
    assert whole is fold_states([fold_states(first), fold_states(second)])
    assert whole is fold_states(reversed([*first, *second]))


@given(st.lists(states, min_size=1), states)
def test_one_more_verdict_never_makes_a_run_greener(layers, more):
    before, after = fold_states(layers), fold_states([*layers, more])
    if before is not State.SKIPPED:
        assert after is not State.PASS or before is State.PASS
    assert GRAVITY.index(after) <= GRAVITY.index(before)


@given(st.lists(states))
def test_only_what_was_judged_right_and_nothing_else_but_skipped_passes(layers):
    passes = State.PASS in layers and set(layers) <= {State.PASS, State.SKIPPED}
    assert (fold_states(layers) is State.PASS) is passes


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_has_words_for_one_and_for_many(cause):
    one, many = CAUSE_WORDS[cause]
    assert one != many
    assert describe_cause(cause, 1) == f"1 {one}"
    assert describe_cause(cause, 1057) == f"1,057 {many}"
