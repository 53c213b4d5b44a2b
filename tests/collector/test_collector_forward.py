from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from waiting import wait_until

from spanproof.collector.receive.signals import SHAPES, Signal
from spanproof.collector.stages.assemble import CompleteTrace, Why
from spanproof.collector.stages.attach import COLLECTOR_SCOPE, EVALUATOR_SCOPE
from spanproof.collector.stages.evaluate import Evaluated, Work
from spanproof.collector.stages.forward import Forwarder
from spanproof.collector.stages.fragments import build_index
from spanproof.collector.telemetry import Telemetry
from spanproof.config.model import Forward
from spanproof.trace.otlp import read_file
from spanproof.trace.project import TraceKey


@dataclass
class Endpoint:
    """An OTLP/HTTP endpoint that answers as it is set, then 200."""

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
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            endpoint.requests.append((self.path, dict(self.headers.items()), body))
            status, headers = endpoint.answers.pop(0) if endpoint.answers else (200, {})
            self.send_response(status)
            for name, value in {"content-length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield endpoint
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def evaluated(make_request, evaluation_of, scored) -> Evaluated:
    bodies = (
        make_request((1, 1, None), text="x" * 5000).SerializeToString(),
        make_request((1, 2, 1)).SerializeToString(),
    )
    complete = CompleteTrace(TraceKey("default", f"{1:032x}"), (1, 2), (1, 2), 0, True, Why.QUIET)
    return Evaluated(complete, evaluation_of(scored(0.25, "fail", "no")), body=b"".join(bodies))


@pytest.fixture
def forwarding(tmp_path: Path) -> Callable[..., object]:
    @contextmanager
    def run(telemetry: Telemetry, **settings: object) -> Iterator[Forwarder]:
        forwarder = Forwarder([Forward.model_validate(settings)], tmp_path / "forward", telemetry)
        forwarder.start()
        try:
            yield forwarder
        finally:
            forwarder.drain(10)

    return run


@pytest.fixture
def forward(tmp_path: Path) -> Callable[..., None]:
    def run(telemetry: Telemetry, *evaluated: Evaluated, drain_s: float = 10, **settings: object) -> None:
        forwarder = Forwarder([Forward.model_validate(settings)], tmp_path / "forward", telemetry)
        forwarder.start()
        for one in evaluated:
            forwarder.keep([one])
        forwarder.drain(drain_s)

    return run


def outcomes(telemetry: Telemetry, signal: str, outcome: str) -> float:
    labels = {"signal": signal, "outcome": outcome}
    return telemetry.registry.get_sample_value("spanproof_forward_requests_total", labels) or 0.0


def test_spans_go_on_with_their_scores_and_events_beside_them(forward, endpoint, evaluated) -> None:
    telemetry = Telemetry()
    forward(telemetry, evaluated, endpoint=endpoint.url, headers={"x-key": "k"}, traces="all")
    assert endpoint.spans() == [
        ("test", "span 1"),
        ("test", "span 2"),
        (EVALUATOR_SCOPE, "spanproof.groundedness"),
    ]
    assert endpoint.events() == ["gen_ai.evaluation.result"]
    assert all(headers["x-key"] == "k" for _, headers, _ in endpoint.requests)
    assert outcomes(telemetry, "traces", "sent") == outcomes(telemetry, "logs", "sent") == 1


def test_a_trace_that_comes_again_sends_only_what_is_new(
    forward, endpoint, evaluated, evaluation_of, scored, make_request
) -> None:
    body = make_request((1, 1, None)).SerializeToString()
    complete = replace(evaluated.complete, bodies=(3,), records=(3,), generation=1)
    scores = (scored(0.25, "fail", "no"), scored(1.0, "pass", "", name="binding"))
    again = Evaluated(complete, evaluation_of(*scores), body=body)
    forward(Telemetry(), evaluated, again, endpoint=endpoint.url, traces="all")
    assert endpoint.spans()[3:] == [
        ("test", "span 1"),
        (EVALUATOR_SCOPE, "spanproof.groundedness.binding"),
    ]
    assert len(endpoint.events()) == 2


def test_by_default_the_agents_spans_go_on_unchanged_and_no_others(forward, endpoint, evaluated) -> None:
    forward(Telemetry(), evaluated, endpoint=endpoint.url)
    assert endpoint.events() == ["gen_ai.evaluation.result"]
    bodies = [body for path, _, body in endpoint.requests if path == "/v1/traces"]
    sent = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    assert sent == [ExportTraceServiceRequest.FromString(evaluated.body)]


def test_two_targets_may_get_different_spans(endpoint, evaluated, tmp_path) -> None:
    judged = tmp_path / "judged.jsonl"
    targets = [
        Forward.model_validate({"endpoint": endpoint.url}),
        Forward.model_validate({"endpoint": judged.as_uri(), "traces": "all"}),
    ]
    forwarder = Forwarder(targets, tmp_path / "forward", Telemetry())
    forwarder.start()
    forwarder.keep([evaluated])
    forwarder.drain(10)
    assert endpoint.spans() == [("test", "span 1"), ("test", "span 2")]
    assert EVALUATOR_SCOPE in judged.read_text(encoding="utf-8")


def test_a_trace_that_could_not_be_evaluated_goes_on_as_it_came(forward, endpoint, evaluated) -> None:
    forward(Telemetry(), replace(evaluated, evaluation=None), endpoint=endpoint.url)
    assert endpoint.spans() == [("test", "span 1"), ("test", "span 2")]
    assert endpoint.events() == []


def test_each_signal_may_be_switched_off(forward, endpoint, evaluated) -> None:
    forward(Telemetry(), evaluated, endpoint=endpoint.url, traces=False)
    assert [path for path, _, _ in endpoint.requests] == ["/v1/logs"]


def test_a_busy_endpoint_is_tried_again_when_it_says(forwarding, endpoint, evaluated) -> None:
    endpoint.answers = [(503, {"retry-after": "2"}), (429, {}), (200, {})]
    telemetry = Telemetry()
    began = time.monotonic()
    with forwarding(telemetry, endpoint=endpoint.url, logs=False) as forwarder:
        forwarder.keep([evaluated])
        wait_until(lambda: outcomes(telemetry, "traces", "sent") == 1, "the request is sent")
    assert time.monotonic() - began > 2.5
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("status", [400, 404, 413, 500])
def test_what_was_refused_for_good_is_not_repeated(forward, endpoint, evaluated, status) -> None:
    endpoint.answers = [(status, {})]
    telemetry = Telemetry()
    forward(telemetry, evaluated, endpoint=endpoint.url, logs=False)
    assert len(endpoint.requests) == 1
    assert outcomes(telemetry, "traces", "refused") == 1


def test_a_request_that_is_never_taken_is_dropped_in_the_end_and_counted(
    forwarding, closed_port, evaluated
) -> None:
    telemetry = Telemetry()
    down = f"http://127.0.0.1:{closed_port}"
    with forwarding(telemetry, endpoint=down, retry_for_s=1.2, logs=False) as forwarder:
        forwarder.keep([evaluated])
        wait_until(lambda: outcomes(telemetry, "traces", "dropped") == 1, "the request is dropped")


def test_what_waits_is_sent_by_the_next_run(forward, forwarding, closed_port, endpoint, evaluated) -> None:
    forward(Telemetry(), evaluated, endpoint=f"http://127.0.0.1:{closed_port}", name="late", drain_s=0.1)
    assert endpoint.requests == []
    telemetry = Telemetry()
    with forwarding(telemetry, endpoint=endpoint.url, name="late"):
        wait_until(lambda: outcomes(telemetry, "logs", "sent") == 1, "both requests are sent")
    assert [path for path, _, _ in endpoint.requests] == ["/v1/traces", "/v1/logs"]


@pytest.mark.parametrize("scheme", ["grpc", "http"])
def test_every_signal_is_sent_on_over_both_protocols(forwarding, listen, scheme) -> None:
    class Kept:
        def __init__(self) -> None:
            self.signals: list[Signal] = []

        def forward(self, signal: Signal, body: bytes) -> None:
            self.signals.append(signal)

        def write_scores(self, scores: object) -> None:
            raise AssertionError("there are none")

    kept = Kept()
    with listen(relay=kept) as listening:
        url = listening.endpoints.http if scheme == "http" else f"grpc://{listening.endpoints.grpc}"
        telemetry = Telemetry()
        with forwarding(telemetry, endpoint=url, metrics=True) as forwarder:
            for signal in Signal:
                request = SHAPES[signal].request()
                resource = getattr(request, SHAPES[signal].resources).add()
                resource.resource.attributes.add(key="service.name").value.string_value = "shop"
                forwarder.forward(signal, request.SerializeToString())
            for signal in Signal:
                wait_until(lambda at=signal: outcomes(telemetry, at.value, "sent") == 1, f"{signal} is sent")
        assert kept.signals == [Signal.LOGS, Signal.METRICS]


def test_a_file_gets_one_line_of_otlp_json_a_request_and_is_rotated(forward, tmp_path, evaluated) -> None:
    path = tmp_path / "out" / "spans.jsonl"
    settings = {"endpoint": f"file://{path}", "logs": False, "rotate_bytes": 5000, "keep_files": 1}
    forward(Telemetry(), evaluated, evaluated, evaluated, evaluated, **settings)
    files = sorted(path.parent.iterdir())
    assert len(files) == 2
    requests = [request for file in files for request in read_file(file)]
    assert requests[0].resource_spans[0].scope_spans[0].spans[0].name == "span 1"
    assert path.stat().st_mode & 0o777 == 0o600


def test_stopping_does_not_wait_for_an_endpoint_that_is_down(forward, closed_port, evaluated) -> None:
    telemetry = Telemetry()
    began = time.monotonic()
    forward(telemetry, evaluated, endpoint=f"http://127.0.0.1:{closed_port}", retry_for_s=600, drain_s=0.5)
    assert time.monotonic() - began < 60  # not those it would be tried for


def test_a_full_queue_drops_the_newest_and_counts_it(forward, closed_port, evaluated) -> None:
    telemetry = Telemetry()
    settings = {"endpoint": f"http://127.0.0.1:{closed_port}", "queue_bytes": 100}
    forward(telemetry, evaluated, drain_s=0.1, **settings)
    assert outcomes(telemetry, "traces", "dropped") == 1


def test_a_target_that_wants_own_traces_gets_where_the_time_of_each_trace_went(
    forward, endpoint, evaluated
) -> None:
    took = replace(evaluated, work=Work(1_000_000_000, 3_000_000_000, 0.5, 2))
    forward(Telemetry(), took, endpoint=endpoint.url, traces=False, logs=False, own_traces=True)
    assert endpoint.spans() == [
        (COLLECTOR_SCOPE, f"spanproof.{name}") for name in ("trace", "wait", "evaluate", "store")
    ]
    request = ExportTraceServiceRequest.FromString(endpoint.requests[0][2])
    root, wait, evaluate, store = request.resource_spans[0].scope_spans[0].spans
    assert {each.parent_span_id for each in (wait, evaluate, store)} == {root.span_id}
    assert root.links[0].trace_id.hex() == evaluated.complete.trace_id
    assert (wait.start_time_unix_nano, wait.end_time_unix_nano) == (1_000_000_000, 3_000_000_000)
    assert evaluate.end_time_unix_nano == store.start_time_unix_nano == 3_500_000_000
    assert store.end_time_unix_nano == root.end_time_unix_nano > time.time_ns() - 600 * 10**9
    facts = {pair.key: pair.value for pair in root.attributes}
    assert facts["spanproof.collector.attempts"].int_value == 2
    back = build_index(request, request.SerializeToString())
    assert (back.spans, back.own) == (0, 4)


def test_own_traces_go_to_no_target_that_does_not_want_them(forward, endpoint, evaluated) -> None:
    forward(Telemetry(), replace(evaluated, work=Work(1, 2, 0.5, 1)), endpoint=endpoint.url)
    assert COLLECTOR_SCOPE not in {scope for scope, _ in endpoint.spans()}
