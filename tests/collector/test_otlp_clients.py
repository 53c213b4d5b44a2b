"""Clients that others wrote are understood: their spans arrive whole, by each protocol they have."""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from node_programs import run_node
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from otlp_peers import javascript_exporters, otel_collector, rotel, telemetrygen
from waiting import wait_until

from spanproof.collector.receive.signals import SHAPES, Signal
from spanproof.collector.stages.otlp_client import Delivery, open_target
from spanproof.config.model import Forward, Limits
from spanproof.trace.otlp import get_attributes

pytestmark = pytest.mark.peers

DEPLOY = Path(__file__).parents[2] / "deploy"


class Kept:
    def __init__(self) -> None:
        self.requests: list[tuple[Signal, bytes]] = []

    def forward(self, signal: Signal, body: bytes) -> None:
        self.requests.append((signal, body))

    def write_scores(self, scores: object) -> None:
        raise AssertionError("there are none")


@pytest.mark.parametrize("kind", ["json", "proto", "grpc"])
def test_the_exporters_for_javascript(listen, kind) -> None:
    folder = javascript_exporters()
    with listen() as listening:
        url = f"http://{listening.endpoints.grpc}" if kind == "grpc" else listening.traces_url
        run_node(folder, "send.js", kind, url, timeout_s=120)
        wait_until(lambda: len(listening.span_names()) == 2, "both spans have come")
        assert sorted(listening.span_names()) == ["first", "second"]
        spans = [
            span
            for accepted in listening.accepted
            for resource in accepted.request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        first = next(span for span in spans if span.name == "first")
        assert get_attributes(first.attributes) == {"text": "ünïcode", "number": 2**40, "list": [1.5, 2]}


@pytest.mark.parametrize("way", [["--otlp-http"], []], ids=["http", "grpc"])
@pytest.mark.parametrize("signal", list(Signal))
def test_the_telemetry_generator(listen, signal, way) -> None:
    kept = Kept()
    with listen(relay=kept) as listening:
        endpoint = listening.endpoints.grpc if not way else listening.endpoints.http.removeprefix("http://")
        count = ["--traces", "5"] if signal is Signal.TRACES else [f"--{signal.value}", "5"]
        subprocess.run(
            [telemetrygen(), signal.value, "--otlp-insecure", "--otlp-endpoint", endpoint, *way, *count],
            check=True,
            capture_output=True,
            timeout=120,
        )
        if signal is Signal.TRACES:
            assert len(listening.span_names()) == 10
        else:
            assert {each for each, _ in kept.requests} == {signal}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_collector(folder: Path, exporters: dict[str, object]) -> Iterator[tuple[str, str]]:
    """The OpenTelemetry Collector with these exporters for all signals; where it takes gRPC and HTTP."""
    grpc_port, http_port = _free_port(), _free_port()
    pipeline = {"receivers": ["otlp"], "exporters": list(exporters)}
    configuration = {
        "receivers": {
            "otlp": {
                "protocols": {
                    "grpc": {"endpoint": f"127.0.0.1:{grpc_port}"},
                    "http": {"endpoint": f"127.0.0.1:{http_port}"},
                }
            }
        },
        "exporters": exporters,
        "service": {
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {signal.value: pipeline for signal in Signal},
        },
    }
    command = [otel_collector(), f"--config=yaml:{json.dumps(configuration)}"]
    with (folder / "otelcol.log").open("w") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            wait_until(lambda: _answers(grpc_port) and _answers(http_port), "the Collector listens")
            yield f"grpc://127.0.0.1:{grpc_port}", f"http://127.0.0.1:{http_port}"
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_the_opentelemetry_collector_in_front(listen, make_request, tmp_path, protocol) -> None:
    kept = Kept()
    with listen(relay=kept) as listening:
        exporter: dict[str, object] = {"endpoint": listening.endpoints.http}
        if protocol == "grpc":
            exporter = {"endpoint": listening.endpoints.grpc, "tls": {"insecure": True}}
        name = "otlp_grpc" if protocol == "grpc" else "otlp_http"
        with running_collector(tmp_path, {name: exporter}) as (_, http):
            provider = TracerProvider()
            provider.add_span_processor(SimpleSpanProcessor(HttpExporter(f"{http}/v1/traces")))
            with provider.get_tracer("t").start_as_current_span("through the Collector"):
                pass
            provider.shutdown()
            logs = SHAPES[Signal.LOGS].request()
            logs.resource_logs.add().scope_logs.add().log_records.add().body.string_value = "a line"
            with open_target(Forward(endpoint=http)) as target:
                assert target.send(Signal.LOGS, logs.SerializeToString()) is Delivery.SENT
            wait_until(lambda: listening.span_names() and kept.requests, "everything has come through")
        assert listening.span_names() == ["through the Collector"]
        assert b"a line" in kept.requests[0][1]


def test_the_opentelemetry_collector_comes_again_and_loses_nothing(listen, tmp_path) -> None:
    with listen(limits=Limits(max_backlog_bytes=10)) as listening:
        listening.backlog.add(10)
        exporter = {"endpoint": listening.endpoints.http, "retry_on_failure": {"initial_interval": "100ms"}}
        with running_collector(tmp_path, {"otlp_http": exporter}) as (grpc_url, _):
            provider = TracerProvider()
            endpoint = grpc_url.removeprefix("grpc://")
            provider.add_span_processor(SimpleSpanProcessor(GrpcExporter(endpoint, insecure=True)))
            with provider.get_tracer("t").start_as_current_span("patient"):
                pass
            provider.shutdown()
            outcome = {"protocol": "http", "outcome": "full"}
            wait_until(
                lambda: listening.counted("spanproof_receive_requests_total", **outcome) > 0, "it is refused"
            )
            listening.backlog.remove(10)
            wait_until(lambda: listening.span_names() == ["patient"], "the span has come")


def test_rotel_in_front_comes_again_and_loses_nothing(listen, tmp_path) -> None:
    grpc_port, http_port = _free_port(), _free_port()
    with listen(limits=Limits(max_backlog_bytes=10)) as listening:
        listening.backlog.add(10)
        environment = read_environment(DEPLOY / "rotel" / "gateway.env") | {
            "ROTEL_OTLP_GRPC_ENDPOINT": f"127.0.0.1:{grpc_port}",
            "ROTEL_OTLP_HTTP_ENDPOINT": f"127.0.0.1:{http_port}",
            "ROTEL_OTLP_EXPORTER_ENDPOINT": listening.endpoints.http,
            "ROTEL_OTLP_EXPORTER_RETRY_INITIAL_BACKOFF": "100ms",
        }
        with (
            (tmp_path / "rotel.log").open("w") as log,
            subprocess.Popen([rotel(), "start"], env=environment, stdout=log, stderr=log) as process,
        ):
            try:
                wait_until(lambda: _answers(http_port), "Rotel listens")
                provider = TracerProvider()
                exporter = HttpExporter(f"http://127.0.0.1:{http_port}/v1/traces")
                provider.add_span_processor(SimpleSpanProcessor(exporter))
                with provider.get_tracer("t").start_as_current_span("through Rotel"):
                    pass
                provider.shutdown()
                refused = {"protocol": "http", "outcome": "full"}
                wait_until(
                    lambda: listening.counted("spanproof_receive_requests_total", **refused) > 0,
                    "it is refused",
                )
                listening.backlog.remove(10)
                wait_until(lambda: listening.span_names() == ["through Rotel"], "the span has come")
            finally:
                process.terminate()


def read_environment(file: Path) -> dict[str, str]:
    """Return the variables of a file as a shell reads it."""
    words = shlex.split(file.read_text(), comments=True)
    return {name: value for name, _, value in (word.partition("=") for word in words)}


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_the_opentelemetry_collector_behind(listen, make_request, tmp_path, protocol) -> None:
    """What our client sends is taken by the Collector, which hands it back to us to look at."""
    with listen() as listening:
        back = {"endpoint": listening.endpoints.http}
        with running_collector(tmp_path, {"otlp_http": back}) as urls:
            url = urls[0] if protocol == "grpc" else urls[1]
            with open_target(Forward(endpoint=url)) as target:
                request = make_request((1, 1, None), (1, 2, 1), text="x" * 5000)
                assert target.send(Signal.TRACES, request.SerializeToString()) is Delivery.SENT
                wait_until(lambda: len(listening.accepted) == 1, "the spans have come back")
                came, sent = (
                    [
                        (span.name, span.span_id, span.start_time_unix_nano, get_attributes(span.attributes))
                        for span in each.resource_spans[0].scope_spans[0].spans
                    ]
                    for each in (listening.accepted[0].request, request)
                )
                assert came == sent
