"""The log of a worker: spans on its disk while they are evaluated; the topic is what survives it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path

from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal

_SEGMENT_BYTES = 64 * 1024 * 1024


class Spool(Wal):
    """A log that reports which records are done, and begins empty.

    Args:
        on_done: called with the number of each record once nothing needs it any more.
    """

    def __init__(self, directory: Path, *, max_bytes: int, on_done: Callable[[int], None]) -> None:
        # What a former run left is read from the topic again.
        shutil.rmtree(directory, ignore_errors=True)
        super().__init__(directory, segment_bytes=_SEGMENT_BYTES, max_bytes=max_bytes, fsync=False)
        self._on_done = on_done
        self._parties: dict[int, int] = {}
        self._counting = threading.Lock()

    def append(self, encoding: Encoding, payload: bytes) -> Future[int]:
        """Write a request; see `Wal.append`."""
        written = super().append(encoding, payload)
        written.add_done_callback(self._record_written)
        return written

    def expect(self, number: int, parties: int) -> None:
        """Set how many parties need a record; see `Wal.expect`."""
        super().expect(number, parties)
        self._add(number, parties - 1)

    def settle(self, numbers: Iterable[int]) -> None:
        """Note that one party is done with each of these records; see `Wal.settle`."""
        settled = list(numbers)
        super().settle(settled)
        for number in settled:
            self._add(number, -1)

    def _record_written(self, written: Future[int]) -> None:
        if written.exception() is None:
            with self._counting:
                self._parties[written.result()] = 1

    def _add(self, number: int, parties: int) -> None:
        with self._counting:
            self._parties[number] += parties
            done = not self._parties[number]
            if done:
                del self._parties[number]
        if done:
            self._on_done(number)
