"""A receiver of OTLP over HTTP on loopback, for agents that trace themselves.

Keeps what arrives, bounded, until it is written to the file of a trial. It is no collector: what arrives
while no trial runs is dropped with the listener.
"""

from __future__ import annotations

import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.trace.otlp import MalformedOtlp, decode_json, decode_protobuf, encode_protobuf

_MAX_BODY = 64 * 1024 * 1024
_MAX_KEPT = 512 * 1024 * 1024
_POLL_S = 0.05


class OtlpListener:
    """Receives `POST /v1/traces` while the context is open."""

    def __init__(self, port: int = 0) -> None:
        """Listen on this port of 127.0.0.1; 0 is a free one.

        Raises:
            OSError: the port is taken.
        """
        self._requests: list[ExportTraceServiceRequest] = []
        self._kept = 0
        self._lock = threading.Lock()
        keep = self._add_body

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                if self.path.rstrip("/") != "/v1/traces" or not 0 <= length <= _MAX_BODY:
                    self.send_error(404 if 0 <= length <= _MAX_BODY else 413)
                    return
                body = self.rfile.read(length)
                try:
                    keep(
                        _decode_body(body) if self.headers.get("content-encoding") == "gzip" else body,
                        is_json="json" in (self.headers.get("content-type") or ""),
                    )
                except (MalformedOtlp, zlib.error, ValueError):
                    self.send_error(400)
                    return
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_message: object) -> None:
                """Log nothing: progress is on the terminal."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="otlp", daemon=True)

    @property
    def url(self) -> str:
        """Where an exporter sends to."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def write(self, path: Path, trace_id: str | None = None, wait_s: float = 0.0) -> None:
        """Write what arrived to a file of OTLP.

        Args:
            path: the file, which is made anew.
            trace_id: the trace that is written, in hex; None is all of them.
            wait_s: how long to wait for a first span.
        """
        until = time.monotonic() + wait_s
        while not (found := self._read_bodies(trace_id)) and time.monotonic() < until:
            time.sleep(_POLL_S)
        path.write_bytes(b"".join(found))

    def _read_bodies(self, trace_id: str | None) -> list[bytes]:
        with self._lock:
            requests = list(self._requests)
        if trace_id is None:
            return [encode_protobuf(request) for request in requests]
        wanted = bytes.fromhex(trace_id)
        return [encode_protobuf(found) for request in requests if (found := _find_trace(request, wanted))]

    def _add_body(self, body: bytes, *, is_json: bool) -> None:
        request = decode_json(body) if is_json else decode_protobuf(body)
        with self._lock:
            self._kept += len(body)
            if self._kept > _MAX_KEPT:
                raise ValueError("more than is kept of one experiment")
            self._requests.append(request)

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


def _find_trace(request: ExportTraceServiceRequest, trace_id: bytes) -> ExportTraceServiceRequest | None:
    """Return a request with the spans of one trace, None where it has none."""
    kept = ExportTraceServiceRequest()
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            spans = [span for span in scope.spans if span.trace_id == trace_id]
            if spans:
                of_resource = kept.resource_spans.add(resource=resource.resource)
                of_resource.scope_spans.add(scope=scope.scope, spans=spans)
    return kept if kept.resource_spans else None


def _decode_body(body: bytes) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    text = inflater.decompress(body, _MAX_BODY)
    if inflater.unconsumed_tail:
        raise ValueError("larger than is read when it is inflated")
    return text
