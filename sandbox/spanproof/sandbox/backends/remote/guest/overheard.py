"""Where a program connects to, read from the packets on its loopback, to which every address leads.

In: what the kernel passes there. Out: the places of connections begun and of datagrams, in order. One that
no one answers is known by nothing else over there. Who floods the loopback may drown one; it is refused all
the same. Needs the right to receive packets, and receives none without it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

from spanproof.sandbox.supervisor.seccomp.addresses import find_address
from spanproof.sandbox.supervisor.tape.target import Target

_EVERY_PROTOCOL = 0x0003
_TCP, _UDP = 6, 17
_SYN, _ACK = 0x02, 0x10
_PACKET_BYTES = 128
_AT_ONCE = 4096
_ROOM_BYTES = 8 * 1024 * 1024


class Overheard:
    """The packets of one network namespace."""

    def __init__(self) -> None:
        self.socket: socket.socket | None = None
        try:
            heard = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
        except PermissionError:
            return
        heard.settimeout(0)
        heard.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM_BYTES)
        heard.bind(("lo", _EVERY_PROTOCOL))
        self.socket = heard

    def iter_targets(self) -> Iterator[Target]:
        """Yield those since the last time."""
        for _ in range(_AT_ONCE if self.socket is not None else 0):
            assert self.socket is not None
            try:
                packet = self.socket.recv(_PACKET_BYTES)
            except OSError:
                return
            target = find_target(packet)
            if target is not None:
                yield target


def find_target(packet: bytes) -> Target | None:
    """Return where a packet goes that begins a connection or is a datagram; None for all others."""
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= 20:
        protocol, inner = packet[9], packet[4 * (packet[0] & 0xF) :]
        family, address = socket.AF_INET, packet[16:20]
    elif version == 6 and len(packet) >= 40:
        protocol, inner = packet[6], packet[40:]
        family, address = socket.AF_INET6, bytes(4) + packet[24:40]
    else:
        return None
    begins = protocol == _TCP and len(inner) >= 14 and inner[13] & (_SYN | _ACK) == _SYN
    if not begins and not (protocol == _UDP and len(inner) >= 4):
        return None
    return find_address(family.to_bytes(2, "little") + inner[2:4] + address)
