"""Connections that the supervisor makes for a guest: to the tape, and to a resolver without a port.

Such a `connect` never reaches the kernel. The supervisor makes a pair of connected sockets, gives one to who
is to answer, and puts the other where the guest's own was, before the call returns. So the address the
supervisor has judged decides where it leads, and not one that the guest may have put there since.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.namespaces.dns_stub import DnsStub
from spanproof.sandbox.supervisor.namespaces.network import QUERY_BYTES
from spanproof.sandbox.supervisor.namespaces.process_tree import Namespace
from spanproof.sandbox.supervisor.seccomp import addresses
from spanproof.sandbox.supervisor.seccomp.notifications import (
    Answer,
    Notification,
    add_descriptor,
    to_int,
)
from spanproof.sandbox.supervisor.seccomp.paths import Boundary
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch
from spanproof.sandbox.supervisor.seccomp.watcher import Watcher

# Of a `msghdr`: where the pieces are that it sends, and how many; and one of those.
_MESSAGE, _PIECE = struct.Struct("=16xQQ"), struct.Struct("=QQ")


class ProxyingWatcher(Watcher):
    """See `Watcher`; for a network namespace whose loopback answers for itself alone (a container's)."""

    def __init__(self, arch: Arch, boundary: Boundary, tree: Namespace, dns_stub: DnsStub | None) -> None:
        """Make a `Watcher` with the DNS stub that answers queries, where no port leads to a resolver."""
        super().__init__(arch, boundary, tree)
        self._dns_stub = dns_stub

    def _handle_resolver_query(self, name: str, call: Notification) -> Answer:
        """Answer a question to the resolver: the socket is connected to ours; a datagram is only read."""
        if self._dns_stub is None:
            return super()._handle_resolver_query(name, call)
        if name != "connect":
            payload = kernel.read_memory(call.pid, *_read_sent_location(name, call))
            self.record.add_attempt("network", f"{addresses.read_sought_name(payload)}:53", allowed=False)
            return Answer(errno.ECONNREFUSED)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return self._handle_connect_pair(call, ours, theirs, self._dns_stub.add_connection)

    def _handle_tape_connect(self, call: Notification, text: str, address: bytes) -> Answer:
        """Connect the guest to the tape."""
        fixtures = self.fixtures
        assert fixtures is not None, "the tape has said that it serves this"
        try:
            ours, theirs = self._build_pair(address)
        except OSError as problem:
            return Answer(problem.errno or errno.ENETUNREACH)
        return self._handle_connect_pair(
            call, ours, theirs, lambda link: fixtures.handle_connection(link, text)
        )

    def _handle_connect_pair(
        self,
        call: Notification,
        ours: socket.socket,
        theirs: socket.socket,
        take: Callable[[socket.socket], None],
    ) -> Answer:
        """Give one end to the guest, and the other to who takes it."""
        with theirs:
            try:
                self._update_socket(theirs, call)
            except OSError as problem:
                ours.close()
                return Answer(problem.errno or errno.ENETUNREACH)
        take(ours)
        return Answer(value=0)

    def _build_pair(self, _address: bytes) -> tuple[socket.socket, socket.socket]:
        """Make the tape's end of a connection to a `struct sockaddr`, and the guest's.

        Raises:
            OSError: there can be none.
        """
        return build_loopback_pair()

    def _update_socket(self, theirs: socket.socket, call: Notification) -> None:
        """Put a copy of a socket in the place of the one a call names, which waits on.

        Raises:
            OSError: the caller is gone.
        """
        number = to_int(call.args[0])
        flags = _read_descriptor_flags(call.pid, number)
        theirs.setblocking(not flags & os.O_NONBLOCK)
        closes = os.O_CLOEXEC if flags & os.O_CLOEXEC else 0
        add_descriptor(self.listener, call.id, theirs.fileno(), number, closes)


def _read_sent_location(name: str, call: Notification) -> tuple[int, int]:
    """Return where the first bytes lie that a call sends, and how many of them are read."""
    if name == "sendto":
        return call.args[1], min(call.args[2], QUERY_BYTES)
    head = kernel.read_memory(call.pid, call.args[1], _MESSAGE.size)
    if len(head) < _MESSAGE.size:
        raise OSError(errno.EFAULT, "it begins at the end of a page, and the next one is missing")
    pieces, count = _MESSAGE.unpack(head)
    if pieces and count:
        vector = kernel.read_memory(call.pid, pieces, _PIECE.size)
    else:
        vector = b""
    start, length = _PIECE.unpack(vector) if len(vector) == _PIECE.size else (0, 0)
    return start, min(length, QUERY_BYTES)


def build_loopback_pair() -> tuple[socket.socket, socket.socket]:
    """Make both ends of a TCP connection over the loopback; a guest that connects too is not taken for it.

    Raises:
        OSError: there is no loopback, or no port left.
    """
    with contextlib.ExitStack() as stack, socket.create_server(("127.0.0.1", 0), backlog=8) as listener:
        theirs = stack.enter_context(socket.create_connection(listener.getsockname(), timeout=1))
        while True:
            listener.settimeout(1)
            ours, address = listener.accept()
            if address == theirs.getsockname():
                stack.pop_all()
                return ours, theirs
            ours.close()


def _read_descriptor_flags(pid: int, number: int) -> int:
    found = re.search(r"flags:\s+(\d+)", Path(f"/proc/{pid}/fdinfo/{number}").read_text())
    return int(found[1], 8) if found else 0
