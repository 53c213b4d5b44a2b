"""Numbers over scores: means, largest values, percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, fsum

from spanproof.gate.assertion import Function


def compute_aggregate(function: Function, numbers: Sequence[float]) -> float:
    """Return the mean, the largest, or a percentile of at least one number.

    A percentile is the smallest of the numbers that so many percent of them do not exceed (nearest rank).
    """
    match function:
        case Function.AVG:
            return fsum(numbers) / len(numbers)
        case Function.MAX:
            return max(numbers)
        case Function.P50:
            return _compute_percentile(numbers, 50)
        case Function.P95:
            return _compute_percentile(numbers, 95)
        case _:
            raise ValueError(f"{function} is a rate: it is counted, not computed from numbers")


def _compute_percentile(numbers: Sequence[float], percent: int) -> float:
    return sorted(numbers)[ceil(percent * len(numbers) / 100) - 1]
