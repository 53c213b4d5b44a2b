"""Small requests and spans, built by hand and at random."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from spanproof.trace import Span, SpanKind
from spanproof.trace.otlp import build_any_value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    TEXTS,
    st.binary(max_size=20),
)

ATTRIBUTE_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def _key_values(attributes: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=build_any_value(value)) for key, value in attributes.items()]


@st.composite
def proto_spans(draw: st.DrawFn) -> ProtoSpan:
    span = ProtoSpan(
        trace_id=draw(st.binary(min_size=16, max_size=16)),
        span_id=draw(st.binary(min_size=8, max_size=8)),
        parent_span_id=draw(st.just(b"") | st.binary(min_size=8, max_size=8)),
        name=draw(TEXTS),
        kind=draw(st.sampled_from(range(6))),
        start_time_unix_nano=draw(st.integers(0, 2**64 - 1)),
        end_time_unix_nano=draw(st.integers(0, 2**64 - 1)),
        attributes=_key_values(draw(st.dictionaries(TEXTS, ATTRIBUTE_VALUES, max_size=3))),
        dropped_attributes_count=draw(st.integers(0, 2**32 - 1)),
    )
    for name in draw(st.lists(TEXTS, max_size=2)):
        span.events.add(name=name, time_unix_nano=draw(st.integers(0, 2**64 - 1)))
    for trace_id in draw(st.lists(st.binary(min_size=16, max_size=16), max_size=2)):
        span.links.add(trace_id=trace_id, span_id=b"\1" * 8)
    span.status.code = draw(st.sampled_from([0, 1, 2]))
    span.status.message = draw(TEXTS)
    return span


@st.composite
def requests(draw: st.DrawFn) -> ExportTraceServiceRequest:
    scope_spans = ScopeSpans(
        scope=InstrumentationScope(name=draw(TEXTS), version=draw(TEXTS)),
        spans=draw(st.lists(proto_spans(), max_size=3)),
    )
    resource = Resource(attributes=_key_values(draw(st.dictionaries(TEXTS, SCALARS, max_size=2))))
    return ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(resource=resource, scope_spans=[scope_spans])]
    )


@pytest.fixture(scope="session")
def any_request():
    return requests()


@pytest.fixture(scope="session")
def any_attribute_value():
    return ATTRIBUTE_VALUES


@pytest.fixture
def small_request() -> ExportTraceServiceRequest:
    """One span that uses each kind of field the codec treats."""
    span = ProtoSpan(
        trace_id=bytes(range(16)),
        span_id=bytes(range(8)),
        parent_span_id=bytes(range(8, 16)),
        name="step 1",
        kind=ProtoSpan.SPAN_KIND_INTERNAL,
        start_time_unix_nano=1_700_000_000_000_000_001,
        end_time_unix_nano=1_700_000_000_000_000_002,
        attributes=_key_values({"code": "print(1)", "tokens": 7, "blob": b"\0\1"}),
    )
    span.links.add(trace_id=b"\2" * 16, span_id=b"\3" * 8)
    scope_spans = ScopeSpans(scope=InstrumentationScope(name="app"), spans=[span])
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope_spans])])


@pytest.fixture
def make_span():
    """A span by its id, parent and times."""

    def make(span_id: str, parent: str | None = None, start: int = 0, end: int = 10, **rest: Any) -> Span:
        trace_id = rest.pop("trace_id", "t")
        kind = rest.pop("kind", SpanKind.CHAIN)
        return Span(trace_id, span_id, parent, rest.pop("name", span_id), kind, start, end, **rest)

    return make
