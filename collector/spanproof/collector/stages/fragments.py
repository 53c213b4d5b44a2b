"""An export request to fragments, one per trace: what assembly collects.

Comes in: a decoded OTLP request and its bytes. Goes out: for each trace the ids of its spans with a checksum
of each, packed, and what was left out and why. Content is not read, and is not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from isal import isal_zlib
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from spanproof.collector.stages.attach import ANNOTATION_PREFIX, OWN_SCOPES, remove_annotations
from spanproof.semconv.spanproof import COHORT_PROJECT
from spanproof.trace import Cohort
from spanproof.trace.project import PROJECT_MARK, TraceKey, find_named_project, get_span_project

NO_SPAN_ID = bytes(8)
_NO_TRACE_ID = bytes(16)
_ANNOTATED = ANNOTATION_PREFIX.encode()

ENTRY_BYTES = 20
"""A span's entry: its id (8), a checksum of all of it (4) to know a repeated one by, its parent's id or zeros
(8)."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """The spans of one trace that came in one request, as entries laid end to end."""

    key: TraceKey
    entries: bytes


@dataclass(frozen=True, slots=True)
class Index:
    """What a request holds.

    Attributes:
        fragments: one for each trace.
        spans: how many those have.
        rejected: spans that were removed because an id is not valid.
        own: spans that were removed because they are our own: evaluating those would never end.
        changed: whether the request is no longer what its bytes say.
    """

    fragments: tuple[Fragment, ...]
    spans: int
    rejected: int = 0
    own: int = 0
    changed: bool = False


DEFAULT_PROJECT = Cohort().project
"""Of spans that name none, where the configuration names no other."""


def build_index(request: ExportTraceServiceRequest, body: bytes, project: str = DEFAULT_PROJECT) -> Index:
    """Index the spans of a request, which is cleaned in place of what is not to be stored.

    Removed are spans with invalid ids, our own spans, and scores that an earlier pass through
    here put on spans: with its scores on it a span that forwarding leads back here would look new, for ever.

    Args:
        request: the decoded body.
        body: the request's bytes, from which the checksums are made.
        project: of spans that name none, and whose resource names none.
    """
    own = _remove_own(request)
    annotated = _ANNOTATED in body and _remove_annotations(request)
    rejected = _remove_bad_ids(request)
    changed = bool(own or annotated or rejected)
    if changed:
        body = request.SerializeToString()
    growing: dict[tuple[str, bytes], list[bytes]] = {}
    names_projects = PROJECT_MARK in body
    spans = 0
    for resource, raw_resource in zip(
        request.resource_spans, _Shallow.FromString(body).resources, strict=True
    ):
        if names_projects:
            of_resource = find_named_project(resource.resource.attributes)
        else:
            of_resource = None
        for scope, raw_scope in zip(resource.scope_spans, raw_resource.scopes, strict=True):
            for span, raw in zip(scope.spans, raw_scope.spans, strict=True):
                if names_projects:
                    of_span = get_span_project(span, of_resource, project)
                else:
                    of_span = project
                entry = span.span_id, isal_zlib.crc32(raw).to_bytes(4, "little"), _get_parent_id(span)
                growing.setdefault((of_span, span.trace_id), []).extend(entry)
                spans += 1
    fragments = tuple(
        Fragment(TraceKey(of_span, trace_id.hex()), b"".join(parts))
        for (of_span, trace_id), parts in growing.items()
    )
    return Index(fragments, spans, rejected, own, changed)


def select_trace_spans(
    request: ExportTraceServiceRequest, key: TraceKey, project: str = DEFAULT_PROJECT
) -> ExportTraceServiceRequest:
    """Return the spans of one trace out of a request, cleaned as `build_index` cleans them.

    Its project is that of each resource then, and no span names another.

    Args:
        request: is not changed.
        key: of the trace.
        project: of spans that name none, and whose resource names none.
    """
    chosen = ExportTraceServiceRequest()
    trace_id = bytes.fromhex(key.trace_id)
    for resource in request.resource_spans:
        of_resource = None
        named = find_named_project(resource.resource.attributes)
        for scope in resource.scope_spans:
            spans = [
                span
                for span in scope.spans
                if span.trace_id == trace_id
                and _has_ids(span)
                and get_span_project(span, named, project) == key.project
            ]
            if not spans or scope.scope.name in OWN_SCOPES:
                continue
            if of_resource is None:
                of_resource = chosen.resource_spans.add(schema_url=resource.schema_url)
                of_resource.resource.CopyFrom(resource.resource)
                remove_project(of_resource.resource)
                of_resource.resource.attributes.add(key=COHORT_PROJECT).value.string_value = key.project
            of_scope = of_resource.scope_spans.add(schema_url=scope.schema_url)
            of_scope.scope.CopyFrom(scope.scope)
            of_scope.spans.extend(spans)
            for span in of_scope.spans:
                remove_annotations(span)
                remove_project(span)
    return chosen


def remove_project(record: Any) -> bool:
    """Remove the project that a resource, a span or a log record names; returns whether it named one."""
    found = [pair for pair in record.attributes if pair.key == COHORT_PROJECT]
    for pair in found:
        record.attributes.remove(pair)
    return bool(found)


def _remove_own(request: ExportTraceServiceRequest) -> int:
    removed = 0
    for resource in request.resource_spans:
        for position in reversed(range(len(resource.scope_spans))):
            scope = resource.scope_spans[position]
            if scope.scope.name in OWN_SCOPES:
                removed += len(scope.spans)
                del resource.scope_spans[position]
    return removed


def _remove_annotations(request: ExportTraceServiceRequest) -> bool:
    removed = [
        remove_annotations(span)
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    return any(removed)


def _remove_bad_ids(request: ExportTraceServiceRequest) -> int:
    removed = 0
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            bad = [position for position, span in enumerate(scope.spans) if not _has_ids(span)]
            for position in reversed(bad):
                del scope.spans[position]
            removed += len(bad)
    return removed


def _has_ids(span: OtlpSpan) -> bool:
    trace_id, span_id = span.trace_id, span.span_id
    return len(trace_id) == 16 and trace_id != _NO_TRACE_ID and len(span_id) == 8 and span_id != NO_SPAN_ID


def _get_parent_id(span: OtlpSpan) -> bytes:
    parent: bytes = span.parent_span_id
    if len(parent) == len(NO_SPAN_ID):
        return parent
    return NO_SPAN_ID


def _build_shallow_class() -> Any:
    """Return a class that parses requests down to the bytes of each span and no further.

    It reads the same bytes as `ExportTraceServiceRequest`, in the same order, at a tenth of the cost.
    """
    file = descriptor_pb2.FileDescriptorProto(
        name="spanproof/shallow.proto", package="spanproof.shallow", syntax="proto3"
    )
    layers: Sequence[tuple[str, str, int, str]] = (
        ("Scope", "spans", 2, ""),
        ("Resource", "scopes", 2, "Scope"),
        ("Request", "resources", 1, "Resource"),
    )
    for name, field, number, content in layers:
        message = file.message_type.add(name=name)
        added = message.field.add(name=field, number=number)
        added.label = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED
        if content:
            added.type = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE
            added.type_name = f".spanproof.shallow.{content}"
        else:
            added.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("spanproof.shallow.Request"))


_Shallow = _build_shallow_class()
