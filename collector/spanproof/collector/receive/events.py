"""Evidence in log records and span events: evaluation results become scores, feedback becomes a span.

Comes in: a decoded request. Goes out: `gen_ai.evaluation.result` events as scores from elsewhere, and events
with `spanproof.feedback.kind` as the `feedback` spans that the instrumentors send. What our own evaluators
wrote is left out: it would come round for ever.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from spanproof.collector.stages.attach import EVALUATOR_SCOPE
from spanproof.evaluators.scores import BUILT_IN
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours
from spanproof.store import ExternalScore
from spanproof.trace import AttributeValue, Label, Layer, digest
from spanproof.trace.otlp import build_any_value, get_attributes
from spanproof.trace.project import find_named_project, get_span_project

_EVENT_NAME = "event.name"  # Where the name of an event was before OTLP 1.5 had a field for it
_SOURCE = "otlp"
_EXPLANATION_CHARS = 20_000
_NOT_A_WORD = re.compile(r"[^a-z0-9]+")
_MARKER = genai.EVALUATION_RESULT_EVENT.encode()


@dataclass(slots=True)
class Evidence:
    """What events of a request say about runs.

    Attributes:
        scores: evaluation results.
        feedback: spans of users' feedback; empty where there is none.
        refused: why an event is no evidence although its name says so, one sentence for each.
    """

    scores: list[ExternalScore] = field(default_factory=list)
    feedback: ExportTraceServiceRequest = field(default_factory=ExportTraceServiceRequest)
    refused: list[str] = field(default_factory=list)


class _Place(NamedTuple):
    """What an evaluation result is about; ids in hexadecimal."""

    project: str
    trace_id: str
    span_id: str


def read_log_evidence(request: ExportLogsServiceRequest) -> Evidence:
    """Return the evidence in log records; removes from the request what our own evaluators wrote."""
    found = Evidence()
    for resource in request.resource_logs:
        for position in reversed(range(len(resource.scope_logs))):
            if resource.scope_logs[position].scope.name == EVALUATOR_SCOPE:
                del resource.scope_logs[position]
        for scope in resource.scope_logs:
            for record in scope.log_records:
                _add_record(record, resource.resource, found)
    return found


def read_span_evidence(request: ExportTraceServiceRequest, body: bytes, project: str) -> Evidence:
    """Return the evidence in events of spans.

    Args:
        request: the decoded body.
        body: the request's bytes, which say fast whether there is any.
        project: of spans that name none, and whose resource names none.
    """
    found = Evidence()
    if _MARKER not in body:
        return found
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                for event in span.events:
                    if event.name == genai.EVALUATION_RESULT_EVENT:
                        named = find_named_project(resource.resource.attributes)
                        of_span = get_span_project(span, named, project)
                        target = _Place(of_span, span.trace_id.hex(), span.span_id.hex())
                        _add_score(get_attributes(event.attributes), target, event.time_unix_nano, found)
    return found


def _add_record(record: LogRecord, resource: Resource, found: Evidence) -> None:
    name = record.event_name
    if not name and len(record.attributes) == 0:
        return
    attributes = get_attributes(record.attributes)
    given_ns = record.time_unix_nano or record.observed_time_unix_nano
    if (name or attributes.get(_EVENT_NAME)) == genai.EVALUATION_RESULT_EVENT:
        project = find_named_project(record.attributes) or find_named_project(resource.attributes) or ""
        target = _Place(project, record.trace_id.hex(), record.span_id.hex())
        _add_score(attributes, target, given_ns, found)
    elif ours.FEEDBACK_KIND in attributes:
        _add_feedback(record, attributes, resource, found)


def _add_score(
    attributes: Mapping[str, AttributeValue], target: _Place, given_ns: int, found: Evidence
) -> None:
    full = attributes.get(genai.EVALUATION_NAME)
    if not isinstance(full, str) or not (name := _normalise_name(full)):
        found.refused.append(f"an evaluation result has no {genai.EVALUATION_NAME}")
        return
    if not _is_id(target.trace_id, 16):
        found.refused.append(f"the evaluation result {full[:100]!r} names no trace")
        return
    number, label = _find_number(attributes), _find_label(attributes)
    value = _find_value(number, label)
    if value is None:
        found.refused.append(
            f"the evaluation result {full[:100]!r} has neither a value from 0 to 1 nor the label pass or fail"
        )
        return
    explanation = attributes.get(genai.EVALUATION_EXPLANATION)
    if isinstance(explanation, str):
        shown_explanation = explanation[:_EXPLANATION_CHARS]
    else:
        shown_explanation = ""
    span_id = target.span_id if _is_id(target.span_id, 8) else None
    found.scores.append(
        ExternalScore(
            trace_id=target.trace_id,
            span_id=span_id,
            layer=Layer.TRAJECTORY,
            name=name if name not in BUILT_IN else f"{_SOURCE}_{name}"[:64],
            source=_SOURCE,
            value=value,
            label=label,
            explanation=shown_explanation,
            raw=number if number != value else None,
            unit="",
            given_ns=given_ns or time.time_ns(),
            project=target.project,
        )
    )


def _is_id(text: str, size: int) -> bool:
    """Whether a text is an id of so many bytes, in hexadecimal digits; one of zeros is none."""
    return len(text) == 2 * size and int(text, 16) != 0


def _find_number(attributes: Mapping[str, AttributeValue]) -> float | None:
    amount = attributes.get(genai.EVALUATION_SCORE_VALUE)
    if isinstance(amount, int | float) and math.isfinite(amount):
        return float(amount)
    return None


def _find_value(number: float | None, label: Label | None) -> float | None:
    """Return a score's value from 0 to 1: its number, or its label where the number is on another scale."""
    if number is not None and 0 <= number <= 1:
        return number
    return None if label is None else float(label is Label.PASS)


def _normalise_name(name: str) -> str:
    """Return a name as scores have it: `Answer Relevance` is `answer_relevance`."""
    return _NOT_A_WORD.sub("_", name.lower()).strip("_0123456789")[:64]


def _find_label(attributes: Mapping[str, AttributeValue]) -> Label | None:
    text = attributes.get(genai.EVALUATION_SCORE_LABEL)
    try:
        return Label(text.lower()) if isinstance(text, str) else None
    except ValueError:
        return None


def _add_feedback(
    record: LogRecord, attributes: Mapping[str, AttributeValue], resource: Resource, found: Evidence
) -> None:
    facts = {key: value for key, value in attributes.items() if key.startswith("spanproof.feedback.")}
    if record.trace_id:
        facts.setdefault(ours.FEEDBACK_TRACE_ID, record.trace_id.hex())
        if record.span_id:
            facts.setdefault(ours.FEEDBACK_SPAN_ID, record.span_id.hex())
    if ours.FEEDBACK_TRACE_ID not in facts:
        found.refused.append("feedback names no trace")
        return
    if isinstance(record.body.string_value, str) and record.body.string_value:
        facts.setdefault(ours.FEEDBACK_COMMENT, record.body.string_value)
    at_ns = record.time_unix_nano or record.observed_time_unix_nano or time.time_ns()
    # Sent again it is the same span.
    mark = digest("feedback", *map(str, _iter_facts(facts)), str(at_ns))
    spans = found.feedback.resource_spans.add(resource=resource).scope_spans.add().spans
    spans.add(
        trace_id=bytes.fromhex(mark[:32]),
        span_id=bytes.fromhex(digest("span", mark)[:16]),
        name="feedback",
        start_time_unix_nano=at_ns,
        end_time_unix_nano=at_ns,
    ).attributes.extend(_to_key_values({openinference.SPAN_KIND: "UNKNOWN", **facts}))


def _iter_facts(facts: Mapping[str, AttributeValue]) -> Iterator[AttributeValue]:
    for key in sorted(facts):
        yield key
        yield facts[key]


def _to_key_values(facts: Mapping[str, AttributeValue]) -> Iterable[KeyValue]:
    return (KeyValue(key=key, value=build_any_value(value)) for key, value in facts.items())
