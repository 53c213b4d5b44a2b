"""A thread that empties one queue for as long as it takes, with growing pauses while nothing is taken.

`QueueLane` is such a thread with a durable queue and the connection to its target, which end together.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Generic, Protocol, TypeVar

from prometheus_client import Gauge

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


class DurableQueue(Protocol):
    """A queue on the disk."""

    @property
    def waiting(self) -> int:
        """Return how many items wait."""

    def close(self) -> None:
        """Close the file; what waits stays there."""


Queue = TypeVar("Queue", bound=DurableQueue)


class QueueLane(Generic[Queue]):
    """The lane of one target with its queue, whose length a gauge shows while the lane runs.

    Args:
        lane: sends what is in the queue.
        label: of the target, in the gauge.
        last_s: for the request that is under way when the time to end is over.
    """

    def __init__(self, lane: Lane, queue: Queue, gauge: Gauge, label: str, last_s: float) -> None:
        self._lane = lane
        self._queue = queue
        self._gauge = gauge
        self._label = label
        self._last_s = last_s
        # The connection is entered when it is first used, and so closed before the queue.
        self._open = ExitStack()
        self._open.callback(queue.close)
        gauge.labels(label).set_function(lambda: queue.waiting)

    def start(self) -> None:
        """Begin to send."""
        self._lane.start()

    def close(self) -> None:
        """End once nothing is due, or at the next failure."""
        self._lane.close()

    def join(self, timeout_s: float) -> None:
        """Wait for the end, and close the queue and the connection where it is reached."""
        ended = self._lane.join(timeout_s, self._last_s)
        self._gauge.remove(self._label)
        if ended:
            self._open.close()


def drain_lanes(lanes: Sequence[QueueLane[Any]], timeout_s: float) -> None:
    """Send what can be sent within the time, and end; the rest stays in the queues."""
    until = time.monotonic() + timeout_s
    for lane in lanes:
        lane.close()
    for lane in lanes:
        lane.join(max(0.0, until - time.monotonic()))
