"""Numbers over scores: aggregates, and the interval of a share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, fsum, sqrt

from spanproof.gate.assertion import Function

_Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: intervals are of 95 %."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a share; both ends from 0 to 1."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"95% interval {self.low:.1%} to {self.high:.1%}"


def wilson(successes: float, total: int) -> Interval | None:
    """Return the Wilson score interval of a share (JASA 22, 1927); None of nothing.

    Successes may be a sum of shares: the rates of several cases.
    """
    if not total:
        return None
    share, square = successes / total, _Z**2
    centre = (share + square / (2 * total)) / (1 + square / total)
    half = _Z / (1 + square / total) * sqrt(share * (1 - share) / total + square / (4 * total**2))
    # The ends are exact where all or none succeed; rounding would leave 1e-17 beside them.
    return Interval(
        0.0 if successes == 0 else max(0.0, centre - half),
        1.0 if successes == total else min(1.0, centre + half),
    )


def aggregate(function: Function, numbers: Sequence[float]) -> float:
    """Return the mean, the largest, or a percentile of at least one number.

    A percentile is the smallest of the numbers that so many percent of them do not exceed (nearest rank).
    """
    match function:
        case Function.AVG:
            return fsum(numbers) / len(numbers)
        case Function.MAX:
            return max(numbers)
        case Function.P50:
            return _percentile(numbers, 50)
        case Function.P95:
            return _percentile(numbers, 95)
        case _:
            raise ValueError(f"{function} is a rate: it is counted, not computed from numbers")


def _percentile(numbers: Sequence[float], percent: int) -> float:
    return sorted(numbers)[ceil(percent * len(numbers) / 100) - 1]
