"""Connections over HTTP: how many one peer may have, and how long the headers of a request may take.

uvicorn bounds neither. A connection over the number of its peer is answered 429 and closed before anything is
read from it; one whose headers do not come in time, or do not end, is closed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from spanproof.config.model import Limits

_HEADER_BYTES = 64 * 1024


class _BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with bounds.

    Attributes:
        _limits: the bounds.
        _open_by_peer: how many connections are open.
    """

    _limits: ClassVar[Limits]
    _open_by_peer: ClassVar[Counter[str]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._header_timer: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._peer = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._peer = self.client[0] if self.client else ""
        self._open_by_peer[self._peer] += 1
        if self._open_by_peer[self._peer] > self._limits.max_connections_per_peer:
            self._end(b"429 Too Many Requests", b"retry-after: 2\r\n")
            return
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_header_timer()
        self._open_by_peer[self._peer] -= 1
        if not self._open_by_peer[self._peer]:
            del self._open_by_peer[self._peer]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._header_timer is None:
            super().data_received(data)
            return
        self._header_bytes += len(data)
        super().data_received(data)
        if self._header_timer is not None and self._header_bytes > _HEADER_BYTES:
            self._end(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_headers()

    def on_headers_complete(self) -> None:
        self._stop_header_timer()
        super().on_headers_complete()

    def _expect_headers(self) -> None:
        if self._header_timer is None:
            self._header_bytes = 0
            self._header_timer = self.loop.call_later(self._limits.header_timeout_s, self._handle_timeout)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _handle_timeout(self) -> None:
        self._header_timer = None
        if not self.transport.is_closing():
            self._end(b"408 Request Timeout")

    def _end(self, status: bytes, more: bytes = b"") -> None:
        # Nothing of the request is known yet, its content type least of all.
        self.transport.write(
            b"HTTP/1.1 " + status + b"\r\n" + more + b"content-length: 0\r\nconnection: close\r\n\r\n"
        )
        self.transport.close()


def make_bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with these bounds; the connections of one class are counted together."""
    return type("Bounded", (_BoundedProtocol,), {"_limits": limits, "_open_by_peer": Counter()})
