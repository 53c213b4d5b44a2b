"""The bounds of a run that no clock and no kernel keeps: looked at several times a second, as a whole tree.

In: the parts that hold the guest. Out: why the run must end, where it must, and what the tree has used.
"""

from __future__ import annotations

import math
import time

from spanproof.sandbox.guest.wire import Header
from spanproof.sandbox.supervisor.isolation import Armed, Ended, Isolation
from spanproof.sandbox.supervisor.namespaces import memory
from spanproof.sandbox.supervisor.namespaces.cgroup import Group
from spanproof.sandbox.supervisor.namespaces.cpu_time import OwnTimes
from spanproof.sandbox.supervisor.namespaces.process_tree import LookLeft

TICK_S = 0.05


class UsageLimits:
    """The limits of one run, and what it has used."""

    def __init__(self, limits: Header, armed: Armed, isolation: Isolation, group: Group | None) -> None:
        """Begin; the guest still waits."""
        guest = armed.guest
        self._processes = limits["processes"]
        self._born = guest
        self._main = guest.pid
        self._isolation = isolation
        self._group = group
        self._meter = memory.Meter(limits["memory_bytes"], guest.warm_bytes, isolation.tree, isolation.box)
        if group is not None:
            group.start_limits(limits["memory_bytes"], limits["disk_bytes"])
        # The guest was bounded when it was armed, which may be long ago.
        isolation.tree.update_process_bound()
        self._strays_cpu_before = isolation.tree.strays_cpu_s
        self._arming_cpu_s = memory.read_cpu_s(guest.pid)
        if armed.judge is not None:
            self._arming_cpu_s += memory.read_cpu_s(armed.judge)
        self._own_times = OwnTimes()
        # How long the last look took: a supervisor that is kept waiting for a processor takes long.
        self.takes_s = 0.0
        # Whether orphans that ended may have been reaped.
        self.has_looked = False

    def is_due(self, now: float) -> bool:
        """Whether it is time to look again."""
        return now - self._meter.sampled_at >= TICK_S

    def find_exceeded(self, until: float = math.inf) -> str | None:
        """Reap, count and measure; why the run must end, where it must.

        Args:
            until: when it is left, as `time.monotonic` reports: what bounds the time comes first.
        """
        started = time.monotonic()
        self.has_looked = True
        self._isolation.tree.look_until = until
        try:
            return self._find_exceeded()
        except LookLeft:
            return None
        finally:
            self._isolation.tree.look_until = math.inf
            self.takes_s = time.monotonic() - started

    def _find_exceeded(self) -> str | None:
        # First: a page that the looks below take would be the supervisor's end while the dead one's are kept.
        self.remove_memory_bound()
        self._isolation.tree.wait_for_strays(self._main)
        self._isolation.tree.run_bound_check()
        return self._isolation.box.find_exceeded_limit() or ("memory" if self._is_over_memory() else None)

    def _is_over_memory(self) -> bool:
        """Whether the tree is over its bound, or the kernel has killed in it for that."""
        over = self._meter.is_over_limit()
        for pid in self._isolation.tree.iter_until_left(self._meter.pids):
            self._own_times.record_process(pid)
        if len(self._meter.pids) >= self._processes:
            self._isolation.watcher.record.add_attempt("process", "fork", allowed=False)
        return over or self.was_oom_killed()

    def was_oom_killed(self) -> bool:
        """Whether the kernel has killed in the tree for its memory."""
        return self._group is not None and self._group.has_killed()

    def remove_memory_bound(self) -> None:
        """Keep the kernel, where it has killed for memory, from killing more: the supervisor is next."""
        if self._group is not None and self.was_oom_killed():
            self._group.remove_limits()

    def compute_peak_bytes(self) -> int:
        """Return the most that any look has found, this one among them."""
        self._isolation.tree.run_bound_check()
        self._meter.count_bytes()
        return self._meter.peak_bytes

    def compute_peak_of(self, ended: Ended) -> int:
        """Return the most found before the main process ended, or that the kernel has counted for it."""
        return max(ended.peak_bytes, self._meter.peak_bytes)

    def build_ended(self, code: int, judge: int | None = None) -> Ended:
        """Return how a main process that is held at its end has ended, with no child but its judge."""
        for pid in (self._main, judge) if judge is not None else ():
            self._own_times.record_process(pid)
        grown_bytes = memory.read_peak_memory(self._main) - self._born.resident_bytes
        return Ended(code << 8, memory.read_cpu_s(self._main), max(0, grown_bytes))

    def compute_cpu_s(self) -> float:
        """Return CPU seconds of the main process, its arming among them, and of all it has started."""
        self._own_times.record_process(self._main)
        return max(
            memory.read_cpu_s(self._main) + self._compute_strays_cpu_s(), self._own_times.compute_total_s()
        )

    def compute_cpu_s_of(self, ended: Ended) -> float:
        """Return CPU seconds of the main process since it had something to do, and of the same others."""
        used = max(ended.cpu_s + self._compute_strays_cpu_s(), self._own_times.compute_total_s())
        return max(0.0, used - self._arming_cpu_s)

    def record_end(self, pid: int) -> None:
        """Look at a process that is about to end: perhaps no process waits for it."""
        if pid != self._main:
            self._own_times.record_process(pid)

    def _compute_strays_cpu_s(self) -> float:
        return self._isolation.tree.strays_cpu_s - self._strays_cpu_before
