"""What a guest finds in its network namespace: a loopback, and a resolver that knows recorded names alone.

The resolver is the supervisor's: it refuses every other query and reports the name that was requested, which
is how a name looked up, or smuggled out, becomes a fact. There is no other interface, and no route that
leaves.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Iterable, Mapping

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.seccomp.addresses import DNS_PORT, find_queried_name, read_sought_name
from spanproof.sandbox.supervisor.tape.routes import add_routes

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_RESPONSE, _AUTHORITATIVE, _NO_SUCH_NAME, _REFUSED = 0x8000, 0x0400, 3, 5
_TYPE_A = 1
QUERIES_AT_ONCE = 64
QUERY_BYTES = 512


def start_loopback() -> None:
    """Bring `lo` up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))


class Loopback:
    """A network namespace with nothing but a loopback."""

    def __init__(self) -> None:
        start_loopback()
        self.resolver = Resolver()

    def add_names(self, names: Mapping[str, str], ports: Iterable[int]) -> list[socket.socket]:
        """See `Network`."""
        add_routes()
        self.resolver.names = names
        return [_open_listener(port) for port in sorted(ports)]

    def remove_names(self) -> None:
        """See `Network`."""
        self.resolver.close()
        kernel.unshare(kernel.CLONE_NEWNET)
        start_loopback()
        self.resolver = Resolver()


def _open_listener(port: int) -> socket.socket:
    """Open a socket that takes connections to a port of every address."""
    try:
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    except OSError:  # this kernel has no IPv6
        return socket.create_server(("", port))


class Resolver:
    """Listens where the guest's resolver sends its queries."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(("127.0.0.1", DNS_PORT))
        # Those it knows, with their address: where there are any, there is no other name.
        self.names: Mapping[str, str] = {}

    def fileno(self) -> int:
        """Return the descriptor for polling."""
        return self._socket.fileno()

    def handle_queries(self) -> list[str]:
        """Answer what waits; the names requested that it does not know, in order."""
        names = []
        for _ in range(QUERIES_AT_ONCE):
            try:
                query, asker = self._socket.recvfrom(QUERY_BYTES)
                answer, unknown = build_reply(query, self.names)
                names += unknown
                if answer:
                    self._socket.sendto(answer, asker)
            except OSError:
                break
        return names

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()


class NoResolver:
    """Where no DNS query can be received: port 53 is taken, and connections to it are not reported."""

    def __init__(self) -> None:
        self._never, self._open = os.pipe()

    def fileno(self) -> int:
        """Return a descriptor that never has news."""
        return self._never

    def handle_queries(self) -> list[str]:
        """Return no names."""
        return []


def build_reply(query: bytes, names: Mapping[str, str]) -> tuple[bytes, list[str]]:
    """Return what a resolver that knows these names says to a query, and the name where it knows it not.

    Bytes that are no query have no answer, and what they name is not known.
    """
    name = find_queried_name(query)
    if name is None:
        return b"", [read_sought_name(query)]
    address = names.get(name.lower())
    if address is None:
        return _build_refusal(query, is_valid=bool(names)), [name]
    return _build_answer(query, address), []


def _build_refusal(query: bytes, *, is_valid: bool) -> bytes:
    """Build the refusal: where names are known, this one does not exist; else no name is resolved."""
    identity, flags = struct.unpack_from("!HH", query)
    code = _NO_SUCH_NAME if is_valid else _REFUSED
    return struct.pack("!HH", identity, flags | _RESPONSE | code) + query[4:]


def _build_answer(query: bytes, address: str) -> bytes:
    """Build the answer: the address, to who requests an IPv4 one; that there is none, to others."""
    identity, flags = struct.unpack_from("!HH", query)
    end = query.index(b"\0", 12) + 5
    if len(query) < end:
        return _build_refusal(query, is_valid=True)
    (kind,) = struct.unpack_from("!H", query, end - 4)
    found = kind == _TYPE_A and ":" not in address
    head = struct.pack("!6H", identity, flags & 0x0100 | _RESPONSE | _AUTHORITATIVE, 1, int(found), 0, 0)
    if found:
        record = struct.pack("!HHHIH", 0xC00C, _TYPE_A, 1, 60, 4) + socket.inet_aton(address)
    else:
        record = b""
    return head + query[12:end] + record
