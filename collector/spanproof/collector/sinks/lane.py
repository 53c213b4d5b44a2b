"""A thread that empties one queue for as long as it takes, with growing pauses while nothing is taken."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from spanproof.collector.sinks.http import Unavailable

log = logging.getLogger(__name__)

_FIRST_PAUSE_S = 1.0
_LOOK_EVERY_S = 1.0


class Lane:
    """The thread of one queue.

    Args:
        label: of the target, in log lines and the thread's name.
        deliver: sends what is due and notes what became of it; returns whether anything was. What raises
            `Unavailable`, or anything else, is tried again.
        on_retry: called at each failure.
        longest_pause_s: between two attempts.
    """

    def __init__(
        self, label: str, deliver: Callable[[], bool], on_retry: Callable[[], None], longest_pause_s: float
    ) -> None:
        self._label = label
        self._deliver = deliver
        self._on_retry = on_retry
        self._longest_pause_s = longest_pause_s
        self._wake = threading.Event()
        self._draining = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"spanproof-{label}", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def wake(self) -> None:
        """Look at the queue now."""
        self._wake.set()

    def close(self) -> None:
        """End once nothing is due, or at the next failure."""
        self._draining.set()
        self._wake.set()

    def join(self, timeout_s: float, last_s: float) -> bool:
        """Wait for the end; returns whether it has ended.

        Args:
            timeout_s: for all that is due.
            last_s: for the request that is under way then.
        """
        self._thread.join(timeout_s)
        self._stopping.set()
        self._wake.set()
        self._thread.join(last_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._stopping.is_set():
            self._wake.clear()
            wait_s = _LOOK_EVERY_S
            try:
                if self._deliver():
                    pause_s = _FIRST_PAUSE_S
                    continue
            except Unavailable as unavailable:
                wait_s = max(pause_s, unavailable.retry_after_s)
                pause_s = min(2 * pause_s, self._longest_pause_s)
                self._on_retry()
                log.warning("%s: trying again in %.0f s: %s", self._label, wait_s, unavailable)
                if self._draining.wait(wait_s):
                    return
                continue
            except Exception:
                log.exception("%s failed", self._label)
                self._on_retry()
            if self._draining.is_set():
                return
            self._wake.wait(wait_s)
