"""Alerts: rules over the scores of the store, the state of alerts, and notifications to targets."""

from spanproof.alerts.engine import AlertEngine
from spanproof.alerts.model import Alert, Status
from spanproof.alerts.notification import Notification
from spanproof.alerts.notifiers import NotDelivered, Notifier, build_notifier
from spanproof.alerts.rules import Reading, read_rule
from spanproof.config.alerts import AlertRule
from spanproof.config.targets import Target, Webhook

__all__ = [
    "Alert",
    "AlertEngine",
    "AlertRule",
    "NotDelivered",
    "Notification",
    "Notifier",
    "Reading",
    "Status",
    "Target",
    "Webhook",
    "build_notifier",
    "read_rule",
]
