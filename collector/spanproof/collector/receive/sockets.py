"""Sockets to listen on, bound before anything is served: a port that is taken is known at start."""

from __future__ import annotations

import errno
import socket


def bind(host: str, port: int) -> socket.socket | None:
    """Return a listening socket, None where the port is taken.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        # A second socket may bind the same port as long as neither listens: only listening settles it.
        bound.listen(1024)
    except OSError as refused:
        bound.close()
        if refused.errno == errno.EADDRINUSE:
            return None
        raise OSError(refused.errno, f"cannot listen on {host} port {port}: {refused.strerror}") from refused
    return bound


def format_host(host: str) -> str:
    """Return a host as it is written in a URL."""
    return f"[{host}]" if ":" in host else host
