"""OTLP requests and clients for the collector's tests."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

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
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield int(taken.getsockname()[1])


@pytest.fixture
def wal_directory(tmp_path: Path) -> Path:
    return tmp_path / "wal"
