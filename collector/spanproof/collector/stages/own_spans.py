"""The collector's own traces: where the time of each evaluated trace went.

In: evaluated traces that are stored. Out: an OTLP request with one trace for each, from the moment it was
complete to that it was stored: waiting, evaluating, storing. The evaluated trace is linked. Never holds
content of a trace.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from importlib.metadata import version

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span, Status

from spanproof.collector.stages.attach import COLLECTOR_SCOPE
from spanproof.collector.stages.evaluate import Evaluated, Work
from spanproof.semconv import spanproof as ours
from spanproof.trace.otlp import build_any_value

_SERVICE = "spanproof"
_VERSION = version("spanproof")
_NS = 1_000_000_000


def build_own_spans(batch: Iterable[Evaluated], stored_ns: int) -> ExportTraceServiceRequest:
    """Return the spans of a batch that was stored at this time."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    named = {
        "service.name": _SERVICE,
        "service.version": _VERSION,
        "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
    }
    resource.resource.attributes.extend(_to_key_values(named))
    scope = resource.scope_spans.add()
    scope.scope.name, scope.scope.version = COLLECTOR_SCOPE, _VERSION
    for evaluated in batch:
        if evaluated.work is not None:
            _add_trace(scope, evaluated, evaluated.work, stored_ns)
    if scope.spans:
        return request
    return ExportTraceServiceRequest()


def _add_trace(scope: ScopeSpans, evaluated: Evaluated, work: Work, stored_ns: int) -> None:
    trace_id, root_id = os.urandom(16), os.urandom(8)
    root = scope.spans.add(
        trace_id=trace_id,
        span_id=root_id,
        name="spanproof.trace",
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=work.complete_ns,
        end_time_unix_nano=stored_ns,
    )
    root.attributes.extend(_to_key_values(_build_attributes(evaluated)))
    linked = _find_linked_ids(evaluated)
    if linked is not None:
        root.links.add(trace_id=linked[0], span_id=linked[1])
    if evaluated.letter is not None:
        root.status.code = Status.STATUS_CODE_ERROR
    ended_ns = work.began_ns + int(work.seconds * _NS)
    for name, began, ended in (
        ("wait", work.complete_ns, work.began_ns),
        ("evaluate", work.began_ns, ended_ns),
        ("store", ended_ns, stored_ns),
    ):
        scope.spans.add(
            trace_id=trace_id,
            span_id=os.urandom(8),
            parent_span_id=root_id,
            name=f"spanproof.{name}",
            kind=Span.SPAN_KIND_INTERNAL,
            start_time_unix_nano=began,
            end_time_unix_nano=max(began, ended),
        )


def _build_attributes(evaluated: Evaluated) -> dict[str, str | int]:
    facts: dict[str, str | int] = {
        ours.COLLECTOR_TRACE_ID: evaluated.complete.trace_id,
        ours.COLLECTOR_COMPLETE: evaluated.complete.why.value,
        ours.COLLECTOR_GENERATION: evaluated.complete.generation,
    }
    if evaluated.work is not None:
        facts[ours.COLLECTOR_ATTEMPTS] = evaluated.work.attempts
    if evaluated.evaluation is not None:
        facts[ours.COLLECTOR_SPANS] = len(evaluated.evaluation.trace.spans)
        facts[ours.COLLECTOR_SCORES] = len(evaluated.evaluation.scores)
    if evaluated.letter is not None:
        facts["error.type"] = evaluated.letter.error_type
    return facts


def _find_linked_ids(evaluated: Evaluated) -> tuple[bytes, bytes] | None:
    """Return the ids of the trace and of its first span, where they are ids."""
    if evaluated.evaluation is None or not evaluated.evaluation.trace.spans:
        return None
    try:
        ids = (
            bytes.fromhex(evaluated.complete.trace_id),
            bytes.fromhex(evaluated.evaluation.trace.spans[0].span_id),
        )
    except ValueError:
        return None
    return ids if (len(ids[0]), len(ids[1])) == (16, 8) else None


def _to_key_values(facts: dict[str, str] | dict[str, str | int]) -> list[KeyValue]:
    return [KeyValue(key=name, value=build_any_value(value)) for name, value in facts.items()]
