"""The queue of one OTLP target: serialised requests in order, in a file that survives a crash."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spanproof.collector.receive.signals import Signal
from spanproof.collector.sinks.database import open_queue_file

_SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
  number INTEGER PRIMARY KEY AUTOINCREMENT, signal TEXT NOT NULL, body BLOB NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that waits."""

    number: int
    signal: Signal
    body: bytes = field(repr=False)


class RequestQueue:
    """A durable queue. Thread-safe; one process at a time.

    Args:
        path: its file; made where it is not there.
        most_bytes: of the requests that wait.
    """

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._guard = threading.Lock()
        self._db = open_queue_file(path, _SCHEMA)
        row = self._db.execute("SELECT count(*), coalesce(sum(length(body)), 0) FROM requests").fetchone()
        self._count, self._bytes = int(row[0]), int(row[1])

    @property
    def waiting(self) -> int:
        """How many wait."""
        return self._count

    def put(self, requests: Sequence[tuple[Signal, bytes]]) -> list[Signal]:
        """Queue requests, durably; returns the signals of those for which there was no room.

        Raises:
            OSError: the disk takes nothing now.
        """
        dropped: list[Signal] = []
        fitting: list[tuple[Signal, bytes]] = []
        with self._guard:
            size = self._bytes
            for signal, body in requests:
                if size + len(body) > self._most_bytes:
                    dropped.append(signal)
                else:
                    size += len(body)
                    fitting.append((signal, body))
            try:
                with self._db:
                    self._db.execute("BEGIN IMMEDIATE")
                    self._db.executemany(
                        "INSERT INTO requests (signal, body) VALUES (?, ?)",
                        [(signal.value, body) for signal, body in fitting],
                    )
            except sqlite3.Error as failure:
                raise OSError(f"the queue cannot be written: {failure}") from failure
            self._bytes = size
            self._count += len(fitting)
        return dropped

    def first(self) -> Waiting | None:
        """Return the request that has waited the longest; None where none waits."""
        with self._guard:
            row = self._db.execute(
                "SELECT number, signal, body FROM requests ORDER BY number LIMIT 1"
            ).fetchone()
        if row is not None:
            return Waiting(row[0], Signal(row[1]), row[2])
        return None

    def remove(self, done: Waiting) -> None:
        """Note that a request need not be sent any more."""
        with self._guard:
            self._db.execute("DELETE FROM requests WHERE number = ?", (done.number,))
            self._count -= 1
            self._bytes -= len(done.body)

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            self._db.close()
