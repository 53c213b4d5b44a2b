"""Writes scores onto telemetry: the only place that does.

Comes in: a `TraceEvaluation`. Goes out, as OTLP: `gen_ai.evaluation.result` events (log records parented to
the span that was judged), evaluator spans under the run's span with ids derived from the score's, and the
original spans with OpenInference `evaluations.<n>.evaluation.*` attributes. A skipped or errored score has no
value anywhere, nor has an open one, whose label is `open`. Nothing is sent from here, and no span of the
agent's is changed but by adding attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import SEVERITY_NUMBER_INFO, SEVERITY_NUMBER_WARN, LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.scores import is_open
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours
from spanproof.trace import AttributeValue, Errored, Score, Scored, Skipped, SpanKind, State, Trace
from spanproof.trace.otlp import build_any_value

EVALUATOR_SCOPE = f"{ours.SCOPE_PREFIX}evaluators"
"""The instrumentation scope of everything that is written here; the receivers know our own spans by it."""

COLLECTOR_SCOPE = f"{ours.SCOPE_PREFIX}collector"
"""That of the collector's own traces."""

OWN_SCOPES = frozenset((EVALUATOR_SCOPE, COLLECTOR_SCOPE))

_VERSION = version("spanproof")
ANNOTATION_PREFIX = "evaluations."
"""Of the attributes that `add_annotations` adds."""

_EVALUATION_NAME = ".name"


def format_evaluation_name(score: Score) -> str:
    """Return `spanproof.<layer>` for a layer's own value, else `spanproof.<layer>.<name>`."""
    own = score.name == score.layer.value
    if own:
        return f"spanproof.{score.layer.value}"
    return f"spanproof.{score.layer.value}.{score.name}"


def get_span_id(score: Score) -> str:
    """Return the id of a score's span: the same at each evaluation of a thing, never all zeros."""
    span_id = score.id[:16]
    return span_id if int(span_id, 16) else "0000000000000001"


def build_evaluation_events(
    evaluation: TraceEvaluation, scores: Iterable[Score], now_ns: int
) -> ExportLogsServiceRequest:
    """Return the scores as `gen_ai.evaluation.result` events; `now_ns` is when they are written."""
    request = ExportLogsServiceRequest()
    for resource, group in _list_by_resource(evaluation.trace, scores):
        logs = request.resource_logs.add(resource=resource)
        scope = logs.scope_logs.add()
        scope.scope.name, scope.scope.version = EVALUATOR_SCOPE, _VERSION
        scope.log_records.extend(_build_event(score, now_ns) for score in group)
    return request


def build_score_events(scores: Sequence[Score], now_ns: int) -> ExportLogsServiceRequest:
    """Return such events where the trace is not at hand: the resource has its service and project."""
    request = ExportLogsServiceRequest()
    groups: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.cohort.service, score.cohort.project), []).append(score)
    for (service, project), group in groups.items():
        named = {"service.name": service, f"{ours.COHORT_PREFIX}project": project}
        logs = request.resource_logs.add(
            resource=Resource(
                attributes=_to_key_values({name: value for name, value in named.items() if value})
            )
        )
        scope = logs.scope_logs.add()
        scope.scope.name, scope.scope.version = EVALUATOR_SCOPE, _VERSION
        scope.log_records.extend(_build_event(score, now_ns) for score in group)
    return request


def build_evaluator_spans(evaluation: TraceEvaluation, scores: Iterable[Score]) -> ExportTraceServiceRequest:
    """Return the scores as spans of kind EVALUATOR, each under the run it belongs to."""
    request = ExportTraceServiceRequest()
    for resource, group in _list_by_resource(evaluation.trace, scores):
        spans = request.resource_spans.add(resource=resource)
        scope = spans.scope_spans.add()
        scope.scope.name, scope.scope.version = EVALUATOR_SCOPE, _VERSION
        scope.spans.extend(_build_evaluator_span(evaluation.trace, score) for score in group)
    return request


def add_annotations(request: ExportTraceServiceRequest, scores: Sequence[Score]) -> None:
    """Add to each judged span of the request, in place, what was found about it."""
    by_span: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        if not isinstance(score.outcome, Skipped):
            by_span.setdefault((score.trace_id, score.span_id), []).append(score)
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                _add_span_annotations(span, by_span.get((span.trace_id.hex(), span.span_id.hex()), []))


def remove_annotations(span: OtlpSpan) -> bool:
    """Remove, in place, what `add_annotations` added; returns whether there was any."""
    ours_at = {
        pair.key.removesuffix(_EVALUATION_NAME)
        for pair in span.attributes
        if pair.key.startswith(ANNOTATION_PREFIX)
        and pair.key.endswith(_EVALUATION_NAME)
        and pair.value.string_value.startswith(ours.SCOPE_PREFIX)
    }
    if not ours_at:
        return False
    kept = [
        pair
        for pair in span.attributes
        if not (pair.key.startswith(ANNOTATION_PREFIX) and pair.key.rpartition(".")[0] in ours_at)
    ]
    del span.attributes[:]
    span.attributes.extend(kept)
    return True


def _build_event(score: Score, now_ns: int) -> LogRecord:
    errored = isinstance(score.outcome, Errored)
    return LogRecord(
        time_unix_nano=now_ns,
        observed_time_unix_nano=now_ns,
        severity_number=SEVERITY_NUMBER_WARN if errored else SEVERITY_NUMBER_INFO,
        severity_text="WARN" if errored else "INFO",
        event_name=genai.EVALUATION_RESULT_EVENT,
        attributes=_to_key_values(_build_attributes(score)),
        trace_id=bytes.fromhex(score.trace_id),
        span_id=bytes.fromhex(score.span_id),
    )


def _build_evaluator_span(trace: Trace, score: Score) -> OtlpSpan:
    run = trace.by_id.get(score.run_span_id)
    judged = trace.by_id.get(score.span_id)
    # The time of what was judged, not of judging: written twice it is the same span, and it lies beside
    # what it is about in every waterfall.
    at_ns = judged.end_ns if judged else score.span_time_ns
    span = OtlpSpan(
        trace_id=bytes.fromhex(score.trace_id),
        span_id=bytes.fromhex(get_span_id(score)),
        parent_span_id=bytes.fromhex(score.run_span_id) if run else b"",
        name=format_evaluation_name(score),
        kind=OtlpSpan.SPAN_KIND_INTERNAL,
        start_time_unix_nano=at_ns,
        end_time_unix_nano=at_ns,
        attributes=_to_key_values(
            {
                openinference.SPAN_KIND: SpanKind.EVALUATOR.value,
                openinference.OUTPUT_VALUE: orjson.dumps(_build_outcome_attributes(score)).decode(),
                openinference.OUTPUT_MIME_TYPE: openinference.MIME_JSON,
                **_build_attributes(score),
            }
        ),
    )
    if isinstance(score.outcome, Errored):
        span.status.code, span.status.message = Status.STATUS_CODE_ERROR, score.outcome.message
    if judged is not None:
        span.links.add(trace_id=bytes.fromhex(score.trace_id), span_id=bytes.fromhex(score.span_id))
    return span


def _add_span_annotations(span: OtlpSpan, scores: Sequence[Score]) -> None:
    present = {pair.key for pair in span.attributes}
    position = _get_free_index(present)
    for score in scores:
        prefix = f"{ANNOTATION_PREFIX}{position}.evaluation."
        if isinstance(score.outcome, Errored):
            # Without a result the object would not be valid OpenInference; the error itself is given by name.
            fields: dict[str, AttributeValue] = {"label": "error", "explanation": score.outcome.message}
        else:
            fields = {
                key: value for key, value in _build_outcome_attributes(score).items() if value is not None
            }
        fields = {
            "name": format_evaluation_name(score),
            **fields,
            "annotator_kind": "CODE",
            "identifier": score.id,
        }
        span.attributes.extend(_to_key_values({prefix + key: value for key, value in fields.items()}))
        position += 1


def _get_free_index(keys: set[str]) -> int:
    taken = {
        int(index)
        for key in keys
        if key.startswith(ANNOTATION_PREFIX)
        and (index := key.removeprefix(ANNOTATION_PREFIX).partition(".")[0]).isdecimal()
    }
    return max(taken, default=-1) + 1


def _build_outcome_attributes(score: Score) -> dict[str, AttributeValue]:
    outcome = score.outcome
    if isinstance(outcome, Scored):
        label = find_label(score)
        return {"score": find_amount(score), "label": label, "explanation": outcome.explanation or None}
    if isinstance(outcome, Skipped):
        return {"outcome": "skipped", "reason": outcome.reason}
    return {"outcome": "errored", "error": outcome.error_type, "message": outcome.message}


def _build_attributes(score: Score) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {
        genai.EVALUATION_NAME: format_evaluation_name(score),
        ours.SCORE_ID: score.id,
        ours.SCORE_LAYER: score.layer.value,
        ours.EVALUATOR_NAME: score.evaluator,
        ours.EVALUATOR_VERSION: score.version,
        ours.RUN_SPAN_ID: score.run_span_id,
    }
    if score.snippet_id is not None:
        attributes[ours.SNIPPET_ID] = score.snippet_id
    outcome = score.outcome
    if isinstance(outcome, Scored):
        attributes[ours.SCORE_OUTCOME] = "scored"
        if (amount := find_amount(score)) is not None:
            attributes[genai.EVALUATION_SCORE_VALUE] = amount
        if outcome.raw is not None:
            attributes[ours.SCORE_UNIT] = outcome.unit
            attributes[ours.SCORE_NORMALISED] = float(outcome.value)
        if (label := find_label(score)) is not None:
            attributes[genai.EVALUATION_SCORE_LABEL] = label
        if outcome.explanation:
            attributes[genai.EVALUATION_EXPLANATION] = outcome.explanation
    elif isinstance(outcome, Skipped):
        attributes[ours.SCORE_OUTCOME] = "skipped"
        attributes[ours.SCORE_REASON] = outcome.reason
    else:
        attributes[ours.SCORE_OUTCOME] = "errored"
        attributes[genai.ERROR_TYPE] = outcome.error_type
        attributes[genai.EVALUATION_EXPLANATION] = outcome.message
    if not isinstance(outcome, Errored) and outcome.cause is not None:
        attributes[ours.SCORE_CAUSE] = outcome.cause.value
        if outcome.detail:
            attributes[ours.SCORE_CAUSE_DETAIL] = outcome.detail
    return attributes


def find_amount(score: Score) -> float | None:
    """Return the number under the score's name: a metric's raw value, else the value from 0 to 1.

    None of what is skipped or errored, and of an open verdict, whose value is a placeholder.
    """
    outcome = score.outcome
    if not isinstance(outcome, Scored) or is_open(score):
        return None
    return float(outcome.value if outcome.raw is None else outcome.raw)


def find_label(score: Score) -> str | None:
    """Return `pass`, `fail` or `open`; None of what is skipped or errored, and of scores without verdicts."""
    outcome = score.outcome
    if isinstance(outcome, Scored) and outcome.label is not None:
        return outcome.label.value
    return State.OPEN.value if is_open(score) else None


def _list_by_resource(trace: Trace, scores: Iterable[Score]) -> Iterable[tuple[Resource, list[Score]]]:
    """Return scores by the resource of the span they judge, so that backends file them by its service."""
    groups: dict[bytes, tuple[Resource, list[Score]]] = {}
    for score in scores:
        judged = trace.by_id.get(score.span_id)
        resource = Resource(attributes=_to_key_values(judged.resource if judged else {}))
        key = resource.SerializeToString(deterministic=True)
        groups.setdefault(key, (resource, []))[1].append(score)
    return groups.values()


def _to_key_values(attributes: Mapping[str, AttributeValue]) -> list[KeyValue]:
    return [
        KeyValue(
            key=_normalise_surrogates(key),
            value=build_any_value(_normalise_surrogates(value) if isinstance(value, str) else value),
        )
        for key, value in attributes.items()
    ]


def _normalise_surrogates(text: str) -> str:
    """Return text without the lone surrogates that snippets may hold and protobuf strings cannot."""
    if not text.isascii():
        return text.encode("utf-8", "replace").decode()
    return text
