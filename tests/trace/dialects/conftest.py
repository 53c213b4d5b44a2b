"""Golden traces by dialect, and small spans with any attributes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from spanproof.trace import AttributeValue, Span
from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import build_any_value, read_file

GOLDEN = Path(__file__).parents[2] / "golden" / "dialects"


@pytest.fixture
def golden_spans() -> Callable[[str], list[Span]]:
    """The spans of a golden trace by its file's name."""

    def read(name: str) -> list[Span]:
        return [span for request in read_file(GOLDEN / f"{name}.json") for span in normalise_request(request)]

    return read


@pytest.fixture
def assert_golden() -> Callable[[str, str], None]:
    """Compare with a golden file; `UPDATE_GOLDEN=1` writes it."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(text)
        assert text == path.read_text(), f"{path.name} differs; UPDATE_GOLDEN=1 writes it anew"

    return check


@pytest.fixture
def one_span() -> Callable[..., Span]:
    """Normalise one span with these attributes."""

    def make(attributes: Mapping[str, AttributeValue], scope: str = "", name: str = "span") -> Span:
        request = ExportTraceServiceRequest()
        scope_spans = request.resource_spans.add().scope_spans.add()
        scope_spans.scope.name = scope
        span = scope_spans.spans.add(name=name, trace_id=b"\1" * 16, span_id=b"\2" * 8)
        span.attributes.extend(
            KeyValue(key=key, value=build_any_value(value)) for key, value in attributes.items()
        )
        return normalise_request(request)[0]

    return make
