"""A container on loan to a session: it goes back when the session ended in order, else it is removed."""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.sandbox.backends.docker.container import Container
from spanproof.sandbox.backends.docker.pool import Pool
from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.jail.wire import Frame, Header

_END_S = 10.0


class Lease:
    """What a session speaks to; see `spanproof.sandbox.jail.session.Link`."""

    def __init__(self, pool: Pool, container: Container) -> None:
        self._pool = pool
        self._container = container
        self._over = self._closed = False

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Send a frame."""
        self._container.send(header, parts)

    def receive(self, timeout_s: float) -> Frame:
        """Wait for a frame; a result is the session's last."""
        frame = self._container.receive(timeout_s)
        self._over = frame.header.get("kind") == "result"
        return frame

    def close(self) -> None:
        """End the session, with everything it started. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        try:
            if not (self._over or self._container.idle):
                self._container.send({"kind": "end"})
            while not (self._over or self._container.idle):
                self.receive(_END_S)
        except SandboxBroken:
            self._pool.drop(self._container)
        except BaseException:
            self._pool.drop(self._container)
            raise
        else:
            self._pool.give_back(self._container)
