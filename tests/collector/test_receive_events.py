from __future__ import annotations

from functools import partial

import grpc
import httpx
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from spanproof.collector.receive.events import read_log_evidence
from spanproof.collector.receive.signals import Signal
from spanproof.collector.stages.attach import EVALUATOR_SCOPE, build_evaluation_events
from spanproof.store import ExternalScore, StoreError
from spanproof.trace import Label, Layer
from spanproof.trace.otlp import build_any_value, encode_json

PROTOBUF = {"content-type": "application/x-protobuf"}
LOGS_EXPORT = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
RESULT = "gen_ai.evaluation.result"
post = partial(httpx.post, timeout=120)


class Kept:
    """Keeps what it is given; `broken` is what the store raises."""

    def __init__(self, broken: Exception | None = None) -> None:
        self.requests: list[tuple[Signal, bytes]] = []
        self.scores: list[ExternalScore] = []
        self.broken = broken

    def forward(self, signal: Signal, body: bytes) -> None:
        self.requests.append((signal, body))

    def write_scores(self, scores: list[ExternalScore]) -> None:
        if self.broken is not None:
            raise self.broken
        self.scores += scores


def logs_with(*events: tuple[str, dict[str, object]], scope: str = "app") -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    scoped = request.resource_logs.add().scope_logs.add()
    scoped.scope.name = scope
    for name, attributes in events:
        record = scoped.log_records.add(
            time_unix_nano=7, event_name=name, trace_id=b"t" * 16, span_id=b"s" * 8
        )
        record.attributes.extend(KeyValue(key=k, value=build_any_value(v)) for k, v in attributes.items())
    return request


def result(name: str | None, value: object = None, label: str | None = None) -> tuple[str, dict[str, object]]:
    given = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": value,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": "because",
    }
    return RESULT, {key: item for key, item in given.items() if item is not None}


@pytest.mark.parametrize(
    ("event", "value", "label", "raw"),
    [
        (result("Relevance", 0.75), 0.75, None, None),
        (result("Relevance", 1), 1.0, None, None),
        (result("Relevance", 0.25, "fail"), 0.25, Label.FAIL, None),
        (result("Relevance", 4.0, "PASS"), 1.0, Label.PASS, 4.0),
        (result("Relevance", label="fail"), 0.0, Label.FAIL, None),
        (result("Relevance", 0.5, "relevant"), 0.5, None, None),
    ],
)
def test_an_evaluation_result_is_a_score(event, value, label, raw) -> None:
    (score,) = read_log_evidence(logs_with(event)).scores
    assert (score.name, score.layer, score.value, score.label, score.raw) == (
        "relevance",
        Layer.TRAJECTORY,
        value,
        label,
        raw,
    )
    assert (score.trace_id, score.span_id) == ((b"t" * 16).hex(), (b"s" * 8).hex())
    assert (score.explanation, score.given_ns) == ("because", 7)


@pytest.mark.parametrize(
    "event", [result("Relevance", 7), result("Relevance"), result(None, 1), result("0", 1)]
)
def test_a_result_that_says_nothing_is_refused_by_itself(event) -> None:
    found = read_log_evidence(logs_with(event, result("good", 1)))
    assert [score.name for score in found.scores] == ["good"]
    assert len(found.refused) == 1


def test_the_older_spelling_of_an_event_is_understood() -> None:
    _, attributes = result("Relevance", 1)
    assert len(read_log_evidence(logs_with(("", {"event.name": RESULT, **attributes}))).scores) == 1


def test_logs_come_in_over_both_protocols_and_are_sent_on(listen) -> None:
    request, kept = logs_with(result("Relevance", 0.5), ("other", {})), Kept()
    with listen(relay=kept) as listening:
        url = f"{listening.endpoints.http}/v1/logs"
        for body, headers in [
            (request.SerializeToString(), PROTOBUF),
            (encode_json(request), {"content-type": "application/json"}),
        ]:
            assert post(url, content=body, headers=headers).status_code == 200
        with grpc.insecure_channel(listening.endpoints.grpc) as channel:
            answer = channel.unary_unary(LOGS_EXPORT)(request.SerializeToString(), timeout=60)
        assert not ExportLogsServiceResponse.FromString(answer).HasField("partial_success")
    assert len(kept.scores) == 3
    assert kept.scores[0] == kept.scores[1] == kept.scores[2]
    assert kept.requests == [(Signal.LOGS, request.SerializeToString())] * 3


def test_a_record_that_is_no_evidence_is_counted_in_partial_success(listen) -> None:
    with listen(relay=Kept()) as listening:
        url = f"{listening.endpoints.http}/v1/logs"
        body = logs_with(result("Relevance", 7), result("Relevance", 1)).SerializeToString()
        answer = ExportLogsServiceResponse.FromString(post(url, content=body, headers=PROTOBUF).content)
        assert answer.partial_success.rejected_log_records == 1
        assert "'Relevance'" in answer.partial_success.error_message


def test_a_store_that_is_away_makes_the_client_come_again(listen) -> None:
    kept = Kept(StoreError("away"))
    with listen(relay=kept) as listening:
        body = logs_with(result("Relevance", 1)).SerializeToString()
        response = post(f"{listening.endpoints.http}/v1/logs", content=body, headers=PROTOBUF)
        assert (response.status_code, kept.requests) == (503, [])


def test_what_our_evaluators_wrote_does_not_come_round(evaluation_of, scored) -> None:
    evaluation = evaluation_of(scored(0.25, "fail", "no"))
    events = build_evaluation_events(evaluation, evaluation.scores, 1)
    found = read_log_evidence(events)
    assert found.scores == []
    assert EVALUATOR_SCOPE.encode() not in events.SerializeToString()


def test_feedback_in_a_log_record_becomes_the_span_that_instrumentors_send(listen) -> None:
    request = logs_with(("spanproof.feedback", {"spanproof.feedback.kind": "thumbs_down"}))
    request.resource_logs[0].scope_logs[0].log_records[0].body.string_value = "wrong city"
    with listen(relay=Kept()) as listening:
        url = f"{listening.endpoints.http}/v1/logs"
        for _ in range(2):
            assert post(url, content=request.SerializeToString(), headers=PROTOBUF).status_code == 200
        first, again = (accepted.request.resource_spans[0].scope_spans[0] for accepted in listening.accepted)
        assert first == again
        facts = {pair.key: pair.value.string_value for pair in first.spans[0].attributes}
        assert first.spans[0].name == "feedback"
        assert facts["spanproof.feedback.kind"] == "thumbs_down"
        assert facts["spanproof.feedback.trace_id"] == (b"t" * 16).hex()
        assert facts["spanproof.feedback.comment"] == "wrong city"


def test_an_evaluation_result_on_a_span_is_a_score_too(listen, make_request) -> None:
    request, kept = make_request((1, 1, None)), Kept()
    event = request.resource_spans[0].scope_spans[0].spans[0].events.add(name=RESULT)
    event.attributes.extend(
        KeyValue(key=k, value=build_any_value(v)) for k, v in result("Tone", 0.5)[1].items()
    )
    with listen(relay=kept) as listening:
        body = request.SerializeToString()
        assert post(listening.traces_url, content=body, headers=PROTOBUF).status_code == 200
    assert [(score.name, score.span_id) for score in kept.scores] == [("tone", f"{1:016x}")]


def test_metrics_are_taken_and_sent_on_whole(listen) -> None:
    request, kept = ExportMetricsServiceRequest(), Kept()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name="tokens")
    point = metric.sum.data_points.add(as_int=3)
    point.exemplars.add(as_int=1, trace_id=b"t" * 16, span_id=b"s" * 8)
    with listen(relay=kept) as listening:
        url = f"{listening.endpoints.http}/v1/metrics"
        for body, headers in [
            (request.SerializeToString(), PROTOBUF),
            (encode_json(request), {"content-type": "application/json"}),
        ]:
            answer = post(url, content=body, headers=headers)
            assert answer.status_code == 200
        assert not ExportMetricsServiceResponse.FromString(b"").HasField("partial_success")
        assert post(url, content=b"\xff", headers=PROTOBUF).status_code == 400
    assert kept.requests == [(Signal.METRICS, request.SerializeToString())] * 2
