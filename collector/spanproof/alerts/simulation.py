"""Pages of a rule under traffic whose true rate is known.

In: a rule, how many verdicts a window has, a true rate. Out: how often it pages a week at a steady rate, and
how soon it detects a step. The rule runs in the engine that `serve` runs; it is compared with two rules as
they are written for Prometheus, over the same verdicts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from random import Random

from spanproof.alerts.model import Status
from spanproof.alerts.replay import iter_notifications
from spanproof.config.alerts import AlertRule, Measure
from spanproof.store import CauseCount, FailRate, FailsWhen
from spanproof.store.filters import Filter
from spanproof.store.measures import Groups, Measures, Values
from spanproof.trace import Score

FACTORS = (0.5, 0.8, 1.0, 1.2)
"""Steady rates, as multiples of the threshold."""

STEP_FACTOR = 2.0
"""The rate after a step from the threshold: it doubles."""

_WEEK_S = 604_800.0
START_NS = 1_800_000_000 * 10**9
"""When simulated traffic begins; Unix nanoseconds."""

_WINDOWS_AFTER_STEP = 5
# Prometheus: `for: 5m` over 1 h, and the short window of the burn-rate pair 1 h / 5 min.
_PROMETHEUS_SHARE = 12

IterPages = Callable[[AlertRule, "Traffic", float], Iterator[float]]
"""Yields the seconds at which a rule pages: of a rule, traffic, and the pause between two looks."""


@dataclass(frozen=True, slots=True)
class SimulatedRule:
    """What one rule did.

    Attributes:
        pages_a_week: at a steady rate of each of `FACTORS` times the threshold.
        detected_within_window: share of steps to twice the threshold that were detected within one window.
        windows_to_detect: the median, in windows; None where most were not detected within five.
    """

    name: str
    verdicts_per_window: int
    pages_a_week: tuple[float, ...]
    detected_within_window: float
    windows_to_detect: float | None


class Traffic(Measures):
    """Verdicts at random times with a true rate; a window is counted from it as from a store.

    Args:
        random: the source of chance.
        rates: from which second on which rate holds.
        per_second: verdicts, on average.
        until_s: how long it lasts.
    """

    def __init__(
        self, random: Random, rates: Sequence[tuple[float, float]], per_second: float, until_s: float
    ) -> None:
        self._times: list[float] = []
        failed: list[bool] = []
        now_s = 0.0
        while (now_s := now_s + random.expovariate(per_second)) < until_s:
            rate = next(rate for begin_s, rate in reversed(rates) if begin_s <= now_s)
            self._times.append(now_s)
            failed.append(random.random() < rate)
        self._failed = list(accumulate(failed, initial=0))
        self.until_s = until_s

    def count(self, start_s: float, end_s: float) -> tuple[int, int]:
        """Return how many of how many verdicts fail from one second to another."""
        first, last = bisect_left(self._times, start_s), bisect_left(self._times, end_s)
        return self._failed[last] - self._failed[first], last - first

    def count_verdicts(
        self, chosen: Filter, by: Sequence[str], fails_when: FailsWhen | None
    ) -> dict[Values, FailRate]:
        """Return the verdicts of the window."""
        failed, judged = self.count(to_seconds(chosen.start_ns or 0), to_seconds(chosen.end_ns or 0))
        return {(): FailRate(passed=judged - failed, failed=failed, errored=0, skipped=0, open=0)}

    def group_failing_scores(
        self, chosen: Filter, groups: Groups, fails_when: FailsWhen | None, limit: int
    ) -> dict[Values, list[Score]]:
        """Return none."""
        return {}

    def count_failures(
        self, chosen: Filter, groups: Groups, fails_when: FailsWhen | None, limit: int
    ) -> dict[Values, list[tuple[str, int]]]:
        """Return none."""
        return {}

    def group_open_causes(self, chosen: Filter, groups: Groups) -> dict[Values, list[CauseCount]]:
        """Return none."""
        return {}


def to_seconds(at_ns: int) -> float:
    """Return the seconds since traffic began of a time in Unix nanoseconds."""
    return (at_ns - START_NS) / 1e9


def run_rule_simulation(
    rule: AlertRule,
    verdicts_per_window: int,
    *,
    weeks: int,
    steps: int,
    seed: int = 1,
    looks_per_window: int = 30,
) -> list[SimulatedRule]:
    """Return what a rule does, and the two rules of Prometheus.

    Args:
        rule: a fail rate over one window, with a threshold.
        verdicts_per_window: on average.
        weeks: of each steady rate.
        steps: how often the rate doubles.
        seed: the same one gives the same traffic.
        looks_per_window: how often the rules are read.
    """
    if rule.measure is not Measure.FAIL_RATE or rule.burn_rate or rule.baseline or rule.group_by:
        raise ValueError("a fail rate over one window can be simulated, without groups and baseline")
    window_s, per_second = rule.window_s, verdicts_per_window / rule.window_s
    look_s = window_s / looks_per_window
    random = Random(seed)  # noqa: S311 - chance of a simulation
    # The first window only fills up.
    steady = [
        Traffic(random, [(0.0, factor * rule.threshold)], per_second, weeks * _WEEK_S + window_s)
        for factor in FACTORS
    ]
    after = min(1.0, STEP_FACTOR * rule.threshold)
    stepping = [
        Traffic(
            random,
            [(0.0, rule.threshold), (2 * window_s, after)],
            per_second,
            (2 + _WINDOWS_AFTER_STEP) * window_s,
        )
        for _ in range(steps)
    ]
    found = []
    for name, iter_pages in PAGERS.items():
        pages = tuple(len([*iter_pages(rule, traffic, look_s)]) / weeks for traffic in steady)
        waits = [_compute_wait(iter_pages(rule, traffic, look_s), window_s) for traffic in stepping]
        within = sum(wait <= 1.0 for wait in waits) / len(waits) if waits else 0.0
        median = sorted(waits)[len(waits) // 2] if waits else inf
        shown = None if median == inf else median
        found.append(SimulatedRule(name, verdicts_per_window, pages, within, shown))
    return found


def _compute_wait(pages_s: Iterable[float], window_s: float) -> float:
    """Return the windows from the step in a rate, after two of them, to the first page; infinity for none."""
    step_s = 2 * window_s
    pages_after = [at_s for at_s in pages_s if at_s >= step_s]
    if pages_after:
        return (pages_after[0] - step_s) / window_s
    return inf


def _iter_pages_of_spanproof(rule: AlertRule, traffic: Traffic, look_s: float) -> Iterator[float]:
    start_ns, end_ns = (START_NS + int(at_s * 1e9) for at_s in (rule.window_s, traffic.until_s))
    for notification in iter_notifications(rule, traffic, start_ns, end_ns, look_s):
        if notification.status is Status.FIRING:
            yield to_seconds(notification.at_ns)


def _iter_pages_of_prometheus_for(rule: AlertRule, traffic: Traffic, look_s: float) -> Iterator[float]:
    """Yield the pages of `expr: rate > threshold` with `for: 5m`; an episode is one page."""
    since_s: float | None = None
    paged = False
    for now_s in _iter_looks(rule, traffic, look_s):
        failed, judged = traffic.count(now_s - rule.window_s, now_s)
        if not judged or failed < rule.threshold * judged:
            since_s, paged = None, False
            continue
        since_s = now_s if since_s is None else since_s
        if not paged and now_s - since_s >= rule.window_s / _PROMETHEUS_SHARE:
            paged = True
            yield now_s


def _iter_pages_of_prometheus_burn_rate(rule: AlertRule, traffic: Traffic, look_s: float) -> Iterator[float]:
    """Yield the pages of the pair of windows of a burn-rate rule, whose factor × budget is the threshold."""
    firing = False
    for now_s in _iter_looks(rule, traffic, look_s):
        rates = []
        for window_s in (rule.window_s, rule.window_s / _PROMETHEUS_SHARE):
            failed, judged = traffic.count(now_s - window_s, now_s)
            rates.append(failed / judged if judged else 0.0)
        above = min(rates) > rule.threshold
        if above and not firing:
            yield now_s
        firing = above


def _iter_looks(rule: AlertRule, traffic: Traffic, look_s: float) -> Iterator[float]:
    now_s = rule.window_s
    while now_s <= traffic.until_s:
        yield now_s
        now_s += look_s


PAGERS: dict[str, IterPages] = {
    "spanproof": _iter_pages_of_spanproof,
    "prometheus, rate with for": _iter_pages_of_prometheus_for,
    "prometheus, burn rate": _iter_pages_of_prometheus_burn_rate,
}
"""The rules that are compared, by name."""
