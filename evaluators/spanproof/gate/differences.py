"""Tests of whether two rates differ, by case: the scores of one case depend on each other.

In: of each case of a baseline and of today, how many scores are counted in the rate, of how many. Out: the
two-sided p value that cases were drawn from one population.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, erfc, exp, lgamma, sqrt
from typing import Final, TypeAlias

Counts: TypeAlias = Sequence[tuple[int, int]]
"""By case: the scores of the rate, and the scores that it is over."""

LEVEL: Final = 0.05
"""Of the test; two-sided."""

# Ways to divide the cases that are all tried: 8 and 8 of 16 are 12,870. Beyond, the sum is close to normal.
_MOST_DIVISIONS: Final = 20_000

# Two equal chances, computed in different orders.
_TOLERANCE: Final = 1e-9


def compute_difference_p_value(before: Counts, now: Counts) -> float | None:
    """Return the p value that nothing changed; None where one side has nothing.

    With one score in each case it is Fisher's exact test. Else the cases are divided anew in all ways, or, of
    many cases, by the normal distribution with the variance of that.
    """
    before, now = [each for each in before if each[1]], [each for each in now if each[1]]
    if not before or not now:
        return None
    if all(total == 1 for _, total in (*before, *now)):
        return _compute_fisher(_count_totals(before), _count_totals(now))
    if comb(len(before) + len(now), len(now)) <= _MOST_DIVISIONS:
        return _compute_by_divisions(before, now)
    return _compute_by_normal(before, now)


def _count_totals(counts: Counts) -> tuple[int, int]:
    return sum(part for part, _ in counts), sum(total for _, total in counts)


def _compute_fisher(before: tuple[int, int], now: tuple[int, int]) -> float:
    """Return Fisher's exact p value (1922): all tables that are at most as likely as this one."""
    part, total = before[0] + now[0], before[1] + now[1]
    fewest, most = max(0, part - before[1]), min(part, now[1])

    def compute_log_chance(in_now: int) -> float:
        return (
            _compute_log_comb(now[1], in_now)
            + _compute_log_comb(before[1], part - in_now)
            - _compute_log_comb(total, part)
        )

    limit = compute_log_chance(now[0]) + _TOLERANCE
    chances = (compute_log_chance(each) for each in range(fewest, most + 1))
    return min(1.0, sum(exp(chance) for chance in chances if chance <= limit))


def _compute_log_comb(whole: int, part: int) -> float:
    return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)


def _compute_by_divisions(before: Counts, now: Counts) -> float:
    cases = [*before, *now]
    part, total = _count_totals(cases)

    def compute_difference(chosen: Counts) -> float:
        chosen_part, chosen_total = _count_totals(chosen)
        return abs(chosen_part / chosen_total - (part - chosen_part) / (total - chosen_total))

    observed = compute_difference(now) - _TOLERANCE
    differences = [compute_difference(chosen) for chosen in combinations(cases, len(now))]
    return sum(each >= observed for each in differences) / len(differences)


def _compute_by_normal(before: Counts, now: Counts) -> float:
    cases = [*before, *now]
    part, total = _count_totals(cases)
    share = part / total
    variance = sum((each - share * of) ** 2 for each, of in cases) / (len(cases) - 1)
    if not variance:
        return 1.0
    error = sqrt(variance * (1 / len(before) + 1 / len(now))) * len(cases) / total
    (old_part, old_total), (new_part, new_total) = _count_totals(before), _count_totals(now)
    return erfc(abs(new_part / new_total - old_part / old_total) / error / sqrt(2))
