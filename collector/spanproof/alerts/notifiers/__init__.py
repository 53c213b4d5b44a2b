"""Notifiers: one for each kind of target."""

from spanproof.alerts.notifiers.base import NotDelivered, Notifier, Refreshing
from spanproof.alerts.notifiers.registry import build_notifier

__all__ = ["NotDelivered", "Notifier", "Refreshing", "build_notifier"]
