"""The write-ahead log on disk: segment files of records, and the checkpoint.

A segment is named by the number of its first record. A record is a header (magic, encoding, length, number,
first number of its group, checksum of the payload, checksum of the header) and its payload. Bytes that hold
no valid record are a gap: reading goes on at the next header whose checksum is right, so damage costs the
records that it hits and no other.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum
from io import FileIO
from pathlib import Path

import orjson
from isal import isal_zlib

_FIELDS = struct.Struct("<4sBxxxIQQI")
_CHECKSUM = struct.Struct("<I")
_HEADER_BYTES = _FIELDS.size + _CHECKSUM.size
_MAGIC = b"SPW2"
_SUFFIX = ".wal"
_CHECKPOINT = "checkpoint.json"

# The first format: one checksum over number, encoding and payload, and none over the header.
_OLD_HEADER = struct.Struct("<4sBxxxIQI")
_OLD_MAGIC = b"SPWL"


class Encoding(IntEnum):
    """What a record's payload is: an export request in this form."""

    PROTOBUF = 1
    JSON = 2
    PROTOBUF_GZIP = 17
    JSON_GZIP = 18
    PROTOBUF_ZSTD = 33


_ENCODINGS = frozenset(Encoding)


@dataclass(frozen=True, slots=True)
class Record:
    """One request.

    Attributes:
        group: number of the first record that was synced together with this one.
        offset: where its header begins in its segment, bytes.
    """

    number: int
    encoding: Encoding
    payload: bytes
    group: int
    offset: int


class GapKind(Enum):
    """What bytes without a valid record are."""

    TORN = "torn"
    """Left by a crash in the middle of a write: nothing of it was acknowledged."""
    DAMAGED = "damaged"
    """Acknowledged records were there, or may have been."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes `start` to `end` of a segment, which hold no valid record.

    Attributes:
        missing: number of the first record that is not there.
        cut: the bytes are what a write leaves that a crash cut off.
    """

    start: int
    end: int
    missing: int
    cut: bool


def encode_record(number: int, encoding: Encoding, payload: bytes, group: int) -> bytes:
    """Return a record as it is written."""
    fields = _FIELDS.pack(_MAGIC, encoding, len(payload), number, group, isal_zlib.crc32(payload))
    return b"".join((fields, _CHECKSUM.pack(isal_zlib.crc32(fields)), payload))


def list_segments(directory: Path) -> list[tuple[int, Path]]:
    """Return the segment files with the number of their first record, in order."""
    found = [(int(path.stem), path) for path in directory.glob(f"*{_SUFFIX}") if path.stem.isdigit()]
    return sorted(found)


def build_segment_path(directory: Path, first: int) -> Path:
    """Return the file of the segment that begins with this record."""
    return directory / f"{first:020d}{_SUFFIX}"


def iter_segment(path: Path) -> Iterator[Record | Gap]:
    """Yield the valid records of a segment in order, and the gaps between and after them."""
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield from _iter_records(content, int(path.stem) if path.stem.isdigit() else 0)


def classify_gap(gap: Gap, records: list[Record], *, last: bool, durable: int) -> GapKind:
    """Return what a gap of a segment is.

    Args:
        gap: one of the segment's.
        records: the valid records of the segment.
        last: whether the segment is the one that was written last.
        durable: all records below this number were acknowledged.
    """
    if not last or gap.missing < durable:
        return GapKind.DAMAGED
    groups = [record.group for record in records if record.offset > gap.start]
    if any(group > gap.missing for group in groups):
        return GapKind.DAMAGED
    # Pages of one group reach the disk in any order, and nothing of the last group was acknowledged.
    if groups or gap.cut:
        return GapKind.TORN
    return GapKind.DAMAGED


def find_record(path: Path, offset: int) -> Record | None:
    """Return the record whose header begins at this offset; None where there is no valid one."""
    with path.open("rb") as file:
        file.seek(offset)
        header = file.read(_HEADER_BYTES)
        length = _FIELDS.unpack_from(header)[2] if len(header) == _HEADER_BYTES else 0
        return _find_record(header + file.read(length), 0, offset)


def _iter_records(content: mmap.mmap, first: int) -> Iterator[Record | Gap]:
    at, expected = 0, first
    while at < len(content):
        record = _find_record(content, at, at)
        if record is None:
            record = _find_next_record(content, at + 1)
            end = len(content) if record is None else record.offset
            yield Gap(at, end, expected, record is None and _is_cut(content, at))
            if record is None:
                return
        yield record
        expected = record.number + 1
        at = _get_end(content, record.offset)


def _find_record(content: mmap.mmap | bytes, at: int, offset: int) -> Record | None:
    """Return the valid record at a position, None where there is none."""
    magic = content[at : at + 4]
    if magic == _OLD_MAGIC:
        return _find_old_record(content, at, offset)
    fields = content[at : at + _FIELDS.size]
    start = at + _HEADER_BYTES
    if magic != _MAGIC or start > len(content):
        return None
    if _CHECKSUM.unpack_from(content, at + _FIELDS.size)[0] != isal_zlib.crc32(fields):
        return None
    _, encoding, length, number, group, crc = _FIELDS.unpack(fields)
    payload = content[start : start + length]
    if encoding not in _ENCODINGS or len(payload) < length or isal_zlib.crc32(payload) != crc:
        return None
    return Record(number, Encoding(encoding), payload, group, offset)


def _find_old_record(content: mmap.mmap | bytes, at: int, offset: int) -> Record | None:
    start = at + _OLD_HEADER.size
    if start > len(content):
        return None
    _, encoding, length, number, crc = _OLD_HEADER.unpack_from(content, at)
    payload = content[start : start + length]
    wanted = isal_zlib.crc32(payload, isal_zlib.crc32(b"%d %d" % (number, encoding)))
    if encoding not in _ENCODINGS or len(payload) < length or wanted != crc:
        return None
    return Record(number, Encoding(encoding), payload, number, offset)


def _get_end(content: mmap.mmap, at: int) -> int:
    """Return where the valid record at a position ends."""
    if content[at : at + 4] == _OLD_MAGIC:
        return at + _OLD_HEADER.size + int(_OLD_HEADER.unpack_from(content, at)[2])
    return at + _HEADER_BYTES + int(_FIELDS.unpack_from(content, at)[2])


def _find_next_record(content: mmap.mmap, at: int) -> Record | None:
    """Return the first valid record that begins at a position or later."""
    for magic in (_MAGIC, _OLD_MAGIC):
        found = content.find(magic, at)
        while found >= 0:
            record = _find_record(content, found, found)
            if record is not None:
                return record
            found = content.find(magic, found + 1)
    return None


def _is_cut(content: mmap.mmap, at: int) -> bool:
    """Return whether the bytes after the last valid record are what a write leaves that was cut off.

    That is a record which goes on past the end of the file, or zeros where the file grew and its pages were
    not written.
    """
    fields = content[at : at + _FIELDS.size]
    if len(content) - at < _HEADER_BYTES or not content[at:].strip(b"\0"):
        return True
    if fields[:4] != _MAGIC or _CHECKSUM.unpack_from(content, at + _FIELDS.size)[0] != isal_zlib.crc32(
        fields
    ):
        return False
    length = int(_FIELDS.unpack(fields)[2])
    payload = content[at + _HEADER_BYTES : at + _HEADER_BYTES + length]
    return len(payload) < length or not payload.strip(b"\0")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is known to be done.

    Attributes:
        below: every record with a lower number is done.
        done: others that are.
        durable: every record with a lower number was acknowledged.
    """

    below: int = 0
    done: frozenset[int] = frozenset()
    durable: int = 0

    def has_done(self, number: int) -> bool:
        """Return whether a record is done."""
        return number < self.below or number in self.done


def read_checkpoint(directory: Path) -> Checkpoint:
    """Return the checkpoint; a damaged one counts as none, so that records are done again."""
    try:
        saved = orjson.loads((directory / _CHECKPOINT).read_bytes())
        if "state" not in saved:  # of the first format
            return Checkpoint(int(saved["below"]), frozenset(map(int, saved["done"])))
        state = saved["state"]
        if saved["crc"] != isal_zlib.crc32(orjson.dumps(state)):
            return Checkpoint()
        done = {number for first, last in state["done"] for number in range(first, last + 1)}
        return Checkpoint(int(state["below"]), frozenset(done), int(state["durable"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Checkpoint()


def write_checkpoint(directory: Path, below: int, done: list[tuple[int, int]], durable: int) -> None:
    """Replace the checkpoint in one step, `done` as ranges; does not sync, as an older one is valid too."""
    state = {"below": below, "done": done, "durable": durable}
    fresh = directory / f"{_CHECKPOINT}.new"
    with open_private(fresh, os.O_TRUNC) as file:
        file.write(orjson.dumps({"crc": isal_zlib.crc32(orjson.dumps(state)), "state": state}))
    fresh.replace(directory / _CHECKPOINT)


def open_private(path: Path, flags: int) -> FileIO:
    """Open a file for writing that only its owner can read; creates it where `flags` allows."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600), "wb", buffering=0)  # noqa: PTH123


def sync_directory(directory: Path) -> None:
    """Make names of files durable: creating one is not, until its directory is written."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
