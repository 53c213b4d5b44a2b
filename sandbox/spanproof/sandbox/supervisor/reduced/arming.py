"""How a guest comes under its walls where no namespace may be made: Landlock, a filter, a listener passed on.

No one may fetch a descriptor from another process here, and the filter holds up every `sendmsg` until someone
listens. So a thread that is under no filter yet passes the listener on and ends; the supervisor sees that it
has ended before it lets the guest go on.
"""

from __future__ import annotations

import os
import socket
import threading
import time

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.forkserver.arming import LISTENER_FLAGS
from spanproof.sandbox.supervisor.reduced import landlock

_ENDS_WITHIN_S = 5.0


class Passed:
    """See `Arming`."""

    def __init__(self, program: bytes, walls: landlock.Walls | None = None) -> None:
        """Take the filter and Landlock's walls; a container that is the wall itself has none."""
        self._program = program
        self._walls = walls

    def start_confinement(self, control: int) -> None:
        """See `Arming`."""
        kernel.drop_capabilities()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # what it names in a call must be readable for the supervisor
        kernel.prctl(kernel.PR_SET_PDEATHSIG, 9)
        installed, listener = threading.Event(), [-1]

        def hand_over() -> None:
            installed.wait()
            with socket.socket(fileno=os.dup(control)) as link:
                socket.send_fds(link, [b"listener"], listener)

        passing = threading.Thread(target=hand_over)
        passing.start()
        try:
            if self._walls is not None:
                landlock.add_walls(self._walls)
            listener[0] = kernel.install_filter(self._program, LISTENER_FLAGS)
        finally:
            installed.set()
        passing.join()
        os.read(control, 1)
        os.close(listener[0])

    def fetch(self, control: socket.socket, pid: int) -> int:
        """See `Arming`."""
        reply, descriptors, _flags, _address = socket.recv_fds(control, 4096, 1)
        if reply != b"listener" or len(descriptors) != 1:
            reason = reply.decode(errors="replace").strip() or "it ended"
            raise RuntimeError(f"a guest could not be armed: {reason}")
        deadline = time.monotonic() + _ENDS_WITHIN_S
        while len(os.listdir(f"/proc/{pid}/task")) > 1:  # noqa: PTH208 - a count
            if time.monotonic() > deadline:
                raise RuntimeError("a guest could not be armed: its helping thread does not end")
            time.sleep(0.0002)
        control.sendall(b"\n")
        return descriptors[0]
