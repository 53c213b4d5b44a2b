"""Connections over HTTP: how many one peer may have, and how long the headers of a request may take.

uvicorn bounds neither. A connection over the number of its peer is answered 429 and closed before anything is
read from it; one whose headers do not come in time, or do not end, is closed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from spanproof.config.model import Limits

_HEADER_BYTES = 64 * 1024


def make_bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with these bounds; the connections of one class are counted together."""
    open_of: Counter[str] = Counter()

    class Bounded(HttpToolsProtocol):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self._header_timer: asyncio.TimerHandle | None = None
            self._header_bytes = 0
            self._peer = ""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._peer = self.client[0] if self.client else ""
            open_of[self._peer] += 1
            if open_of[self._peer] > limits.max_connections_per_peer:
                self._end(b"429 Too Many Requests", b"retry-after: 2\r\n")
                return
            self._expect_headers()

        def connection_lost(self, exc: Exception | None) -> None:
            self._headers_came()
            open_of[self._peer] -= 1
            if not open_of[self._peer]:
                del open_of[self._peer]
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
            self._headers_came()
            super().on_headers_complete()

        def _expect_headers(self) -> None:
            if self._header_timer is None:
                self._header_bytes = 0
                self._header_timer = self.loop.call_later(limits.header_timeout_s, self._too_slow)

        def _headers_came(self) -> None:
            if self._header_timer is not None:
                self._header_timer.cancel()
                self._header_timer = None

        def _too_slow(self) -> None:
            self._header_timer = None
            if not self.transport.is_closing():
                self._end(b"408 Request Timeout")

        def _end(self, status: bytes, more: bytes = b"") -> None:
            # Nothing of the request is known yet, its content type least of all.
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\n" + more + b"content-length: 0\r\nconnection: close\r\n\r\n"
            )
            self.transport.close()

    return Bounded
