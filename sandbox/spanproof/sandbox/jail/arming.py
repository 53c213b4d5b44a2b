"""How a guest of the full tier comes under its filter: it installs it, and the slot fetches the listener."""

from __future__ import annotations

import os
import socket

from spanproof.sandbox.jail import kernel

LISTENER_FLAGS = kernel.SECCOMP_FILTER_FLAG_NEW_LISTENER | kernel.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV


class Fetched:
    """Without capabilities; the slot takes a copy of the listener, and the guest loses its own."""

    def __init__(self, program: bytes) -> None:
        self._program = program

    def arm(self, control: int) -> None:
        """See `Arming`."""
        kernel.drop_capabilities()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        listener = kernel.install_filter(self._program, LISTENER_FLAGS)
        os.write(control, b"%d\n" % listener)
        os.read(control, 1)
        os.close(listener)

    def fetch(self, control: socket.socket, pid: int, pidfd: int) -> int:
        """See `Arming`."""
        told = control.recv(4096)
        if not told.strip().isdigit():
            raise RuntimeError(f"a guest could not be armed: {told.decode(errors='replace').strip()}")
        listener = kernel.fetch_descriptor(pidfd, int(told))
        control.sendall(b"\n")
        return listener
