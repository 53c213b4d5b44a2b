"""Alerts as values: what notifiers get, and what the store keeps.

Everything that a message needs is in an alert, so that it can be sent after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """Whether an alert fires, or has ended."""

    FIRING = "firing"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One score of an alert."""

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
    """One of the commonest failures of an alert."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Incident:
    """What the firing alerts of one rule are together.

    Attributes:
        id: from the first notification until none of its alerts fires: the key of the incident at a target.
        since_ns: when its first alert began; Unix nanoseconds.
        update: 0 in its first notification, then the number of the notification within the incident.
    """

    id: str
    since_ns: int
    update: int


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert: a rule fires for one group of values, or no longer does.

    Attributes:
        id: of the episode, from its first firing to its end.
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
        failures, scores: the commonest failures, and scores that show them.
        shared: further dimensions that have one value in all of `scores`.
        url: of the console; empty where none is configured.
        incident: the incident that it is a member of; None before its first notification.
        title: its headline, in place of one made of rule and cohort.
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
    shared: Mapping[str, str] = field(default_factory=dict)
    incident: Incident | None = None
    title: str = ""

    @property
    def all_labels(self) -> dict[str, str]:
        """The labels that silences match and Alertmanager gets."""
        return build_labels(self.rule, self.metric, self.severity, self.cohort, self.labels)

    @property
    def incident_id(self) -> str:
        """The id of its incident; its own where it is a member of none yet."""
        if self.incident is not None:
            return self.incident.id
        return self.id


def build_labels(
    rule: str, metric: str, severity: str, cohort: Mapping[str, str], labels: Mapping[str, str]
) -> dict[str, str]:
    """Return the labels of an alert: the rule's own, the cohort, and what every alert has."""
    fixed = {"alertname": rule, "layer": metric.partition(".")[0], "score": metric, "severity": severity}
    return {**labels, **cohort, **fixed}
