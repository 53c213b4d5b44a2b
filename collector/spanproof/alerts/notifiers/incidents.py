"""Systems that keep incidents: PagerDuty and Opsgenie get an incident, Alertmanager its alerts.

PagerDuty and Opsgenie know an incident by its id, and an update is an event with the same one. Alertmanager
groups alerts itself, by their labels: all alerts of a rule have the same `alertname`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from spanproof.alerts.messages import (
    format_line,
    format_plain_text,
    format_title,
    list_failure_lines,
    list_score_lines,
)
from spanproof.alerts.model import Alert, Status
from spanproof.alerts.notification import Notification, format_text, list_member_lines
from spanproof.alerts.notifiers.http import HttpTarget
from spanproof.config.targets import Alertmanager, Opsgenie, PagerDuty

_PRIORITIES = {"critical": "P1", "error": "P2", "warning": "P3", "info": "P5"}
# So many refreshes may fail before Alertmanager ends an alert; Prometheus has the same number.
_REFRESHES_MISSED = 4


class PagerDutyNotifier:
    """Sends events to Events API v2: `trigger` and `resolve` with the incident's id as `dedup_key`."""

    def __init__(self, target: PagerDuty) -> None:
        self._key = target.routing_key.get_secret_value()
        self._url = f"{target.url.rstrip('/')}/v2/enqueue"
        self._http = HttpTarget(target.kind, target.timeout_s)

    def send(self, notification: Notification) -> None:
        """Send one event: PagerDuty takes a further `trigger` of an open incident for an update."""
        event: dict[str, Any] = {
            "routing_key": self._key,
            "dedup_key": notification.incident_id,
            "event_action": "resolve" if notification.status is Status.RESOLVED else "trigger",
        }
        if notification.firing:
            worst = notification.firing[0]
            cohort = notification.cohort
            event["client"] = "Spanproof"
            event["payload"] = {
                "summary": format_line(_build_headline(notification), 1024),
                "source": cohort.get("service") or cohort.get("agent") or "spanproof",
                "severity": worst.severity,
                "timestamp": _format_iso(notification.since_ns),
                "component": cohort.get("agent", ""),
                "group": notification.rule,
                "class": worst.metric,
                "custom_details": {
                    **notification.labels,
                    "alerts": list(list_member_lines(notification.firing)),
                    "commonest failures": list(list_failure_lines(worst)),
                    "scores": list(list_score_lines(worst)),
                },
            }
            event["links"] = [{"href": worst.url, "text": "Spanproof"}] if worst.url else []
        self._http.send_json(self._url, event)


class OpsgenieNotifier:
    """Creates and closes an alert, with the incident's id as `alias`."""

    def __init__(self, target: Opsgenie) -> None:
        self._url = f"{target.url.rstrip('/')}/v2/alerts"
        key = target.api_key.get_secret_value()
        self._http = HttpTarget(target.kind, target.timeout_s, {"Authorization": f"GenieKey {key}"})

    def send(self, notification: Notification) -> None:
        """Create the alert, note an update on it, or close it."""
        alias = quote(notification.incident_id, safe="")
        note = {"source": "spanproof", "note": format_line(notification.summary, 1000)}
        if not notification.firing:
            self._http.send_json(f"{self._url}/{alias}/close?identifierType=alias", note)
            return
        worst = notification.firing[0]
        body = {
            "message": format_line(_build_headline(notification), 130),
            "alias": notification.incident_id,
            "description": format_text(notification)[:15_000],
            "priority": _PRIORITIES[worst.severity],
            "source": "spanproof",
            "entity": notification.cohort.get("agent", "")[:512],
            "tags": ["spanproof", worst.metric],
            "details": notification.labels,
        }
        # Of an open alert with this alias Opsgenie counts the request, and leaves its text as it was.
        self._http.send_json(self._url, body)
        if notification.is_update:
            self._http.send_json(f"{self._url}/{alias}/notes?identifierType=alias", note)


def _build_headline(notification: Notification) -> str:
    if len(notification.alerts) > 1:
        return notification.summary
    return f"{notification.rule}: {notification.summary}"


class AlertmanagerNotifier:
    """Posts alerts to API v2, as Prometheus does; those that fire are posted again before they end."""

    def __init__(self, target: Alertmanager) -> None:
        self._url = f"{target.url.rstrip('/')}/api/v2/alerts"
        self.refresh_s = target.refresh_s
        headers = {name: value.get_secret_value() for name, value in target.headers.items()}
        self._http = HttpTarget(target.kind, target.timeout_s, headers)

    def send(self, notification: Notification) -> None:
        """Post all alerts in one request."""
        self._send_alerts(notification.alerts)

    def send_refresh(self, alerts: Sequence[Alert]) -> None:
        """Post alerts that go on firing, with a later end."""
        self._send_alerts(alerts)

    def _send_alerts(self, alerts: Sequence[Alert]) -> None:
        self._http.send_json(self._url, [self._build_alert(alert) for alert in alerts])

    def _build_alert(self, alert: Alert) -> dict[str, Any]:
        ends_ns = alert.at_ns
        if alert.status is Status.FIRING:
            ends_ns = time.time_ns() + int(_REFRESHES_MISSED * self.refresh_s * 1e9)
        return {
            "labels": {
                _format_label(name): format_line(value, 500)
                for name, value in alert.all_labels.items()
                if value
            },
            "annotations": {
                "summary": format_title(alert),
                "description": format_plain_text(alert),
                "failures": "\n".join(list_failure_lines(alert)),
            },
            "startsAt": _format_iso(alert.since_ns),
            "endsAt": _format_iso(ends_ns),
            "generatorURL": alert.url,
        }


def _format_label(name: str) -> str:
    """Return a name that Prometheus takes for a label."""
    plain = re.sub(r"[^a-zA-Z0-9_]", "_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain


def _format_iso(unix_ns: int) -> str:
    return (
        datetime.fromtimestamp(unix_ns / 1e9, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )
