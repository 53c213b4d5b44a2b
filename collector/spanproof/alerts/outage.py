"""One outage that reaches many groups of a rule, in the engine that `serve` runs.

In: a rule with groups, how many groups there are, when the outage reaches them. Out: the notifications that
the rule makes, and how many pages a rule makes that has an alert for each group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from spanproof.alerts.model import Status
from spanproof.alerts.notification import Notification
from spanproof.alerts.replay import iter_notifications
from spanproof.alerts.simulation import PAGERS, START_NS, Traffic, to_seconds
from spanproof.config.alerts import AlertRule
from spanproof.store import FailRate, FailsWhen
from spanproof.store.filters import Filter
from spanproof.store.measures import Groups, Values

OUTAGE_RATE: Final = 0.8
"""Share of a group's runs that fail during the outage."""

_CAUSE = "database is locked"
_LOOKS_PER_WINDOW = 30
# In windows: traffic before the outage, how long it lasts, and traffic after it.
_BEFORE, _LASTS, _AFTER = 1.0, 2.0, 2.0


@dataclass(frozen=True, slots=True)
class OutageResult:
    """What became of an outage.

    Attributes:
        groups: that it reached.
        notifications: of the rule, in their order.
        pages_by_group: of a Prometheus rule with `for: 5m`, whose alerts are not grouped.
    """

    groups: int
    notifications: tuple[Notification, ...]
    pages_by_group: int

    @property
    def incidents(self) -> int:
        """How many incidents a pager has of it."""
        return len({notification.incident_id for notification in self.notifications})

    @property
    def updates(self) -> int:
        """How many notifications only updated an incident."""
        return sum(notification.is_update for notification in self.notifications)

    @property
    def most_members(self) -> int:
        """How many groups the fullest notification has."""
        return max((len(notification.firing) for notification in self.notifications), default=0)

    @property
    def has_ended(self) -> bool:
        """Whether the last notification says that all is over."""
        return bool(self.notifications) and self.notifications[-1].status is Status.RESOLVED


class GroupedTraffic(Traffic):
    """Verdicts of many groups: each has traffic of its own."""

    def __init__(self, by_group: Mapping[Values, Traffic]) -> None:
        self._by_group = by_group
        self.until_s = max(traffic.until_s for traffic in by_group.values())

    def count_verdicts(
        self, chosen: Filter, by: Sequence[str], fails_when: FailsWhen | None
    ) -> dict[Values, FailRate]:
        """Return the verdicts of the window, by group."""
        found = {}
        for values, traffic in self._by_group.items():
            counted = traffic.count_verdicts(chosen, (), fails_when)[()]
            if counted.judged:
                found[values] = counted
        return found

    def count_failures(
        self, chosen: Filter, groups: Groups, fails_when: FailsWhen | None, limit: int
    ) -> dict[Values, list[tuple[str, int]]]:
        """Return the one cause of all failures, with its count by group."""
        counts = self.count_verdicts(chosen, groups.by, fails_when)
        return {
            values: [(_CAUSE, counts[values].failed)]
            for values in groups.values
            if values in counts and counts[values].failed
        }


def run_outage_simulation(
    rule: AlertRule, groups: int, verdicts_per_window: int, *, spread: float = 0.25, seed: int = 1
) -> OutageResult:
    """Return what a rule makes of an outage that reaches all of its groups, one after another.

    Args:
        rule: a fail rate over one window, grouped by one dimension.
        groups: how many values the dimension has.
        verdicts_per_window: of each group, on average.
        spread: how long it takes until the outage has reached the last group, in windows.
        seed: the same one gives the same traffic.
    """
    if len(rule.group_by) != 1:
        raise ValueError("an outage is simulated for a rule that is grouped by one dimension")
    random = Random(seed)  # noqa: S311 - chance of a simulation
    window_s = rule.window_s
    until_s = (_BEFORE + _LASTS + _AFTER) * window_s
    by_group: dict[Values, Traffic] = {}
    for number in range(groups):
        begins_s = (_BEFORE + random.random() * spread) * window_s
        ends_s = (_BEFORE + _LASTS) * window_s
        rates = [(0.0, 0.0), (begins_s, OUTAGE_RATE), (ends_s, 0.0)]
        by_group[(f"tenant-{number}",)] = Traffic(random, rates, verdicts_per_window / window_s, until_s)
    traffic, look_s = GroupedTraffic(by_group), window_s / _LOOKS_PER_WINDOW
    start_ns, end_ns = START_NS + int(window_s * 1e9), START_NS + int(until_s * 1e9)
    made = tuple(iter_notifications(rule, traffic, start_ns, end_ns, look_s))
    of_prometheus = PAGERS["prometheus, rate with for"]
    pages = sum(len([*of_prometheus(rule, one, look_s)]) for one in by_group.values())
    return OutageResult(groups, made, pages)


def list_outage_lines(result: OutageResult) -> list[tuple[str, str, str]]:
    """Return a line for each notification: minutes after the start, what it is, its headline."""
    lines = []
    if result.notifications:
        begins_s = to_seconds(result.notifications[0].at_ns)
    else:
        begins_s = 0.0
    for notification in result.notifications:
        minutes = (to_seconds(notification.at_ns) - begins_s) / 60
        kind = "update" if notification.is_update else notification.status.value
        lines.append((f"{minutes:.0f} min", kind, notification.summary))
    return lines
