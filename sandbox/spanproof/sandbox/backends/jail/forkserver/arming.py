"""Guests as forks of the supervisor itself, each of which comes under its filter alone.

Dearer than a zygote (`zygote.Stem`), whose guests inherit theirs, and needs no namespace.
"""

from __future__ import annotations

import os
import resource
import socket
from typing import Protocol

from spanproof.sandbox import kernel
from spanproof.sandbox.backends.jail.isolation import Ended, WaitingGuest
from spanproof.sandbox.backends.jail.namespaces import memory
from spanproof.sandbox.guest.descriptors import Descriptors
from spanproof.sandbox.guest.main import begin_alone, guest_main

LISTENER_FLAGS = kernel.SECCOMP_FILTER_FLAG_NEW_LISTENER | kernel.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV


class Arming(Protocol):
    """How a guest comes under its filter, and its supervisor by the listener."""

    def arm(self, control: int) -> None:
        """In the guest: raise the walls that hold this process; `control` leads to the supervisor."""

    def fetch(self, control: socket.socket, pid: int, pidfd: int) -> int:
        """In the supervisor: the listener of a guest that is arming itself.

        Raises:
            RuntimeError: the guest could not; says why.
        """


class Forked:
    """See `Origin`."""

    def __init__(self, arming: Arming, arming_seeded: Arming, work: str) -> None:
        self._arming = arming
        self._arming_seeded = arming_seeded
        self._requested = arming
        self._work = work
        self._pid = self._pidfd = self._listener = -1
        self._born_with = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def request(self, descriptors: Descriptors, *, seeded: bool) -> None:
        """See `Origin`."""
        self._requested = arming = self._arming_seeded if seeded else self._arming
        self._pid = os.fork()
        if self._pid == 0:
            guest_main(lambda: begin_alone(descriptors, self._work, arming.arm, seeded=seeded))
        descriptors.close()
        self._pidfd = self._end_of(self._pid)

    def receive(self, control: socket.socket) -> WaitingGuest:
        """See `Origin`."""
        self._listener = self._requested.fetch(control, self._pid, self._pidfd)
        return WaitingGuest(
            self._pid, self._listener, memory.private_bytes(self._pid), self._born_with * 1024
        )

    def _end_of(self, pid: int) -> int:
        """A descriptor that can be read when a child has ended."""
        return os.pidfd_open(pid)

    def fileno(self) -> int:
        """See `Origin`."""
        return self._pidfd

    def ended(self) -> Ended:
        """See `Origin`."""
        _pid, status, usage = os.wait4(self._pid, 0)
        os.close(self._pidfd)
        os.close(self._listener)
        peak_bytes = max(0, usage.ru_maxrss - self._born_with) * 1024
        return Ended(status, usage.ru_utime + usage.ru_stime, peak_bytes)

    def renew(self) -> None:
        """See `Origin`; there is nothing to follow into."""
