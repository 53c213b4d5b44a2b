"""Which project a span and a trace belong to.

Senders choose trace ids, so two projects may send the same one. What identifies a trace is therefore its
project together with its id: the spans of one id in two projects are two traces that know nothing of each
other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from spanproof.semconv.spanproof import COHORT_PROJECT
from spanproof.trace.model import AttributeValue
from spanproof.trace.score import Score

PROJECT_MARK: Final = COHORT_PROJECT.encode()
"""Bytes that every message has in which a resource or a span names its project."""


class TraceKey(NamedTuple):
    """What identifies a trace; `trace_id` in hexadecimal."""

    project: str
    trace_id: str


def get_score_key(score: Score) -> TraceKey:
    """Return what identifies the trace of a score."""
    return TraceKey(score.cohort.project, score.trace_id)


def find_named_project(attributes: Iterable[KeyValue]) -> str | None:
    """Return the project that attributes of a resource or a span name, the last one where several do."""
    named = [pair.value.string_value for pair in attributes if pair.key == COHORT_PROJECT]
    return named[-1] or None if named else None


def get_span_project(span: OtlpSpan, resource_project: str | None, default: str) -> str:
    """Return the project of a span: that of its resource, else the one that it names, else the default.

    A resource is alike for all spans of a process, so that a step which names another project does not make
    two traces of one.
    """
    return resource_project or find_named_project(span.attributes) or default


def get_stored_project(resource: Mapping[str, AttributeValue], default: str) -> str:
    """Return the project that the resource of a decoded span names, else the default."""
    named = resource.get(COHORT_PROJECT)
    if isinstance(named, str) and named:
        return named
    return default
