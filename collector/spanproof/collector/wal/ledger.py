"""Which log records are done: those of which every trace is stored or set aside.

One request may hold spans of many traces, and a trace comes in many requests; a record may be forgotten only
when the last of its traces is safe elsewhere. Thread-safe.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from spanproof.collector.wal.log import Wal


class Ledger:
    """Counts, for each record, the traces that are still on their way."""

    def __init__(self, wal: Wal) -> None:
        self._wal = wal
        self._guard = threading.Lock()
        self._open: dict[int, int] = {}

    def expect(self, record: int, traces: int) -> None:
        """This record feeds so many traces; with none it is done at once."""
        if traces == 0:
            self._wal.done({record})
            return
        with self._guard:
            self._open[record] = traces

    def settle(self, records: Iterable[int]) -> None:
        """A trace that these records feed is safe."""
        done = set()
        with self._guard:
            for record in records:
                self._open[record] -= 1
                if self._open[record] == 0:
                    del self._open[record]
                    done.add(record)
        if done:
            self._wal.done(done)
