"""What the API says of rates, in sentences: whether anything is wrong, and what changed."""

from __future__ import annotations

import pytest

from spanproof.api.pages import build_rate
from spanproof.api.routes.compare import build_pair, describe_changes
from spanproof.api.routes.overview import build_summary
from spanproof.store import FailRate
from spanproof.trace import Layer, State

NONE = FailRate(0, 0, 0, 0, 0)


def rate(*, passed: int = 0, failed: int = 0, errored: int = 0, opened: int = 0) -> FailRate:
    return FailRate(passed=passed, failed=failed, errored=errored, skipped=0, open=opened)


@pytest.mark.parametrize(
    ("rates", "state", "sentence"),
    [
        (
            {
                Layer.BOUNDARY: rate(passed=9, failed=1),
                Layer.GROUNDEDNESS: rate(passed=1, failed=1, opened=3),
            },
            State.FAIL,
            "Groundedness fails most in the last week: fails 1 of 2, 3 open",
        ),
        (
            {Layer.EXECUTION: rate(passed=1, errored=1), Layer.GROUNDEDNESS: rate(opened=1200)},
            State.ERRORED,
            "No run failed in the last week, and 1 errored on execution and 1,200 are open on groundedness",
        ),
        (
            {Layer.GROUNDEDNESS: rate(passed=5, opened=2)},
            State.OPEN,
            "No run failed in the last week, and 2 are open on groundedness",
        ),
        ({Layer.TRAJECTORY: rate(passed=5)}, State.PASS, "No run failed in the last week"),
        ({}, State.SKIPPED, "No run was judged in the last week"),
    ],
)
def test_the_overview_says_what_is_gravest(rates, state, sentence):
    layers = {layer: build_rate(rates.get(layer, NONE)) for layer in Layer}
    assert build_summary(layers, 168.0) == (state, sentence)


def test_a_window_without_a_name_is_in_hours():
    layers = {layer: build_rate(NONE) for layer in Layer}
    assert build_summary(layers, 6.0)[1] == "No run was judged in the last 6 hours"


@pytest.mark.parametrize(
    ("counted", "words"),
    [
        (rate(passed=2, failed=1, opened=3, errored=4), "fails 1 of 3, 3 open, 4 errored"),
        (rate(opened=1), "none judged, 1 open"),
        (rate(errored=2), "none judged, 2 errored"),
        (NONE, "nothing judged"),
    ],
)
def test_a_rate_counts_what_is_open_and_what_errored(counted, words):
    assert counted.words == words


@pytest.mark.parametrize(
    ("sides", "sentence"),
    [
        ({}, ""),
        (
            {Layer.BOUNDARY: (rate(passed=5), NONE)},
            "Only one side has verdicts: there is nothing to compare it with.",
        ),
        (
            {Layer.BOUNDARY: (rate(passed=5), rate(passed=4, failed=1))},
            "No layer changed beyond its interval.",
        ),
        (
            {
                Layer.BOUNDARY: (rate(passed=100), rate(failed=100)),
                Layer.EXECUTION: (rate(failed=100), rate(passed=100)),
                Layer.GROUNDEDNESS: (rate(passed=100), rate(passed=50, opened=50)),
            },
            "Boundary got worse; execution got better; groundedness has more open.",
        ),
        (
            {
                layer: (rate(passed=50, opened=50), rate(passed=100))
                for layer in (Layer.BOUNDARY, Layer.EXECUTION)
            },
            "Boundary and execution have less open.",
        ),
    ],
)
def test_a_comparison_says_what_changed(sides, sentence):
    pairs = {layer: build_pair(*sides.get(layer, (NONE, NONE))) for layer in Layer}
    assert describe_changes(pairs) == sentence
