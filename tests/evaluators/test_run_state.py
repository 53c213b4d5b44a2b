"""Which layer says why a run is in its state, and that a person's verdict settles a layer."""

from __future__ import annotations

import pytest

from spanproof.evaluators.run_state import REASON_ORDER, find_reason, list_by_gravity
from spanproof.trace import Cause, Errored, Label, Layer, Scored, Skipped

PASSED, FAILED = Scored(1.0, Label.PASS, "fine"), Scored(0.0, Label.FAIL, "wrong")
OPEN = Scored(0.5, None, "not settled", cause=Cause.VALUE_NOT_FOUND)
ERRORED, SKIPPED = Errored("ValueError", "broken"), Skipped("no code", Cause.NO_CODE)


def test_the_order_of_reasons_has_every_layer_once():
    assert sorted(REASON_ORDER) == sorted(Layer)


@pytest.mark.parametrize(
    ("layers", "gravest"),
    [
        ({Layer.CORRECTNESS: FAILED, Layer.BOUNDARY: FAILED}, Layer.BOUNDARY),
        (
            {Layer.CORRECTNESS: FAILED, Layer.GROUNDEDNESS: FAILED, Layer.EXECUTION: FAILED},
            Layer.GROUNDEDNESS,
        ),
        ({Layer.CORRECTNESS: FAILED, Layer.EXECUTION: FAILED, Layer.TRAJECTORY: FAILED}, Layer.EXECUTION),
        ({Layer.CORRECTNESS: OPEN, Layer.TRAJECTORY: FAILED}, Layer.TRAJECTORY),
        ({Layer.BOUNDARY: OPEN, Layer.TRAJECTORY: ERRORED}, Layer.TRAJECTORY),
        ({Layer.CORRECTNESS: PASSED, Layer.GROUNDEDNESS: OPEN, Layer.EXECUTION: SKIPPED}, Layer.GROUNDEDNESS),
    ],
)
def test_the_gravest_state_gives_the_reason_and_of_one_state_what_people_need_first(layers, gravest):
    assert find_reason(layers) == (gravest, layers[gravest])


def test_what_passes_and_what_is_skipped_follow_in_the_order_of_the_layers():
    layers = dict.fromkeys(Layer, PASSED) | {Layer.EXECUTION: SKIPPED, Layer.TRAJECTORY: OPEN}
    assert list_by_gravity(layers) == [
        Layer.TRAJECTORY, Layer.CORRECTNESS, Layer.BOUNDARY, Layer.GROUNDEDNESS, Layer.EXECUTION,
    ]  # fmt: skip


def test_a_run_that_no_layer_judged_has_no_reason():
    assert find_reason({}) is None
