"""The process a supervisor's guests are forked from: warm, without rights, filtered once for all.

A guest inherits everything that is the same in each run: the empty capability sets, no_new_privs, the seccomp
filter and its listener. So a run costs one bare fork, and the supervisor, which watches, never forks and
never pays for a copy of its pages. The zygote lives outside the guests' process namespace: they can neither
see nor signal it. It runs no code of theirs, reads nothing they wrote, and has one descriptor, its
supervisor's.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import struct
from collections.abc import Callable
from typing import NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.guest import determinism
from spanproof.sandbox.guest.descriptors import Descriptors
from spanproof.sandbox.guest.main import run_guest, start_process
from spanproof.sandbox.guest.reporter import CONTROL_FD
from spanproof.sandbox.supervisor.isolation import Ended, WaitingGuest
from spanproof.sandbox.supervisor.namespaces import memory, root
from spanproof.sandbox.supervisor.seccomp.notifications import GO_ON, fetch_notification, send_answer

_ENDED = struct.Struct("=idq")
# After the three a guest is given, which are free here between two guests.
_CHANNEL_FD = 3
_START_S = 30.0
_setsid, _close, _write, _getpid = os.setsid, os.close, os.write, os.getpid


class Zygotes:
    """Where guests of the full tier come from; see `Origin`. One zygote at a time."""

    def __init__(self, spawner: socket.socket) -> None:
        self._spawner = spawner
        self._warm_bytes: int | None = None
        self._start(observed=False)

    def send_request(self, descriptors: Descriptors, *, observed: bool) -> None:
        """See `Origin`."""
        if observed is not self._observed:
            self._close()
            self._start(observed=observed)
        sent = descriptors.stdin, descriptors.stdout, descriptors.stderr, descriptors.control
        socket.send_fds(self._channel, [b"fork"], sent)
        descriptors.close()

    def wait_for_guest(self, control: socket.socket) -> WaitingGuest:
        """See `Origin`."""
        self._handle_beginning(control)
        reply = control.recv(4096)
        if not reply.isdigit():
            reason = reply.decode(errors="replace").strip() or "it ended, or what it is forked from did"
            raise RuntimeError(f"a guest could not be armed: {reason}")
        pid = int(reply)
        if self._warm_bytes is None:
            self._warm_bytes = memory.count_private_bytes(pid)
        return WaitingGuest(pid, self._listener, self._warm_bytes, self._resident_bytes)

    def _handle_beginning(self, control: socket.socket) -> None:
        """Let go what its filter holds of a guest's beginning, until that reports or is gone.

        It is born under the filter: the zygote's fork may be held, and its own `setsid` is.
        """
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(control, select.POLLIN)
        while control.fileno() not in (ready := dict(poll.poll())):
            call = fetch_notification(self._listener)
            if call is not None:
                send_answer(self._listener, call.id, GO_ON)
            elif not ready[self._listener] & select.POLLIN:
                return

    def fileno(self) -> int:
        """See `Origin`."""
        return self._channel.fileno()

    def wait_for_end(self) -> Ended:
        """See `Origin`."""
        reply = self._channel.recv(_ENDED.size)
        if len(reply) != _ENDED.size:
            raise RuntimeError("the process that guests are forked from is gone")
        return Ended(*_ENDED.unpack(reply))

    def update_namespaces(self) -> None:
        """See `Origin`."""
        self._close()
        self._start(observed=self._observed)

    def _start(self, *, observed: bool) -> None:
        """Request a zygote of the spawner, in the namespaces the supervisor has now."""
        self._observed = observed
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            socket.send_fds(self._spawner, [b"observed" if observed else b"plain"], [theirs.fileno()])
        reply, descriptors, _flags, _address = socket.recv_fds(self._spawner, 4096, 1)
        if not descriptors:
            raise RuntimeError(f"no guest can be started: {reply.decode(errors='replace')}")
        self._channel.settimeout(_START_S)
        self._listener, self._resident_bytes = _read_introduction(self._channel, descriptors[0])
        self._channel.settimeout(None)

    def _close(self) -> None:
        """Let the zygote end; its guest is dead, or its held-up calls would fail as ENOSYS."""
        self._channel.close()
        os.close(self._listener)


def _read_introduction(channel: socket.socket, pidfd: int) -> tuple[int, int]:
    """Return a zygote's listener, and how many of its bytes are resident."""
    try:
        reply = channel.recv(4096)
        if not reply.replace(b" ", b"").isdigit():
            raise RuntimeError(f"no guest can be started: {reply.decode(errors='replace') or 'no reason'}")
        resident, number = map(int, reply.split())
        listener = kernel.fetch_descriptor(pidfd, number)
    finally:
        os.close(pidfd)
    channel.send(b"taken")
    return listener, resident


def run_zygote(channel: int, enter: Callable[[], None], program: bytes, *, observed: bool) -> NoReturn:
    """Become a zygote that serves a channel; does not return.

    Args:
        channel: descriptor of the supervisor's socket.
        enter: takes this process into the supervisor's namespaces.
        program: the seccomp program.
        observed: whether that shows the supervisor random bytes and forks.
    """
    status = 1
    supervisor = socket.socket(fileno=channel)
    try:
        try:
            enter()
            supervisor = _open_bare_channel(supervisor)
            born_with = _read_peak_rss()
            _start_filter(supervisor, program, born_with * 1024)
        except Exception as failure:
            supervisor.send(f"{type(failure).__name__}: {failure}".encode()[:4000])
            raise
        _run_guests(supervisor, born_with, observed=observed)
        status = 0
    finally:
        os._exit(status)


def _open_bare_channel(supervisor: socket.socket) -> socket.socket:
    os.dup2(supervisor.detach(), _CHANNEL_FD, inheritable=False)
    os.closerange(_CHANNEL_FD + 1, 65536)
    os.closerange(0, _CHANNEL_FD)
    start_process()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # its supervisor, and each guest's, must be able to read it
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    return socket.socket(fileno=_CHANNEL_FD)


def _start_filter(supervisor: socket.socket, program: bytes, resident_bytes: int) -> None:
    """Install the filter, let the supervisor fetch the listener, and close it."""
    flags = kernel.SECCOMP_FILTER_FLAG_NEW_LISTENER | kernel.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
    listener = kernel.install_filter(program, flags)
    supervisor.send(f"{resident_bytes} {listener}".encode())
    if not supervisor.recv(16):
        os._exit(0)
    os.close(listener)


def _read_peak_rss() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _run_guests(supervisor: socket.socket, born_with: int, *, observed: bool) -> None:
    """Fork guests, one after the other, until the supervisor is gone."""
    while True:
        request, descriptors, _flags, _address = socket.recv_fds(supervisor, 16, 4)
        if not request:
            return
        _update_descriptors(descriptors, observed=observed)
        pid = kernel.fork()
        if pid == 0:
            run_guest(_start_guest)
        os.closerange(0, _CHANNEL_FD)
        os.close(CONTROL_FD)
        _pid, status, usage = os.wait4(pid, 0)
        peak_bytes = max(0, usage.ru_maxrss - born_with) * 1024
        supervisor.send(_ENDED.pack(status, usage.ru_utime + usage.ru_stime, peak_bytes))


def _update_descriptors(descriptors: list[int], *, observed: bool) -> None:
    """Lay everything out as the next guest is to find it.

    Raises:
        RuntimeError: the standard streams did not come to lie where they belong.
    """
    if descriptors[:3] != [0, 1, 2]:  # the lowest that are free
        raise RuntimeError(f"a guest's descriptors arrived as {descriptors}")
    os.dup2(descriptors[3], CONTROL_FD, inheritable=False)
    os.close(descriptors[3])
    os.chdir(root.WORK)
    if not observed:
        determinism.update_generators()


def _start_guest() -> None:
    """Leave the zygote, in the guest, and report to the supervisor which process this is.

    No one outside the namespace knows its number there.
    """
    _setsid()
    _close(_CHANNEL_FD)
    _write(CONTROL_FD, b"%d" % _getpid())
