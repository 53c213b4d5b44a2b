from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.stages.assemble import CompleteTrace, Why
from spanproof.collector.stages.attach import EVALUATOR_SCOPE
from spanproof.collector.stages.evaluate import Evaluated
from spanproof.collector.stages.forward import Forwarder
from spanproof.collector.telemetry import Telemetry
from spanproof.config.model import Forward


@dataclass
class Endpoint:
    """An OTLP/HTTP endpoint that answers as it is told, then 200."""

    url: str = ""
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    def spans(self) -> list[tuple[str, str]]:
        return [
            (scope.scope.name, span.name)
            for path, _, body in self.requests
            if path == "/v1/traces"
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def events(self) -> list[str]:
        return [
            record.event_name
            for path, _, body in self.requests
            if path == "/v1/logs"
            for resource in ExportLogsServiceRequest.FromString(body).resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    told = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            told.requests.append((self.path, dict(self.headers.items()), body))
            status, headers = told.answers.pop(0) if told.answers else (200, {})
            self.send_response(status)
            for name, value in {"content-length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield told
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def evaluated(make_request, evaluation_of, scored) -> Evaluated:
    bodies = (
        make_request((1, 1, None), text="x" * 5000).SerializeToString(),
        make_request((1, 2, 1)).SerializeToString(),
    )
    complete = CompleteTrace(f"{1:032x}", (1, 2), (1, 2), 0, True, Why.QUIET)
    return Evaluated(complete, evaluation_of(scored(0.25, "fail", "no")), body=b"".join(bodies))


def forward(telemetry: Telemetry, *evaluated: Evaluated, drain_s: float = 10, **settings: object) -> None:
    forwarder = Forwarder([Forward.model_validate(settings)], telemetry)
    forwarder.start()
    for one in evaluated:
        forwarder.forward([one])
    forwarder.drain(drain_s)


def outcomes(telemetry: Telemetry, signal: str, outcome: str) -> float:
    labels = {"signal": signal, "outcome": outcome}
    return telemetry.registry.get_sample_value("spanproof_forward_requests_total", labels) or 0.0


def test_spans_go_on_with_their_scores_and_events_beside_them(endpoint, evaluated) -> None:
    telemetry = Telemetry()
    forward(telemetry, evaluated, endpoint=endpoint.url, headers={"x-key": "k"})
    assert endpoint.spans() == [
        ("test", "span 1"),
        ("test", "span 2"),
        (EVALUATOR_SCOPE, "spanproof.groundedness"),
    ]
    assert endpoint.events() == ["gen_ai.evaluation.result"]
    assert all(headers["x-key"] == "k" for _, headers, _ in endpoint.requests)
    assert outcomes(telemetry, "traces", "sent") == outcomes(telemetry, "logs", "sent") == 1


def test_a_trace_that_comes_again_sends_only_what_is_new(
    endpoint, evaluated, evaluation_of, scored, make_request
) -> None:
    body = make_request((1, 1, None)).SerializeToString()
    complete = replace(evaluated.complete, bodies=(3,), records=(3,), generation=1)
    scores = (scored(0.25, "fail", "no"), scored(1.0, "pass", "", name="binding"))
    forward(
        Telemetry(), evaluated, Evaluated(complete, evaluation_of(*scores), body=body), endpoint=endpoint.url
    )
    assert endpoint.spans()[3:] == [
        ("test", "span 1"),
        (EVALUATOR_SCOPE, "spanproof.groundedness.binding"),
    ]
    assert len(endpoint.events()) == 2


def test_a_trace_that_could_not_be_evaluated_goes_on_as_it_came(endpoint, evaluated) -> None:
    forward(Telemetry(), replace(evaluated, evaluation=None), endpoint=endpoint.url)
    assert endpoint.spans() == [("test", "span 1"), ("test", "span 2")]
    assert endpoint.events() == []


def test_each_signal_may_be_switched_off(endpoint, evaluated) -> None:
    forward(Telemetry(), evaluated, endpoint=endpoint.url, traces=False)
    assert [path for path, _, _ in endpoint.requests] == ["/v1/logs"]


def test_a_busy_endpoint_is_tried_again_when_it_says(endpoint, evaluated) -> None:
    endpoint.answers = [(503, {"retry-after": "1"}), (429, {}), (200, {})]
    telemetry = Telemetry()
    began = time.monotonic()
    forward(telemetry, evaluated, endpoint=endpoint.url, logs=False)
    assert time.monotonic() - began > 1.5
    assert len(endpoint.requests) == 3
    assert outcomes(telemetry, "traces", "sent") == 1


@pytest.mark.parametrize("status", [400, 404, 413, 500])
def test_what_was_refused_for_good_is_not_repeated(endpoint, evaluated, status) -> None:
    endpoint.answers = [(status, {})]
    telemetry = Telemetry()
    forward(telemetry, evaluated, endpoint=endpoint.url, logs=False)
    assert len(endpoint.requests) == 1
    assert outcomes(telemetry, "traces", "refused") == 1


def test_an_endpoint_that_is_down_costs_bounded_time_and_is_counted(closed_port, evaluated) -> None:
    telemetry = Telemetry()
    down = f"http://127.0.0.1:{closed_port}"
    began = time.monotonic()
    forward(telemetry, evaluated, drain_s=600, endpoint=down, retry_for_s=1.2, logs=False)
    assert time.monotonic() - began < 60  # not those it may take to stop
    assert outcomes(telemetry, "traces", "dropped") == 1


def test_stopping_does_not_wait_for_an_endpoint_that_is_down(closed_port, evaluated) -> None:
    telemetry = Telemetry()
    began = time.monotonic()
    forward(telemetry, evaluated, endpoint=f"http://127.0.0.1:{closed_port}", retry_for_s=600, drain_s=0.5)
    assert time.monotonic() - began < 60  # not those it would be tried for


def test_a_full_queue_drops_the_newest_and_counts_it(closed_port, evaluated) -> None:
    telemetry = Telemetry()
    settings = {"endpoint": f"http://127.0.0.1:{closed_port}", "queue_bytes": 100}
    forward(telemetry, evaluated, drain_s=0.1, **settings)
    assert outcomes(telemetry, "traces", "dropped") == 1
