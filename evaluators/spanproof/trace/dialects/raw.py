"""A span as it was received, before any dialect has read it.

One `RawSpan` per OTLP span, with attributes decoded to plain Python. Attributes may be of any type at any
key, as nothing holds a producer to a convention: the getters answer None where the type is not the one
required, and never raise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.trace.v1 import trace_pb2

from spanproof.trace import AttributeValue, Event, Span
from spanproof.trace.otlp import ExportTraceServiceRequest, get_attributes


@dataclass(frozen=True, slots=True)
class RawSpan:
    """One OTLP span; ids are lower-case hex, `parent_id` is None on a root.

    Attributes:
        scope_version: of the instrumentation scope, empty where it names none.
        failed: the status is ERROR.
        status_message: the description of the status, empty where there is none.
        dropped: how many attributes the producer's limits removed.
    """

    scope: str
    scope_version: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str | None
    start_ns: int
    end_ns: int
    failed: bool
    status_message: str
    attributes: Mapping[str, AttributeValue]
    events: tuple[Event, ...]
    dropped: int
    resource: Mapping[str, AttributeValue]

    def find_text(self, *keys: str) -> str | None:
        """Return the first of these attributes that is a non-empty text."""
        for key in keys:
            value = self.attributes.get(key)
            if isinstance(value, str) and value:
                return value
        return None

    def find_integer(self, *keys: str) -> int | None:
        """Return the first of these attributes that is a whole number."""
        for key in keys:
            value = self.attributes.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
                return int(value)
        return None

    def get_first(self, *keys: str) -> AttributeValue:
        """Return the first of these attributes that is there and not empty, of whatever type."""
        for key in keys:
            value = self.attributes.get(key)
            if value is not None and value != "":
                return value
        return None


def iter_raw_spans(request: ExportTraceServiceRequest) -> Iterator[RawSpan]:
    """Yield every span of the request, in its order."""
    for resource_spans in request.resource_spans:
        resource = get_attributes(resource_spans.resource.attributes)
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                yield _build_raw_span(span, scope_spans.scope, resource)


def build_raw_span(span: Span) -> RawSpan:
    """Return the span as it was received, out of what was made of it."""
    failed, message = span.failed, span.status_message
    if message is None:  # stored by a version that kept the error only
        failed, message = span.error is not None, span.error.message if span.error else ""
    return RawSpan(
        scope=span.scope,
        scope_version=span.scope_version,
        name=span.name,
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_id=span.parent_id,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        failed=failed,
        status_message=message,
        attributes=span.attributes,
        events=span.events,
        dropped=span.dropped_attributes,
        resource=span.resource,
    )


def _build_raw_span(
    span: trace_pb2.Span, scope: InstrumentationScope, resource: Mapping[str, AttributeValue]
) -> RawSpan:
    attributes = get_attributes(span.attributes)
    if scope.attributes:
        # What a scope says of itself holds for each of its spans.
        attributes = {**get_attributes(scope.attributes), **attributes}
    parent_id = span.parent_span_id.hex()
    return RawSpan(
        scope=scope.name,
        scope_version=scope.version,
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=parent_id if parent_id.strip("0") else None,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        failed=span.status.code == trace_pb2.Status.STATUS_CODE_ERROR,
        status_message=span.status.message,
        attributes=attributes,
        events=tuple(
            Event(event.name, event.time_unix_nano, get_attributes(event.attributes)) for event in span.events
        ),
        dropped=span.dropped_attributes_count,
        resource=resource,
    )
