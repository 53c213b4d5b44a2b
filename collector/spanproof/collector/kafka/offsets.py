"""Which offsets of the assigned partitions are done, and how far each may be committed."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Partition:
    """`open` are offsets that are not done, in order; `read` is the one after the last that was read."""

    read: int = -1
    committed: int = -1
    open: dict[int, int | None] = field(default_factory=dict)

    @property
    def position(self) -> int:
        """Everything before it is done; -1 where nothing was read."""
        return next(iter(self.open), self.read)


class Offsets:
    """Offsets by partition, and the log records that hold them. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Condition()
        self._partitions: dict[int, _Partition] = {}
        self._records: dict[int, tuple[int, int]] = {}

    def record_read(self, partition: int, offset: int) -> None:
        """Note that a message was read; offsets of a partition come in order."""
        with self._guard:
            of = self._partitions.setdefault(partition, _Partition())
            of.open[offset] = None
            of.read = offset + 1

    def record_held(self, partition: int, offset: int, record: int) -> None:
        """Note which log record has a message."""
        with self._guard:
            of = self._partitions.get(partition)
            if of is not None and offset in of.open:
                of.open[offset] = record
                self._records[record] = partition, offset

    def record_finished(self, partition: int, offset: int) -> None:
        """Note that a message is done, which no log record has."""
        with self._guard:
            of = self._partitions.get(partition)
            if of is not None:
                of.open.pop(offset, None)
                self._guard.notify_all()

    def record_finished_record(self, record: int) -> None:
        """Note that a log record is done: its spans and scores are stored."""
        with self._guard:
            partition, offset = self._records.pop(record, (-1, -1))
        self.record_finished(partition, offset)

    def is_held(self, records: Iterable[int]) -> bool:
        """Return whether all these records are of partitions that are assigned to this worker."""
        with self._guard:
            return all(record in self._records for record in records)

    @property
    def partitions(self) -> list[int]:
        """The partitions of which a message was read."""
        with self._guard:
            return list(self._partitions)

    def list_records(self, partitions: Iterable[int]) -> set[int]:
        """Return the log records of these partitions that are not done."""
        wanted = set(partitions)
        with self._guard:
            return {record for record, (partition, _) in self._records.items() if partition in wanted}

    def wait_for(self, records: set[int], timeout_s: float) -> bool:
        """Wait until all these records are done; False where they are not in time."""
        with self._guard:
            return self._guard.wait_for(lambda: records.isdisjoint(self._records), timeout_s)

    def remove_partitions(self, partitions: Iterable[int]) -> None:
        """Forget partitions that are another worker's now."""
        wanted = set(partitions)
        with self._guard:
            for partition in wanted:
                self._partitions.pop(partition, None)
            self._records = {
                record: position for record, position in self._records.items() if position[0] not in wanted
            }
            self._guard.notify_all()

    def get_committable(self, partitions: Iterable[int] | None = None) -> dict[int, int]:
        """Return the position of each partition that got further since the last call; of these, or of all."""
        with self._guard:
            wanted = self._partitions.keys() if partitions is None else set(partitions)
            found = {}
            for partition in wanted:
                of = self._partitions.get(partition)
                if of is not None and of.position > of.committed:
                    found[partition] = of.committed = of.position
            return found
