"""What both protocols do with a request: check it, write it to the log, hand it on, say what was taken.

Comes in: a body. Goes out: an `Accepted` to the pipeline and, only once its bytes are durable, the answer.
A span with invalid ids is refused by itself; the rest of its request is taken. What the redaction rules match
is replaced before anything is written.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.receive import body as bodies
from spanproof.collector.receive.admission import Admission, Entry
from spanproof.collector.receive.auth import Authoriser
from spanproof.collector.receive.events import Evidence, read_log_evidence, read_span_evidence
from spanproof.collector.receive.redaction import Redactor
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.signals import Signal, build_export_response
from spanproof.collector.receive.tenant import find_project, set_project
from spanproof.collector.receive.times import clamp_times
from spanproof.collector.stages.fragments import DEFAULT_PROJECT, Index, build_index
from spanproof.collector.telemetry import Sparingly, Telemetry
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import WalClosed, WalFull
from spanproof.config.model import Limits, Role
from spanproof.store import ExternalScore, StoreError
from spanproof.trace.otlp import Changes

log = logging.getLogger(__name__)

# Bodies above this are decoded in a thread, so that a large one does not hold up the small ones; packed
# ones and JSON, which takes longer, always are.
_ELSEWHERE_BYTES = 128 * 1024

# How a body that came compressed is kept in the log: as it came. Others the log compresses.
_COMPRESSED = {"gzip": Encoding.PROTOBUF_GZIP, "zstd": Encoding.PROTOBUF_ZSTD}


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
class Sent:
    """A request as it was sent.

    Attributes:
        protocol: for counters.
        form: what the body is, once unpacked.
        content_encoding: how the body is packed.
        project: that all of it belongs to; None leaves that to each resource.
    """

    protocol: str
    signal: Signal
    form: Encoding
    body: bytes = field(repr=False)
    content_encoding: str = ""
    project: str | None = None


@dataclass(frozen=True, slots=True)
class _Decoded:
    request: ExportTraceServiceRequest
    index: Index
    stored: Encoding
    payload: bytes
    size: int
    evidence: Evidence
    clamped: int = 0
    redacted: int = 0
    mended: tuple[str, ...] = ()


class Relay(Protocol):
    """Takes what is no span; durable when it returns."""

    def forward(self, signal: Signal, body: bytes) -> None:
        """Send a request on to the targets that want its signal."""

    def write_scores(self, scores: Sequence[ExternalScore]) -> None:
        """Store scores from elsewhere.

        Raises:
            StoreError: the store takes nothing now.
        """


class NoRelay:
    """The relay of a collector without targets and without a store."""

    def forward(self, signal: Signal, body: bytes) -> None:
        """Drop it."""

    def write_scores(self, scores: Sequence[ExternalScore]) -> None:
        """Drop them."""


class DurableLog(Protocol):
    """Where requests are durable: the write-ahead log, or the topic of a receiver."""

    @property
    def full(self) -> bool:
        """Whether nothing more is taken now."""

    @property
    def broken(self) -> bool:
        """Whether the last writes failed."""

    def append(self, encoding: Encoding, payload: bytes) -> Future[int]:
        """Write a request; the future gives its number once it is durable; see `Wal.append`."""


class Acceptor:
    """Takes requests of both protocols.

    Args:
        hand_on: given each durable request, in the log's thread; must not block.
        relay: takes what is no span.
        redactor: replaces what must not be kept; None where there is no rule.
        project: of spans that name none.
    """

    def __init__(
        self,
        *,
        authoriser: Authoriser,
        limits: Limits,
        admission: Admission,
        wal: DurableLog,
        telemetry: Telemetry,
        hand_on: Callable[[Accepted], None],
        relay: Relay | None = None,
        redactor: Redactor | None = None,
        project: str = DEFAULT_PROJECT,
    ) -> None:
        self._authoriser = authoriser
        self._wal = wal
        self._telemetry = telemetry
        self._hand_on = hand_on
        self._relay = relay or NoRelay()
        self._redactor = redactor
        self._project = project
        self._sparingly = Sparingly()
        self.limits = limits
        self.admission = admission

    @property
    def has_tokens(self) -> bool:
        """Whether a token is required at all."""
        return self._authoriser.required

    @property
    def ready(self) -> bool:
        """Whether a request would be taken now."""
        return self.admission.open and not self._wal.full and not self._wal.broken

    def find_project(self, authorization: str | None, role: Role, project: str | None = None) -> str | None:
        """Check the bearer token; returns the project that everything of the request belongs to, if any.

        Args:
            authorization: the header.
            role: what the sender wants to do.
            project: that the sender names in a header.

        Raises:
            Refused: the token is missing or wrong, or may not do that.
        """
        return find_project(self._authoriser.get_grant(authorization, role), project)

    def redact_text(self, text: str) -> str:
        """Return a text without what must not be kept."""
        if self._redactor is None:
            return text
        return self._redactor.redact_text(text)

    async def handle_request(self, sent: Sent, entry: Entry) -> Message:
        """Take a request; returns the answer once it is durable.

        Args:
            sent: the request.
            entry: grows by what the body grows to.

        Raises:
            Refused: nothing of it was taken.
        """
        if sent.signal is Signal.TRACES:
            return await self._handle_spans(sent, entry)
        rejected, why = await asyncio.to_thread(self._handle_other, sent, entry)
        self._record_count(sent, rejected)
        return build_export_response(sent.signal, rejected, why)

    def record_refusal(self, protocol: str, refusal: Refused, peer: str) -> None:
        """Count and log a refusal: what is wrong, never what was in it."""
        self._telemetry.requests.labels(protocol, refusal.reason.value).inc()
        left_out = self._sparingly.find_left_out((protocol, refusal.reason))
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

    async def _handle_spans(self, sent: Sent, entry: Entry) -> Message:
        if len(sent.body) > _ELSEWHERE_BYTES or sent.content_encoding or sent.form is Encoding.JSON:
            decoded = await asyncio.to_thread(self._decode, sent, entry)
        else:
            decoded = self._decode(sent, entry)
        self._telemetry.bytes_received.inc(decoded.size)
        self._telemetry.spans_ignored.labels("own_evaluator").inc(decoded.index.own)
        if decoded.evidence.scores:
            await asyncio.to_thread(self._write_scores, decoded.evidence.scores)
        if decoded.index.spans:
            await self._write_durably(decoded)
        self._telemetry.values_redacted.inc(decoded.redacted)
        return self._build_response(sent, decoded)

    def _decode(self, sent: Sent, entry: Entry) -> _Decoded:
        mended = Changes()
        unpacked, request = self._decode_request(sent, entry, mended)
        redacted = self._redactor.redact(request) if self._redactor is not None else 0
        changed = redacted > 0 or bool(mended.list_changes())
        if sent.project is not None:
            changed |= set_project(request, Signal.TRACES, sent.project, unpacked)
        clamped = clamp_times(request, time.time_ns(), self.limits.max_span_age_days)
        changed |= clamped > 0
        as_sent = sent.form is Encoding.PROTOBUF and not changed and self._redactor is None
        plain = unpacked if as_sent else request.SerializeToString()
        index = build_index(request, plain, sent.project or self._project)
        if index.changed:
            plain, as_sent = request.SerializeToString(), False
        if as_sent:
            stored = _COMPRESSED.get(sent.content_encoding.strip().lower())
        else:
            stored = None
        return _Decoded(
            request=request,
            index=index,
            stored=stored or Encoding.PROTOBUF,
            payload=plain if stored is None else sent.body,
            size=len(unpacked),
            evidence=read_span_evidence(request, plain, sent.project or self._project),
            clamped=clamped,
            redacted=redacted,
            mended=tuple(mended.list_changes()),
        )

    def _decode_request(self, sent: Sent, entry: Entry, mended: Changes) -> tuple[bytes, Any]:
        unpacked = bodies.decode_body(
            sent.body, sent.content_encoding, self.limits.max_body_bytes, entry.add_bytes
        )
        return unpacked, bodies.decode_request(sent.form, unpacked, sent.signal, mended)

    def _handle_other(self, sent: Sent, entry: Entry) -> tuple[int, str]:
        """Take logs or metrics; returns how many records were refused, and why."""
        mended = Changes()
        unpacked, request = self._decode_request(sent, entry, mended)
        redacted = self._redactor.redact(request) if self._redactor is not None else 0
        if sent.project is not None:
            set_project(request, sent.signal, sent.project, unpacked)
        if sent.signal is Signal.LOGS:
            evidence = read_log_evidence(request)
        else:
            evidence = Evidence()
        self._telemetry.bytes_received.inc(len(unpacked))
        if evidence.scores:
            self._write_scores(evidence.scores)
        if evidence.feedback.resource_spans:
            self._write_feedback(evidence.feedback)
        try:
            self._relay.forward(sent.signal, request.SerializeToString())
        except OSError as failure:
            raise Refused(Reason.UNAVAILABLE, f"the queue takes nothing now: {failure}") from failure
        self._telemetry.values_redacted.inc(redacted)
        return len(evidence.refused), "; ".join([*evidence.refused[:1], *mended.list_changes()])

    def _write_scores(self, scores: Sequence[ExternalScore]) -> None:
        try:
            self._relay.write_scores(scores)
        except StoreError as failure:
            raise Refused(Reason.UNAVAILABLE, f"the store takes nothing now: {failure}") from failure

    def _write_feedback(self, request: ExportTraceServiceRequest) -> None:
        plain = request.SerializeToString()
        index = build_index(request, plain, self._project)
        decoded = _Decoded(request, index, Encoding.PROTOBUF, plain, len(plain), Evidence())
        try:
            self._start_append(decoded).result()
        except (OSError, WalClosed, WalFull) as failure:
            raise _build_log_refusal(failure) from failure

    def _start_append(self, decoded: _Decoded) -> Future[int]:
        def when_durable(written: Future[int]) -> None:
            # Not after the wait: a client that gives up meanwhile ends the wait, not the request.
            if written.exception() is None:
                self._telemetry.spans_received.inc(decoded.index.spans)
                self._hand_on(Accepted(written.result(), decoded.request, decoded.index, decoded.size))

        durable = self._wal.append(decoded.stored, decoded.payload)
        durable.add_done_callback(when_durable)
        return durable

    async def _write_durably(self, decoded: _Decoded) -> None:
        try:
            await asyncio.wrap_future(self._start_append(decoded))
        except (OSError, WalClosed, WalFull) as failure:
            raise _build_log_refusal(failure) from failure

    def _build_response(self, sent: Sent, decoded: _Decoded) -> Message:
        rejected, words = decoded.index.rejected, list[str]()
        self._record_count(sent, rejected)
        if rejected:
            self._telemetry.spans_refused.labels("bad_ids").inc(rejected)
            words.append(
                f"{rejected} spans have an invalid id: a trace id is 16 bytes, a span id 8, neither all zeros"
            )
            log.warning("refused %d spans with invalid ids over %s, took the rest", rejected, sent.protocol)
        if decoded.clamped:
            self._telemetry.spans_clamped.inc(decoded.clamped)
            words.append(
                f"{decoded.clamped} spans have a time that cannot be (limits.max_span_age_days) and got that "
                "at which they came"
            )
        words += decoded.evidence.refused[:1]
        words += decoded.mended
        return build_export_response(Signal.TRACES, rejected, "; ".join(words))

    def _record_count(self, sent: Sent, rejected: int) -> None:
        self._telemetry.requests.labels(sent.protocol, "partial" if rejected else "accepted").inc()


def _build_log_refusal(failure: Exception) -> Refused:
    return Refused(Reason.UNAVAILABLE, f"the write-ahead log takes nothing now: {failure}")
