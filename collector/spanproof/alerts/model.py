"""Alerts and notifications as values: what notifiers are given, and what the store keeps.

A notification says what changed in one rule at one time: one alert or several, which chat targets get as one
message. Everything that a message needs is in it, so that it can be sent after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spanproof.trace.codec import to_plain

JSON_VERSION = 2


class Status(StrEnum):
    """What a notification says of an alert."""

    FIRING = "firing"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One score behind an alert."""

    id: str
    trace_id: str
    run_span_id: str
    span_id: str
    agent: str
    value: float | None
    raw: float | None
    unit: str
    explanation: str
    url: str


@dataclass(frozen=True, slots=True)
class FailureLine:
    """One of the commonest failures behind an alert."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert: a rule fires for one group of values, or does no more.

    Attributes:
        id: of the episode, from its first firing to its end: targets that keep incidents know it by this.
        severity: `critical`, `error`, `warning` or `info`.
        metric: the score, as the gate writes it.
        cohort: dimension to value, of the scores that were measured.
        group: the part of it that the rule groups by.
        labels: the rule's own further labels.
        summary: one sentence: what got worse for whom, as it is at `at_ns`.
        first_summary: the sentence with which it began to fire.
        since_ns, at_ns: when it began, and when this was read; Unix nanoseconds.
        value, low: the rate or amount, and the lower end of the rate's interval.
        part, whole: how many of how many.
        failures, scores: the commonest failures, and scores behind it.
        url: of the console; empty where none is configured.
    """

    id: str
    rule: str
    status: Status
    severity: str
    metric: str
    measure: str
    cohort: Mapping[str, str]
    group: Mapping[str, str]
    labels: Mapping[str, str]
    summary: str
    since_ns: int
    at_ns: int
    window_s: float
    threshold: str
    value: float | None
    low: float | None
    before: float | None
    part: int | None
    whole: int
    not_counted: Mapping[str, int]
    failures: tuple[FailureLine, ...]
    scores: tuple[ScoreLine, ...]
    url: str
    first_summary: str = ""

    @property
    def all_labels(self) -> dict[str, str]:
        """The labels that silences match and Alertmanager gets."""
        return build_labels(self.rule, self.metric, self.severity, self.cohort, self.labels)


def build_labels(
    rule: str, metric: str, severity: str, cohort: Mapping[str, str], labels: Mapping[str, str]
) -> dict[str, str]:
    """Return the labels of an alert: the rule's own, the cohort, and what every alert has."""
    fixed = {"alertname": rule, "layer": metric.partition(".")[0], "score": metric, "severity": severity}
    return {**labels, **cohort, **fixed}


@dataclass(frozen=True, slots=True)
class Notification:
    """What changed in one rule at one time.

    Attributes:
        id: the idempotency key: however often it is sent, it is the same.
        repeated: whether it says what an earlier one said, as the alerts go on firing.
    """

    id: str
    rule: str
    at_ns: int
    alerts: tuple[Alert, ...]
    repeated: bool = False

    @property
    def status(self) -> Status:
        """Firing where any of its alerts is."""
        firing = any(alert.status is Status.FIRING for alert in self.alerts)
        return Status.FIRING if firing else Status.RESOLVED

    @property
    def summary(self) -> str:
        """One line for people."""
        if len(self.alerts) == 1:
            return self.alerts[0].summary
        firing = sum(alert.status is Status.FIRING for alert in self.alerts)
        parts = [f"{firing} firing"] if firing else []
        if firing < len(self.alerts):
            parts.append(f"{len(self.alerts) - firing} resolved")
        return f"{self.rule}: {len(self.alerts)} alerts, {', '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        """Return the document that a webhook gets."""
        return {
            "version": JSON_VERSION,
            "id": self.id,
            "rule": self.rule,
            "status": self.status.value,
            "repeated": self.repeated,
            "at_ns": self.at_ns,
            "summary": self.summary,
            "alerts": [to_plain(alert) for alert in self.alerts],
        }
