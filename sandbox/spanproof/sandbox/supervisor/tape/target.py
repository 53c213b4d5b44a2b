"""Where a program wanted to connect, as a socket address names it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """Where a call wanted to go.

    Attributes:
        text: `host:port`, IPv6 hosts in brackets; `unix:@NAME` of an abstract socket.
        loopback: whether it stays in the guest's own network namespace.
        path: of a unix socket; empty for unnamed and abstract ones; None for all else.
    """

    text: str
    port: int = 0
    loopback: bool = False
    path: str | None = None

    @property
    def goes_nowhere(self) -> bool:
        """Whether nothing can be there: libc connects so to learn by which of its names it finds itself."""
        return self.loopback and self.port == 0
