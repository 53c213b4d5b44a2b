"""The tape of one run: its names, its addresses, its server, and what programs need to trust it.

In: a recording, packed by the host, and the network namespace and box of the supervisor. Out: a network in
which the recorded hosts answer and no other exists. It begins before the program does, and its end leaves the
namespace to be replaced and the box to be dropped.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from spanproof.sandbox.supervisor.tape import trust
from spanproof.sandbox.supervisor.tape.recording import Recording, decode_recording
from spanproof.sandbox.supervisor.tape.sealed_files import SealedText
from spanproof.sandbox.supervisor.tape.server import Note, Server, build_tls_context
from spanproof.sandbox.supervisor.tape.target import Target
from spanproof.sandbox.supervisor.tape.urls import DEFAULT_PORTS, Url

if TYPE_CHECKING:
    import ssl

# Where recorded names lie. By rule a public network, for code that refuses private addresses is to run as it
# did; of the recording's own addresses a tape knows nothing.
_NETWORK = ipaddress.ip_network("11.0.0.0/8")


class Lead(Protocol):
    """Makes names known in a network, and where it can, every address of it lead to this process."""

    def __call__(self, names: Mapping[str, str], ports: Iterable[int], /) -> Iterable[socket.socket]:
        """Return the sockets that listen on these ports of every address; none where none can.

        Raises:
            OSError: the kernel refuses.
        """


class Tape:
    """Serves one recording."""

    def __init__(self, data: bytes, lead: Lead, code: str, note: Note) -> None:
        """Begin.

        Args:
            data: what the host packed.
            lead: makes the recorded names known to the program, and their addresses lead here.
            code: a directory the program can read and that goes with its box.
            note: takes each call as an attempt.

        Raises:
            OSError: the kernel does not let us.
        """
        exchanges, identity = decode_recording(data)
        recording = Recording(exchanges)
        addresses = build_addresses(recording.urls)
        self._names = {address: name for name, address in addresses.items()}
        self._ports = {url.port for url in recording.urls} | set(DEFAULT_PORTS.values())
        self._own_ports = {url.port for url in recording.urls if _is_own(url.host)}
        self._authority: SealedText | None = None
        self.bundles: frozenset[str] = frozenset()  # Files of authorities in whose place ours is to be read
        self.environment: dict[str, str] = {}
        if identity:
            context = self._start_authority(identity["authority"], identity["server"], code)
        else:
            context = None
        self._server = Server(recording, context, self._names, note)
        for listener in lead(addresses, self._ports):
            self._server.add_listener(listener)

    def fileno(self) -> int:
        """Return the descriptor to poll."""
        return self._server.fileno()

    def handle_waiting(self) -> None:
        """Serve what waits."""
        self._server.handle_waiting()

    def handle_connection(self, stream: socket.socket, destination: str) -> None:
        """Serve one end of a connection; see `Server`."""
        self._server.handle_connection(stream, destination)

    def find_substitute(self, path: str) -> int | None:
        """Return what is to be trusted, in place of a bundle of authorities; the caller's to close."""
        if self._authority is not None and path in self.bundles:
            return self._authority.open_descriptor()
        return None

    def get_destination(self, target: Target) -> tuple[str, bool]:
        """Return an address as the recording names it, and whether a recorded server is there.

        Port 0 is no place to go to: libc connects to it only to find a route.
        """
        if target.loopback:
            return target.text, target.port in self._own_ports
        host, _, port = target.text.rpartition(":")
        host = host.strip("[]")
        if host not in self._names:
            return target.text, False
        return f"{self._names[host]}:{port}", not target.port or target.port in self._ports

    def close(self) -> None:
        """Let go of it."""
        self._server.close()
        if self._authority is not None:
            self._authority.close()

    def _start_authority(self, authority: str, server: str, code: str) -> ssl.SSLContext:
        """Make our authority the only one a program knows of."""
        bundle = f"{code}/authority.pem"
        with open(bundle, "w") as file:  # noqa: PTH123 - in the path of a run
            file.write(authority)
        self.environment = dict.fromkeys(trust.VARIABLES, bundle)
        certifi = (f"{directory}/certifi/cacert.pem" for directory in sys.path)
        self.bundles = frozenset(filter(os.path.isfile, map(os.path.realpath, (*trust.BUNDLES, *certifi))))
        self._authority = SealedText("authority", authority)
        return build_tls_context(server.encode("ascii"))


def build_addresses(urls: Sequence[Url]) -> dict[str, str]:
    """Return an address for each host, in their order; one that is an address has its own."""
    free = _NETWORK.hosts()
    found: dict[str, str] = {}
    for url in urls:
        if url.host not in found:
            found[url.host] = _find_address(url.host) or str(next(free))
    return found


def _is_own(host: str) -> bool:
    """Whether a name is that of the program's own machine, which libc knows without a lookup."""
    literal = _find_address(host)
    if literal is None:
        return host == "localhost"
    return ipaddress.ip_address(literal).is_loopback


def _find_address(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None
