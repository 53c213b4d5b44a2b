"""The queue of one sink: what is to be sent, what was, and what was refused, in a file that survives a crash.

A score is in it once, under its key: a later state takes the place of one that still waits, and what was sent
as it is now is not sent again. Sent rows stay, up to a bound, so that a score that is gone can be withdrawn.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path

from spanproof.collector.sinks.database import open_queue_file
from spanproof.collector.sinks.score import WITHDRAWN, Item, build_item, compute_mark
from spanproof.trace import Score, Skipped
from spanproof.trace.codec import decode_value, encode_value
from spanproof.trace.project import TraceKey

_REMEMBERED = 200_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS items (
  key TEXT PRIMARY KEY, trace_id TEXT NOT NULL, body TEXT NOT NULL, mark TEXT NOT NULL,
  state INTEGER NOT NULL, was_sent INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
  since_ns INTEGER NOT NULL, due_ns INTEGER NOT NULL, reason TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_due ON items (state, due_ns);
CREATE INDEX IF NOT EXISTS by_trace ON items (trace_id);
"""


class _State(IntEnum):
    WAITING = 0
    SENT = 1
    REFUSED = 2


@dataclass(frozen=True, slots=True)
class Waiting:
    """An item that is due.

    Attributes:
        mark: of the state that is sent, so that a later one is not taken for it.
        tries: how often it was tried.
        since_ns: when it came, Unix nanoseconds.
    """

    item: Item
    mark: str
    tries: int
    since_ns: int


class SinkQueue:
    """A durable queue. Thread-safe; one process at a time.

    Args:
        path: its file; made where it is not there.
        max_waiting: most items that wait.
    """

    def __init__(self, path: Path, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._guard = threading.Lock()
        self._db = open_queue_file(path, _SCHEMA)

    def keep(self, trace: TraceKey, scores: Sequence[Score]) -> int:
        """Queue what is new about a trace, durably; returns how many were dropped as there was no room.

        Args:
            trace: what identifies it.
            scores: all that this sink is to have of it; what it had before beside them is withdrawn.
        """
        dropped = 0
        with self._guard, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            room = self._max_waiting - self._count(_State.WAITING)
            before = {
                row[0]: row[1:]
                for row in self._db.execute(
                    "SELECT key, mark, state, body FROM items WHERE trace_id = ?", (trace.trace_id,)
                )
                if decode_value(Score, row[3]).cohort.project == trace.project
            }
            items = {item.key: item for item in map(build_item, scores)}
            for key, (_, _, body) in before.items():
                if key not in items:
                    items[key] = Item(key, replace(decode_value(Score, body), outcome=WITHDRAWN))
            for item in items.values():
                earlier = before.get(item.key)
                mark = compute_mark(item.score)
                if earlier is None and isinstance(item.score.outcome, Skipped):
                    continue  # the product has no value that this one would take back
                if earlier is not None and earlier[0] == mark:
                    continue
                waits_already = earlier is not None and earlier[1] == _State.WAITING
                if room <= 0 and not waits_already:
                    dropped += 1
                    continue
                room -= not waits_already
                self._add_item(item, mark)
        return dropped

    def due(self, limit: int) -> list[Waiting]:
        """Return the items whose time has come, the oldest first."""
        with self._guard, closing(self._db.cursor()) as cursor:
            rows = cursor.execute(
                "SELECT key, body, was_sent, mark, tries, since_ns FROM items"
                " WHERE state = ? AND due_ns <= ? ORDER BY due_ns, since_ns LIMIT ?",
                (_State.WAITING, time.time_ns(), limit),
            ).fetchall()
        return [
            Waiting(Item(row[0], decode_value(Score, row[1]), bool(row[2])), row[3], row[4], row[5])
            for row in rows
        ]

    def sent(self, done: Sequence[Waiting]) -> None:
        """Note that these were taken, each in the state that was sent."""
        with self._guard, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for entry in done:
                self._db.execute("UPDATE items SET was_sent = 1 WHERE key = ?", (entry.item.key,))
                self._db.execute(
                    "UPDATE items SET state = ?, reason = '' WHERE key = ? AND mark = ?",
                    (_State.SENT, entry.item.key, entry.mark),
                )
            self._remove_oldest()

    def refuse(self, item: Waiting, reason: str) -> None:
        """Note that this one will never be taken."""
        with self._guard, self._db:
            self._db.execute(
                "UPDATE items SET state = ?, reason = ? WHERE key = ? AND mark = ?",
                (_State.REFUSED, reason[:500], item.item.key, item.mark),
            )

    def postpone(self, items: Sequence[Waiting], pause_s: float) -> None:
        """Make these due again after a pause."""
        due_ns = time.time_ns() + int(pause_s * 1e9)
        with self._guard, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(
                "UPDATE items SET tries = tries + 1, due_ns = ? WHERE key = ?",
                [(due_ns, entry.item.key) for entry in items],
            )

    @property
    def waiting(self) -> int:
        """How many wait."""
        with self._guard:
            return self._count(_State.WAITING)

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            self._db.close()

    def _count(self, state: _State) -> int:
        row = self._db.execute("SELECT count(*) FROM items WHERE state = ?", (state,)).fetchone()
        return int(row[0])

    def _add_item(self, item: Item, mark: str) -> None:
        now_ns = time.time_ns()
        self._db.execute(
            "INSERT INTO items (key, trace_id, body, mark, state, since_ns, due_ns)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET body = excluded.body, mark = excluded.mark,"
            " state = excluded.state, tries = 0, since_ns = excluded.since_ns, due_ns = excluded.due_ns,"
            " reason = ''",
            (item.key, item.score.trace_id, encode_value(item.score), mark, _State.WAITING, now_ns, now_ns),
        )

    def _remove_oldest(self) -> None:
        done = self._count(_State.SENT) + self._count(_State.REFUSED)
        if done > _REMEMBERED:
            self._db.execute(
                "DELETE FROM items WHERE key IN (SELECT key FROM items WHERE state != ?"
                " ORDER BY since_ns LIMIT ?)",
                (_State.WAITING, done - _REMEMBERED * 9 // 10),
            )
