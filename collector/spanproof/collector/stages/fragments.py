"""An export request to fragments, one per trace: what assembly collects.

Comes in: a decoded OTLP request. Goes out: for each trace its spans as bytes of a request of their own
(requests laid end to end are one valid request) with the ids that assembly needs, plus what was left out
and why. Content is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from spanproof.collector.stages.attach import EVALUATOR_SCOPE, remove_annotations

_NO_TRACE_ID = bytes(16)
_NO_SPAN_ID = bytes(8)


@dataclass(frozen=True, slots=True)
class Link:
    """A span's place in its tree, and a digest of all of it to know a repeated one by."""

    span_id: bytes
    parent_id: bytes | None
    digest: bytes


@dataclass(frozen=True, slots=True)
class Fragment:
    """Spans of one trace that came in one request; `body` is a request of its own."""

    trace_id: str
    links: tuple[Link, ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Split:
    """What a request holds.

    Attributes:
        fragments: one for each trace.
        own: spans left out because an evaluator of ours made them: evaluating them would never end.
    """

    fragments: tuple[Fragment, ...]
    own: int = 0


@dataclass(slots=True)
class _Growing:
    request: ExportTraceServiceRequest = field(default_factory=ExportTraceServiceRequest)
    links: list[Link] = field(default_factory=list)
    resource: ResourceSpans | None = None
    resource_of: ResourceSpans | None = None
    scope: ScopeSpans | None = None
    scope_of: ScopeSpans | None = None


def reject_bad_ids(request: ExportTraceServiceRequest) -> int:
    """Remove the spans whose ids are not valid, in place; returns how many those were."""
    rejected = 0
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            bad = [position for position, span in enumerate(scope.spans) if not _has_ids(span)]
            for position in reversed(bad):
                del scope.spans[position]
            rejected += len(bad)
    return rejected


def span_count(request: ExportTraceServiceRequest) -> int:
    """How many spans a request holds."""
    return sum(len(scope.spans) for resource in request.resource_spans for scope in resource.scope_spans)


def split(request: ExportTraceServiceRequest) -> Split:
    """Part the request's spans by trace; those without valid ids must be gone already.

    Scores that an earlier pass through here put on the spans are taken off, in place.
    """
    growing: dict[bytes, _Growing] = {}
    own = 0
    for resource, scope, span in _spans(request):
        if scope.scope.name == EVALUATOR_SCOPE:
            own += 1
            continue
        # Forwarding may lead back here: with its scores on it a span would look new, for ever.
        remove_annotations(span)
        _add(growing.setdefault(span.trace_id, _Growing()), resource, scope, span)
    fragments = (
        Fragment(trace_id.hex(), tuple(part.links), part.request.SerializeToString())
        for trace_id, part in growing.items()
    )
    return Split(tuple(fragments), own)


def _spans(
    request: ExportTraceServiceRequest,
) -> Iterator[tuple[ResourceSpans, ScopeSpans, OtlpSpan]]:
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield resource, scope, span


def _add(part: _Growing, resource: ResourceSpans, scope: ScopeSpans, span: OtlpSpan) -> None:
    if part.resource is None or part.resource_of is not resource:
        part.resource = part.request.resource_spans.add(schema_url=resource.schema_url)
        part.resource.resource.CopyFrom(resource.resource)
        part.resource_of, part.scope = resource, None
    if part.scope is None or part.scope_of is not scope:
        part.scope = part.resource.scope_spans.add(schema_url=scope.schema_url)
        part.scope.scope.CopyFrom(scope.scope)
        part.scope_of = scope
    part.scope.spans.append(span)
    digest = blake2b(span.SerializeToString(deterministic=True), digest_size=8).digest()
    parent = span.parent_span_id if span.parent_span_id not in {b"", _NO_SPAN_ID} else None
    part.links.append(Link(span.span_id, parent, digest))


def _has_ids(span: OtlpSpan) -> bool:
    return (
        len(span.trace_id) == 16
        and span.trace_id != _NO_TRACE_ID
        and len(span.span_id) == 8
        and span.span_id != _NO_SPAN_ID
    )
