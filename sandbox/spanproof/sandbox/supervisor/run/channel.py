"""The standard streams of a process as the socket that a supervisor speaks to its host by."""

from __future__ import annotations

import os


class Channel:
    """Both directions, on descriptors that no program inherits; the standard streams lead nowhere then."""

    def __init__(self) -> None:
        self._in, self.way_out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1):
            os.dup2(nothing, fd)
        os.close(nothing)

    def fileno(self) -> int:
        """Return the descriptor of the way in, for polling."""
        return self._in

    def recv(self, size: int) -> bytes:
        """Return what has arrived; empty when the host is gone."""
        return os.read(self._in, size)

    def sendall(self, data: bytes | memoryview) -> None:
        """Send to the host."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.way_out, view) :]
