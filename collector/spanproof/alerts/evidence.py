"""How sure a rate must be before a rule fires, and again before it ends.

In: a share of a window, and a bound. Out: where the interval of the share lies. The shorter the window, the
wider the interval: a week has 2,016 windows of 5 min, and chance crosses one of 95 % every other hour.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from functools import cache
from math import exp, pi, sqrt

from spanproof.evaluators.intervals import Interval
from spanproof.store.measures import Share

_WEEK_S = 604_800.0

# Crossings of one end of the interval a week by a rate that stays at the bound. A page needs a crossing of
# the lower end, time (`for_s`), and a crossing of the upper end before it: the simulation in docs/alerts.md
# has one page a week or less of it.
_CHANCE_PAGES = 4.0

# Of 95 %, for windows of 10 h and more; and of a window of a few seconds.
_LEAST_QUANTILE, _MOST_QUANTILE = 1.959963984540054, 5.0


class Standing(Enum):
    """Where a rate is, beside the bound of its rule."""

    ABOVE = "above"
    """The bound is reached, for sure: the rule fires."""
    HIGH = "high"
    """The rate reaches the bound, its interval does not: what fires goes on, what does not starts nothing."""
    LOW = "low"
    """The rate is below the bound, the upper end of its interval is not."""
    BELOW = "below"
    """The bound is not reached, for sure: what fires ends."""


@cache
def compute_quantile(window_s: float) -> float:
    """Return the quantile of the normal distribution that sets the intervals of a window.

    A mean over a moving window of independent values crosses z standard deviations upwards about z·φ(z) times
    per window (D. Slepian, 1961, for high z).
    """
    wanted = _CHANCE_PAGES * window_s / _WEEK_S
    low, high = _LEAST_QUANTILE, _MOST_QUANTILE
    if _compute_crossings(low) <= wanted:
        return low
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if _compute_crossings(middle) > wanted else (low, middle)
    return high


def classify_interval(interval: Interval | None, value: Fraction, bound: Fraction) -> Standing:
    """Return where a rate with its interval is beside a bound."""
    if interval is None:
        return Standing.BELOW
    if interval.low >= bound:
        return Standing.ABOVE
    if value >= bound:
        return Standing.HIGH
    if interval.high >= bound:
        return Standing.LOW
    return Standing.BELOW


def classify_share(share: Share, bound: Fraction) -> Standing:
    """Return where a rate is, without its interval; exact: 3 of 30 is 10 %."""
    if share.whole and share.part >= bound * share.whole:
        return Standing.ABOVE
    return Standing.BELOW


def _compute_crossings(quantile: float) -> float:
    return quantile * exp(-quantile * quantile / 2) / sqrt(2 * pi)
