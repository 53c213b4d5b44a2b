"""The collector's own metrics as OTLP."""

from __future__ import annotations

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from waiting import wait_until

from spanproof.collector.own_metrics import MetricsExport, build_metrics_request
from spanproof.collector.telemetry import Telemetry


def metrics_of(request):
    (of_process,) = request.resource_metrics
    return {metric.name: metric for metric in of_process.scope_metrics[0].metrics}


def labels_of(point):
    return {pair.key: pair.value.string_value for pair in point.attributes}


def test_each_kind_is_what_prometheus_shows():
    telemetry = Telemetry()
    telemetry.spans_received.inc(7)
    telemetry.requests.labels("http", "ok").inc()
    telemetry.kafka_partitions.set(3)
    for seconds in (0.02, 0.02, 0.2, 500.0):
        telemetry.evaluation_seconds.observe(seconds)
    found = metrics_of(build_metrics_request(telemetry.collect(), 5, 9))
    (spans,) = found["spanproof_receive_spans"].sum.data_points
    assert (spans.as_double, spans.start_time_unix_nano, spans.time_unix_nano) == (7.0, 5, 9)
    assert found["spanproof_receive_spans"].sum.is_monotonic
    (requests,) = found["spanproof_receive_requests"].sum.data_points
    assert labels_of(requests) == {"protocol": "http", "outcome": "ok"}
    assert found["spanproof_kafka_partitions"].gauge.data_points[0].as_double == 3.0
    (seconds,) = found["spanproof_evaluation_seconds"].histogram.data_points
    assert (seconds.count, round(seconds.sum, 2)) == (4, 500.24)
    assert list(seconds.explicit_bounds) == [0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0]
    assert list(seconds.bucket_counts) == [0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 1]


def test_they_are_sent_again_and_again_and_at_the_end():
    telemetry, sent = Telemetry(), []
    export = MetricsExport(telemetry.collect, sent.append, 0.01)
    export.start()
    wait_until(lambda: len(sent) > 2)
    telemetry.spans_received.inc(4)
    export.stop()
    last = metrics_of(ExportMetricsServiceRequest.FromString(sent[-1]))
    assert last["spanproof_receive_spans"].sum.data_points[0].as_double == 4.0


def test_a_queue_that_cannot_be_written_does_not_end_them():
    calls = []

    def fail(body):
        calls.append(body)
        raise OSError("the disk is full")

    export = MetricsExport(Telemetry().collect, fail, 0.01)
    export.start()
    wait_until(lambda: len(calls) > 2)
    export.stop()
