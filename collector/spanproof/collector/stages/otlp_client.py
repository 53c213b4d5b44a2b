"""Sends OTLP requests: over HTTP, over gRPC, or into a file of OTLP JSON lines.

Comes in: a serialised request. Goes out: what became of it, or `Unavailable` where OTLP says that it may be
repeated. What a target refused for good is never repeated.
"""

from __future__ import annotations

import logging
import os
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import grpc
import httpx
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from isal import isal_zlib

from spanproof.collector.receive.signals import SHAPES, Signal
from spanproof.collector.sinks.http import Unavailable
from spanproof.config.model import Forward
from spanproof.trace.otlp import encode_json

log = logging.getLogger(__name__)

# The only statuses that OTLP/HTTP lets a client repeat.
_RETRYABLE_STATUS: Final = frozenset({429, 502, 503, 504})
# The codes that OTLP/gRPC lets a client repeat; RESOURCE_EXHAUSTED only where the answer has `RetryInfo`.
_RETRYABLE_CODES: Final = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)

_LONGEST_WAIT_S = 3600.0
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


class Target(Protocol):
    """Takes requests."""

    def send(self, signal: Signal, body: bytes) -> Delivery:
        """Send a request once.

        Raises:
            Unavailable: it may be repeated.
        """


@contextmanager
def open_target(target: Forward) -> Iterator[Target]:
    """Open the target that an endpoint names."""
    match target.scheme:
        case "file":
            yield _FileTarget(target)
        case "grpc" | "grpcs":
            with _open_channel(target) as channel:
                yield _GrpcTarget(target, channel)
        case _:
            with _open_http_client(target) as client:
                yield _HttpTarget(target, client)


def send_patiently(target: Target, signal: Signal, body: bytes, retry_for_s: float) -> Delivery:
    """Send a request, repeating it for a bounded time where that is allowed."""
    until = time.monotonic() + retry_for_s
    pause_s = _FIRST_PAUSE_S
    while True:
        try:
            return target.send(signal, body)
        except Unavailable as unavailable:
            wait_s = max(pause_s, unavailable.retry_after_s)
            if time.monotonic() + wait_s > until:
                log.warning("dropped after repeated attempts: %s", unavailable)
                return Delivery.DROPPED
            time.sleep(wait_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


class _HttpTarget:
    def __init__(self, target: Forward, client: httpx.Client) -> None:
        self._endpoint = target.endpoint
        self._client = client

    def send(self, signal: Signal, body: bytes) -> Delivery:
        headers = {}
        if len(body) >= _COMPRESS_FROM_BYTES:
            body, headers["content-encoding"] = _encode_gzip(body), "gzip"
        where = f"{self._endpoint}{signal.path}"
        try:
            response = self._client.post(where, content=body, headers=headers)
        except httpx.TransportError as failure:
            raise Unavailable(f"{where}: {type(failure).__name__}: {failure}") from failure
        if response.is_success:
            return _read_answer(where, signal, response.content)
        if response.status_code in _RETRYABLE_STATUS:
            raise Unavailable(f"{where}: HTTP {response.status_code}", _get_retry_after_s(response))
        log.warning("%s refused a request: HTTP %d", where, response.status_code)
        return Delivery.REFUSED


class _GrpcTarget:
    def __init__(self, target: Forward, channel: grpc.Channel) -> None:
        self._endpoint = target.endpoint
        self._timeout_s = target.timeout_s
        self._metadata = tuple(
            (name.lower(), value.get_secret_value()) for name, value in target.headers.items()
        )
        self._calls = {
            signal: channel.unary_unary(f"/{shape.service}/Export", None, None)
            for signal, shape in SHAPES.items()
        }

    def send(self, signal: Signal, body: bytes) -> Delivery:
        try:
            answer: bytes = self._calls[signal](
                body, timeout=self._timeout_s, metadata=self._metadata, compression=grpc.Compression.Gzip
            )
        except grpc.RpcError as failure:
            call: Any = failure
            wait_s = _find_retry_delay_s(call)
            why = f"{self._endpoint}: {call.code().name}: {call.details()}"
            exhausted = call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and wait_s is not None
            if call.code() in _RETRYABLE_CODES or exhausted:
                raise Unavailable(why, wait_s or 0.0) from failure
            log.warning("%s refused a request: %s", self._endpoint, call.code().name)
            return Delivery.REFUSED
        return _read_answer(self._endpoint, signal, answer)


class _FileTarget:
    """Appends each request as one line; a file that has grown is renamed with the time and begun anew."""

    def __init__(self, target: Forward) -> None:
        self._path = target.path
        self._rotate_bytes = target.rotate_bytes
        self._keep = target.keep_files

    def send(self, signal: Signal, body: bytes) -> Delivery:
        line = encode_json(SHAPES[signal].request.FromString(body)) + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._update_file(len(line))
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                if os.write(descriptor, line) < len(line):
                    os.ftruncate(descriptor, size)
                    raise Unavailable(f"{self._path}: the disk is full")
                os.fdatasync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as failure:
            raise Unavailable(f"{self._path}: {failure.strerror or failure}") from failure
        return Delivery.SENT

    def _update_file(self, more: int) -> None:
        with suppress(FileNotFoundError):
            if self._path.stat().st_size + more <= self._rotate_bytes:
                return
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
            self._path.rename(self._path.with_name(f"{self._path.stem}-{stamp}{self._path.suffix}"))
        former = sorted(self._path.parent.glob(f"{self._path.stem}-*{self._path.suffix}"))
        for old in former[: max(0, len(former) - self._keep)]:
            old.unlink(missing_ok=True)


def _open_http_client(target: Forward) -> httpx.Client:
    headers = {name: value.get_secret_value() for name, value in target.headers.items()}
    verify: ssl.SSLContext | bool = True
    if target.ca is not None or target.certificate is not None:
        verify = ssl.create_default_context(cafile=target.ca)
        if target.certificate is not None:
            verify.load_cert_chain(target.certificate, target.key)
    return httpx.Client(
        timeout=target.timeout_s, headers={**headers, "content-type": "application/x-protobuf"}, verify=verify
    )


def _open_channel(target: Forward) -> grpc.Channel:
    address = urlsplit(target.endpoint).netloc
    if target.scheme == "grpc":
        return grpc.insecure_channel(address)
    read = {
        name: path.read_bytes() if path is not None else None
        for name, path in (
            ("root_certificates", target.ca),
            ("private_key", target.key),
            ("certificate_chain", target.certificate),
        )
    }
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(**read))


def _read_answer(where: str, signal: Signal, answer: bytes) -> Delivery:
    try:
        response: Any = SHAPES[signal].response.FromString(answer)
    except DecodeError:
        return Delivery.SENT
    rejected = getattr(response.partial_success, SHAPES[signal].rejected)
    if not rejected:
        return Delivery.SENT
    log.warning("%s left out %d: %s", where, rejected, response.partial_success.error_message)
    return Delivery.PARTIAL


def _get_retry_after_s(response: httpx.Response) -> float:
    """Return the wait that an endpoint requires, given in seconds or as a date."""
    header = response.headers.get("retry-after", "").strip()
    if header.isdecimal():
        return min(float(header), _LONGEST_WAIT_S)
    try:
        wait_s = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        return min(max(0.0, wait_s), _LONGEST_WAIT_S)
    except (ValueError, TypeError):
        return 0.0


def _find_retry_delay_s(call: Any) -> float | None:
    """Return the wait in the details of a status, None where there is none."""
    for key, value in call.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            with suppress(DecodeError):
                for detail in Status.FromString(value).details:
                    info = RetryInfo()
                    if detail.Unpack(info):
                        wait_s: float = info.retry_delay.ToTimedelta().total_seconds()
                        return min(wait_s, _LONGEST_WAIT_S)
    return None


def _encode_gzip(body: bytes) -> bytes:
    compressor = isal_zlib.compressobj(level=1, wbits=_GZIP_WINDOW)
    return compressor.compress(body) + compressor.flush()
