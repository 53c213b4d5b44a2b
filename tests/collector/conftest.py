"""OTLP requests and clients for the collector's tests."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.receive.accept import Accepted, Acceptor, Relay
from spanproof.collector.receive.admission import Admission, Backlog
from spanproof.collector.receive.auth import Authoriser
from spanproof.collector.receive.redaction import Redactor
from spanproof.collector.receive.server import Endpoints, Receiver
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.log import Wal
from spanproof.config.model import Limits, Receivers, RedactionRules, Token
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.trace import (
    Cohort,
    Errored,
    Label,
    Layer,
    Outcome,
    Run,
    Score,
    Scored,
    Skipped,
    score_id,
    trace_of,
)
from spanproof.trace.dialects import normalise_request

MakeRequest = Callable[..., ExportTraceServiceRequest]

START_NS = 1_760_000_000_000_000_000


def span_id(number: int) -> bytes:
    return number.to_bytes(8, "big")


def trace_id(number: int) -> bytes:
    return number.to_bytes(16, "big")


def request_with(
    *spans: tuple[int, int, int | None], service: str = "shop", scope: str = "test", text: str = ""
) -> ExportTraceServiceRequest:
    """A request of (trace, span, parent) triples."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = service
    scoped = resource.scope_spans.add()
    scoped.scope.name = scope
    for trace, number, parent in spans:
        span = scoped.spans.add(
            trace_id=trace_id(trace),
            span_id=span_id(number),
            parent_span_id=span_id(parent) if parent else b"",
            name=f"span {number}",
            start_time_unix_nano=START_NS + number,
            end_time_unix_nano=START_NS + 1000 - number,
        )
        if text:
            span.attributes.add(key="text").value.string_value = text
    return request


@pytest.fixture
def make_request() -> MakeRequest:
    return request_with


@pytest.fixture
def closed_port() -> Iterator[int]:
    """One at which no process listens, nor can one meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield int(taken.getsockname()[1])


@pytest.fixture
def wal_directory(tmp_path: Path) -> Path:
    return tmp_path / "wal"


@dataclass
class Listening:
    """Both receivers on free ports, with everything behind them but the pipeline."""

    endpoints: Endpoints
    wal: Wal
    backlog: Backlog
    telemetry: Telemetry
    accepted: list[Accepted] = field(default_factory=list)

    @property
    def traces_url(self) -> str:
        return f"{self.endpoints.http}/v1/traces"

    def counted(self, name: str, **labels: str) -> float:
        return self.telemetry.registry.get_sample_value(name, labels) or 0.0

    def span_names(self) -> list[str]:
        return [
            span.name
            for accepted in self.accepted
            for resource in accepted.request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def listen(wal_directory: Path) -> Callable[..., object]:
    @contextmanager
    def open_receivers(
        tokens: tuple[object, ...] = (),
        limits: Limits | None = None,
        tokens_file: Path | None = None,
        redaction: RedactionRules | None = None,
        relay: Relay | None = None,
        **receivers: object,
    ) -> Iterator[Listening]:
        limits = limits or Limits()
        receivers = {"grpc": {"port": 0}, "http": {"port": 0}, **receivers}
        wal = Wal(wal_directory, segment_bytes=1 << 20)
        backlog, telemetry, accepted = Backlog(limits.max_backlog_bytes), Telemetry(), []
        acceptor = Acceptor(
            authoriser=Authoriser([Token.model_validate(token) for token in tokens], tokens_file),
            limits=limits,
            admission=Admission(limits, backlog),
            wal=wal,
            telemetry=telemetry,
            hand_on=accepted.append,
            relay=relay,
            redactor=Redactor(redaction) if redaction is not None else None,
        )
        receiver = Receiver(Receivers.model_validate(receivers), acceptor, telemetry)
        try:
            yield Listening(receiver.start(), wal, backlog, telemetry, accepted)
        finally:
            receiver.stop()
            wal.close()

    return open_receivers


def _score(outcome: Outcome, name: str = "groundedness") -> Score:
    place = {"trace_id": trace_id(1).hex(), "span_id": span_id(2).hex()}
    return Score(
        id=score_id(
            **place,
            snippet=None,
            layer="groundedness",
            name=name,
            evaluator="test",
            version="1",
            input_digest="d",
        ),
        **place,
        run_span_id=span_id(1).hex(),
        snippet_id=None,
        layer=Layer.GROUNDEDNESS,
        name=name,
        evaluator="test",
        version="1",
        outcome=outcome,
        cohort=Cohort(),
        span_time_ns=START_NS,
        input_digest="d",
    )


@pytest.fixture
def scored() -> Callable[..., Score]:
    return lambda value, label, explanation, **more: _score(
        Scored(value, Label(label) if label else None, explanation), **more
    )


@pytest.fixture
def skipped() -> Callable[..., Score]:
    return lambda reason, **more: _score(Skipped(reason), **more)


@pytest.fixture
def errored() -> Callable[..., Score]:
    return lambda error_type, message: _score(Errored(error_type, message))


@pytest.fixture
def evaluation_of() -> Callable[..., TraceEvaluation]:
    """The evaluation of a trace of two spans, with these scores."""

    def evaluation(*scores: Score, request: ExportTraceServiceRequest | None = None) -> TraceEvaluation:
        spans = normalise_request(request or request_with((1, 1, None), (1, 2, 1)))
        run = Run(trace_id(1).hex(), span_id(1).hex(), "agent", None, None, ())
        return TraceEvaluation(
            trace_of(spans), (RunEvaluation(run, {}, NoReplay("a test"), tuple(scores)),), ()
        )

    return evaluation
