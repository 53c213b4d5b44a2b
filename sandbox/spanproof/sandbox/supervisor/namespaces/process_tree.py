"""The processes of a supervisor as a whole: bound them, count their time, end them, reap them.

Runs in the supervisor, to which every orphan comes as a child: so no child left means that no process is
left.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from spanproof.sandbox.guest.wire import Header
from spanproof.sandbox.model import Limits
from spanproof.sandbox.supervisor.namespaces.kernel_memory import count_socket_bytes

NO_CORE_BYTES = 1
"""No core file is so small; and of all values it is the one with which the kernel starts no handler of the
machine's (`core_pattern` with a pipe) either."""
# Signals in queues, and timers, which take one each.
_PENDING = 1024
# Of address space over the memory limit: stacks and arenas are mapped long before they are used.
_DATA_SLACK_BYTES = 256 * 1024 * 1024
# What glibc maps for the stack of a thread, where `ulimit -s` is as Linux has it.
_STACK_BYTES = 8 * 1024 * 1024


# Dead processes: who makes them without an end would keep the supervisor from all else.
_REAPED_AT_ONCE = 256
# Threads that run at once: more than a runtime has for itself; Node.js has eleven in all.
_CROWD = 16
_LEVEL = 1.25  # What each level of niceness takes of a process's weight
_LOWEST = 19
# A look is left while there is time for so many of the longest steps that it had: they vary.
_STEPS_LEFT = 4
# A count of sessions takes so long at most where no crowd keeps it waiting; after one that does, it rests.
_COUNT_S, _REST = 0.05, 20
_Item = TypeVar("_Item")


class LookLeft(Exception):  # noqa: N818 - no failure
    """A look at the processes was left before its end: they are to be ended."""


class Namespace:
    """The processes of the namespace whose PID 1 is the supervisor: `kill(-1)` is all of them."""

    def __init__(self, newest: int | None = None) -> None:
        """Begin.

        Args:
            newest: descriptor of /proc/sys/kernel/ns_last_pid, where the kernel reports a namespace which of
                its processes or threads was born last.
        """
        self._newest = newest
        # What `read_stat_fields` gives of each at the last look.
        self.seen: dict[int, list[bytes]] = {}
        # CPU seconds of all that were reaped here: of a main process, its source reports them.
        self.strays_cpu_s = 0.0
        # When a look is left: each step of it may wait for a processor as long as a crowd has sessions.
        self.look_until = math.inf
        # Their sessions at the last count, at first the main process's, and who was let begin one since.
        self._sessions = 1
        self._beginning: set[int] = set()
        self._next_count = 0.0

    companions = 2
    """Processes that the kernel counts with the guest's: supervisor and zygote."""

    def list_pids(self) -> list[str]:
        """Return all but the supervisor, as /proc names them."""
        return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]  # noqa: PTH208

    def is_last(self, pid: int) -> bool:
        """Whether it is known that no process and no thread was born after this one, which lives."""
        return self._newest is not None and int(os.pread(self._newest, 32, 0)) == pid

    def remove_other_processes(self) -> None:
        """Kill every process but this one."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)

    def remove_all_processes(self) -> None:
        """Kill every process but this one, and reap until none is left."""
        try:
            while True:
                os.kill(-1, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    while True:
                        self._wait_for_child(0)
        except ProcessLookupError:  # there is none, dead or alive
            return

    def wait_for_strays(self, main: int) -> None:
        """Reap orphans that ended; never the main process."""
        self.strays_cpu_s += wait_for_strays(main)

    def _wait_for_child(self, flags: int) -> bool:
        """Reap any child; whether one has ended.

        Raises:
            ChildProcessError: there is none.
        """
        pid, _status, usage = os.wait4(-1, flags)
        self.strays_cpu_s += usage.ru_utime + usage.ru_stime
        return pid != 0

    def update_limit(self, pid: int, kind: int, value: int) -> None:
        """Lower one resource limit of a waiting guest."""
        resource.prlimit(pid, kind, (value, value))

    def update_process_limit(self, pid: int, count: int) -> None:
        """Bound how many may live at once, for a waiting guest and what it starts."""
        limit = count + self.companions
        resource.prlimit(pid, resource.RLIMIT_NPROC, (limit, limit))

    def update_process_bound(self) -> None:
        """Follow what else the kernel counts with them, before a run."""

    def run_bound_check(self) -> None:
        """Look at all of them anew, and keep them within bounds; called several times a second.

        Raises:
            LookLeft: it was time to.
        """
        found = {}
        for pid in self.iter_until_left(map(int, self.list_pids())):
            with contextlib.suppress(OSError):
                found[pid] = read_stat_fields(pid)
        self._record_seen(found)

    def iter_until_left(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """Yield what a look goes through.

        Raises:
            LookLeft: it was time to leave the look.
        """
        longest_s = 0.0
        began = time.monotonic()
        for item in items:
            now = time.monotonic()
            longest_s, began = max(longest_s, now - began), now
            if now + _STEPS_LEFT * longest_s >= self.look_until:
                raise LookLeft
            yield item

    def count_threads(self) -> int:
        """Return how many threads they had at the last look."""
        return sum(int(fields[THREADS]) for fields in self.seen.values())

    def _record_seen(self, found: dict[int, list[bytes]]) -> None:
        """Keep what was found; have a crowd weigh as much as one process for each processor does.

        Else it keeps its supervisor waiting for a processor, and all others on the machine.
        """
        self.seen = found
        if self.count_threads() <= _CROWD:
            return
        running = sum(_count_running(pid, fields) for pid, fields in self.iter_until_left(found.items()))
        if running <= _CROWD:
            return
        level = math.ceil(math.log(running / (os.cpu_count() or 1), _LEVEL))
        groups = {int(fields[GROUP]) for fields in found.values()} - {0, os.getpgrp()}
        for group in self.iter_until_left(groups):
            with contextlib.suppress(OSError):  # gone, or lower already
                os.setpriority(os.PRIO_PGRP, group, min(max(level, 0), _LOWEST))

    def has_room_for_session(self, pid: int, most: int) -> bool:
        """Whether there is room for the session that a process is about to begin; it is counted then."""
        if self._sessions + len(self._beginning) >= most:
            self._update_session_counts()
        has_room = self._sessions + len(self._beginning) < most
        if has_room:
            self._beginning.add(pid)
        return has_room

    def _update_session_counts(self) -> None:
        """Count their sessions, and those that a process was let begin and has not begun yet."""
        started = time.monotonic()
        if started < self._next_count:
            return
        sessions: dict[int, int] = {}
        for pid in map(int, self.list_pids()):
            with contextlib.suppress(OSError):
                sessions[pid] = int(read_stat_fields(pid)[SESSION])
        self._sessions = len(set(sessions.values()))
        self._beginning = {pid for pid in self._beginning if sessions.get(pid, pid) != pid}
        self._next_count = started + _REST * max(0.0, time.monotonic() - started - _COUNT_S)

    def compute_socket_bytes(self) -> int | None:
        """Return what their sockets hold, None where those of others cannot be separated from theirs."""
        return count_socket_bytes()


STATE, PARENT, GROUP, SESSION, USER_TICKS, SYSTEM_TICKS, THREADS, STARTED = 0, 1, 2, 3, 11, 12, 17, 19
"""Of what `read_stat_fields` returns."""


def read_stat_fields(pid: int) -> list[bytes]:
    """Return what follows the name in /proc/PID/stat; the name may hold anything.

    Raises:
        OSError: there is no such process.
    """
    file = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)  # for every process, often
    try:
        fields = os.read(file, 4096).rpartition(b")")[2].split()
    finally:
        os.close(file)
    if len(fields) <= STARTED:
        raise ProcessLookupError(pid)
    return fields


def is_alive(pid: int) -> bool:
    """Whether a process has not ended; one that has may wait to be reaped."""
    try:
        return read_stat_fields(pid)[STATE] not in (b"Z", b"X")
    except OSError:
        return False


def _count_running(pid: int, fields: list[bytes]) -> int:
    """Return how many threads of a process run, or want to."""
    if fields[THREADS] == b"1":
        return int(fields[STATE] == b"R")
    running = 0
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names only
            with contextlib.suppress(OSError):
                running += read_stat_fields(int(name))[STATE] == b"R"
    return running


def wait_for_strays(main: int) -> float:
    """Reap orphans that ended, so that dead processes do not use up the limit; never the main process.

    Returns:
        CPU seconds that they have used.
    """
    used_s = 0.0
    for _ in range(_REAPED_AT_ONCE):
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return used_s
        if found is None or found.si_pid == main:
            return used_s
        _pid, _status, usage = os.wait4(found.si_pid, 0)
        used_s += usage.ru_utime + usage.ru_stime
    return used_s


@dataclass(frozen=True, slots=True)
class Bounds:
    """Resource limits a guest is armed with, hard and soft; what it starts inherits them."""

    memory_bytes: int
    processes: int
    open_files: int
    disk_bytes: int
    maps_freely: bool
    """V8 maps far more than it uses."""
    observed: bool
    """Whether it has a seed or steps, of which the supervisor is shown more: by a filter of its own."""

    @classmethod
    def from_job(cls, job: Header) -> Bounds:
        """Return the bounds that a job requests."""
        limits = job["limits"]
        return cls(
            limits["memory_bytes"],
            limits["processes"],
            limits["open_files"],
            limits["disk_bytes"],
            job["language"] in ("javascript", "typescript"),
            job["seed"] is not None or job["language"] == "session",
        )

    def update_guest(self, pid: int, tree: Namespace) -> None:
        """Bound a waiting guest; limits go down only."""
        for kind, value in (
            (resource.RLIMIT_CORE, _compute_core_limit()),
            (resource.RLIMIT_NOFILE, self.open_files),
            (resource.RLIMIT_FSIZE, self.disk_bytes),
            (resource.RLIMIT_MEMLOCK, 64 * 1024),
            (resource.RLIMIT_MSGQUEUE, 0),
            (resource.RLIMIT_SIGPENDING, _PENDING),
        ):
            tree.update_limit(pid, kind, value)
        tree.update_process_limit(pid, self.processes)
        if not self.maps_freely:
            # The stacks of threads count as data: a limit of processes that was raised holds for them too.
            stacks = max(0, self.processes - Limits().processes) * _STACK_BYTES
            tree.update_limit(pid, resource.RLIMIT_DATA, self.memory_bytes + _DATA_SLACK_BYTES + stacks)
        # When memory runs out, the guest goes first.
        file = os.open(f"/proc/{pid}/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        os.write(file, b"1000")
        os.close(file)


def _compute_core_limit() -> int:
    """Return the one that stops handlers too; where none is allowed at all, it cannot be had."""
    return min(NO_CORE_BYTES, resource.getrlimit(resource.RLIMIT_CORE)[1] % (1 << 64))


def update_cpu_limit(pid: int, seconds: float, tree: Namespace) -> None:
    """Bound the CPU time of a guest; the kernel counts whole seconds."""
    tree.update_limit(pid, resource.RLIMIT_CPU, max(1, int(seconds + 0.999)))
