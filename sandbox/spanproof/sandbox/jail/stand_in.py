"""Connections to the tape where no route leads to it: the slot makes them in the guest's stead.

A guest's `connect` to a recorded address never reaches the kernel. The slot makes a pair of connected
sockets, gives one to the tape, and puts the other where the guest's own was, before the call returns. So the
address the slot has judged decides where it leads, and not one that the guest may have put there since.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import socket
import struct
from pathlib import Path

from spanproof.sandbox.jail.watch import Answer, Notification, Watcher, signed

_ADD_DESCRIPTOR = 0x40182103
_IN_PLACE_OF = 1


class BringingWatcher(Watcher):
    """See `Watcher`; for a network namespace whose loopback answers for itself alone (a container's)."""

    def _bring(self, call: Notification, text: str, address: bytes) -> Answer:
        """Connect the guest to the tape."""
        assert self.surroundings is not None, "the tape has said that it serves this"
        try:
            ours, theirs = self._pair(address)
        except OSError as problem:
            return Answer(problem.errno or errno.ENETUNREACH)
        with theirs:
            try:
                self._put_in_place(theirs, call)
            except OSError as problem:
                ours.close()
                return Answer(problem.errno or errno.ENETUNREACH)
        self.surroundings.take(ours, text)
        return Answer(value=0)

    def _pair(self, _address: bytes) -> tuple[socket.socket, socket.socket]:
        """The tape's end of a connection to a `struct sockaddr`, and the guest's.

        Raises:
            OSError: there can be none.
        """
        return loopback_pair()

    def _put_in_place(self, ours: socket.socket, call: Notification) -> None:
        """Put a copy of a socket in the place of the one a call names, which waits on.

        Raises:
            OSError: the caller is gone.
        """
        number = signed(call.args[0])
        flags = _descriptor_flags(call.pid, number)
        ours.setblocking(not flags & os.O_NONBLOCK)
        closes = os.O_CLOEXEC if flags & os.O_CLOEXEC else 0
        told = struct.pack("=QIIII", call.id, _IN_PLACE_OF, ours.fileno(), number, closes)
        fcntl.ioctl(self.listener, _ADD_DESCRIPTOR, told)


def loopback_pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of one TCP connection over the loopback; a guest that connects there too is not taken for it.

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


def _descriptor_flags(pid: int, number: int) -> int:
    found = re.search(r"flags:\s+(\d+)", Path(f"/proc/{pid}/fdinfo/{number}").read_text())
    return int(found[1], 8) if found else 0
