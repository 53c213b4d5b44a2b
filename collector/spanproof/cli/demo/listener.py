"""A webhook listener for the demo: receives alert notifications on loopback.

Takes the part of a user's endpoint: a plain HTTP server that reads a JSON body and answers 204.
"""

from __future__ import annotations

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

_MAX_BODY = 1024 * 1024


class WebhookListener:
    """Listens on a free port of 127.0.0.1 while the context is open."""

    def __init__(self) -> None:
        received: queue.Queue[dict[str, Any]] = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = min(int(self.headers.get("content-length", 0)), _MAX_BODY)
                received.put(json.loads(self.rfile.read(length)))
                self.send_response(204)
                self.end_headers()

            def log_request(self, code: object = "-", size: object = "-") -> None:
                """Log nothing: the demo prints what arrives."""

        self._received = received
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="webhook", daemon=True)

    @property
    def url(self) -> str:
        """Where notifications are sent."""
        return f"http://127.0.0.1:{self._server.server_port}/alerts"

    def wait(self, timeout_s: float) -> dict[str, Any] | None:
        """The next notification, None when none came in time."""
        try:
            return self._received.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
