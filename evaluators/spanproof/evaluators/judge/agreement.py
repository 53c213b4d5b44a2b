"""How far a judge agrees with people: Cohen's kappa with its interval, a threshold, a table of confusion.

Kappa and its large-sample standard error as in Fleiss, Cohen & Everitt, "Large sample standard errors of
kappa and weighted kappa", Psychological Bulletin 72 (1969), for two raters and two categories. That
error is 0 where the two never differ, or one never changes its mind, on however few rows: there the interval
is that of the share they agree on (Wilson, "Probable inference", JASA 22, 1927), corrected for chance alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanproof.evaluators.intervals import compute_wilson_interval

_Z_95 = 1.959963984540054
# What arithmetic leaves of 0.
_NO_ERROR = 1e-9


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts by what people said and what the judge said; `pass` is positive."""

    both_pass: int
    only_people_pass: int
    only_judge_passes: int
    both_fail: int

    @property
    def total(self) -> int:
        """How many were compared."""
        return self.both_pass + self.only_people_pass + self.only_judge_passes + self.both_fail


@dataclass(frozen=True, slots=True)
class Agreement:
    """Kappa with its 95 % interval; NaN where one side never changes its mind."""

    kappa: float
    low: float
    high: float
    confusion: Confusion


def measure_agreement(people: Sequence[bool], judge: Sequence[bool]) -> Agreement:
    """Compare two sequences of verdicts about the same things, in the same order.

    Raises:
        ValueError: there is nothing to compare, or the lengths differ.
    """
    if not people or len(people) != len(judge):
        raise ValueError(f"nothing to compare: {len(people)} labels, {len(judge)} verdicts")
    pairs = list(zip(people, judge, strict=True))
    counted = Confusion(
        pairs.count((True, True)),
        pairs.count((True, False)),
        pairs.count((False, True)),
        pairs.count((False, False)),
    )
    kappa, low, high = _compute_kappa(counted)
    return Agreement(kappa, max(-1.0, low), min(1.0, high), counted)


def choose_threshold(people: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the lowest score to pass at which kappa is highest; the middle of the gap below it.

    Raises:
        ValueError: there is nothing to compare, or the lengths differ.
    """
    distinct = sorted(set(scores))
    between = [(low + high) / 2 for low, high in pairwise(distinct)]
    candidates = between or [0.5]

    def reached(threshold: float) -> float:
        kappa = measure_agreement(people, [score >= threshold for score in scores]).kappa
        return -1.0 if math.isnan(kappa) else kappa

    return max(candidates, key=lambda threshold: (reached(threshold), -abs(threshold - 0.5)))


def _compute_kappa(counted: Confusion) -> tuple[float, float, float]:
    """Return kappa and the ends of its interval."""
    total = counted.total
    cells = [
        [counted.both_pass / total, counted.only_people_pass / total],
        [counted.only_judge_passes / total, counted.both_fail / total],
    ]
    rows = [sum(row) for row in cells]
    columns = [sum(column) for column in zip(*cells, strict=True)]
    observed = cells[0][0] + cells[1][1]
    expected = sum(row * column for row, column in zip(rows, columns, strict=True))
    if expected == 1.0:
        return math.nan, math.nan, math.nan
    kappa = (observed - expected) / (1 - expected)
    on_diagonal = sum(
        cells[at][at] * ((1 - expected) - (rows[at] + columns[at]) * (1 - observed)) ** 2 for at in (0, 1)
    )
    off_diagonal = (1 - observed) ** 2 * sum(
        cells[one][two] * (columns[one] + rows[two]) ** 2 for one, two in ((0, 1), (1, 0))
    )
    spread = on_diagonal + off_diagonal - (observed * expected - 2 * expected + observed) ** 2
    error = math.sqrt(max(0.0, spread) / total) / (1 - expected) ** 2
    if error > _NO_ERROR:
        return kappa, kappa - _Z_95 * error, kappa + _Z_95 * error
    interval = compute_wilson_interval(observed * total, total)
    assert interval is not None, "there is at least one pair"
    low, high = ((share - expected) / (1 - expected) for share in (interval.low, interval.high))
    return kappa, min(low, kappa), max(high, kappa)
