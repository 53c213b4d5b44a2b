"""How the write-ahead log lies on disk: segment files of records, and the checkpoint.

A segment is named by the number of its first record. A record is a header (magic, kind, length, number,
CRC-32) and its payload. Reading stops at the first record that is not whole, which is what a crash in the
middle of a write leaves behind; nothing of it had been acknowledged.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import orjson
from isal import isal_zlib

_HEADER = struct.Struct("<4sBxxxIQI")
_MAGIC = b"SPWL"
_SUFFIX = ".wal"
_CHECKPOINT = "checkpoint.json"


class Encoding(IntEnum):
    """What a record's payload is: an export request in this form. Bodies lie as they came, compressed."""

    PROTOBUF = 1
    JSON = 2
    PROTOBUF_GZIP = 17
    JSON_GZIP = 18


@dataclass(frozen=True, slots=True)
class Record:
    """One acknowledged request."""

    number: int
    encoding: Encoding
    payload: bytes


def pack(number: int, encoding: Encoding, payload: bytes) -> bytes:
    """A record as it is written."""
    crc = _crc(number, encoding, payload)
    return _HEADER.pack(_MAGIC, encoding, len(payload), number, crc) + payload


def segments(directory: Path) -> list[tuple[int, Path]]:
    """The segment files with the number of their first record, in order."""
    found = [(int(path.stem), path) for path in directory.glob(f"*{_SUFFIX}") if path.stem.isdigit()]
    return sorted(found)


def segment_path(directory: Path, first: int) -> Path:
    """The file of the segment that begins with this record."""
    return directory / f"{first:020d}{_SUFFIX}"


def read_segment(path: Path) -> Iterator[Record]:
    """The whole records of a segment, up to the first that is torn."""
    with path.open("rb") as file:
        while header := file.read(_HEADER.size):
            if len(header) < _HEADER.size:
                return
            magic, kind, length, number, crc = _HEADER.unpack(header)
            if magic != _MAGIC or kind not in Encoding.__members__.values():
                return
            payload = file.read(length)
            if len(payload) < length or _crc(number, kind, payload) != crc:
                return
            yield Record(number, Encoding(kind), payload)


def read_checkpoint(directory: Path) -> tuple[int, set[int]]:
    """All records below the number are done, and so are those of the set. A damaged file says nothing."""
    try:
        saved = orjson.loads((directory / _CHECKPOINT).read_bytes())
        return int(saved["below"]), {int(number) for number in saved["done"]}
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return 0, set()


def write_checkpoint(directory: Path, below: int, done: set[int]) -> None:
    """Replace the checkpoint in one step; never waits for the disk, as an older one is only less handy."""
    fresh = directory / f"{_CHECKPOINT}.new"
    fresh.write_bytes(orjson.dumps({"below": below, "done": sorted(done)}))
    fresh.replace(directory / _CHECKPOINT)


def sync_directory(directory: Path) -> None:
    """Make names of files durable: creating one is not, until its directory is written."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _crc(number: int, kind: int, payload: bytes) -> int:
    return isal_zlib.crc32(payload, isal_zlib.crc32(b"%d %d" % (number, kind)))
