"""A resolver where port 53 cannot be had: at one end of a pair of sockets, whose other end is the guest's.

`proxied_sockets.ProxyingWatcher` makes the pairs. Queries are answered as elsewhere: recorded names have an
address, others do not exist.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Mapping

from spanproof.sandbox.supervisor.namespaces.network import QUERIES_AT_ONCE, QUERY_BYTES, build_reply

_LINKS = 64


class DnsStub:
    """See `Resolver`."""

    def __init__(self) -> None:
        self._run_polling = select.epoll()
        self._links: dict[int, socket.socket] = {}
        # Those it knows, with their address: where there are any, there is no other name.
        self.names: Mapping[str, str] = {}

    def fileno(self) -> int:
        """Return the descriptor for polling."""
        return self._run_polling.fileno()

    def add_connection(self, link: socket.socket) -> None:
        """Take one end of a pair; a program that holds too many is not served any more."""
        if len(self._links) < _LINKS:
            link.setblocking(False)  # noqa: FBT003
            self._links[link.fileno()] = link
            self._run_polling.register(link, select.EPOLLIN)
        else:
            link.close()

    def handle_queries(self) -> list[str]:
        """See `Resolver`."""
        unknown: list[str] = []
        for fd, _events in self._run_polling.poll(0):
            try:
                self._handle(self._links[fd], unknown)
            except BlockingIOError:
                continue  # there is no further query, or no one reads what is answered
            except OSError:
                self._links.pop(fd).close()
        return unknown

    def _handle(self, link: socket.socket, unknown: list[str]) -> None:
        """Answer what waits at one link, and add the names that no one knows.

        Raises:
            BlockingIOError: that was all, for now.
            OSError: the link is at its end.
        """
        for _ in range(QUERIES_AT_ONCE):
            query = link.recv(QUERY_BYTES)
            if not query:
                raise ConnectionResetError
            answer, names = build_reply(query, self.names)
            unknown += names
            if answer:
                link.send(answer)

    def close(self) -> None:
        """Forget what is open, and every name."""
        for link in self._links.values():
            link.close()
        self._links.clear()
        self.names = {}
