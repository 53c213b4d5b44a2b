"""The loopback of a new network namespace: up, and nothing else."""

from __future__ import annotations

import fcntl
import socket
import struct

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


def raise_loopback() -> None:
    """Bring `lo` up; there is no other interface and no route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))
