"""An export request to messages of the topic: each holds spans of one trace, and its key is the trace's id.

The form is `otlp_proto` with `partition_traces_by_id` of the OpenTelemetry Collector's Kafka exporter: the
value is an export request, the key the id in hexadecimal.
"""

from __future__ import annotations

from collections.abc import Iterator

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

MESSAGE_BYTES = 512 * 1024
"""About the largest message, well below what brokers take by default; a span that is larger has its own."""


def split_by_trace(request: ExportTraceServiceRequest) -> Iterator[tuple[bytes, bytes]]:
    """Yield key and value of each message."""
    parts: dict[bytes, _Part] = {}
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                size = span.ByteSize()
                part = parts.get(span.trace_id)
                if part is not None and part.size + size > MESSAGE_BYTES:
                    yield span.trace_id.hex().encode(), part.request.SerializeToString()
                    part = None
                if part is None:
                    part = parts[span.trace_id] = _Part()
                part.add(resource, scope, span, size)
    for trace_id, part in parts.items():
        yield trace_id.hex().encode(), part.request.SerializeToString()


class _Part:
    """Spans of one trace, each below its resource and scope."""

    __slots__ = ("_of_resource", "_of_scope", "_resource", "_scope", "request", "size")

    def __init__(self) -> None:
        self.request = ExportTraceServiceRequest()
        self.size = 0
        self._resource: ResourceSpans | None = None
        self._scope: ScopeSpans | None = None
        self._of_resource: ResourceSpans
        self._of_scope: ScopeSpans

    def add(self, resource: ResourceSpans, scope: ScopeSpans, span: Span, size: int) -> None:
        if self._resource is not resource:
            self._resource, self._scope = resource, None
            self._of_resource = self.request.resource_spans.add(schema_url=resource.schema_url)
            self._of_resource.resource.CopyFrom(resource.resource)
            self.size += resource.resource.ByteSize()
        if self._scope is not scope:
            self._scope = scope
            self._of_scope = self._of_resource.scope_spans.add(schema_url=scope.schema_url)
            self._of_scope.scope.CopyFrom(scope.scope)
        self._of_scope.spans.append(span)
        self.size += size
