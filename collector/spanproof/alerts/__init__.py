"""Fail rates to notifications: rules over the store, and who is told."""

from spanproof.alerts.engine import AlertEngine
from spanproof.alerts.notify import NotDelivered, Notification, Notifier, Status, notifier_for
from spanproof.alerts.rules import Reading, Target, read
from spanproof.config.alerts import AlertRule, Webhook

__all__ = [
    "AlertEngine",
    "AlertRule",
    "NotDelivered",
    "Notification",
    "Notifier",
    "Reading",
    "Status",
    "Target",
    "Webhook",
    "notifier_for",
    "read",
]
