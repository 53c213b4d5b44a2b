"""Tasks of the service that wait for other machines, each in a thread of its own.

A watcher that waits for a tracker or a model would delay alerts, which share its thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class PeriodicTask:
    """Runs a task from time to time.

    Args:
        name: of the thread.
        every_s: seconds from one start to the next one.
        task: called without arguments, never twice at a time.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        name: str,
        every_s: float,
        task: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._every_s = every_s
        self._task = task
        self._clock = clock
        self._due_s = float("-inf")
        self._thread: threading.Thread | None = None

    def start_due(self) -> None:
        """Start the task where it is time, and its last run has ended."""
        is_under_way = self._thread is not None and self._thread.is_alive()
        now_s = self._clock()
        if is_under_way or now_s < self._due_s:
            return
        self._due_s = now_s + self._every_s
        self._thread = threading.Thread(target=self._task, name=self._name, daemon=True)
        self._thread.start()

    def close(self, timeout_s: float) -> bool:
        """Wait for what is under way; False when that takes longer."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()
