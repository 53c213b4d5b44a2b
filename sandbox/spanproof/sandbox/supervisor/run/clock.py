"""How long a program may take: a clock that starts with it, and that can be paused."""

from __future__ import annotations

import time


class Clock:
    """Runs from when it is made or started again.

    Attributes:
        started: when it was, as `time.monotonic` reports.
        deadline: when the time is up, unless the clock is paused.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._paused_at: float | None = None
        self.start()

    def start(self) -> None:
        """Start again, with all the time."""
        self.started = time.monotonic()
        self.deadline = self.started + self._seconds
        self._excused = False

    @property
    def is_paused(self) -> bool:
        """Whether it was stopped and has not gone on."""
        return self._paused_at is not None

    def start_pause(self, since: float) -> None:
        """Pause it, for something that came since a moment.

        What is seen past the deadline only, because no one looked, may have come before it: the first such
        thing has.
        """
        self._paused_at = time.monotonic()
        if self._paused_at >= self.deadline and not self._excused:
            self._paused_at = max(since, self.started)
            self._excused = True

    def close_pause(self) -> None:
        """Count from where it was stopped, where it was."""
        if self._paused_at is not None:
            self.deadline += time.monotonic() - self._paused_at
            self._paused_at = None

    def compute_passed_s(self) -> float:
        """Return the seconds since it was started, whether it was paused meanwhile or not."""
        return time.monotonic() - self.started
