"""The processes of a supervisor that has no process namespace: all that descend from it.

The supervisor is their reaper (PR_SET_CHILD_SUBREAPER): an orphan becomes its child, so no process leaves the
tree. The kernel bounds how many there are. Where the user is theirs alone that is simply its limit. Where it
is not, the limit is what the user has elsewhere, counted again several times a second, and room for the
guests of all supervisors together.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Container, Iterable

from spanproof.sandbox.supervisor.namespaces.process_tree import (
    GROUP,
    PARENT,
    THREADS,
    Namespace,
    is_alive,
    read_stat_fields,
)
from spanproof.sandbox.supervisor.reduced.count import Counter

_AGAIN_S = 0.0005


class Spared(Namespace):
    """Processes among which is one that must live on: the zygote, a child that guests are forked from."""

    zygote = -1

    def _list_pids(self) -> list[int]:
        """Return all of them, without the zygote."""
        return [pid for pid in map(int, super().list_pids()) if pid != self.zygote]

    def list_pids(self) -> list[str]:
        """Return all of them, as /proc names them."""
        return [str(pid) for pid in self._list_pids()]

    def remove_other_processes(self) -> None:
        """Kill every process but this one and the zygote; one that is killed gives birth to none."""
        for pid in self._list_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def remove_all_processes(self) -> None:
        """Kill them, and reap until none is left: `wait` does not see the zygote, and its guest is reaped.

        None is reaped before all are dead: the dead count, so that processes which follow one another faster
        than they are found soon have no room for another.
        """
        while True:
            self.remove_other_processes()
            while any(map(is_alive, self._list_pids())):
                time.sleep(_AGAIN_S)
                self.remove_other_processes()
            try:
                while self._wait_for_child(os.WNOHANG):
                    pass
            except ChildProcessError:
                return
            time.sleep(_AGAIN_S)

    def holds(self, pid: int) -> bool:
        """Whether a process, or the one that a thread is of, is among them."""
        return pid not in (os.getpid(), self.zygote) and os.path.exists(f"/proc/{pid}")  # noqa: PTH110

    def holds_group(self, group: int) -> bool:
        """Whether a process group is one of theirs."""
        for pid in self._list_pids():
            with contextlib.suppress(OSError):
                if int(read_stat_fields(pid)[GROUP]) == group:
                    return True
        return False

    def send_signal(self, number: int, *, but: int) -> None:
        """Send what `kill(-1)` of a guest means where it is not alone."""
        for pid in self._list_pids():
            if pid != but:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)


class Descendants(Spared):
    """The descendants of the calling process."""

    def __init__(self, *, own_user: bool) -> None:
        super().__init__()
        self._own_user = own_user
        self._counter = Counter()
        # Whether the kernel bounds them; the machine's root, who cannot become another, it does not.
        self.counted = own_user or self._counter.counts()

        self._most = 1 << 20

    def remove_children(self, *, but: Container[int]) -> None:
        """Kill direct children and all below them, except those."""
        below = _group_by_parent(_read_all_stat_fields())
        doomed = [pid for pid in below.get(os.getpid(), ()) if pid not in but]
        for pid in doomed:
            doomed.extend(below.get(pid, ()))
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def update_process_limit(self, pid: int, count: int) -> None:
        """See `Namespace`."""
        self._most = count
        if self._own_user:
            super().update_process_limit(pid, count)
        else:
            self.run_bound_check()

    def update_process_bound(self) -> None:
        """See `Namespace`."""
        if not self._own_user and self.counted:
            self.run_bound_check()

    def run_bound_check(self) -> None:
        """See `Namespace`; a guest that took the room of another supervisor's gets no more."""
        in_sight = _read_stat_fields_of(self.iter_until_left(_list_numbers()))
        below = _group_by_parent(in_sight)
        self._record_seen({pid: in_sight[pid] for pid in self._list_pids(below)})
        if self._own_user or not self.counted:
            return
        own = self.count_threads()
        supervisors = [pid for pid in below.get(os.getppid(), ()) if pid != os.getpid()]
        # What their guests have is no room: else each that forks without an end makes room for the rest.
        of_jail = own + sum(int(in_sight[pid][THREADS]) for pid in _list_descendants(supervisors, below))
        elsewhere = max(0, self._counter.count_tasks() - of_jail)
        room = elsewhere + self._most + len(supervisors) * (self._most + self.companions)
        room = room if own < self._most else 0
        for pid in self.iter_until_left(self.seen):
            with contextlib.suppress(OSError):
                highest = resource.prlimit(pid, resource.RLIMIT_NPROC)[1]
                if highest == resource.RLIM_INFINITY:
                    limit = room
                else:
                    limit = min(room, highest)
                resource.prlimit(pid, resource.RLIMIT_NPROC, (limit, highest))

    def compute_socket_bytes(self) -> int | None:
        """See `Namespace`."""
        return None

    def is_full(self) -> bool:
        """Whether no other process or thread may be born."""
        in_sight = _read_all_stat_fields()
        found = self._list_pids(_group_by_parent(in_sight))
        return sum(int(in_sight[pid][THREADS]) for pid in found) >= self._most

    def holds(self, pid: int) -> bool:
        """Whether a process, or the one that a thread is of, is among them."""
        own = os.getpid()
        if pid == self.zygote:
            return False
        while pid > 1:
            if pid == own:
                return False
            try:
                pid = int(read_stat_fields(pid)[PARENT])
            except OSError:
                return False
            if pid == own:
                return True
        return False

    def _list_pids(self, below: dict[int, list[int]] | None = None) -> list[int]:
        if below is None:
            below = _group_by_parent(_read_all_stat_fields())
        else:
            below = below
        found = [pid for pid in below.get(os.getpid(), ()) if pid != self.zygote]
        found += below.get(self.zygote, ())
        return _list_descendants(found, below)


def _list_descendants(found: list[int], below: dict[int, list[int]]) -> list[int]:
    """Return these processes and all below them."""
    every = list(found)
    for pid in every:
        every.extend(below.get(pid, ()))
    return every


def _read_all_stat_fields() -> dict[int, list[bytes]]:
    """Return what `read_stat_fields` gives of each process in sight."""
    return _read_stat_fields_of(_list_numbers())


def _list_numbers() -> list[int]:
    """Return the numbers of all processes in sight."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - names only


def _read_stat_fields_of(pids: Iterable[int]) -> dict[int, list[bytes]]:
    """Return what `read_stat_fields` gives of each of these that lives."""
    found = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            found[pid] = read_stat_fields(pid)
    return found


def _group_by_parent(in_sight: dict[int, list[bytes]]) -> dict[int, list[int]]:
    """Return children by parent."""
    below: dict[int, list[int]] = {}
    for pid, fields in in_sight.items():
        below.setdefault(int(fields[PARENT]), []).append(pid)
    return below
