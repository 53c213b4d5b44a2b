"""All rules over time: who is told what, and when.

`tick` reads each rule once and tells its targets when it has fired long enough, again after each cooldown
while it goes on, and once when it is over. State lives in this object: after a restart a rule that still
fires is told again. A rule that cannot be read, or a target that cannot be reached, is logged and tried at
the next tick; it never stops the others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spanproof.alerts.notify import NotDelivered, Notification, Notifier, Status, notifier_for
from spanproof.alerts.rules import Reading, read
from spanproof.config.alerts import AlertRule, Target
from spanproof.store import Store, StoreError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Firing:
    since_ns: int
    told_ns: int | None
    """When it was last told; None while it waits, or where nobody could be told yet."""


class AlertEngine:
    """Rules with their state; one thread at a time calls `tick`."""

    def __init__(
        self,
        rules: Sequence[AlertRule],
        store: Store,
        notifier_for_target: Callable[[Target], Notifier] = notifier_for,
    ) -> None:
        names = [rule.name for rule in rules]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"alert rules: the name {twice[0]!r} is given twice; names tell rules apart")
        self._store = store
        self._rules = [(rule, [notifier_for_target(target) for target in rule.notify]) for rule in rules]
        self._firing: dict[str, _Firing] = {}

    def tick(self, now_ns: int) -> list[Notification]:
        """Read every rule and tell what is to be told; returns what was told.

        Args:
            now_ns: Unix time in nanoseconds, where the windows end.
        """
        told: list[Notification] = []
        for rule, notifiers in self._rules:
            try:
                reading = read(rule, self._store, now_ns)
            except StoreError as problem:
                _log.warning("alert %s: not read: %s", rule.name, problem)
                continue
            notification = self._due(reading, now_ns)
            if notification and self._tell(notification, notifiers):
                told.append(notification)
        return told

    def _due(self, reading: Reading, now_ns: int) -> Notification | None:
        """What is to be told about this reading, if anything."""
        rule = reading.rule
        known = self._firing.get(rule.name)
        if not reading.firing:
            if known is None or known.told_ns is None:
                self._firing.pop(rule.name, None)
                return None
            return Notification(Status.RESOLVED, reading, known.since_ns, now_ns)
        if known is None:
            known = self._firing[rule.name] = _Firing(now_ns, None)
        if known.told_ns is None:
            wait_s, began_ns = rule.for_s, known.since_ns
        else:
            wait_s, began_ns = rule.cooldown_s, known.told_ns
        if now_ns - began_ns < wait_s * 1e9:
            return None
        return Notification(Status.FIRING, reading, known.since_ns, now_ns)

    def _tell(self, notification: Notification, notifiers: Sequence[Notifier]) -> bool:
        """Tell every target; whether any was reached (or there is none), which settles the state."""
        reached = not notifiers
        for notifier in notifiers:
            try:
                notifier.send(notification)
                reached = True
            except NotDelivered as problem:
                _log.warning("%s", problem)
        name = notification.rule.name
        if not reached:
            return False
        if notification.status is Status.RESOLVED:
            del self._firing[name]
        else:
            self._firing[name] = _Firing(notification.since_ns, notification.at_ns)
        return True
