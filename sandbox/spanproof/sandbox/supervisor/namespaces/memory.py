"""How much memory a guest's whole tree holds, from /proc: needs no cgroup.

The private pages of every process but the supervisor, less what each inherited from the warm interpreter,
plus what lies in the box, and what the kernel holds for them. Sampled; a limit is enforced by the caller of
`is_over_limit`.
"""

from __future__ import annotations

import os
import re
import time

from spanproof.sandbox.supervisor.isolation import Box
from spanproof.sandbox.supervisor.namespaces.kernel_memory import KernelMemory, count_page_table_bytes
from spanproof.sandbox.supervisor.namespaces.process_tree import (
    SYSTEM_TICKS,
    USER_TICKS,
    Namespace,
    read_stat_fields,
)

# Above what an interpreter with its libraries shares with files; a closer look walks the page tables.
_SHARED_WORTH_A_LOOK = 96 * 1024 * 1024

_PEAK = re.compile(rb"VmHWM:\s+(\d+) kB")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class Meter:
    """Samples the tree's memory."""

    def __init__(self, limit_bytes: int, warm_bytes: int, tree: Namespace, box: Box) -> None:
        """Start one.

        Args:
            limit_bytes: what the tree may hold.
            warm_bytes: private memory each process is born with.
            tree: whose memory it is.
            box: what they write to.
        """
        self._limit = limit_bytes
        self._tree = tree
        self._box = box
        self._warm_private = warm_bytes
        self._kernel = KernelMemory()
        self.peak_bytes = 0
        self.pids: list[int] = []
        self.sampled_at = time.monotonic()

    def count_bytes(self) -> int:
        """Sample what those processes of the tree hold now that it has seen last.

        Raises:
            LookLeft: it was time to leave the look.
        """
        self.sampled_at = time.monotonic()
        self.pids = pids = list(self._tree.seen)
        looked_at = self._tree.iter_until_left
        total = self._box.count_memory_bytes() + self._kernel.count_bytes(
            looked_at(pids), self._tree.compute_socket_bytes()
        )
        for pid in looked_at(pids):
            mapped, resident, private = _read_statm(pid)
            total += max(0, private - self._warm_private) + count_page_table_bytes(pid, mapped)
            if resident - private > _SHARED_WORTH_A_LOOK:
                total += _read_shared_memory(pid)
        self.peak_bytes = max(self.peak_bytes, total)
        return total

    def is_over_limit(self) -> bool:
        """Sample, and say whether the limit is passed."""
        return self.count_bytes() > self._limit


def count_private_bytes(pid: int) -> int:
    """Return the private resident memory of a process."""
    return _read_statm(pid)[2]


def read_peak_memory(pid: int) -> int:
    """Return the most that was resident of a process so far.

    Raises:
        OSError: it may not be looked at.
    """
    file = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = _PEAK.search(os.read(file, 4096))
    finally:
        os.close(file)
    return int(found[1]) * 1024 if found else 0


def _read_statm(pid: int) -> tuple[int, int, int]:
    """Return bytes of address space, those of them resident, and those of these that are private."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123 - twenty times a second
            fields = file.read().split()
    except OSError:
        return 0, 0, 0
    mapped, resident, shared = (int(field) * _PAGE for field in fields[:3])
    return mapped, resident, resident - shared


def _read_shared_memory(pid: int) -> int:
    """Return a process's part of shared anonymous memory, which is neither private nor in the box."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123
            found = re.search(rb"Pss_Shmem:\s+(\d+) kB", file.read())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def read_cpu_s(pid: int) -> float:
    """Return the CPU seconds a live process has used."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the clock that clock_getcpuclockid(3) names
    except OSError:
        return _compute_cpu_s(pid)


def _compute_cpu_s(pid: int) -> float:
    """Return CPU seconds by ticks, where the kernel, as gVisor's, has no clocks of other processes."""
    try:
        fields = read_stat_fields(pid)
    except OSError:
        return 0.0
    return (int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])) / _TICKS
