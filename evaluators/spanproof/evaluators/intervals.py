"""Intervals of shares: how sure a rate is, and a difference of two."""

from __future__ import annotations

from collections.abc import Sequence
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


def compute_wilson_interval(successes: float, total: float, quantile: float = NORMAL_975) -> Interval | None:
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


def compute_clustered_interval(parts: Sequence[tuple[float, int]]) -> Interval | None:
    """Return the interval of a share whose items come in clusters: the trials of a case, the scores of a run.

    Each part is successes and total of a cluster. The items count as many independent ones as give the same
    variance of the ratio (Korn and Graubard, Survey Methodology 24, 1998), in Wilson's interval. Where the
    clusters do not differ, each counts as one.
    """
    clusters = [(successes, total) for successes, total in parts if total]
    if not clusters:
        return None
    whole, count = sum(total for _, total in clusters), len(clusters)
    share = sum(successes for successes, _ in clusters) / whole
    squares = sum((successes - share * total) ** 2 for successes, total in clusters)
    effective = float(min(count, whole))
    if count > 1 and squares > 0:
        variance = squares * count / (count - 1) / whole**2
        widening = (_compute_t_quantile(count - 1) / NORMAL_975) ** 2
        effective = min(float(whole), max(1.0, share * (1 - share) / variance / widening))
    return compute_wilson_interval(share * effective, effective)


def _compute_t_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's distribution, by its expansion (Cornish and Fisher 1938)."""
    z = NORMAL_975
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
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
