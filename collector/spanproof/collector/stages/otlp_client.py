"""Sends one OTLP/HTTP request, repeating it for a bounded time where OTLP says it may be repeated.

Comes in: a serialised request. Goes out: what became of it. It never repeats what an endpoint refused for
good, and never waits longer than it was allowed to.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from types import TracebackType
from typing import Self

import httpx
from google.protobuf.message import DecodeError
from isal import isal_zlib
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from spanproof.config.model import Forward

log = logging.getLogger(__name__)

TRACES_PATH = "/v1/traces"
LOGS_PATH = "/v1/logs"

_RETRYABLE = frozenset({429, 502, 503, 504})
"""The only statuses that OTLP/HTTP lets a client repeat."""
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_GZIP_WINDOW = 31
_COMPRESS_FROM_BYTES = 1024


class Delivery(StrEnum):
    """What became of a request."""

    SENT = "sent"
    PARTIAL = "partial"
    REFUSED = "refused"
    DROPPED = "dropped"


class OtlpClient:
    """A client of one endpoint; a context manager. `stopping` ends any wait between attempts."""

    def __init__(self, endpoint: Forward, stopping: threading.Event) -> None:
        headers = {name: value.get_secret_value() for name, value in endpoint.headers.items()}
        self._endpoint = endpoint
        self._stopping = stopping
        self._client = httpx.Client(
            timeout=endpoint.timeout_s, headers={**headers, "content-type": "application/x-protobuf"}
        )

    def send(self, path: str, body: bytes) -> Delivery:
        """Send a request; returns when it was taken, refused for good, or the time is up."""
        headers = {}
        if len(body) >= _COMPRESS_FROM_BYTES:
            body, headers["content-encoding"] = _gzipped(body), "gzip"
        until = time.monotonic() + self._endpoint.retry_for_s
        pause_s = _FIRST_PAUSE_S
        while True:
            delivery, wanted_s, why = self._attempt(path, body, headers)
            if delivery is not None:
                return delivery
            wait_s = max(pause_s, wanted_s)
            if time.monotonic() + wait_s > until or self._stopping.wait(wait_s):
                log.warning("%s%s: dropped after repeated attempts: %s", self._endpoint.endpoint, path, why)
                return Delivery.DROPPED
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.close()

    def _attempt(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[Delivery | None, float, str]:
        """What became of it, None where it may be repeated; how long to wait before; and why."""
        try:
            response = self._client.post(f"{self._endpoint.endpoint}{path}", content=body, headers=headers)
        except httpx.TransportError as failure:
            return None, 0.0, f"{type(failure).__name__}: {failure}"
        if response.is_success:
            return self._taken(path, response.content), 0.0, ""
        if response.status_code in _RETRYABLE:
            return None, _retry_after_s(response), f"HTTP {response.status_code}"
        log.warning("%s%s refused a request: HTTP %d", self._endpoint.endpoint, path, response.status_code)
        return Delivery.REFUSED, 0.0, ""

    def _taken(self, path: str, answer: bytes) -> Delivery:
        """Partial success has the same shape for every signal: a count, and a message."""
        try:
            partial = ExportTraceServiceResponse.FromString(answer).partial_success
        except DecodeError:
            return Delivery.SENT
        if not partial.rejected_spans:
            return Delivery.SENT
        log.warning(
            "%s%s left out %d: %s",
            self._endpoint.endpoint,
            path,
            partial.rejected_spans,
            partial.error_message,
        )
        return Delivery.PARTIAL


def _retry_after_s(response: httpx.Response) -> float:
    """The wait an endpoint asks for, given in seconds or as a date."""
    asked = response.headers.get("retry-after", "").strip()
    if asked.isdecimal():
        return float(asked)
    try:
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def _gzipped(body: bytes) -> bytes:
    compressor = isal_zlib.compressobj(level=1, wbits=_GZIP_WINDOW)
    return compressor.compress(body) + compressor.flush()
