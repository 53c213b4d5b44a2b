"""An export request to messages of the topic: each holds spans of one trace, and its key is the trace's.

The form is `otlp_proto` with `partition_traces_by_id` of the OpenTelemetry Collector's Kafka exporter: the
value is an export request, the key the id in hexadecimal. Of a trace whose project is not the configured one
the key has the project before the id.
"""

from __future__ import annotations

from collections.abc import Iterator

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from spanproof.collector.stages.fragments import DEFAULT_PROJECT
from spanproof.trace.project import TraceKey, find_named_project, get_span_project

MESSAGE_BYTES = 512 * 1024
"""About the largest message, well below what brokers take by default; a span that is larger has its own."""


def iter_trace_messages(
    request: ExportTraceServiceRequest, project: str = DEFAULT_PROJECT
) -> Iterator[tuple[bytes, bytes]]:
    """Yield key and value of each message.

    Args:
        request: to split.
        project: of spans that name none, and whose resource names none.
    """
    parts: dict[TraceKey, _Part] = {}
    for resource in request.resource_spans:
        of_resource = find_named_project(resource.resource.attributes)
        for scope in resource.scope_spans:
            for span in scope.spans:
                size = span.ByteSize()
                key = TraceKey(get_span_project(span, of_resource, project), span.trace_id.hex())
                part = parts.get(key)
                if part is not None and part.size + size > MESSAGE_BYTES:
                    yield _encode_key(key, project), part.request.SerializeToString()
                    part = None
                if part is None:
                    part = parts[key] = _Part()
                part.add(resource, scope, span, size)
    for key, part in parts.items():
        yield _encode_key(key, project), part.request.SerializeToString()


def _encode_key(key: TraceKey, project: str) -> bytes:
    # As the OpenTelemetry Collector writes it where there is one project: both may fill one topic.
    return (key.trace_id if key.project == project else f"{key.project}/{key.trace_id}").encode()


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
