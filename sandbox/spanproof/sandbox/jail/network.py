"""What a guest finds in its network namespace: a loopback, and a resolver that knows no name.

The resolver is the slot's: it refuses every query and tells the name that was asked for, which is how a
name looked up, or smuggled out, becomes a fact. There is no other interface and no route.
"""

from __future__ import annotations

import fcntl
import socket
import struct

from spanproof.sandbox.jail import kernel
from spanproof.sandbox.jail.addresses import DNS_PORT, queried_name

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_RESPONSE, _REFUSED = 0x8000, 5
_QUERIES_AT_ONCE = 64


def raise_loopback() -> None:
    """Bring `lo` up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))


class Loopback:
    """A network namespace with nothing but a loopback."""

    def __init__(self) -> None:
        raise_loopback()
        self.resolver = Resolver()

    def renew(self) -> None:
        """See `Network`."""
        self.resolver.close()
        kernel.unshare(kernel.CLONE_NEWNET)
        raise_loopback()
        self.resolver = Resolver()


class Resolver:
    """Listens where the guest's resolver asks."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(("127.0.0.1", DNS_PORT))

    def fileno(self) -> int:
        """For polling."""
        return self._socket.fileno()

    def serve(self) -> list[str]:
        """Refuse what waits; the names asked for, in order."""
        names = []
        for _ in range(_QUERIES_AT_ONCE):
            try:
                query, asker = self._socket.recvfrom(512)
                if (name := queried_name(query)) is not None:
                    names.append(name)
                    self._socket.sendto(_refusal(query), asker)
            except OSError:
                break
        return names

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()


def _refusal(query: bytes) -> bytes:
    identity, flags = struct.unpack_from("!HH", query)
    return struct.pack("!HH", identity, flags | _RESPONSE | _REFUSED) + query[4:]
