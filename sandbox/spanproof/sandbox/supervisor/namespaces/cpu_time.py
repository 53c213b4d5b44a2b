"""CPU time of a guest's processes, each by its own clock.

The kernel adds a child's time to its parent's when the parent waits for it. Of a child without a wait,
because its parent ignores SIGCHLD, it adds nothing anywhere: so each process is looked at while it lives, and
when it ends.
"""

from __future__ import annotations

from spanproof.sandbox.supervisor.namespaces.memory import read_cpu_s


class OwnTimes:
    """The CPU times of the processes of one run."""

    def __init__(self) -> None:
        self._last: dict[int, float] = {}
        self._before_s = 0.0

    def record_process(self, pid: int) -> None:
        """Look at a process; one with less time than before is another one of the same number."""
        used, last_s = read_cpu_s(pid), self._last.get(pid, 0.0)
        if used < last_s:
            self._before_s += last_s
        self._last[pid] = used

    def compute_total_s(self) -> float:
        """Return the seconds of all that were looked at."""
        return self._before_s + sum(self._last.values())
