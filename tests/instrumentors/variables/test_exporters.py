"""How spans are sent: by which exporters, in what batches, and how they are written."""

import pytest

from .otlp_sinks import counted, grpc_sink, http_sink
from .programs import honours, ran, said_quietly


@honours("OTEL_TRACES_EXPORTER")
def test_exporters_are_those_that_are_named(sink, components):
    _, errors, printed, console = ran(
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
        OTEL_TRACES_EXPORTER="console, otlp,silent,otlp",
        **components,
    )
    assert (errors, console) == ({}, "")
    assert '"name": "work"' in printed
    assert "taken linked work" in printed
    assert [span.name for span in sink.spans] == ["linked", "work"]


def test_no_exporter_but_the_broken_ones_is_left_out(sink, components):
    _, errors, _, console = ran(
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, OTEL_TRACES_EXPORTER="breaking,zipkin,otlp", **components
    )
    assert errors == {"environment": 2}
    for name, reason in (("breaking", "LookupError: no licence"), ("zipkin", "LookupError: no installed")):
        assert f"OTEL_TRACES_EXPORTER={name!r} fails with {reason}" in console
    assert [span.name for span in sink.spans] == ["linked", "work"]


@honours(
    "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_BSP_MAX_QUEUE_SIZE",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
)
@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({}, [2048, 512, 5000, 10]),
        ({"OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_SCHEDULE_DELAY": "50"}, [100, 100, 50, 10]),
        ({"OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "7", "OTEL_EXPORTER_OTLP_TIMEOUT": "20"}, [2048, 7, 5000, 20]),
        (
            {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "2.5"},
            [2048, 512, 5000, 2.5],
        ),
    ],
)
def test_batches_and_timeouts_are_as_the_environment_says(protocol, environment, says):
    reported = said_quietly(
        "[batch()._max_queue_size, batch()._max_export_batch_size, batch()._schedule_delay_millis,"
        " exporter()._timeout]",
        OTEL_TRACES_SAMPLER="always_off",
        OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
        **environment,
    )
    assert reported == says


@honours("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"])
def test_the_protocol_is_as_the_environment_says(variable):
    with grpc_sink() as sink:
        said_quietly(OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, **{variable: "grpc"})
        assert sink.named("work")


@honours(
    "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)
@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"])
@pytest.mark.parametrize(("protocol", "opened"), [("grpc", grpc_sink), ("http/protobuf", http_sink)])
def test_headers_go_with_each_export(protocol, opened, variable):
    with opened() as sink:
        said_quietly(
            OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
            OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{sink.endpoint}/own/path",
            **{variable: "Authorization=Bearer%20x, other=1"},
        )
    assert sink.requests
    for path, headers in sink.requests:  # mostly one: a slow machine's batch may go in two
        assert (headers["authorization"], headers["other"]) == ("Bearer x", "1")
        assert path == ("" if protocol == "grpc" else "/own/path")


@honours("OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION")
@pytest.mark.parametrize(
    "variable", ["OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION"]
)
@pytest.mark.parametrize(
    ("protocol", "compression"),
    [
        ("grpc", "none"),
        ("grpc", "gzip"),
        ("http/protobuf", "none"),
        ("http/protobuf", "gzip"),
        ("http/protobuf", "deflate"),
    ],
)
def test_compression_is_as_the_environment_says(protocol, compression, variable):
    opened = grpc_sink if protocol == "grpc" else http_sink
    with opened() as sink, counted(sink.endpoint) as (endpoint, sizes):
        said_quietly(
            before="import os",
            arguments="instrument=(), service_name='x' * 50_000",
            OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
            **{variable: compression},
        )
        assert sink.named("work")
    assert (sum(sizes) < 10_000) == (compression != "none")


def test_grpc_requested_for_without_its_exporter_is_reported(sink):
    hiding = "import sys\nsys.modules['opentelemetry.exporter.otlp.proto.grpc'] = None"
    _, errors, _, console = ran(
        before=hiding, OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, OTEL_EXPORTER_OTLP_PROTOCOL="grpc"
    )
    assert (errors, sink.taken) == ({"environment": 1}, [])
    assert "gRPC needs the package opentelemetry-exporter-otlp-proto-grpc" in console
