"""What both protocols do with a request: check it, write it to the log, hand it on, say what was taken.

Comes in: a body. Goes out: an `Accepted` to the pipeline and, only once its bytes are durable, the answer.
A span with invalid ids is refused by itself; the rest of its request is taken.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from spanproof.collector.receive import body as bodies
from spanproof.collector.receive.admission import Admission, Entry
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.stages.fragments import Index, index_request
from spanproof.collector.telemetry import Sparingly, Telemetry
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import WalClosed, WalFull

log = logging.getLogger(__name__)

_ELSEWHERE_BYTES = 128 * 1024
"""Bodies above this are decoded in a thread, so that a large one does not hold up the small ones; packed
ones and JSON, which takes longer, always are."""

_COMPRESSED = {"gzip": Encoding.PROTOBUF_GZIP, "zstd": Encoding.PROTOBUF_ZSTD}
"""How a body that came compressed is kept in the log: as it came. Others the log compresses."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A request that is durable.

    Attributes:
        record: its number in the log.
        request: cleaned of what is not to be stored.
        index: its traces and spans.
        size: its bytes after decompression, which count against the backlog.
    """

    record: int
    request: ExportTraceServiceRequest
    index: Index
    size: int


@dataclass(frozen=True, slots=True)
class _Decoded:
    request: ExportTraceServiceRequest
    index: Index
    stored: Encoding
    payload: bytes
    size: int


class DurableLog(Protocol):
    """Where requests are durable: the write-ahead log, or the topic of a receiver."""

    def append(self, encoding: Encoding, payload: bytes) -> Future[int]:
        """Write a request; the future gives its number once it is durable; see `Wal.append`."""


class Acceptor:
    """Takes requests of both protocols.

    Args:
        tokens: one of them must be presented; none means everyone may send.
        hand_on: given each durable request, in the log's thread; must not block.
    """

    def __init__(
        self,
        *,
        tokens: Sequence[str],
        max_body_bytes: int,
        admission: Admission,
        wal: DurableLog,
        telemetry: Telemetry,
        hand_on: Callable[[Accepted], None],
    ) -> None:
        self._tokens = [token.encode() for token in tokens]
        self._wal = wal
        self._telemetry = telemetry
        self._hand_on = hand_on
        self._sparingly = Sparingly()
        self.max_body_bytes = max_body_bytes
        self.admission = admission

    @property
    def has_tokens(self) -> bool:
        """Whether a token is required at all."""
        return bool(self._tokens)

    def authorise(self, authorization: str | None) -> None:
        """Check the bearer token.

        Raises:
            Refused: it is missing or wrong.
        """
        if not self._tokens:
            return
        scheme, _, presented = (authorization or "").partition(" ")
        given = presented.strip().encode()
        # Every token is compared, so that the time taken tells nothing about which one is near.
        matches = [hmac.compare_digest(given, token) for token in self._tokens]
        if scheme.lower() != "bearer" or not any(matches):
            raise Refused(
                Reason.UNAUTHENTICATED, "send one of the collector's tokens as `authorization: Bearer …`"
            )

    async def accept(
        self, protocol: str, form: Encoding, body: bytes, entry: Entry, content_encoding: str = ""
    ) -> ExportTraceServiceResponse:
        """Take a body; returns once it is durable.

        Args:
            protocol: for counters.
            form: what the body is, once unpacked.
            body: as it was sent.
            entry: told what the body grows to.
            content_encoding: how the body is packed.

        Raises:
            Refused: nothing of it was taken.
        """
        if len(body) > _ELSEWHERE_BYTES or content_encoding or form is Encoding.JSON:
            decoded = await asyncio.to_thread(self._decode, form, body, content_encoding)
        else:
            decoded = self._decode(form, body, content_encoding)
        if content_encoding:
            entry.grow(decoded.size)
        self._telemetry.bytes_received.inc(decoded.size)
        self._telemetry.spans_ignored.labels("own_evaluator").inc(decoded.index.own)
        if decoded.index.spans:
            await self._make_durable(decoded)
        return self._response(protocol, decoded.index.rejected)

    def refused(self, protocol: str, refusal: Refused, peer: str) -> None:
        """Count and log a refusal: what is wrong, never what was in it."""
        self._telemetry.requests.labels(protocol, refusal.reason.value).inc()
        left_out = self._sparingly.left_out((protocol, refusal.reason))
        if left_out is None:
            return
        if left_out:
            log.warning("%d more such requests were refused since the last line", left_out)
        log.warning(
            "refused a request over %s from %s: %s: %s",
            protocol,
            peer or "unknown",
            refusal.reason.value,
            refusal.message,
        )

    def _decode(self, form: Encoding, body: bytes, content_encoding: str) -> _Decoded:
        unpacked = bodies.unpack(body, content_encoding, self.max_body_bytes)
        request = bodies.decode(form, unpacked)
        plain = unpacked if form is Encoding.PROTOBUF else request.SerializeToString()
        index = index_request(request, plain)
        if index.changed:
            plain = request.SerializeToString()
        as_sent = form is Encoding.PROTOBUF and not index.changed and content_encoding.strip().lower()
        stored = _COMPRESSED.get(as_sent or "", Encoding.PROTOBUF)
        return _Decoded(request, index, stored, plain if stored is Encoding.PROTOBUF else body, len(unpacked))

    async def _make_durable(self, decoded: _Decoded) -> None:
        def when_durable(written: Future[int]) -> None:
            # Not after the wait below: a client that gives up meanwhile ends the wait, not the request.
            if written.exception() is None:
                self._telemetry.spans_received.inc(decoded.index.spans)
                self._hand_on(Accepted(written.result(), decoded.request, decoded.index, decoded.size))

        try:
            durable = self._wal.append(decoded.stored, decoded.payload)
            durable.add_done_callback(when_durable)
            await asyncio.wrap_future(durable)
        except (OSError, WalClosed, WalFull) as failure:
            raise Refused(
                Reason.UNAVAILABLE, f"the write-ahead log takes nothing now: {failure}"
            ) from failure

    def _response(self, protocol: str, rejected: int) -> ExportTraceServiceResponse:
        response = ExportTraceServiceResponse()
        self._telemetry.requests.labels(protocol, "partial" if rejected else "accepted").inc()
        if rejected:
            self._telemetry.spans_refused.labels("bad_ids").inc(rejected)
            response.partial_success.rejected_spans = rejected
            response.partial_success.error_message = (
                f"{rejected} spans have an invalid id: a trace id is 16 bytes, a span id 8, neither all zeros"
            )
            log.warning("refused %d spans with invalid ids over %s, took the rest", rejected, protocol)
        return response
