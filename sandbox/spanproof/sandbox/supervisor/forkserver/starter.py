"""What a master does in every tier: start supervisors for its host, and clean up after their end.

In: one socket from the host, over which come its options, then requests, each with the socket that supervisor
shall serve. Out: supervisors, each in a control group of its own from the start, where there are any. The
host is never forked: it may have threads. A master ends when its host does.
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

from spanproof.sandbox.supervisor.namespaces import cgroup

_PROCESSES = 1024  # Of a supervisor's group: a bound behind the program's own, which is a resource limit
_TICK_MS = 200


@dataclass(frozen=True, slots=True)
class Host:
    """Whom a master serves.

    Attributes:
        pidfd: can be read when it has ended.
        options: what it requests; see `spanproof.sandbox.supervisor.forkserver.host.Master`.
    """

    control: socket.socket
    pidfd: int
    options: dict[str, Any]

    def send(self, **reply: object) -> None:
        """Send it a message."""
        self.control.send(json.dumps(reply).encode())

    def send_failure(self, failure: Exception) -> None:
        """Report to it why it cannot be served."""
        self.send(failed=f"{type(failure).__name__}: {failure}")

    def close(self) -> None:
        """Close what leads to it, in a process that is not to serve it."""
        os.close(self.control.detach())
        os.close(self.pidfd)


def find_host(control_fd: int) -> Host | None:
    """Return the host behind a socket; None where it died before we could watch it."""
    control = socket.socket(fileno=control_fd)
    parent = os.pidfd_open(os.getppid())
    options = json.loads(control.recv(65536))
    if os.getppid() == options["owner"]:
        return Host(control, parent, options)
    return None


class PreparedSupervisor(Protocol):
    """What one supervisor rests on."""

    def run_supervisor(self, channel: int, group: cgroup.Group | None) -> NoReturn:
        """Serve this socket, in a fork of the master's."""

    def remove_remains(self, others: Container[int]) -> None:
        """Remove what the supervisor left, now that it has ended; others, by process, have not."""


class SupervisorFactory(Protocol):
    """What the supervisors of a tier share."""

    def build_prepared(self) -> PreparedSupervisor:
        """Prepare what a new supervisor needs of its tier.

        Raises:
            OSError: it cannot be made.
        """

    def close_all(self) -> None:
        """Kill every supervisor, with all that it started."""


class Starter:
    """Starts supervisors on request."""

    def __init__(self, host: Host, factory: SupervisorFactory, groups: cgroup.Base | None) -> None:
        self._host = host
        self._factory = factory
        self._groups = groups
        # By process, with its control group.
        self._supervisors: dict[int, tuple[PreparedSupervisor, str]] = {}
        # Control groups that are to be removed.
        self._left: set[str] = set()

    def run_until_closed(self) -> None:
        """Serve until the host closes its socket or dies; then end every supervisor."""
        control, pidfd = self._host.control, self._host.pidfd
        self._host.send(ready=True, cgroups=self._groups.paths if self._groups is not None else ())
        waiting = select.poll()
        waiting.register(control, select.POLLIN)
        waiting.register(pidfd, select.POLLIN)
        while True:
            ready = dict(waiting.poll(_TICK_MS))
            self._handle_ended(os.WNOHANG)
            if pidfd in ready or (control.fileno() in ready and not self._handle_request()):
                break
        self._factory.close_all()
        self._handle_ended(0)
        self._remove_groups(name for _lot, name in self._supervisors.values())
        if self._groups is not None:
            self._groups.remove_itself()

    def _handle_request(self) -> bool:
        message, descriptors, _flags, _address = socket.recv_fds(self._host.control, 65536, 4)
        if not message:
            return False
        try:
            self._start(descriptors[0])
        except OSError as failure:
            self._host.send_failure(failure)
        else:
            self._host.send(started=True)
        finally:
            os.close(descriptors[0])
        return True

    def _start(self, channel: int) -> None:
        with contextlib.ExitStack() as undone:
            prepared = self._factory.build_prepared()
            undone.callback(prepared.remove_remains, self._supervisors)
            name, group = self._groups.build_group(_PROCESSES) if self._groups is not None else ("", None)
            undone.callback(self._remove_groups, [name])
            with group or contextlib.nullcontext():
                pid, go = self._build_supervisor(prepared, channel, group)
            undone.pop_all()
        self._supervisors[pid] = prepared, name
        try:
            if self._groups is not None:
                self._groups.add_process(name, pid)
            os.write(go, b"g")
        finally:
            os.close(go)

    def _build_supervisor(
        self, built: PreparedSupervisor, channel: int, group: cgroup.Group | None
    ) -> tuple[int, int]:
        """Fork a supervisor, which begins when a byte comes through the descriptor returned with its number.

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
            self._host.close()
            built.run_supervisor(channel, group)
        os.close(ready)
        return pid, go

    def _handle_ended(self, flags: int) -> None:
        """Reap what ended, and clean up behind supervisors."""
        ended = []
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, flags)[0]) != 0:
                if pid in self._supervisors:
                    prepared, name = self._supervisors.pop(pid)
                    prepared.remove_remains(self._supervisors)
                    ended.append(name)
        self._remove_groups(ended)

    def _remove_groups(self, names: Iterable[str]) -> None:
        """Remove them; one that is busy yet is for the next time."""
        self._left.update(names)
        if self._groups is not None:
            self._left = {name for name in self._left if not self._groups.close_group(name)}
