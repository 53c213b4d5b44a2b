"""How long a process could work, for deadlines that a busy machine does not make earlier.

Comes in: a process. Goes out: seconds since it was first looked at, less those for which it, or one of its
children that it waits for, was ready to run and had no processor. Where the system does not count these
(`/proc/PID/schedstat`), the clock alone decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

_PROC = Path("/proc")


class WorkClock:
    """The time that one process had for its work.

    Args:
        pid: of the process.
        read_waits: returns the seconds for which each process of its tree has waited for a processor so far.
        read_time: returns the seconds on a clock that is never set back.
    """

    def __init__(
        self,
        pid: int,
        read_waits: Callable[[int], Mapping[int, float]] | None = None,
        read_time: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pid = pid
        self._read_waits = read_waits or read_processor_waits
        self._read_time = read_time
        self._began_s = self._last_s = read_time()
        # Most work ends before it is looked at a second time: nothing is read for that.
        self._waits: Mapping[int, float] | None = None
        self._worked_s = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds by the clock."""
        return self._read_time() - self._began_s

    def compute_work_s(self) -> float:
        """Return the seconds that the process could work since the clock was made."""
        now_s, waits = self._read_time(), self._read_waits(self._pid)
        passed_s = now_s - self._last_s
        # The process waits for its children, or they for it: the longest wait held all of them up.
        if self._waits is None:
            waited_s = 0.0
        else:
            waited_s = max((wait - self._waits.get(pid, 0.0) for pid, wait in waits.items()), default=0.0)
        self._worked_s += max(0.0, passed_s - waited_s)
        self._last_s, self._waits = now_s, waits
        return self._worked_s


def read_processor_waits(pid: int) -> dict[int, float]:
    """Return the seconds for which a process and its descendants have waited for a processor, by process."""
    waits: dict[int, float] = {}
    remaining = [pid]
    while remaining:
        one = remaining.pop()
        try:
            waits[one] = int((_PROC / str(one) / "schedstat").read_text().split()[1]) / 1e9
            for task in (_PROC / str(one) / "task").iterdir():
                remaining += map(int, (task / "children").read_text().split())
        except (OSError, IndexError):
            continue  # it ended, or this system does not count
    return waits
