"""Paired comparisons of two experiments."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from math import comb
from statistics import fmean

_RESAMPLES = 10_000


def mcnemar(lost: int, won: int) -> float:
    """Return the two-sided p value of McNemar's exact test (McNemar 1947).

    Args:
        lost: pairs that passed before and fail now.
        won: pairs that failed before and pass now.
    """
    total = lost + won
    if not total:
        return 1.0
    tail = sum(comb(total, count) for count in range(min(lost, won) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**total)))


def bootstrap_difference(before: Sequence[float], now: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean difference of paired rates with its 95 % interval, by resampling the pairs.

    The resampling is the same in every run: its seed is fixed.

    Raises:
        ValueError: there are no pairs, or their numbers differ.
    """
    differences = [later - earlier for earlier, later in zip(before, now, strict=True)]
    if not differences:
        raise ValueError("there are no pairs to compare")
    draw = random.Random(0)  # noqa: S311 - resampling is no secret
    means = sorted(fmean(draw.choices(differences, k=len(differences))) for _ in range(_RESAMPLES))
    low, high = means[_RESAMPLES * 25 // 1000], means[_RESAMPLES * 975 // 1000 - 1]
    return fmean(differences), low, high
