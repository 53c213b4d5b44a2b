"""Telling someone.

A `Notification` goes to each target of its rule as the JSON document that docs/alerts.md describes. A
receiver that fails for now (no connection, 429, 5xx) is tried again within bounds; one that refuses is not. A
notification that does not get through raises `NotDelivered`; secrets and bodies stay out of its message.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlsplit

import httpx
import orjson

from spanproof.alerts.rules import Reading
from spanproof.config.alerts import AlertRule, Target, Webhook
from spanproof.trace import Scored

_BACKOFF_S = (0.2, 1.0, 3.0)
"""Waits between attempts; the last one repeats."""


class Status(StrEnum):
    """What a notification says."""

    FIRING = "firing"
    RESOLVED = "resolved"


class NotDelivered(Exception):  # noqa: N818 - says what happened
    """A notification did not get through; the message names rule, receiver and cause."""


@dataclass(frozen=True, slots=True)
class Notification:
    """One thing to tell: a rule fires, or no longer does.

    Attributes:
        since_ns: when this firing began, Unix nanoseconds.
        at_ns: when this was read.
    """

    status: Status
    reading: Reading
    since_ns: int
    at_ns: int

    @property
    def rule(self) -> AlertRule:
        """The rule it is about."""
        return self.reading.rule

    def to_json(self) -> dict[str, object]:
        """The body a webhook gets."""
        rule, found = self.rule, self.reading.fail_rate
        return {
            "version": 1,
            "status": self.status.value,
            "rule": rule.name,
            "metric": rule.metric,
            "layer": rule.layer.value,
            "cohort": dict(rule.cohort),
            "summary": self.summary,
            "since_unix_ns": self.since_ns,
            "at_unix_ns": self.at_ns,
            "window_s": rule.window_s,
            "threshold": rule.threshold,
            "fails_when": rule.fails_when,
            "min_count": rule.min_count,
            "fail_rate": found.rate,
            "failed": found.failed,
            "passed": found.passed,
            "not_counted": {
                "skipped": found.skipped,
                "errored": found.errored,
                "undecided": found.undecided,
            },
            "scores": [
                {
                    "id": score.id,
                    "trace_id": score.trace_id,
                    "run_span_id": score.run_span_id,
                    "span_id": score.span_id,
                    "agent": score.cohort.agent,
                    "value": score.outcome.value if isinstance(score.outcome, Scored) else None,
                    "raw": score.outcome.raw if isinstance(score.outcome, Scored) else None,
                    "unit": score.outcome.unit if isinstance(score.outcome, Scored) else "",
                    "explanation": score.outcome.explanation if isinstance(score.outcome, Scored) else "",
                }
                for score in found.failing
            ],
        }

    @property
    def summary(self) -> str:
        """One line for people."""
        rule, found = self.rule, self.reading.fail_rate
        who = ", ".join(f"{name} {value}" for name, value in rule.cohort.items()) or "all runs"
        rate = "nothing judged" if found.rate is None else f"{found.rate:.0%} fail"
        return (
            f"{rule.name}: {self.status.value}: {rule.metric} of {who}: {rate}"
            f" ({found.failed} of {found.judged}), threshold {rule.threshold:.0%}"
        )


class Notifier(Protocol):
    """Sends notifications to one target."""

    def send(self, notification: Notification) -> None:
        """Deliver it.

        Raises:
            NotDelivered: it did not get through, within the target's bounds.
        """


def notifier_for(target: Target) -> Notifier:
    """The notifier of a target."""
    return WebhookNotifier(target)


class WebhookNotifier:
    """Posts JSON to a URL."""

    def __init__(self, target: Webhook) -> None:
        self._target = target
        parts = urlsplit(target.url)
        # Paths and queries of webhooks carry tokens: only the host is named in messages.
        self._host = parts.netloc.rsplit("@", 1)[-1]

    def send(self, notification: Notification) -> None:
        """Post it, with retries.

        Raises:
            NotDelivered: refused, or not through after the last attempt.
        """
        body = orjson.dumps(notification.to_json())
        headers = {"Content-Type": "application/json", "User-Agent": "spanproof"}
        if self._target.secret is not None:
            headers[self._target.secret_header] = self._target.secret.get_secret_value()
        cause = ""
        with httpx.Client(timeout=self._target.timeout_s, follow_redirects=False) as client:
            for attempt in range(self._target.attempts):
                if attempt:
                    time.sleep(_BACKOFF_S[min(attempt, len(_BACKOFF_S)) - 1])
                try:
                    answer = client.post(self._target.url, content=body, headers=headers)
                except (httpx.HTTPError, httpx.InvalidURL) as problem:
                    cause = type(problem).__name__
                    continue
                if answer.is_success:
                    return
                cause = f"HTTP {answer.status_code}"
                if answer.status_code != 429 and answer.status_code < 500:
                    break
        raise NotDelivered(f"alert {notification.rule.name}: webhook {self._host}: {cause}")
