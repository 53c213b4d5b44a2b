"""Guests without namespaces: forked from a process that has parsed no job, each armed by itself.

A guest inherits the memory of the process it is forked from. The supervisor's holds every job it has served,
hidden tests and expected values among them; so before its first job it forks a zygote, which sees nothing
but requests for guests. The zygote of the full tier (`zygote.Zygotes`) is under its filter already; here
each guest comes under it alone, which costs more and needs no namespace.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
from collections.abc import Callable
from typing import NoReturn, Protocol

from spanproof.sandbox import kernel
from spanproof.sandbox.guest.descriptors import Descriptors
from spanproof.sandbox.guest.main import run_guest, start_alone
from spanproof.sandbox.supervisor.isolation import Ended, WaitingGuest
from spanproof.sandbox.supervisor.namespaces import memory

LISTENER_FLAGS = kernel.SECCOMP_FILTER_FLAG_NEW_LISTENER | kernel.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
_ENDED = struct.Struct("=idq")
_PLAIN, _OBSERVED = b"plain", b"observed"


class Arming(Protocol):
    """How a guest comes under its filter, and its supervisor by the listener."""

    def start_confinement(self, control: int) -> None:
        """Raise the walls that hold this process, the guest; `control` leads to the supervisor."""

    def fetch(self, control: socket.socket, pid: int) -> int:
        """Return, in the supervisor, the listener of a guest that is arming itself.

        Raises:
            RuntimeError: the guest could not; says why.
        """


class Silent:
    """See `Arming`; where the kernel reports nothing of a guest, so that its listener never has news."""

    def __init__(self, give_up: Callable[[], None]) -> None:
        """Take what raises the walls."""
        self._record_failed = give_up
        self._never, self._open = os.pipe()

    def start_confinement(self, control: int) -> None:
        """See `Arming`."""
        self._record_failed()
        os.write(control, b"a")

    def fetch(self, control: socket.socket, _pid: int) -> int:
        """See `Arming`."""
        reply = control.recv(4096)
        if reply != b"a":
            raise RuntimeError(f"a guest could not be armed: {reply.decode(errors='replace').strip()}")
        return os.dup(self._never)


class Forked:
    """See `Origin`; made before the first job arrives.

    Attributes:
        zygote: its process number. It is a child that `wait` does not see unless it is named: no other child
            left means that no process of a guest is.
    """

    def __init__(self, arming: Arming, arming_observed: Arming, work: str) -> None:
        self._armings = {_PLAIN: arming, _OBSERVED: arming_observed}
        self._kind = _PLAIN
        self._work = work
        self._listener = -1
        self._born_with = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        supervisor = os.getpid()
        self.zygote = kernel.fork_unwaited()
        if self.zygote == 0:
            self._run_guests(theirs, supervisor)
        theirs.close()

    def send_request(self, descriptors: Descriptors, *, observed: bool) -> None:
        """See `Origin`."""
        self._kind = _OBSERVED if observed else _PLAIN
        sent = descriptors.control, descriptors.stdin, descriptors.stdout, descriptors.stderr
        socket.send_fds(self._channel, [self._kind], sent)
        descriptors.close()

    def wait_for_guest(self, control: socket.socket) -> WaitingGuest:
        """See `Origin`."""
        reply = self._channel.recv(4096)
        if not reply.isdigit():
            reason = reply.decode(errors="replace") or "the process that guests are forked from is gone"
            raise RuntimeError(f"a guest could not be armed: {reason}")
        pid = int(reply)
        self._listener = self._armings[self._kind].fetch(control, pid)
        return WaitingGuest(pid, self._listener, memory.count_private_bytes(pid), self._born_with * 1024)

    def fileno(self) -> int:
        """See `Origin`."""
        return self._channel.fileno()

    def wait_for_end(self) -> Ended:
        """See `Origin`."""
        reply = self._channel.recv(_ENDED.size)
        os.close(self._listener)
        if len(reply) != _ENDED.size:
            raise RuntimeError("the process that guests are forked from is gone")
        status, cpu_s, peak = _ENDED.unpack(reply)
        return Ended(status, cpu_s, max(0, peak - self._born_with) * 1024)

    def update_namespaces(self) -> None:
        """See `Origin`; there is nothing to follow into."""

    def _run_guests(self, requests: socket.socket, supervisor: int) -> NoReturn:
        """Fork guests in the zygote, one after the other, until the supervisor is gone."""
        try:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            _close_others(requests.fileno())
            while os.getppid() == supervisor:
                kind, received, _flags, _address = socket.recv_fds(requests, 16, 4)
                if not kind:
                    break
                self._start_guest(requests, kind, Descriptors(*received))
        except Exception as failure:  # noqa: BLE001 - reported to the supervisor
            requests.send(f"{type(failure).__name__}: {failure}".encode()[:4000])
        finally:
            os._exit(1)

    def _start_guest(self, requests: socket.socket, kind: bytes, descriptors: Descriptors) -> None:
        pid = os.fork()
        if pid == 0:
            arming, observed = self._armings[kind], kind == _OBSERVED
            run_guest(
                lambda: start_alone(descriptors, self._work, arming.start_confinement, observed=observed)
            )
        descriptors.close()
        requests.send(b"%d" % pid)
        _pid, status, usage = os.wait4(pid, 0)
        requests.send(_ENDED.pack(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss))


def _close_others(channel: int) -> None:
    """Close every other descriptor; the standard streams, which a guest replaces, lead nowhere."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.closerange(3, channel)
    os.closerange(channel + 1, os.sysconf("SC_OPEN_MAX"))
