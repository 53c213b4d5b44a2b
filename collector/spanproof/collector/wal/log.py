"""The write-ahead log: a request is on disk before it is acknowledged, and is read again after a crash.

Comes in: request bodies, how many parties need each record, and which of them are done with it. Goes out: a
future that is set once the bytes are durable, records by their number, and at start the records that are not
done. One thread compresses and writes; all requests that wait at the same moment share one `fdatasync`. The
log never looks into a payload.
"""

from __future__ import annotations

import fcntl
import logging
import math
import os
import queue
import shutil
import threading
import time
from array import array
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

import zstandard

from spanproof.collector.wal import file as wal_file
from spanproof.collector.wal.file import Checkpoint, Encoding, Gap, GapKind, Record, classify_gap

log = logging.getLogger(__name__)

# Most bytes written under one `fdatasync`, which bounds how long the first request of a group waits.
_GROUP_BYTES = 16 * 1024 * 1024

_COMPRESS_FROM_BYTES = 512
_DAMAGED = "damaged"
# How long a failed write counts: whether the disk takes something again is known by trying.
_BROKEN_S = 5.0
# Offset of a number that its segment has no record of.
_ABSENT = (1 << 64) - 1


class WalClosed(RuntimeError):  # noqa: N818 - says what happened
    """The log takes nothing any more."""


class WalInUse(RuntimeError):  # noqa: N818 - says what happened
    """Another process holds the log's directory."""


class WalFull(RuntimeError):  # noqa: N818 - says what happened
    """The log holds as many bytes as it may."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record is on disk: a segment file, and the offset of the record's header in it."""

    path: Path
    offset: int


@dataclass(frozen=True, slots=True)
class Damage:
    """What was found damaged at start.

    Attributes:
        segments: copies of the damaged segments, below `damaged` in the log's directory.
        lost_records: at most so many acknowledged records that were not done cannot be read.
        missing_records: of those, the ones that no segment has: their file is gone.
        read_again: records that the checkpoint has as done although it is not of these segments.
    """

    segments: tuple[Path, ...] = ()
    lost_records: int = 0
    missing_records: int = 0
    read_again: int = 0


@dataclass(slots=True)
class _Segment:
    """A segment file; its record `first + i` begins at `offsets[i]`, and `open[i]` parties still need it."""

    path: Path
    first: int
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    open: array[int] = field(default_factory=lambda: array("I"))
    pending: int = 0
    size: int = 0

    def add(self, number: int, offset: int, parties: int) -> None:
        while self.first + len(self.offsets) < number:
            self.offsets.append(_ABSENT)
            self.open.append(0)
        self.offsets.append(offset)
        self.open.append(parties)
        self.pending += parties > 0

    def reopen(self) -> int:
        """Let each record that is done be needed by one party again; returns how many those are."""
        done = [
            index
            for index, (offset, parties) in enumerate(zip(self.offsets, self.open, strict=True))
            if offset != _ABSENT and not parties
        ]
        for index in done:
            self.open[index] = 1
        self.pending += len(done)
        return len(done)

    def iter_numbers_in_need(self) -> Iterator[int]:
        return (self.first + index for index, parties in enumerate(self.open) if parties)


@dataclass(slots=True)
class _Append:
    encoding: Encoding
    payload: bytes
    durable: Future[int]


class Wal:
    """The log in one directory, which it locks. Thread-safe.

    Args:
        segment_bytes: a new segment is begun at this size.
        max_bytes: beyond this, nothing more is taken until records are done; None is no limit.
        fsync: whether to wait for the disk.
        keep_damaged_s: how long copies of damaged segments are kept.
        damaged_bytes: of those copies, at most; the oldest go first.

    Raises:
        WalInUse: another collector has the directory.
        OSError: it cannot be created or written.
    """

    def __init__(
        self,
        directory: Path,
        *,
        segment_bytes: int,
        max_bytes: int | None = None,
        fsync: bool = True,
        keep_damaged_s: float = math.inf,
        damaged_bytes: int = 1 << 40,
    ) -> None:
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._max_bytes = max_bytes
        self._fsync = fsync
        self._keep_damaged_s = keep_damaged_s
        self._damaged_bytes = damaged_bytes
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        directory.chmod(0o700)
        self._lock_file = _open_lock(directory)
        self._guard = threading.Lock()
        self._segments: dict[int, _Segment] = {}
        self._unread: list[_Segment] = []
        # All done: their files go once a checkpoint says so. A file that is gone without one is a loss.
        self._finished: list[_Segment] = []
        self._failed_s = -_BROKEN_S
        self._dirty = False
        self._damage = Damage()
        self._next = self._survey()
        self._file: FileIO | None = None
        self._current: _Segment | None = None
        self._compressor = zstandard.ZstdCompressor(level=1)
        self._inbox: queue.SimpleQueue[_Append | None] = queue.SimpleQueue()
        self._closed = False
        self._writer = threading.Thread(target=self._write_groups, name="spanproof-wal", daemon=True)
        self._writer.start()

    @property
    def damage(self) -> Damage:
        """What was found damaged when the log was opened."""
        return self._damage

    @property
    def pending(self) -> int:
        """How many records are not done."""
        with self._guard:
            return sum(segment.pending for segment in self._segments.values())

    @property
    def size_bytes(self) -> int:
        """Bytes on disk of the segments that are still needed."""
        with self._guard:
            return sum(segment.size for segment in self._segments.values())

    @property
    def full(self) -> bool:
        """Whether the log holds as many bytes as it may."""
        return self._max_bytes is not None and self.size_bytes >= self._max_bytes

    @property
    def broken(self) -> bool:
        """Whether the disk refused a write within the last seconds."""
        return time.monotonic() - self._failed_s < _BROKEN_S

    def append(self, encoding: Encoding, payload: bytes) -> Future[int]:
        """Write a request; the future gives its number once it is durable, or the error of the disk.

        One party needs the record until `expect` sets another number.

        Raises:
            WalClosed: `close` was called.
        """
        if self._closed:
            raise WalClosed("the write-ahead log is closed")
        durable: Future[int] = Future()
        # From here on it cannot be cancelled: the bytes will be on disk whether or not the client waits.
        durable.set_running_or_notify_cancel()
        self._inbox.put(_Append(encoding, payload, durable))
        return durable

    def iter_undone(self) -> Iterator[Record]:
        """Yield the records of former runs that are not done, in order; to be called once, at start."""
        unread, self._unread = self._unread, []
        for segment in unread:
            for number in list(segment.iter_numbers_in_need()):
                try:
                    yield self.read(number)
                except LookupError:
                    log.exception("record %d of the write-ahead log can no longer be read", number)
                    self.settle([number])

    def read(self, number: int) -> Record:
        """Return a record that is not done.

        Raises:
            LookupError: the log does not hold it.
        """
        location = self.get_place(number)
        record = wal_file.find_record(location.path, location.offset)
        if record is None or record.number != number:
            raise LookupError(f"record {number} is damaged")
        return record

    def get_place(self, number: int) -> Place:
        """Return where a record is that is not done.

        Raises:
            LookupError: the log does not hold it.
        """
        with self._guard:
            segment, index = self._get_segment(number)
            if segment.offsets[index] == _ABSENT:
                raise LookupError(f"record {number} is not in the log")
            return Place(segment.path, segment.offsets[index])

    def expect(self, number: int, parties: int) -> None:
        """Set how many parties need a record, each of which calls `settle` once."""
        with self._guard:
            segment, index = self._get_segment(number)
            segment.open[index] += parties - 1
            if not segment.open[index]:
                self._record_finished(segment)

    def settle(self, numbers: Iterable[int]) -> None:
        """Note that one party is done with each of these records; at the last one a record is done."""
        with self._guard:
            for number in numbers:
                segment, index = self._get_segment(number)
                segment.open[index] -= 1
                if not segment.open[index]:
                    self._record_finished(segment)

    def checkpoint(self) -> None:
        """Write down what is done, so that a restart does not do it again, and delete what is not needed."""
        with self._guard:
            self._write_checkpoint()

    def _write_checkpoint(self) -> None:
        if self._dirty:
            pending = sorted(
                number for segment in self._segments.values() for number in segment.iter_numbers_in_need()
            )
            below = pending[0] if pending else self._next
            following = [*pending[1:], self._next]
            done = [
                (first + 1, last - 1)
                for first, last in zip(pending, following, strict=False)
                if first + 1 < last
            ]
            wal_file.write_checkpoint(self._directory, below, done, self._next)
            self._dirty = False
        # The oldest first, so that the segment with the newest record is the last to go.
        for segment in sorted(self._finished, key=lambda segment: segment.first):
            segment.path.unlink(missing_ok=True)
        self._finished.clear()

    def close(self) -> None:
        """Write what waits, write down what is done, unlock the directory. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        self._inbox.put(None)
        self._writer.join()
        try:
            with self._guard:
                for segment in list(self._segments.values()):
                    if not segment.pending:
                        self._remove_segment(segment)
                self._write_checkpoint()
        finally:
            self._lock_file.close()

    def _get_segment(self, number: int) -> tuple[_Segment, int]:
        # Few segments are open at once, and most look-ups are about the newest.
        for segment in reversed(self._segments.values()):
            if segment.first <= number < segment.first + len(segment.offsets):
                return segment, number - segment.first
        raise LookupError(f"record {number} is not in the log")

    def _record_finished(self, segment: _Segment) -> None:
        segment.pending -= 1
        self._dirty = True
        if not segment.pending and segment is not self._current:
            self._remove_segment(segment)

    def _remove_segment(self, segment: _Segment) -> None:
        """Let go of a segment; its file goes with the next checkpoint."""
        del self._segments[segment.first]
        self._finished.append(segment)

    def _survey(self) -> int:
        """Index the segments left by former runs; returns the next number."""
        _remove_old_copies(self._directory / _DAMAGED, self._damaged_bytes, self._keep_damaged_s)
        checkpoint = wal_file.read_checkpoint(self._directory)
        following = max(checkpoint.below, checkpoint.durable, max(checkpoint.done, default=0) + 1, 1)
        found = wal_file.list_segments(self._directory)
        damaged: list[Path] = []
        losses = 0
        accounted: set[int] = set()
        for position, (first, path) in enumerate(found):
            segment = _Segment(path, first, size=path.stat().st_size)
            self._segments[first] = segment
            parts = list(wal_file.iter_segment(path))
            records = [part for part in parts if isinstance(part, Record)]
            accounted.update(record.number for record in records if record.number >= checkpoint.below)
            for record in records:
                following = max(following, record.number + 1)
                segment.add(record.number, record.offset, int(not checkpoint.has_done(record.number)))
            newest = position == len(found) - 1
            for gap in (part for part in parts if isinstance(part, Gap)):
                if classify_gap(gap, records, last=newest, durable=checkpoint.durable) is GapKind.TORN:
                    log.info("%s: %d bytes of an unfinished write are left out", path, gap.end - gap.start)
                    continue
                end = _get_number_after(gap, records, found[position + 1 :], checkpoint.durable)
                missing = range(max(gap.missing, checkpoint.below), max(end, gap.missing + 1))
                accounted.update(missing)
                unknown = sum(number not in checkpoint.done for number in missing)
                damaged.append(self._keep_damaged(path))
                losses += unknown
                log.error(
                    "%s is damaged at bytes %d to %d: up to %d requests are lost; a copy is in %s",
                    path,
                    gap.start,
                    gap.end,
                    unknown,
                    damaged[-1],
                )
        read_again = self._reopen_wrongly_done(checkpoint)
        expected = range(checkpoint.below, checkpoint.durable) if not read_again else ()
        gone = len(set(expected) - checkpoint.done - accounted)
        if gone:
            log.error("%s lacks a segment: %d acknowledged requests are lost", self._directory, gone)
        for segment in list(self._segments.values()):
            if segment.pending:
                self._unread.append(segment)
            else:
                self._remove_segment(segment)
        self._damage = Damage(tuple(dict.fromkeys(damaged)), losses + gone, gone, read_again)
        return following

    def _reopen_wrongly_done(self, checkpoint: Checkpoint) -> int:
        """Let all records be needed where the checkpoint is not of these segments; returns how many.

        A segment goes once a checkpoint has all of it as done, and the one with the newest record goes last.
        So where a segment is all done and the newest record is not there, the checkpoint is of a later log or
        of another one: of a directory that was restored in part.
        """
        segments = [segment for segment in self._segments.values() if segment.offsets]
        newest = max((segment.first + len(segment.offsets) - 1 for segment in segments), default=0)
        if newest + 1 >= checkpoint.durable or all(segment.pending for segment in segments):
            return 0
        count = sum(segment.reopen() for segment in segments)
        log.error(
            "the checkpoint of %s is not of its segments: it knows records up to %d, the segments end at %d;"
            " %d requests that it has as done are evaluated again",
            self._directory,
            checkpoint.durable - 1,
            newest,
            count,
        )
        return count

    def _keep_damaged(self, path: Path) -> Path:
        folder = self._directory / _DAMAGED
        folder.mkdir(mode=0o700, exist_ok=True)
        copy = folder / path.name
        if not copy.exists():
            _remove_old_copies(folder, self._damaged_bytes - path.stat().st_size)
            shutil.copyfile(path, copy)
            copy.chmod(0o600)
        return copy

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
            self._remove_full_segment()
            numbers = self._add_to_segment(group)
        except WalFull as full:
            for waiting in group:
                waiting.durable.set_exception(full)
            return
        except Exception as failure:
            self._failed_s = time.monotonic()
            log.exception("the write-ahead log cannot be written")
            self._close_failed_segment(len(group))
            for waiting in group:
                waiting.durable.set_exception(failure)
            return
        for waiting, number in zip(group, numbers, strict=True):
            waiting.durable.set_result(number)

    def _remove_full_segment(self) -> None:
        """Drop the current segment where the log is full and nothing of it is needed.

        Raises:
            WalFull: the log is full all the same.
        """
        if not self.full:
            return
        with self._guard:
            segment = self._current
            if segment is not None and not segment.pending:
                self._remove_segment(segment)
                self._current = None
            self._write_checkpoint()
        if self._current is None and self._file is not None:
            self._file.close()
            self._file = None
        if self.full:
            raise WalFull(f"the write-ahead log holds {self._max_bytes} bytes, its limit (wal.max_bytes)")

    def _add_to_segment(self, group: list[_Append]) -> list[int]:
        file, segment = self._get_open_segment()
        numbers = list(range(self._next, self._next + len(group)))
        packed = [
            wal_file.encode_record(number, *self._encode_payload(waiting), numbers[0])
            for number, waiting in zip(numbers, group, strict=True)
        ]
        _write_all(file, b"".join(packed))
        if self._fsync:
            os.fdatasync(file.fileno())
        with self._guard:
            self._next += len(group)
            for number, content in zip(numbers, packed, strict=True):
                segment.add(number, segment.size, 1)
                segment.size += len(content)
        return numbers

    def _encode_payload(self, waiting: _Append) -> tuple[Encoding, bytes]:
        if waiting.encoding is not Encoding.PROTOBUF or len(waiting.payload) < _COMPRESS_FROM_BYTES:
            return waiting.encoding, waiting.payload
        return Encoding.PROTOBUF_ZSTD, self._compressor.compress(waiting.payload)

    def _get_open_segment(self) -> tuple[FileIO, _Segment]:
        if self._file is not None and self._current is not None:
            if self._current.size < self._segment_bytes:
                return self._file, self._current
            self._file.close()
            self._file = None
        path = wal_file.build_segment_path(self._directory, self._next)
        file = wal_file.open_private(path, os.O_EXCL)
        wal_file.sync_directory(self._directory)
        segment = _Segment(path, self._next)
        with self._guard:
            former, self._current = self._current, segment
            self._segments[segment.first] = segment
            if former is not None and not former.pending:
                self._remove_segment(former)
        self._file = file
        return file, segment

    def _close_failed_segment(self, numbers: int) -> None:
        """Go on in a new segment under new numbers: after a failed write this one's tail is unknown."""
        file, self._file = self._file, None
        segment = self._current
        if file is not None and segment is not None:
            try:
                # What is cut off here was refused: a restart must not take it for damage, nor for a request.
                file.truncate(segment.size)
                file.close()
            except OSError as failure:
                log.warning("closing a segment after a failed write: %s", failure)
        with self._guard:
            self._next += numbers
            self._dirty = True
            if segment is not None and not segment.pending and segment.first in self._segments:
                self._remove_segment(segment)
            self._current = None


def _remove_old_copies(folder: Path, most_bytes: int, keep_s: float = math.inf) -> None:
    """Delete copies of damaged segments that are too old, or with the newer ones too many."""
    copies = sorted(folder.glob("*.wal"), key=lambda copy: copy.stat().st_mtime, reverse=True)
    size = 0
    for copy in copies:
        found = copy.stat()
        size += found.st_size
        if size > most_bytes or time.time() - found.st_mtime > keep_s:
            log.warning("%s is deleted: copies of damaged segments are kept for a time only", copy)
            copy.unlink(missing_ok=True)


def _get_number_after(
    gap: Gap, records: list[Record], later_segments: list[tuple[int, Path]], durable: int
) -> int:
    """Return the number of the first record after a gap, as far as it is known."""
    following = [record.number for record in records if record.offset >= gap.end]
    if following:
        return following[0]
    if later_segments:
        return later_segments[0][0]
    return durable


def _write_all(file: FileIO, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]


def _open_lock(directory: Path) -> FileIO:
    file = wal_file.open_private(directory / "lock", os.O_TRUNC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as held:
        file.close()
        raise WalInUse(
            f"{directory} is in use by another collector; give each its own wal.directory"
        ) from held
    return file
