"""Whether two rates differ is tested by case."""

from __future__ import annotations

from itertools import combinations

import pytest

from spanproof.gate.differences import LEVEL, compute_difference_p_value


def make_cases(passed: int, total: int, scores: int = 1) -> list[tuple[int, int]]:
    return [(scores, scores)] * passed + [(0, scores)] * (total - passed)


@pytest.mark.parametrize(
    ("before", "now", "p_value"),
    [
        # Fisher's lady tasting tea: one of four cups taken for the other kind.
        ((1, 4), (3, 4), 34 / 70),
        ((0, 4), (4, 4), 2 / 70),
        ((0, 3), (3, 3), 0.1),
        ((5, 10), (5, 10), 1.0),
        # 2 · C(10, 0) · C(10, 5) / C(20, 5).
        ((0, 10), (5, 10), 2 * 252 / 15_504),
    ],
)
def test_with_one_score_in_each_case_it_is_fishers_exact_test(before, now, p_value):
    found = compute_difference_p_value(make_cases(*before), make_cases(*now))
    assert found == pytest.approx(p_value, rel=1e-6)


def test_many_scores_of_few_cases_show_nothing():
    few = compute_difference_p_value(make_cases(0, 3, scores=20), make_cases(3, 3, scores=20))
    assert few == pytest.approx(0.1)
    assert compute_difference_p_value(make_cases(0, 3, scores=20), make_cases(0, 3)) == 1.0


def test_of_all_divisions_of_the_same_cases_at_most_the_level_shows_a_difference():
    """Whatever the cases are like: each number of scores, each share."""
    cases = [(0, 4), (4, 4), (1, 3), (0, 1), (9, 9), (5, 7), (0, 6), (2, 2), (3, 8), (0, 5)]
    divisions = list(combinations(range(10), 5))
    shown = 0
    for chosen in divisions:
        now = [cases[at] for at in chosen]
        before = [case for at, case in enumerate(cases) if at not in chosen]
        shown += compute_difference_p_value(before, now) <= LEVEL
    assert shown / len(divisions) <= LEVEL


def test_many_cases_are_tested_with_the_variance_by_case():
    before, now = make_cases(20, 40, scores=5), make_cases(32, 40, scores=5)
    by_case = compute_difference_p_value(before, now)
    by_score = compute_difference_p_value(make_cases(100, 200), make_cases(160, 200))
    # z = 0.3 / sqrt(0.65 * 0.35 * 80 / 79 * 2 / 40)
    assert by_case == pytest.approx(0.0052, abs=1e-4)
    assert by_score < 1e-8
    assert compute_difference_p_value(make_cases(40, 40, 5), make_cases(40, 40, 5)) == 1.0


def test_nothing_has_no_p_value():
    assert compute_difference_p_value([], make_cases(1, 2)) is None
    assert compute_difference_p_value([(0, 0)], make_cases(1, 2)) is None
