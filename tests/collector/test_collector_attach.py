from __future__ import annotations

import json
from dataclasses import replace

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.stages.attach import (
    EVALUATOR_SCOPE,
    add_annotations,
    build_evaluation_events,
    build_evaluator_spans,
    get_span_id,
    remove_annotations,
)
from spanproof.trace import Cause, SpanKind
from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import get_attributes

NOW = 1_770_000_000_000_000_000


def one_event(evaluation):
    request = build_evaluation_events(evaluation, evaluation.scores, NOW)
    (record,) = request.resource_logs[0].scope_logs[0].log_records
    return record, get_attributes(record.attributes)


def test_a_verdict_becomes_an_evaluation_event_on_the_judged_span(evaluation_of, scored) -> None:
    record, attributes = one_event(evaluation_of(scored(0.25, "fail", "4500 is not 54")))
    assert record.event_name == "gen_ai.evaluation.result"
    assert record.span_id.hex() == f"{2:016x}"
    assert record.trace_id.hex() == f"{1:032x}"
    assert record.time_unix_nano == NOW
    assert attributes["gen_ai.evaluation.name"] == "spanproof.groundedness"
    assert attributes["gen_ai.evaluation.score.value"] == 0.25
    assert attributes["gen_ai.evaluation.score.label"] == "fail"
    assert attributes["gen_ai.evaluation.explanation"] == "4500 is not 54"
    assert attributes["spanproof.score.outcome"] == "scored"
    assert "error.type" not in attributes


def test_an_open_verdict_has_a_label_and_a_cause_and_no_value(evaluation_of, scored) -> None:
    score = scored(0.5, None, "45.00 is in no output")
    outcome = replace(score.outcome, cause=Cause.VALUE_NOT_FOUND, detail="45.00")
    evaluation = evaluation_of(replace(score, outcome=outcome))
    _, attributes = one_event(evaluation)
    assert attributes["gen_ai.evaluation.score.label"] == "open"
    assert "gen_ai.evaluation.score.value" not in attributes
    assert attributes["gen_ai.evaluation.explanation"] == "45.00 is in no output"
    assert attributes["spanproof.score.cause"] == "value-not-found"
    assert attributes["spanproof.score.cause.detail"] == "45.00"
    (span,) = build_evaluator_spans(evaluation, evaluation.scores).resource_spans[0].scope_spans[0].spans
    assert json.loads(get_attributes(span.attributes)["output.value"])["score"] is None
    assert json.loads(get_attributes(span.attributes)["output.value"])["label"] == "open"


def test_the_name_of_a_sub_score_follows_its_layer(evaluation_of, scored) -> None:
    _, attributes = one_event(evaluation_of(scored(1.0, None, "", name="binding")))
    assert attributes["gen_ai.evaluation.name"] == "spanproof.groundedness.binding"
    assert "gen_ai.evaluation.score.label" not in attributes
    assert "gen_ai.evaluation.explanation" not in attributes


def test_a_metric_is_written_with_its_raw_value_and_unit(evaluation_of, scored) -> None:
    score = scored(0.59, None, "7 steps", name="steps")
    score = replace(score, outcome=replace(score.outcome, raw=7.0, unit="steps"))
    _, attributes = one_event(evaluation_of(score))
    assert attributes["gen_ai.evaluation.score.value"] == 7.0
    assert attributes["spanproof.score.unit"] == "steps"
    assert attributes["spanproof.score.normalised"] == 0.59
    _, attributes = one_event(evaluation_of(scored(1.0, "pass", "")))
    assert "spanproof.score.unit" not in attributes


def test_skipped_and_errored_scores_have_no_value(evaluation_of, skipped, errored) -> None:
    _, attributes = one_event(evaluation_of(skipped("the answer is hidden")))
    assert "gen_ai.evaluation.score.value" not in attributes
    assert attributes["spanproof.score.reason"] == "the answer is hidden"
    record, attributes = one_event(evaluation_of(errored("ValueError", "broke")))
    assert "gen_ai.evaluation.score.value" not in attributes
    assert attributes["error.type"] == "ValueError"
    assert record.severity_text == "WARN"


def test_events_carry_the_resource_of_the_span_they_are_about(evaluation_of, scored) -> None:
    request = build_evaluation_events(
        evaluation := evaluation_of(scored(1.0, "pass", "")), evaluation.scores, NOW
    )
    resource = get_attributes(request.resource_logs[0].resource.attributes)
    assert resource["service.name"] == "shop"


def test_an_evaluator_span_is_under_its_run_and_is_the_same_each_time(evaluation_of, scored) -> None:
    evaluation = evaluation_of(scored(0.25, "fail", "no"))
    first, second = (build_evaluator_spans(evaluation, evaluation.scores) for _ in range(2))
    assert first == second
    (span,) = first.resource_spans[0].scope_spans[0].spans
    attributes = get_attributes(span.attributes)
    assert span.parent_span_id.hex() == f"{1:016x}"
    assert span.span_id.hex() == get_span_id(evaluation.scores[0])
    assert span.links[0].span_id.hex() == f"{2:016x}"
    assert attributes["openinference.span.kind"] == "EVALUATOR"
    assert json.loads(attributes["output.value"]) == {"score": 0.25, "label": "fail", "explanation": "no"}


def test_our_dialects_read_an_evaluator_span_as_one(evaluation_of, scored) -> None:
    evaluation = evaluation_of(scored(0.25, "fail", "no"))
    (span,) = normalise_request(build_evaluator_spans(evaluation, evaluation.scores))
    assert span.kind is SpanKind.EVALUATOR
    assert span.scope == EVALUATOR_SCOPE


def test_a_failed_evaluator_is_an_error_on_its_own_span_only(evaluation_of, errored) -> None:
    evaluation = evaluation_of(errored("ValueError", "broke"))
    (span,) = build_evaluator_spans(evaluation, evaluation.scores).resource_spans[0].scope_spans[0].spans
    assert (span.status.code, span.status.message) == (2, "broke")


def test_forwarded_spans_carry_openinference_evaluations_after_those_they_have(
    make_request, evaluation_of, scored, skipped
) -> None:
    request = make_request((1, 1, None), (1, 2, 1))
    judged = request.resource_spans[0].scope_spans[0].spans[1]
    judged.attributes.add(key="evaluations.4.evaluation.name").value.string_value = "their own"
    scores = evaluation_of(
        scored(0.25, "fail", "no"), skipped("hidden", name="other"), scored(1.0, "pass", "", name="binding")
    ).scores
    add_annotations(request, scores)
    attributes = get_attributes(judged.attributes)
    assert attributes["evaluations.5.evaluation.name"] == "spanproof.groundedness"
    assert attributes["evaluations.5.evaluation.score"] == 0.25
    assert attributes["evaluations.5.evaluation.annotator_kind"] == "CODE"
    assert attributes["evaluations.5.evaluation.identifier"] == scores[0].id
    assert attributes["evaluations.6.evaluation.name"] == "spanproof.groundedness.binding"
    assert "evaluations.7.evaluation.name" not in attributes
    assert len(request.resource_spans[0].scope_spans[0].spans[0].attributes) == 0


def test_annotating_changes_nothing_but_attributes(make_request, evaluation_of, scored) -> None:
    request = make_request((1, 1, None), (1, 2, 1), text="kept")
    before = ExportTraceServiceRequest.FromString(request.SerializeToString())
    add_annotations(request, evaluation_of(scored(0.0, "fail", "bad")).scores)
    for span in request.resource_spans[0].scope_spans[0].spans:
        kept = [pair for pair in span.attributes if not pair.key.startswith("evaluations.")]
        del span.attributes[:]
        span.attributes.extend(kept)
    assert request == before


def test_what_was_added_can_be_taken_off_again_and_nothing_else(
    make_request, evaluation_of, scored, errored
) -> None:
    request = make_request((1, 1, None), (1, 2, 1), text="kept")
    judged = request.resource_spans[0].scope_spans[0].spans[1]
    judged.attributes.add(key="evaluations.0.evaluation.name").value.string_value = "their own"
    judged.attributes.add(key="evaluations.0.evaluation.score").value.double_value = 1.0
    before = ExportTraceServiceRequest.FromString(request.SerializeToString())
    add_annotations(request, evaluation_of(scored(0.0, "fail", "bad"), errored("ValueError", "broke")).scores)
    assert request != before
    for span in request.resource_spans[0].scope_spans[0].spans:
        remove_annotations(span)
    assert request == before


def test_lone_surrogates_in_an_explanation_do_not_stop_it(evaluation_of, scored) -> None:
    _, attributes = one_event(evaluation_of(scored(0.0, "fail", "bad \ud800 text")))
    assert "bad" in attributes["gen_ai.evaluation.explanation"]


def test_a_score_of_a_span_that_is_not_there_is_attached_all_the_same(evaluation_of, scored) -> None:
    evaluation = evaluation_of(scored(0.0, "fail", "bad"))
    stray = replace(evaluation.scores[0], span_id=f"{99:016x}", run_span_id=f"{98:016x}")
    (span,) = build_evaluator_spans(evaluation, [stray]).resource_spans[0].scope_spans[0].spans
    assert span.parent_span_id == b""
    assert len(span.links) == 0
