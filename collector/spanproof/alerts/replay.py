"""A rule over a stretch of the past: which notifications it would have made.

In: a rule, and what is measured, from a store or a simulation. Out: the notifications of the engine that
`serve` runs, with times of the past. Nothing is written, no target gets anything. A store is read with a few
queries, whatever the number of steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from spanproof.alerts.engine import AlertEngine
from spanproof.alerts.model import Status
from spanproof.alerts.notification import Notification
from spanproof.config.alerts import AlertRule
from spanproof.config.targets import Webhook
from spanproof.store import Acknowledgement, AlertEvent, AlertLog, Delivery, MadeRule, Silence
from spanproof.store.ahead import AheadMeasures
from spanproof.store.measures import Measures

# Never connected to: it takes the place of the rule's targets, so that reminders count too.
_NOWHERE = Webhook(name="replay", url="http://127.0.0.1:9")

LEAST_STEP_S = 60.0
_STEPS_PER_WINDOW = 12


def compute_step_s(rule: AlertRule) -> float:
    """Return the pause between two readings of a rule: a twelfth of its window, at least a minute."""
    return max(LEAST_STEP_S, rule.shortest_s / _STEPS_PER_WINDOW)


def iter_stored_notifications(
    rule: AlertRule, measures: Measures, start_ns: int, end_ns: int, step_s: float
) -> Iterator[Notification]:
    """Yield the notifications that a rule makes over what a store has, in their order.

    One is large: it holds the scores of up to 20 alerts. Keep only what is shown of it.

    Raises:
        StoreError: what it measures cannot be read.
    """
    ahead = AheadMeasures(measures)
    while not ahead.is_last_turn:
        for _ in iter_notifications(rule, ahead, start_ns, end_ns, step_s):
            pass  # Not all that it measures is known yet.
        ahead.update_plan()
    yield from iter_notifications(rule, ahead, start_ns, end_ns, step_s)


def iter_notifications(
    rule: AlertRule, measures: Measures, start_ns: int, end_ns: int, step_s: float
) -> Iterator[Notification]:
    """Yield the notifications that a rule makes from one time to another, in their order.

    Each step reads its windows: of a store, `iter_stored_notifications` reads those of many steps at once.

    Raises:
        StoreError: what it measures cannot be read.
    """
    watched = rule.model_copy(update={"notify": (_NOWHERE,), "inhibited_by": ()})
    engine = AlertEngine(
        [watched], ReplayStore(measures), lambda _: SilentNotifier(), clock=lambda: end_ns, replaying=True
    )
    try:
        for now_ns in range(start_ns, end_ns + 1, int(step_s * 1e9)):
            yield from engine.evaluate_rules(now_ns)
    finally:
        engine.close(1.0)


def count_pages(notifications: Iterable[Notification]) -> int:
    """Return how many begin an incident: updates, reminders and ends are none."""
    return sum(map(is_page, notifications))


def is_page(notification: Notification) -> bool:
    """Whether it begins an incident."""
    is_first = not (notification.is_update or notification.repeated)
    return notification.status is Status.FIRING and is_first


class ReplayStore:
    """What an engine reads from and writes to: measures of the past, and a log that keeps nothing."""

    def __init__(self, measures: Measures) -> None:
        self.measures = measures
        self.alerts = EmptyLog()


class EmptyLog(AlertLog):
    """A log of alerts without a past, which forgets all that is written."""

    def __init__(self) -> None:
        """Have no connections: nothing is read or written."""

    def write_events(self, events: Sequence[AlertEvent]) -> None:
        """Forget events."""

    def write_delivery(self, delivery: Delivery) -> None:
        """Forget a delivery."""

    def states(self, limit: int = 10_000) -> list[AlertEvent]:
        """Return none."""
        return []

    def firing_notifications(self, since_ns: int) -> list[AlertEvent]:
        """Return none."""
        return []

    def undelivered(self, since_ns: int) -> list[tuple[AlertEvent, Mapping[str, int]]]:
        """Return none."""
        return []

    def made_rules(self, limit: int = 1_000) -> list[MadeRule]:
        """Return none."""
        return []

    def silences(self, at_ns: int | None = None) -> list[Silence]:
        """Return none."""
        return []

    def acknowledgements(self, limit: int = 10_000) -> list[Acknowledgement]:
        """Return none."""
        return []


class SilentNotifier:
    """Sends nothing."""

    def send(self, notification: Notification) -> None:
        """Take it for delivered."""
