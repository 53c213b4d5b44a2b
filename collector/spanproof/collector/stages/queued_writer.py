"""A queue that one thread writes to the store, for as long as the store takes."""

from __future__ import annotations

import queue
import threading
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from spanproof.collector.stages.patience import LONGEST_PAUSE_S, PatientWrites
from spanproof.collector.telemetry import Telemetry

Item = TypeVar("Item")


class QueuedWriter(ABC, Generic[Item]):
    """One thread that writes what is put into its queue.

    Args:
        name: of the thread, behind "spanproof-".
    """

    def __init__(self, name: str, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        # None is the last item.
        self._inbox: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._patience = PatientWrites(telemetry)
        self._thread = threading.Thread(target=self._run, name=f"spanproof-{name}", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def put(self, item: Item) -> None:
        """Write this soon; never blocks."""
        self._inbox.put(item)

    def drain(self, timeout_s: float) -> bool:
        """Write everything that was put and end; False when the store would not take it in time."""
        self._inbox.put(None)
        self._thread.join(timeout_s)
        self._patience.give_up()
        drained = not self._thread.is_alive()
        self._thread.join(LONGEST_PAUSE_S)
        return drained

    @abstractmethod
    def _run(self) -> None:
        """Write batches until the last item was taken."""
