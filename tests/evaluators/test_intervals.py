from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.intervals import compute_difference_interval, compute_wilson_interval


def test_the_example_of_the_paper():
    # Newcombe (1998), table II, method 10, contrast (a): 56/70 less 48/80.
    found = compute_difference_interval((48, 80), (56, 70))
    assert (found.low, found.high) == (pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4))


def test_nothing_has_no_interval():
    assert compute_wilson_interval(0, 0) is None
    assert compute_difference_interval((0, 0), (1, 2)) is None


SHARES = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(SHARES, SHARES)
def test_the_interval_holds_the_difference_and_turns_with_it(before, after):
    found, turned = compute_difference_interval(before, after), compute_difference_interval(after, before)
    difference = after[0] / after[1] - before[0] / before[1]
    assert -1 - 1e-9 <= found.low <= difference + 1e-9
    assert difference - 1e-9 <= found.high <= 1 + 1e-9
    assert (turned.low, turned.high) == (pytest.approx(-found.high), pytest.approx(-found.low))
