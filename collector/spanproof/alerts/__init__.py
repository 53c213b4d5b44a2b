"""Fail rates to notifications: rules over the store, and who is told."""

from spanproof.alerts.engine import AlertEngine
from spanproof.alerts.notify import NotDelivered, Notification, Notifier, Status, notifier_for
from spanproof.alerts.rules import Reading, read
from spanproof.config.alerts import AlertRule, Target, Webhook

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
