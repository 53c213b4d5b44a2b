"""A difference is shown by a test at 5 %: never on too few cases, and seldom on unchanged agents."""

from __future__ import annotations

import random
from functools import cache
from math import sqrt
from statistics import stdev

import pytest

from spanproof.evaluators.intervals import compute_clustered_interval, compute_wilson_interval
from spanproof.experiments.statistics import LEVEL, Change, compare_pairs, has_fallen


@cache
def compare_sorted(differences: tuple[float, ...]) -> Change:
    return compare_pairs([0.0] * len(differences), differences).change


def test_one_case_shows_nothing_whatever_it_did():
    found = compare_pairs([0.0], [1.0])
    assert (found.mean, found.low, found.high, found.p_value) == (1.0, -1.0, 1.0, 1.0)
    assert found.change is Change.NONE_SHOWN


@pytest.mark.parametrize(
    ("won", "change"), [(3, Change.NONE_SHOWN), (5, Change.NONE_SHOWN), (6, Change.BETTER)]
)
def test_of_six_cases_all_must_turn(won, change):
    found = compare_pairs([0.0] * 6, [1.0] * won + [0.0] * (6 - won))
    assert found.change is change
    assert (found.low > 0) is (change is Change.BETTER)
    worse = compare_pairs([1.0] * won + [0.0] * (6 - won), [0.0] * 6)
    assert worse.p_value == found.p_value
    assert (worse.change is Change.WORSE) is (change is Change.BETTER)


def test_the_p_value_is_that_of_the_sign_test_where_all_differences_are_alike():
    # scipy.stats.binomtest(9, 10).pvalue
    assert compare_pairs([0.0] * 9 + [1.0], [1.0] * 9 + [0.0]).p_value == pytest.approx(0.021484375)


@pytest.mark.parametrize("count", [6, 8, 13, 40])
@pytest.mark.parametrize(("before", "now"), [(0.0, 1.0), (1.0, 0.0), (0.4, 0.6), (0.5, 0.5)])
def test_cases_that_all_turned_alike_leave_room_for_others(count, before, now):
    found = compare_pairs([before] * count, [now] * count)
    assert -1 <= found.low < found.high <= 1
    assert found.low <= found.mean <= found.high
    assert (found.low > 0) is (found.change is Change.BETTER)
    assert (found.high < 0) is (found.change is Change.WORSE)
    more = compare_pairs([before] * 2 * count, [now] * 2 * count)
    assert more.high - more.low < found.high - found.low


def test_the_interval_of_many_cases_is_near_that_of_student():
    draw = random.Random(5)
    before = [draw.random() for _ in range(60)]
    now = [each + draw.gauss(0.1, 0.2) for each in before]
    found = compare_pairs(before, now)
    spread = stdev(later - earlier for earlier, later in zip(before, now, strict=True))
    # 2.001 is the 97.5 % quantile of Student's distribution with 59 degrees of freedom.
    half = 2.001 * spread / sqrt(60)
    assert found.low == pytest.approx(found.mean - half, abs=0.05 * half)
    assert found.high == pytest.approx(found.mean + half, abs=0.05 * half)
    assert found.change is Change.BETTER


@pytest.mark.parametrize(("cases", "trials"), [(3, 1), (6, 1), (12, 1), (6, 3)])
def test_unchanged_agents_seldom_show_a_gain(cases, trials):
    """2,000 pairs of experiments with the same rates; `tests/bench/false_gains.py` draws 10,000."""
    draw = random.Random(cases * 10 + trials)
    gains = 0
    for _ in range(2_000):
        rates = [draw.betavariate(1, 1) for _ in range(cases)]
        now, before = (
            [sum(draw.random() < rate for _ in range(trials)) / trials for rate in rates] for _ in range(2)
        )
        differences = sorted(round(new - old, 9) for new, old in zip(now, before, strict=True))
        gains += compare_sorted(tuple(differences)) is Change.BETTER
    # Half of the level is on the side of gains; 0.7 % more has a chance below 3 % in so many.
    assert gains / 2_000 <= LEVEL / 2 + 0.007


def test_trials_of_a_case_count_as_one_where_they_agree():
    alike = compute_clustered_interval([(5, 5), (0, 5)] * 3)
    apart = compute_clustered_interval([(2, 5), (3, 5)] * 3)
    by_trial = compute_wilson_interval(15, 30)
    by_case = compute_wilson_interval(3, 6)
    assert alike.high - alike.low >= by_case.high - by_case.low
    assert apart == by_trial


def test_cases_that_all_pass_are_as_many_observations_as_cases():
    assert compute_clustered_interval([(5, 5)] * 12) == compute_wilson_interval(12, 12)
    assert compute_clustered_interval([(0, 0)]) is None


@pytest.mark.parametrize(
    ("before", "now", "fell"),
    [((4, 5), (1, 5), True), ((4, 5), (3, 5), False), ((2, 5), (4, 5), False), ((18, 20), (9, 20), True)],
)
def test_a_fall_is_no_wavering(before, now, fell):
    assert has_fallen(before, now) is fell
