"""The tape of one run: its names, its addresses, its server, and what programs need to trust it.

In: a recording, packed by the host, and the network namespace and box of the slot. Out: a network in which
the recorded hosts answer and no other exists. It begins before the program does, and its end leaves the
namespace to be replaced and the box to be dropped.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spanproof.sandbox.jail import kernel
from spanproof.sandbox.jail.addresses import Target
from spanproof.sandbox.jail.place import Network
from spanproof.sandbox.jail.tape import trust
from spanproof.sandbox.jail.tape.recording import Recording, unpacked
from spanproof.sandbox.jail.tape.server import Note, Server, tls_context
from spanproof.sandbox.jail.tape.urls import DEFAULT_PORTS, Url

if TYPE_CHECKING:
    import ssl

_NETWORK = ipaddress.ip_network("11.0.0.0/8")
"""Where recorded names lie. By rule a public network, for code that refuses private addresses is to run as it
did; of the recording's own addresses a tape knows nothing."""


class Tape:
    """Serves one recording."""

    def __init__(self, data: bytes, network: Network, code: str, note: Note) -> None:
        """Begin.

        Args:
            data: what the host packed.
            network: the program's.
            code: a directory the program can read and that goes with its box.
            note: takes each call as an attempt.

        Raises:
            OSError: the kernel does not let us.
        """
        exchanges, identity = unpacked(data)
        recording = Recording(exchanges)
        addresses = addresses_of(recording.urls)
        self._names = {address: name for name, address in addresses.items()}
        self._ports = {url.port for url in recording.urls} | set(DEFAULT_PORTS.values())
        self._covered: list[str] = []
        self.environment: dict[str, str] = {}
        context = self._trusted(identity["authority"], identity["server"], code) if identity else None
        network.lead(addresses)
        self._server = Server(recording, context, self._names, note)
        for port in sorted(self._ports):
            self._server.listen(port)

    def fileno(self) -> int:
        """For polling."""
        return self._server.fileno()

    def serve(self) -> None:
        """Do what waits."""
        self._server.serve()

    def place(self, target: Target) -> tuple[str, bool]:
        """An address as the recording names it, and whether somebody answers there.

        Port 0 is no place to go to: it is how libc asks for the way.
        """
        host, _, port = target.text.rpartition(":")
        host = host.strip("[]")
        if host not in self._names:
            return target.text, False
        return f"{self._names[host]}:{port}", not target.port or target.port in self._ports

    def close(self) -> None:
        """Let go of it."""
        self._server.close()
        for path in self._covered:
            with contextlib.suppress(OSError):
                kernel.umount(path)

    def _trusted(self, authority: str, server: str, code: str) -> ssl.SSLContext:
        """Make our authority the only one a program knows of."""
        bundle = f"{code}/authority.pem"
        with open(bundle, "w") as file:  # noqa: PTH123 - in the path of a run
            file.write(authority)
        self.environment = dict.fromkeys(trust.VARIABLES, bundle)
        certifi = (f"{directory}/certifi/cacert.pem" for directory in sys.path)
        for path in {os.path.realpath(path) for path in (*trust.BUNDLES, *certifi)}:
            if os.path.isfile(path):  # noqa: PTH113
                kernel.mount(bundle, path, flags=kernel.MS_BIND)
                self._covered.append(path)
        return tls_context(server.encode("ascii"))


def addresses_of(urls: Sequence[Url]) -> dict[str, str]:
    """An address for each host, in their order; one that is an address has its own."""
    free = _NETWORK.hosts()
    found: dict[str, str] = {}
    for url in urls:
        if url.host not in found:
            found[url.host] = _literal(url.host) or str(next(free))
    return found


def _literal(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None
