"""The network of a guest that has none: nothing leads anywhere, and names are asked of us."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping

from spanproof.sandbox.backends.jail.namespaces.dns_stub import Ear


class NoNetwork:
    """See `Network`."""

    def __init__(self) -> None:
        self.resolver = Ear()

    def lead(self, names: Mapping[str, str], _ports: Iterable[int]) -> tuple[socket.socket, ...]:
        """See `Network`; no address leads anywhere."""
        self.resolver.names = names
        return ()

    def renew(self) -> None:
        """See `Network`."""
        self.resolver.close()
