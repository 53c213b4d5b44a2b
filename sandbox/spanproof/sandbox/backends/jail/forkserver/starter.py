"""What a master does in every tier: it starts slots for its host, and cleans up behind those that ended.

In: one socket from the host, over which come its options, then requests, each with the socket that slot shall
serve. Out: slots, each in a control group of its own from the start, where there are any. The host is never
forked: it may have threads. A master ends when its host does.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from spanproof.sandbox.backends.jail.namespaces import cgroup

_PROCESSES = 1024
"""Of a slot's group: a bound behind the program's own, which is a resource limit."""
_TICK_MS = 200


@dataclass(frozen=True, slots=True)
class Host:
    """Whom a master serves.

    Attributes:
        pidfd: can be read when it has ended.
        options: what it asks for; see `spanproof.sandbox.backends.jail.forkserver.host.Master`.
    """

    control: socket.socket
    pidfd: int
    options: dict[str, Any]

    def say(self, **told: object) -> None:
        """Tell it something."""
        self.control.send(json.dumps(told).encode())

    def say_failed(self, failure: Exception) -> None:
        """Tell it why it cannot be served."""
        self.say(failed=f"{type(failure).__name__}: {failure}")

    def let_go(self) -> None:
        """Close what leads to it, in a process that is not to serve it."""
        os.close(self.control.detach())
        os.close(self.pidfd)


def greet(control_fd: int) -> Host | None:
    """The host behind a socket; None where it died before we could watch it."""
    control = socket.socket(fileno=control_fd)
    parent = os.pidfd_open(os.getppid())
    options = json.loads(control.recv(65536))
    return Host(control, parent, options) if os.getppid() == options["owner"] else None


class Lot(Protocol):
    """What one slot stands on."""

    def become_slot(self, channel: int, group: cgroup.Group | None) -> NoReturn:
        """In a fork of the master's: serve this socket."""

    def clear(self, others: Container[int]) -> None:
        """Remove what the slot left, now that it has ended; others, by process, have not."""


class Ground(Protocol):
    """What the slots of a tier stand on."""

    def lot(self) -> Lot:
        """That of a new slot.

        Raises:
            OSError: it cannot be made.
        """

    def end_all(self) -> None:
        """Kill every slot, with all that it started."""


class Starter:
    """Starts slots on request."""

    def __init__(self, host: Host, ground: Ground, groups: cgroup.Base | None) -> None:
        self._host = host
        self._ground = ground
        self._groups = groups
        self._slots: dict[int, tuple[Lot, str]] = {}
        """By process, with its control group."""
        self._left: set[str] = set()
        """Control groups that are to be removed."""

    def serve(self) -> None:
        """Until the host closes its socket or dies; then end every slot."""
        control, pidfd = self._host.control, self._host.pidfd
        self._host.say(ready=True, cgroups=self._groups.paths if self._groups is not None else ())
        waiting = select.poll()
        waiting.register(control, select.POLLIN)
        waiting.register(pidfd, select.POLLIN)
        while True:
            ready = dict(waiting.poll(_TICK_MS))
            self._reap(os.WNOHANG)
            if pidfd in ready or (control.fileno() in ready and not self._request()):
                break
        self._ground.end_all()
        self._reap(0)
        self._remove_groups(name for _lot, name in self._slots.values())
        if self._groups is not None:
            self._groups.remove_itself()

    def _request(self) -> bool:
        message, descriptors, _flags, _address = socket.recv_fds(self._host.control, 65536, 4)
        if not message:
            return False
        try:
            self._start(descriptors[0])
        except OSError as failure:
            self._host.say_failed(failure)
        else:
            self._host.say(started=True)
        finally:
            os.close(descriptors[0])
        return True

    def _start(self, channel: int) -> None:
        with contextlib.ExitStack() as undone:
            lot = self._ground.lot()
            undone.callback(lot.clear, self._slots)
            name, group = self._groups.make(_PROCESSES) if self._groups is not None else ("", None)
            undone.callback(self._remove_groups, [name])
            with group or contextlib.nullcontext():
                pid, go = self._fork(lot, channel, group)
            undone.pop_all()
        self._slots[pid] = lot, name
        try:
            if self._groups is not None:
                self._groups.join(name, pid)
            os.write(go, b"g")
        finally:
            os.close(go)

    def _fork(self, lot: Lot, channel: int, group: cgroup.Group | None) -> tuple[int, int]:
        """A slot's process, which begins when a byte comes through the descriptor, and ends when none can.

        Raises:
            OSError: there can be no more processes, or descriptors.
        """
        ready, go = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(ready)
            os.close(go)
            raise
        if pid == 0:
            os.close(go)
            if not os.read(ready, 1):
                os._exit(1)
            os.close(ready)
            self._host.let_go()
            lot.become_slot(channel, group)
        os.close(ready)
        return pid, go

    def _reap(self, flags: int) -> None:
        """Reap what ended, and clean up behind slots."""
        ended = []
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, flags)[0]) != 0:
                if pid in self._slots:
                    lot, name = self._slots.pop(pid)
                    lot.clear(self._slots)
                    ended.append(name)
        self._remove_groups(ended)

    def _remove_groups(self, names: Iterable[str]) -> None:
        """Remove them; one that is busy yet is for the next time."""
        self._left.update(names)
        if self._groups is not None:
            self._left = {name for name in self._left if not self._groups.remove(name)}
