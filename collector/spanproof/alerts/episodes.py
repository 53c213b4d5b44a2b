"""Episodes of alerts: from pending over firing to the end, as events that the store keeps.

In: an alert's newest event and what happens to it. Out: the next event. The ids of episodes and notifications
are made from events alone, so that the same one has the same id after a restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from spanproof.alerts.model import Alert
from spanproof.alerts.notification import Notification, list_members
from spanproof.alerts.rules import Reading
from spanproof.config.alerts import AlertRule
from spanproof.store import AlertEvent
from spanproof.trace import digest
from spanproof.trace.codec import MalformedDocument, decode_value, encode_value

PENDING: Final = "pending"
FIRING: Final = "firing"
RESOLVED: Final = "resolved"
INACTIVE: Final = "inactive"
"""States of an alert; `inactive` was pending and never fired."""


@dataclass(slots=True)
class AlertState:
    """An alert: its newest event, and since when its condition does not hold while it still fires.

    Attributes:
        clear_since_ns: since when its rate is below the bound for sure.
        low_since_ns: since when its rate is below the bound, for sure or not.
    """

    event: AlertEvent
    alert: Alert
    clear_since_ns: int | None = None
    low_since_ns: int | None = None

    def find_end_ns(self, rule: AlertRule) -> int | None:
        """Return when it ends where its rate stays as it is; None while the rate is not below the bound."""
        if self.low_since_ns is None:
            return None
        settled_ns = self.low_since_ns + int(rule.settles_after_s * 1e9)
        if self.clear_since_ns is None:
            return settled_ns
        return min(settled_ns, self.clear_since_ns + int(rule.ends_after_s * 1e9))

    @property
    def is_active(self) -> bool:
        """Whether it is pending or fires."""
        return self.event.status in (PENDING, FIRING)

    @property
    def is_member(self) -> bool:
        """Whether it fires and a notification has reported it."""
        return self.event.status == FIRING and self.event.notified_ns > 0

    @property
    def is_end_unreported(self) -> bool:
        """Whether it has ended and no notification has said so to those who know of the beginning."""
        event = self.event
        return event.status == RESOLVED and event.notified_ns > 0 and not event.notification


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to an alert next.

    Attributes:
        before: the event before.
        status: the status after.
        may_start: whether it may be part of the first notification of an incident.
        is_muted: whether a silence or another rule keeps it out of notifications.
        is_reminder: whether it fires on, and its cooldown is over.
    """

    before: AlertEvent
    status: str
    reading: Reading
    may_start: bool = False
    is_muted: bool = False
    is_reminder: bool = False

    @property
    def is_start(self) -> bool:
        """Whether it fires and no target knows yet."""
        return self.status == FIRING and not self.before.notified_ns

    @property
    def is_end(self) -> bool:
        """Whether it ends and targets know of its beginning."""
        return self.status == RESOLVED and self.before.notified_ns > 0

    @property
    def is_transition(self) -> bool:
        """Whether the alert's status changes."""
        return self.before.sequence < 0 or self.before.status != self.status


def build_initial_event(rule: str, fingerprint: str, episode_ns: int) -> AlertEvent:
    """Return what the first event of an episode follows."""
    return AlertEvent(
        rule,
        fingerprint,
        episode_ns,
        sequence=-1,
        status=INACTIVE,
        at_ns=episode_ns,
        fired_ns=0,
        notified_ns=0,
        notification="",
        targets=(),
        repeated=False,
        document="",
    )


def build_next_event(event: AlertEvent, status: str, now_ns: int, alert: Alert) -> AlertEvent:
    """Return the next event of an episode, which makes no notification yet."""
    if status == FIRING and not event.fired_ns:
        fired_ns = now_ns
    else:
        fired_ns = event.fired_ns
    return replace(
        event,
        sequence=event.sequence + 1,
        status=status,
        at_ns=now_ns,
        fired_ns=fired_ns,
        notification="",
        repeated=False,
        document=encode_value(alert),
    )


def find_alert(event: AlertEvent) -> Alert | None:
    """Return the alert of an event; None where another version wrote it in a form that is unknown here."""
    try:
        return decode_value(Alert, event.document)
    except MalformedDocument:
        return None


def build_notification(events: Sequence[AlertEvent]) -> Notification:
    """Return the notification that these events are part of."""
    alerts = list_members([decode_value(Alert, event.document) for event in events])
    repeated = all(event.repeated for event in events)
    at_ns = max(event.at_ns for event in events)
    return Notification(events[0].notification, events[0].rule, at_ns, alerts, repeated)


def compute_notification_id(events: Iterable[AlertEvent]) -> str:
    """Return the id of the notification that these events make."""
    parts = [f"{event.rule}\0{event.fingerprint}\0{event.episode_ns}\0{event.sequence}" for event in events]
    return digest("notification", *parts)


def compute_episode_id(event: AlertEvent) -> str:
    """Return the id of the episode that an event is part of."""
    return digest("episode", event.rule, event.fingerprint, str(event.episode_ns))


def compute_fingerprint(rule: AlertRule, group: Mapping[str, str]) -> str:
    """Return what a rule's alert for a group is known by, whatever the order of its dimensions."""
    return digest(rule.name, *(part for item in sorted(group.items()) for part in item))
