"""A port for a server that takes its time to start, and must be given its port beforehand."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

_FIRST = 10_000


def free_port() -> int:
    """A free one on the loopback, below those that the kernel assigns by itself."""
    end = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = _FIRST + secrets.randbelow(max(1, end - _FIRST))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
