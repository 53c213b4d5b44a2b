"""Looks through a log without changing it: what can be read, what is torn, and what is damaged.

Comes in: a directory of segments, of a collector that does not run or below `damaged`. Goes out: a report for
each segment, and the requests that can be read. It takes no lock: a segment that is being written looks torn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spanproof.collector.wal.file import (
    Gap,
    GapKind,
    Record,
    classify_gap,
    iter_segment,
    list_segments,
    read_checkpoint,
)


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """What is in one segment.

    Attributes:
        first, last: numbers of its first and last readable record; None where there is none.
        undone: readable records that are not done.
        torn_bytes: left by a write that a crash cut off; nothing of it was acknowledged.
        damaged: bytes where acknowledged records were, as ranges.
        skipped: numbers between the segment before and this one that no segment has, and that are not done.
    """

    path: Path
    first: int | None
    last: int | None
    records: int
    undone: int
    torn_bytes: int
    damaged: tuple[tuple[int, int], ...]
    skipped: int

    @property
    def sound(self) -> bool:
        """Whether everything that was acknowledged can be read."""
        return not self.damaged and not self.skipped


def list_reports(directory: Path) -> list[SegmentReport]:
    """Return a report for each segment, in order."""
    checkpoint = read_checkpoint(directory)
    found = list_segments(directory)
    reports: list[SegmentReport] = []
    expected: int | None = None
    for position, (first, path) in enumerate(found):
        parts = list(iter_segment(path))
        records = [part for part in parts if isinstance(part, Record)]
        newest = position == len(found) - 1
        torn, damaged = 0, list[tuple[int, int]]()
        for gap in (part for part in parts if isinstance(part, Gap)):
            if classify_gap(gap, records, last=newest, durable=checkpoint.durable) is GapKind.TORN:
                torn += gap.end - gap.start
            else:
                damaged.append((gap.start, gap.end))
        first_number, last_number = (records[0].number, records[-1].number) if records else (None, None)
        if expected is not None:
            missing = range(max(expected, checkpoint.below), first)
        else:
            missing = range(0)
        reports.append(
            SegmentReport(
                path=path,
                first=first_number,
                last=last_number,
                records=len(records),
                undone=sum(not checkpoint.has_done(record.number) for record in records),
                torn_bytes=torn,
                damaged=tuple(damaged),
                skipped=sum(number not in checkpoint.done for number in missing),
            )
        )
        expected = first if last_number is None else last_number + 1
    return reports


def iter_records(directory: Path, *, undone_only: bool) -> Iterator[Record]:
    """Yield the records that can be read, in order.

    Args:
        directory: of the segments.
        undone_only: leave out those whose spans and scores are stored.
    """
    checkpoint = read_checkpoint(directory)
    for _, path in list_segments(directory):
        for part in iter_segment(path):
            if not isinstance(part, Record):
                continue
            if undone_only and checkpoint.has_done(part.number):
                continue
            yield part
