"""Delivery: a queue for each target, so that one that is down holds up no other.

Comes in: notifications that the store has already. Goes out: one request after another to the target, and
how far each notification got, to the store's delivery log. What is not settled there is queued again after a
restart. A target that is down is tried with growing pauses; a notification that it refuses waits alone.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from spanproof.alerts.messages import format_utc
from spanproof.alerts.model import Alert, Status
from spanproof.alerts.notification import Notification
from spanproof.alerts.notifiers.base import NotDelivered, Notifier, Refreshing
from spanproof.config.targets import Target
from spanproof.store import AlertLog, Delivery, StoreError

_log = logging.getLogger(__name__)

LONGEST_PAUSE_S = 300.0
_STORE_PAUSE_S = 1.0

OnOutcome = Callable[[str, str], None]
"""Called with the target's kind and `delivered`, `undelivered`, `superseded` or `given_up`."""


@dataclass(frozen=True, slots=True)
class TargetFailure:
    """A target that got nothing since `since_ns`, with the error of its last attempt."""

    target: str
    label: str
    since_ns: int
    error: str


@dataclass(slots=True)
class _Item:
    notification: Notification
    attempts: int
    not_before_s: float = 0.0
    tried: bool = False
    """Whether this process has tried it."""


class Courier:
    """Delivers to one target, in a thread of its own and in order.

    Args:
        clock: Unix time in nanoseconds, by which notifications grow old.
        first_pause_s: after a failed attempt; it doubles up to five minutes.
    """

    def __init__(
        self,
        target: Target,
        notifier: Notifier,
        log: AlertLog,
        *,
        clock: Callable[[], int] = time.time_ns,
        first_pause_s: float = 1.0,
        on_outcome: OnOutcome | None = None,
    ) -> None:
        self._target = target
        self._notifier = notifier
        self._delivery_log = log
        self._clock = clock
        self._first_pause_s = first_pause_s
        self._on_outcome = on_outcome
        self._changed = threading.Condition()
        self._items: list[_Item] = []
        self._firing: dict[str, Alert] = {}
        self._refresh_at_s = 0.0
        self._paused_until_s = 0.0
        self._failed_in_a_row = 0
        self._failure: TargetFailure | None = None
        self._busy = False
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=f"spanproof-alerts-{target.kind}", daemon=True)

    def start(self) -> None:
        """Begin to deliver."""
        self._thread.start()

    def add_notification(self, notification: Notification, attempts: int = 0) -> None:
        """Queue a notification, which was tried so often before."""
        with self._changed:
            self._items.append(_Item(notification, attempts))
            self._items.sort(key=lambda item: item.notification.at_ns)
            self._changed.notify_all()

    def add_alert(self, alert: Alert) -> None:
        """Refresh this alert where the target needs that; one that has ended is posted once more."""
        with self._changed:
            self._firing[alert.id] = alert
            self._changed.notify_all()

    def update_alert(self, alert: Alert) -> None:
        """Take the present text of an alert that the target got, for its next refresh."""
        with self._changed:
            if alert.id in self._firing:
                self._firing[alert.id] = alert

    @property
    def retry_for_s(self) -> float:
        """How long one notification is tried."""
        return self._target.retry_for_s

    def count_waiting(self) -> int:
        """Return how many notifications are queued or being sent."""
        with self._changed:
            return max(len(self._items), int(self._busy))

    @property
    def failure(self) -> TargetFailure | None:
        """Since when the target gets nothing, and why; None where its last attempt went through."""
        with self._changed:
            return self._failure

    def wait_idle(self, timeout_s: float) -> bool:
        """Block until nothing is due, which nothing is during a pause; False when that took longer."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._busy and self._compute_due_wait_s() != 0.0, timeout_s
            )

    def close(self, timeout_s: float) -> bool:
        """Try once what was not tried yet, and end; False when that took longer. The store has the rest."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            item = self._wait_for_due()
            if item is None:
                return
            try:
                if isinstance(item, _Item):
                    self._send_item(item)
                else:
                    self._send_refresh(item)
            except Exception:  # noqa: BLE001 - a notification must not end the thread
                _log.exception("delivering to %s failed", self._target.label)
                self._failed_in_a_row += 1
                self._paused_until_s = time.monotonic() + self._compute_pause_s(self._failed_in_a_row)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _wait_for_due(self) -> _Item | list[Alert] | None:
        """Wait for what is due: a notification, or alerts to refresh; None to end."""
        with self._changed:
            while True:
                wait_s = self._compute_due_wait_s()
                if wait_s == 0.0:
                    self._busy = True
                    return next(item for item in self._items if self._is_due(item))
                if self._closing:
                    return None
                refresh_s = self._compute_refresh_wait_s()
                if refresh_s == 0.0:
                    self._busy = True
                    return list(self._firing.values())
                self._changed.notify_all()
                self._changed.wait(min(wait_s, refresh_s, LONGEST_PAUSE_S))

    def _is_due(self, item: _Item) -> bool:
        if self._closing:
            return not item.tried and not self._failed_in_a_row
        now_s = time.monotonic()
        return item.not_before_s <= now_s and self._paused_until_s <= now_s

    def _compute_due_wait_s(self) -> float:
        """Return the seconds until a notification is due, 0 where one is; infinity without any."""
        if any(self._is_due(item) for item in self._items):
            return 0.0
        if self._closing:
            return float("inf")
        now_s = time.monotonic()
        dues = (max(item.not_before_s, self._paused_until_s) - now_s for item in self._items)
        # Never 0 by rounding: that is what is due.
        return max(1e-3, min(dues, default=float("inf")))

    def _compute_refresh_wait_s(self) -> float:
        if not self._firing or not isinstance(self._notifier, Refreshing):
            return float("inf")
        return max(0.0, max(self._refresh_at_s, self._paused_until_s) - time.monotonic())

    def _send_item(self, item: _Item) -> None:
        if self._is_superseded(item):
            self._close_item(item, "superseded", "")
            return
        item.tried = True
        item.attempts += 1
        # The first write of a process takes long: after this one the window is short in which a crash
        # leaves the target with a notification of whose delivery the log knows nothing.
        self._write_log(item, "trying", "", patiently=False)
        try:
            self._notifier.send(item.notification)
        except NotDelivered as problem:
            self._handle_refusal(item, problem)
        except Exception as problem:  # noqa: BLE001 - a bug of the notifier must not end the thread
            _log.exception("the notifier of %s failed", self._target.label)
            self._handle_refusal(
                item, NotDelivered(f"{self._target.label}: {type(problem).__name__}", refused=True)
            )
        else:
            self._failed_in_a_row = 0
            with self._changed:
                self._failure = None
            self._close_item(item, "delivered", "")
            self._update_firing(item.notification)

    def _is_superseded(self, item: _Item) -> bool:
        """Return whether it only repeats what a later one of the rule, which is queued too, says anew."""
        if not item.notification.repeated:
            return False
        rule, at_ns = item.notification.rule, item.notification.at_ns
        with self._changed:
            return any(
                other.notification.rule == rule and other.notification.at_ns > at_ns for other in self._items
            )

    def _handle_refusal(self, item: _Item, problem: NotDelivered) -> None:
        with self._changed:
            if self._failure is not None:
                since_ns = self._failure.since_ns
            else:
                since_ns = self._clock()
            self._failure = TargetFailure(self._target.id, self._target.label, since_ns, str(problem))
        age_s = (self._clock() - item.notification.at_ns) / 1e9
        if age_s >= self._target.retry_for_s:
            _log.error("alert %s: given up after %.3g s: %s", item.notification.rule, age_s, problem)
            self._close_item(item, "given_up", str(problem))
            return
        _log.warning("alert %s: not delivered yet: %s", item.notification.rule, problem)
        now_s = time.monotonic()
        if problem.refused:
            pause_s = max(problem.retry_after_s or 0.0, self._compute_pause_s(item.attempts + 4))
            item.not_before_s = now_s + pause_s
        else:
            self._failed_in_a_row += 1
            pause_s = max(problem.retry_after_s or 0.0, self._compute_pause_s(self._failed_in_a_row))
            with self._changed:
                self._paused_until_s = now_s + pause_s
        self._handle_outcome("undelivered")
        next_try = format_utc(self._clock() + int(pause_s * 1e9))
        self._write_log(item, "undelivered", f"{problem}; next try {next_try}", patiently=False)

    def _compute_pause_s(self, failed: int) -> float:
        return min(LONGEST_PAUSE_S, self._first_pause_s * 2.0 ** min(failed - 1, 20))

    def _close_item(self, item: _Item, state: str, error: str) -> None:
        with self._changed:
            self._items.remove(item)
        self._handle_outcome(state)
        self._write_log(item, state, error, patiently=True)

    def _handle_outcome(self, outcome: str) -> None:
        if self._on_outcome is not None:
            self._on_outcome(self._target.kind, outcome)

    def _write_log(self, item: _Item, state: str, error: str, *, patiently: bool) -> None:
        """Write the delivery log; where a restart would send again, for as long as it takes."""
        delivery = Delivery(
            item.notification.id,
            self._target.id,
            item.notification.rule,
            state,
            item.attempts,
            error,
            item.notification.at_ns,
        )
        while True:
            try:
                self._delivery_log.write_delivery(delivery)
            except StoreError as problem:
                _log.warning("the delivery log cannot be written: %s", problem)
                with self._changed:
                    if not patiently or self._closing:
                        return
                    self._changed.wait(_STORE_PAUSE_S)
            else:
                return

    def _update_firing(self, notification: Notification) -> None:
        with self._changed:
            for alert in notification.alerts:
                if alert.status is Status.FIRING:
                    self._firing[alert.id] = alert
                else:
                    self._firing.pop(alert.id, None)
            if isinstance(self._notifier, Refreshing):
                self._refresh_at_s = time.monotonic() + self._notifier.refresh_s

    def _send_refresh(self, alerts: list[Alert]) -> None:
        assert isinstance(self._notifier, Refreshing)
        try:
            self._notifier.send_refresh(alerts)
        except NotDelivered as problem:
            _log.warning("alerts are not refreshed: %s", problem)
        else:
            with self._changed:
                for alert in alerts:
                    if alert.status is Status.RESOLVED and self._firing.get(alert.id) is alert:
                        del self._firing[alert.id]
        self._refresh_at_s = time.monotonic() + self._notifier.refresh_s
