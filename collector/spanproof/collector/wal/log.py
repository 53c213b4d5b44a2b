"""The write-ahead log: a request is on disk before it is acknowledged, and is read again after a crash.

Comes in: request bodies, and which records are done (everything of them is stored). Goes out: a future that
is set once the bytes are durable, and at start the records that are not done. One thread writes; all
requests that wait at the same moment share one `fdatasync`. It never looks into a payload.
"""

from __future__ import annotations

import fcntl
import logging
import os
import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from spanproof.collector.wal import file as wal_file
from spanproof.collector.wal.file import Encoding, Record

log = logging.getLogger(__name__)

_GROUP_BYTES = 16 * 1024 * 1024
"""Most bytes written under one `fdatasync`, so that the first of a group does not wait for ever."""


class WalClosed(RuntimeError):  # noqa: N818 - says what happened
    """The log takes nothing any more."""


class WalInUse(RuntimeError):  # noqa: N818 - says what happened
    """Another process holds the log's directory."""


@dataclass(slots=True)
class _Segment:
    path: Path
    pending: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Append:
    encoding: Encoding
    payload: bytes
    durable: Future[int]


class Wal:
    """The log in one directory, which it locks. Thread-safe.

    Raises:
        WalInUse: another collector has the directory.
        OSError: it cannot be created or written.
    """

    def __init__(self, directory: Path, *, segment_bytes: int, fsync: bool = True) -> None:
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._fsync = fsync
        directory.mkdir(parents=True, exist_ok=True)
        self._lock_file = _locked(directory)
        self._guard = threading.Lock()
        self._segments: dict[int, _Segment] = {}
        self._unread: list[tuple[int, Path]] = []
        self._checkpoint_below, self._checkpoint_done = wal_file.read_checkpoint(directory)
        self._dirty = False
        self._next = self._survey()
        self._file: BinaryIO | None = None
        self._first = self._next
        self._size = 0
        self._inbox: queue.SimpleQueue[_Append | None] = queue.SimpleQueue()
        self._closed = False
        self._writer = threading.Thread(target=self._write_groups, name="spanproof-wal", daemon=True)
        self._writer.start()

    def append(self, encoding: Encoding, payload: bytes) -> Future[int]:
        """Write a request; the future gives its number once it is durable, or the error of the disk.

        Raises:
            WalClosed: `close` was called.
        """
        if self._closed:
            raise WalClosed("the write-ahead log is closed")
        durable: Future[int] = Future()
        # From here on it cannot be cancelled: the bytes will be there, whoever still waits for them.
        durable.set_running_or_notify_cancel()
        self._inbox.put(_Append(encoding, payload, durable))
        return durable

    def undone(self) -> Iterator[Record]:
        """The records of former runs that are not done, in order; to be called once, at start."""
        unread, self._unread = self._unread, []
        for first, path in unread:
            for record in wal_file.read_segment(path):
                with self._guard:
                    wanted = record.number in self._segments[first].pending
                if wanted:
                    yield record

    def done(self, numbers: set[int]) -> None:
        """Everything of these records is stored: they need not be read again."""
        with self._guard:
            for first, segment in list(self._segments.items()):
                if segment.pending.isdisjoint(numbers):
                    continue
                segment.pending -= numbers
                self._dirty = True
                if not segment.pending and first != self._first:
                    self._drop(first)

    def checkpoint(self) -> None:
        """Note down what is done, so that a restart does not do it again."""
        with self._guard:
            if not self._dirty:
                return
            pending = set().union(*(segment.pending for segment in self._segments.values()))
            below = min(pending, default=self._next)
            done = {number for number in range(below, self._next) if number not in pending}
            wal_file.write_checkpoint(self._directory, below, done)
            self._dirty = False

    @property
    def pending(self) -> int:
        """How many records are not done."""
        with self._guard:
            return sum(len(segment.pending) for segment in self._segments.values())

    def close(self) -> None:
        """Write what waits, note down what is done, let go of the directory. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        self._inbox.put(None)
        self._writer.join()
        self.checkpoint()
        with self._guard:
            for first, segment in list(self._segments.items()):
                if not segment.pending:
                    self._drop(first)
        self._lock_file.close()

    def _survey(self) -> int:
        """Count the records of each segment left by former runs; returns the next number."""
        following = max(self._checkpoint_below, max(self._checkpoint_done, default=0) + 1, 1)
        for first, path in wal_file.segments(self._directory):
            segment = _Segment(path)
            for record in wal_file.read_segment(path):
                following = max(following, record.number + 1)
                if record.number >= self._checkpoint_below and record.number not in self._checkpoint_done:
                    segment.pending.add(record.number)
            self._segments[first] = segment
            if segment.pending:
                self._unread.append((first, path))
            else:
                self._drop(first)
        return following

    def _drop(self, first: int) -> None:
        self._segments.pop(first).path.unlink(missing_ok=True)

    def _write_groups(self) -> None:
        open_for_more = True
        while open_for_more:
            group = []
            size = 0
            taken = self._inbox.get()
            while taken is not None:
                group.append(taken)
                size += len(taken.payload)
                if size >= _GROUP_BYTES:
                    break
                try:
                    taken = self._inbox.get_nowait()
                except queue.Empty:
                    break
            open_for_more = taken is not None
            self._write_group(group)
        if self._file is not None:
            self._file.close()

    def _write_group(self, group: list[_Append]) -> None:
        if not group:
            return
        try:
            numbers = self._append_to_segment(group)
        except Exception as failure:
            log.exception("the write-ahead log cannot be written")
            self._abandon_segment(len(group))
            for waiting in group:
                waiting.durable.set_exception(failure)
            return
        for waiting, number in zip(group, numbers, strict=True):
            waiting.durable.set_result(number)

    def _append_to_segment(self, group: list[_Append]) -> list[int]:
        file = self._segment_file()
        numbers = list(range(self._next, self._next + len(group)))
        for number, waiting in zip(numbers, group, strict=True):
            self._size += file.write(wal_file.pack(number, waiting.encoding, waiting.payload))
        file.flush()
        if self._fsync:
            os.fdatasync(file.fileno())
        with self._guard:
            self._next += len(group)
            self._segments[self._first].pending.update(numbers)
        return numbers

    def _segment_file(self) -> BinaryIO:
        if self._file is not None and self._size < self._segment_bytes:
            return self._file
        if self._file is not None:
            self._file.close()
            self._file = None
        path = wal_file.segment_path(self._directory, self._next)
        file = path.open("xb")
        wal_file.sync_directory(self._directory)
        with self._guard:
            previous, self._first = self._first, self._next
            self._segments[self._first] = _Segment(path)
            former = self._segments.get(previous)
            if previous != self._first and former is not None and not former.pending:
                self._drop(previous)
        self._file, self._size = file, 0
        return file

    def _abandon_segment(self, numbers: int) -> None:
        """After a failed write the file's tail is unknown: go on in a fresh segment under fresh numbers."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError as failure:
                log.warning("closing a segment after a failed write: %s", failure)
        with self._guard:
            self._next += numbers


def _locked(directory: Path) -> BinaryIO:
    file = (directory / "lock").open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as held:
        file.close()
        raise WalInUse(
            f"{directory} is in use by another collector; give each its own wal.directory"
        ) from held
    return file
