"""Intervals of shares: how sure a rate is, and a difference of two."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

NORMAL_975 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: intervals are of 95 % where no other quantile is given."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a share, of 95 % where nothing else is said; both ends from 0 to 1."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"95% interval {self.low:.1%} to {self.high:.1%}"


def compute_wilson_interval(successes: float, total: int, quantile: float = NORMAL_975) -> Interval | None:
    """Return the Wilson score interval of a share (JASA 22, 1927); None of nothing.

    Args:
        successes: may be a sum of shares: the rates of several cases.
        total: how many there are.
        quantile: of the normal distribution, which sets how sure the interval is.
    """
    if not total:
        return None
    share, square = successes / total, quantile**2
    centre = (share + square / (2 * total)) / (1 + square / total)
    half = quantile / (1 + square / total) * sqrt(share * (1 - share) / total + square / (4 * total**2))
    # The ends are exact where all or none succeed; rounding would leave 1e-17 beside them.
    return Interval(
        0.0 if successes == 0 else max(0.0, centre - half),
        1.0 if successes == total else min(1.0, centre + half),
    )


def compute_difference_interval(
    before: tuple[int, int], after: tuple[int, int], quantile: float = NORMAL_975
) -> Interval | None:
    """Return the interval of a difference of two shares, after less before; None where one is of nothing.

    Each share is successes of a total. Newcombe's hybrid of two Wilson intervals (Statistics in
    Medicine 17, 1998); its ends are from -1 to 1.
    """
    first = compute_wilson_interval(*before, quantile)
    second = compute_wilson_interval(*after, quantile)
    if first is None or second is None:
        return None
    old, new = before[0] / before[1], after[0] / after[1]
    below = sqrt((new - second.low) ** 2 + (first.high - old) ** 2)
    above = sqrt((second.high - new) ** 2 + (old - first.low) ** 2)
    return Interval(new - old - below, new - old + above)
