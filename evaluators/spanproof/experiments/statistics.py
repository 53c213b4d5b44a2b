"""Paired comparisons of two experiments.

The pairs are cases: trials of one case depend on each other. Where nothing changed, the difference of a case
is as often positive as negative, whatever its size; a test that turns the signs of the differences around in
all ways (Fisher 1935, "The Design of Experiments") therefore holds its level for any number of cases. Its
interval is that of Hartigan (JASA 64, 1969): the means of all subsets of the differences.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate
from math import comb
from statistics import fmean
from typing import Final

LEVEL: Final = 0.05
"""Of all tests; two-sided."""

# Up to so many pairs all subsets are taken (4,096); beyond, so many random ones less one.
_EXACT_PAIRS: Final = 12
_DRAWS: Final = 9_999

# Sums of binary fractions that are 0 on paper.
_ZERO: Final = 1e-9

FEWEST_HELD_OUT: Final = 12
"""Cases to show a gain on. A gain from 50 % to 90 %, with one trial of each case, is shown on 6 cases in 0 of
100 searches, on 8 in 7 and on 12 in 34; with five trials in 47, 87 and 99."""

# Of the test for a fall in quarantine, one-sided. It is lax, as the quarantine forgives: of 5 trials each, a
# fall from 4 to 1 is one (p = 0.10), and from 4 to 2 is none (p = 0.26).
_QUARANTINE_LEVEL: Final = 0.2


class Change(StrEnum):
    """The result of a comparison at the stated level."""

    BETTER = "better"
    WORSE = "worse"
    NONE_SHOWN = "no difference shown"


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean difference of paired rates.

    Attributes:
        low, high: its 95 % interval; -1 and 1 where there are too few pairs for one.
        p_value: of the two-sided test that nothing changed.
        pairs: how many there are.
    """

    mean: float
    low: float
    high: float
    p_value: float
    pairs: int

    @property
    def change(self) -> Change:
        """The result of the test."""
        if self.p_value > LEVEL:
            return Change.NONE_SHOWN
        return Change.BETTER if self.mean > 0 else Change.WORSE


def compute_mcnemar(regressed: int, fixed: int) -> float:
    """Return the two-sided p value of McNemar's exact test (McNemar 1947).

    Args:
        regressed: pairs that passed before and fail now.
        fixed: pairs that failed before and pass now.
    """
    total = regressed + fixed
    if not total:
        return 1.0
    tail = sum(comb(total, count) for count in range(min(regressed, fixed) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**total)))


def compare_pairs(before: Sequence[float], now: Sequence[float]) -> PairedDifference:
    """Return the mean difference of paired rates, now less before, with its interval and its test.

    Random subsets are the same in every run: their seed is fixed.

    Raises:
        ValueError: there are no pairs, or their numbers differ.
    """
    differences = [later - earlier for earlier, later in zip(before, now, strict=True)]
    if not differences:
        raise ValueError("there are no pairs to compare")
    mean = fmean(differences)
    # Pairs without a difference turn no sum around.
    p_value = _compute_p_value([difference for difference in differences if abs(difference) > _ZERO])
    means = sorted(total / size for total, size in _list_subset_sums(differences) if size)
    # So many of the equally likely gaps between the means lie outside the interval, on either side.
    outside = int((len(means) + 1) * LEVEL / 2)
    low, high = (means[outside - 1], means[-outside]) if outside else (-1.0, 1.0)
    if high - low <= _ZERO:
        low, high = _compute_wide_interval(mean, len(differences))
    if p_value > LEVEL:
        low, high = min(low, 0.0), max(high, 0.0)
    return PairedDifference(mean, low, high, p_value, len(differences))


def _compute_wide_interval(difference: float, pairs: int) -> tuple[float, float]:
    """Return the interval where all pairs differ alike, so that no subset of them has another mean.

    Pairs that differ otherwise may be as frequent as the upper limit of Clopper and Pearson (Biometrika 26,
    1934) for none in so many. Toward 0 they are at most the opposite of those that were seen, as the test has
    it, so that both exclude 0 from the same number of pairs on.
    """
    unseen = 1 - (LEVEL / 2) ** (1 / pairs)
    beyond = unseen * (1 - abs(difference))
    if abs(difference) <= _ZERO:
        return -beyond, beyond
    inner, outer = abs(difference) * (1 - 2 * unseen), abs(difference) + beyond
    if difference > 0:
        return (inner, outer)
    return (-outer, -inner)


def _compute_p_value(differences: Sequence[float]) -> float:
    """Return how often the signs, drawn anew, give a sum at least as far from 0, two-sided."""
    sums = [total for total, _ in _list_subset_sums(differences)]
    # To turn the signs of a subset around takes its sum away twice: the tail is where that is at most 0.
    extra = 0 if len(differences) <= _EXACT_PAIRS else 1
    total = len(sums) + extra
    below = sum(total <= _ZERO for total in sums) + extra
    above = sum(total >= -_ZERO for total in sums) + extra
    return min(1.0, 2 * min(below, above) / total)


def _list_subset_sums(numbers: Sequence[float]) -> list[tuple[float, int]]:
    """Return sum and size of each subset, the empty one first; of many numbers those of random subsets."""
    if len(numbers) <= _EXACT_PAIRS:
        sums = [(0.0, 0)]
        for number in numbers:
            sums += [(total + number, size + 1) for total, size in sums]
        return sums
    draw = random.Random(0)  # noqa: S311 - resampling is no secret
    found = []
    for _ in range(_DRAWS):
        bits = draw.getrandbits(len(numbers))
        chosen = [number for location, number in enumerate(numbers) if bits >> location & 1]
        found.append((sum(chosen), len(chosen)))
    return found


def has_fallen(before: tuple[int, int], now: tuple[int, int]) -> bool:
    """Whether a rate fell by more than a quarantine forgives, by Fisher's exact test, one-sided.

    Args:
        before: trials that passed, and all of them, in the baseline.
        now: the same today.
    """
    (passed_before, total_before), (passed_now, total_now) = before, now
    if not total_before or not total_now or passed_now * total_before >= passed_before * total_now:
        return False
    passed, total = passed_before + passed_now, total_before + total_now
    ways = [comb(total_now, k) * comb(total_before, passed - k) for k in range(passed_now + 1)]
    *_, tail = accumulate(ways)
    return Fraction(tail, comb(total, passed)) <= Fraction(_QUARANTINE_LEVEL)
