"""Notifications: the members of one incident, and what they have in common.

In: the alerts of one rule that fire now, with those that ended since the notification before. Out: a
headline, a sentence and a text for people, with the common cause and cohort first, and the document that
webhooks get.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from spanproof.alerts.messages import (
    describe_cohort,
    describe_span,
    format_line,
    format_percent,
    format_plain_text,
    format_title,
    format_utc,
)
from spanproof.alerts.model import Alert, Status, build_labels
from spanproof.failures import format_masked
from spanproof.trace.codec import to_plain

JSON_VERSION = 2

MOST_DETAILED = 20
"""Members of a notification that keep their scores and failures; the others keep their counts."""

MOST_LISTED = 20
"""Members that a text lists one by one; the others are one line."""

_MOST_NAMED = 3
# A cause that fewer members have says little of the incident.
_LEAST_SHARE_OF_CAUSE = 0.5
_LONGEST_CAUSE = 160


@dataclass(frozen=True, slots=True)
class CommonCause:
    """The failure that most members of an incident have, and how many have it."""

    text: str
    members: int


@dataclass(frozen=True, slots=True)
class Notification:
    """An incident as it is at one time.

    Attributes:
        id: the idempotency key: however often it is sent, it is the same.
        alerts: all members that fire, the worst first, then those that ended since the notification before.
        repeated: whether it only repeats what an earlier one reported, as the alerts go on firing.
    """

    id: str
    rule: str
    at_ns: int
    alerts: tuple[Alert, ...]
    repeated: bool = False

    @property
    def status(self) -> Status:
        """Firing where any of its alerts is."""
        return Status.FIRING if self.firing else Status.RESOLVED

    @property
    def firing(self) -> tuple[Alert, ...]:
        """The members that fire."""
        return tuple(alert for alert in self.alerts if alert.status is Status.FIRING)

    @property
    def incident_id(self) -> str:
        """The key of the incident: targets that keep incidents know it by this."""
        return self.alerts[0].incident_id

    @property
    def since_ns(self) -> int:
        """When the incident began; Unix nanoseconds."""
        incident = self.alerts[0].incident
        if incident is not None:
            return incident.since_ns
        return min(alert.since_ns for alert in self.alerts)

    @property
    def is_update(self) -> bool:
        """Whether an earlier notification began the incident, and something fires still."""
        incident = self.alerts[0].incident
        return bool(self.firing) and incident is not None and incident.update > 0

    @property
    def title(self) -> str:
        """A headline."""
        if len(self.alerts) == 1 and not self.is_update:
            return format_title(self.alerts[0])
        if not self.firing:
            return format_line(f"RESOLVED: {self.rule} – the incident has ended", 150)
        word = "UPDATE" if self.is_update else "FIRING"
        members = self.firing
        if len(members) == 1:
            who = describe_cohort(members[0].cohort)
        else:
            who = f"{len(members)} alerts"
        return format_line(f"{word}: {self.rule} – {who}", 150)

    @property
    def summary(self) -> str:
        """What happened, in one line for people."""
        ended = [alert for alert in self.alerts if alert.status is Status.RESOLVED]
        if len(self.alerts) == 1:
            return self.alerts[0].summary
        if not self.firing:
            lasted = describe_span((self.at_ns - self.since_ns) / 1e9)
            return (
                f"{self.rule}: no alert fires any more after {lasted}. Ended: {_format_member_names(ended)}."
            )
        if len(self.firing) == 1:
            return f"{self.firing[0].summary} Ended: {_format_member_names(ended)}."
        tail = f" Ended: {_format_member_names(ended)}." if ended else ""
        return f"{describe_members(self.rule, self.firing)}{tail}"

    @property
    def cohort(self) -> dict[str, str]:
        """What all members that fire have in common; of one alert its cohort."""
        if len(self.alerts) == 1:
            return dict(self.alerts[0].cohort)
        return get_shared_cohort(self.firing or self.alerts)

    @property
    def labels(self) -> dict[str, str]:
        """The labels that all members have."""
        first = self.alerts[0]
        return build_labels(self.rule, first.metric, first.severity, self.cohort, first.labels)

    def to_json(self) -> dict[str, Any]:
        """Return the document that a webhook gets."""
        cause = find_common_cause(self.firing)
        detailed = self.alerts[:MOST_DETAILED]
        counted = (replace(alert, failures=(), scores=()) for alert in self.alerts[MOST_DETAILED:])
        return {
            "version": JSON_VERSION,
            "id": self.id,
            "rule": self.rule,
            "status": self.status.value,
            "repeated": self.repeated,
            "at_ns": self.at_ns,
            "summary": self.summary,
            "incident": {
                "id": self.incident_id,
                "since_ns": self.since_ns,
                "is_update": self.is_update,
                "firing": len(self.firing),
                "ended": len(self.alerts) - len(self.firing),
                "shared": get_shared_cohort(self.firing),
                "cause": to_plain(cause) if cause is not None else None,
            },
            "alerts": [to_plain(alert) for alert in (*detailed, *counted)],
        }


def describe_members(rule: str, firing: Sequence[Alert]) -> str:
    """Return what several firing alerts of a rule have in common, and the worst of them."""
    cause, shared = find_common_cause(firing), get_shared_cohort(firing)
    heads = []
    if cause is not None:
        heads.append(f"{format_line(cause.text, _LONGEST_CAUSE)}, in {cause.members} of {len(firing)} alerts")
    if shared:
        heads.append(f"all of {describe_cohort(shared)}")
    if cause is None:
        heads.insert(0, f"{len(firing)} alerts without a common cause" if shared else f"{len(firing)} alerts")
    window = describe_span(firing[0].window_s)
    parts = [alert.part for alert in firing if alert.part is not None]
    counted = ""
    if len(parts) == len(firing):
        whole = sum(alert.whole for alert in firing)
        counted = f"Together {sum(parts)} of {whole} over the last {window}; {firing[0].threshold}. "
    return f"{rule}: {'; '.join(heads)}. {counted}The worst: {_format_member_names(firing)}."


def find_common_cause(firing: Sequence[Alert]) -> CommonCause | None:
    """Return the failure that most members have; None where no half of several members has one.

    Failures are compared with their values masked: `no order 17` and `no order 8812` are one.
    """
    if not firing:
        return None
    members: Counter[str] = Counter()
    texts: dict[str, Counter[str]] = {}
    for alert in firing:
        masked = {}
        for failure in alert.failures:
            masked[format_masked(failure.text)] = failure.text
        members.update(masked.keys())
        for form, text in masked.items():
            texts.setdefault(form, Counter())[text] += 1
    if not members:
        return None
    form, count = members.most_common(1)[0]
    if count < _LEAST_SHARE_OF_CAUSE * len(firing):
        return None
    text, same = texts[form].most_common(1)[0]
    return CommonCause(text if same == count else form, count)


def get_shared_cohort(firing: Sequence[Alert]) -> dict[str, str]:
    """Return the dimensions that have one value in all members, and in all of their scores."""
    cohorts = [{**alert.shared, **alert.cohort} for alert in firing]
    if not cohorts:
        return {}
    first, others = cohorts[0], cohorts[1:]
    return {
        name: value
        for name, value in first.items()
        if value and all(one.get(name) == value for one in others)
    }


def list_member_lines(alerts: Sequence[Alert]) -> tuple[str, ...]:
    """Return the first members, one line per member, and one line for all others."""
    lines = [
        f"{describe_cohort(alert.group or alert.cohort)}: {_format_count(alert)}"
        for alert in alerts[:MOST_LISTED]
    ]
    rest = alerts[MOST_LISTED:]
    if rest:
        parts = [alert.part for alert in rest if alert.part is not None]
        counted = ""
        if len(parts) == len(rest):
            counted = f": together {sum(parts)} of {sum(alert.whole for alert in rest)}"
        lines.append(f"and {len(rest)} more{counted}")
    return tuple(lines)


def format_text(notification: Notification) -> str:
    """Return the whole message as plain text, for mail and issues; of several alerts the worst in full."""
    if len(notification.alerts) == 1:
        return format_plain_text(notification.alerts[0])
    firing = notification.firing
    ended = notification.alerts[len(firing) :]
    parts = [notification.summary, f"Since {format_utc(notification.since_ns)}."]
    if firing:
        parts += ["", "Firing:", *(f"  {line}" for line in list_member_lines(firing))]
    if ended:
        parts += ["", "Ended:", *(f"  {line}" for line in list_member_lines(ended))]
    if firing:
        parts += ["", "The worst of them:", "", format_plain_text(firing[0])]
    return "\n".join(parts)


def list_members(alerts: Sequence[Alert]) -> tuple[Alert, ...]:
    """Return the alerts that fire, those with most failures first, then those that ended."""
    return tuple(
        sorted(
            alerts,
            key=lambda alert: (
                alert.status is not Status.FIRING,
                -(alert.part or 0),
                -(alert.value or 0.0),
                tuple(alert.group.items()),
            ),
        )
    )


def _format_count(alert: Alert) -> str:
    if alert.value is None:
        return "nothing to measure"
    if alert.part is None:
        return f"{alert.value:.4g}"
    return f"{alert.part} of {alert.whole} ({format_percent(alert.value)})"


def _format_member_names(alerts: Sequence[Alert]) -> str:
    names = []
    for alert in alerts[:_MOST_NAMED]:
        is_share = alert.status is Status.FIRING and alert.part is not None and alert.value is not None
        rate = f" ({format_percent(alert.value or 0.0)})" if is_share else ""
        names.append(f"{describe_cohort(alert.group or alert.cohort)}{rate}")
    more = len(alerts) - len(names)
    return "; ".join(names) + (f" and {more} more" if more > 0 else "")
