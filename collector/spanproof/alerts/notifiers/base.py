"""What a notifier is.

A notifier sends one notification at a time and keeps no state: queues, pauses and the delivery log are those
of `spanproof.alerts.delivery`. A notification may come again after a crash, always with the same id, which
is handed on wherever the target's protocol has a field for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from spanproof.alerts.model import Alert
from spanproof.alerts.notification import Notification


class NotDelivered(Exception):  # noqa: N818 - says what happened
    """A notification did not get through. The message names receiver and cause; it holds no secret.

    Attributes:
        refused: whether the receiver refused this notification; else it may be down for all of them.
        retry_after_s: how long the receiver wants to be left alone; None: it did not say.
    """

    def __init__(self, message: str, *, refused: bool = False, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.refused = refused
        self.retry_after_s = retry_after_s


class Notifier(Protocol):
    """Sends notifications to one target."""

    def send(self, notification: Notification) -> None:
        """Deliver it; one attempt, within the target's `timeout_s`.

        Raises:
            NotDelivered: it did not get through.
        """


@runtime_checkable
class Refreshing(Protocol):
    """A notifier whose target forgets alerts that are not sent again."""

    refresh_s: float

    def send_refresh(self, alerts: Sequence[Alert]) -> None:
        """Send alerts that go on firing.

        Raises:
            NotDelivered: they did not get through.
        """
