"""The network of a guest that has none: nothing leads anywhere, and the supervisor answers name queries."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping

from spanproof.sandbox.supervisor.namespaces.dns_stub import DnsStub


class NoNetwork:
    """See `Network`."""

    def __init__(self) -> None:
        self.resolver = DnsStub()

    def add_names(self, names: Mapping[str, str], _ports: Iterable[int]) -> tuple[socket.socket, ...]:
        """See `Network`; no address leads anywhere."""
        self.resolver.names = names
        return ()

    def remove_names(self) -> None:
        """See `Network`."""
        self.resolver.close()
