"""The collector's own counters, gauges and histograms as OTLP metrics, sent to the targets that want metrics.

Comes in: what `GET /metrics` shows. Goes out, every now and then and once more at the end: an export request,
cumulative since the start of the process. Never holds content of a trace.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, HistogramDataPoint
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric as OtlpMetric
from prometheus_client.core import Metric

from spanproof.trace.otlp import build_any_value

log = logging.getLogger(__name__)

_CUMULATIVE = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
_BOUND = "le"
_SERVICE = "spanproof"


class MetricsExport:
    """A thread that sends the metrics.

    Args:
        collect: returns the metrics.
        send: queues an export request.
    """

    def __init__(
        self, collect: Callable[[], Iterable[Metric]], send: Callable[[bytes], object], every_s: float
    ) -> None:
        self._fetch_rows = collect
        self._send = send
        self._every_s = every_s
        self._began_ns = time.time_ns()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spanproof-own-metrics", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self) -> None:
        """Send a last time and end."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        ended = False
        while not ended:
            ended = self._stopping.wait(self._every_s)
            request = build_metrics_request(self._fetch_rows(), self._began_ns, time.time_ns())
            try:
                self._send(request.SerializeToString())
            except OSError as failure:
                log.warning("the collector's own metrics are not sent: %s", failure)


def build_metrics_request(
    metrics: Iterable[Metric], began_ns: int, now_ns: int
) -> ExportMetricsServiceRequest:
    """Return the metrics as an export request of this process; counts are since `began_ns`."""
    request = ExportMetricsServiceRequest()
    of_process = request.resource_metrics.add()
    named = {
        "service.name": _SERVICE,
        "service.version": version("spanproof"),
        "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
    }
    of_process.resource.attributes.extend(_to_key_values(named))
    scope = of_process.scope_metrics.add()
    scope.scope.name = "spanproof.collector"
    for metric in metrics:
        _add_metric(scope.metrics.add(name=metric.name, description=metric.documentation), metric, began_ns)
    for exported in scope.metrics:
        for kind in (exported.sum, exported.gauge, exported.histogram):
            for point in kind.data_points:
                point.time_unix_nano = now_ns
    return request


def _add_metric(made: OtlpMetric, metric: Metric, began_ns: int) -> None:
    # A summary without quantiles is a histogram without buckets: sum and count.
    if metric.type in ("histogram", "summary"):
        made.histogram.aggregation_temporality = _CUMULATIVE
        made.histogram.data_points.extend(_list_histogram_points(metric, began_ns))
    elif metric.type == "counter":
        made.sum.aggregation_temporality, made.sum.is_monotonic = _CUMULATIVE, True
        for sample in metric.samples:
            point = made.sum.data_points.add(start_time_unix_nano=began_ns, as_double=sample.value)
            point.attributes.extend(_to_key_values(sample.labels))
    else:
        for sample in metric.samples:
            made.gauge.data_points.add(as_double=sample.value).attributes.extend(
                _to_key_values(sample.labels)
            )


def _list_histogram_points(metric: Metric, began_ns: int) -> Iterable[HistogramDataPoint]:
    """Return a point for each set of labels; Prometheus counts into a bucket all that is below its bound."""
    points: dict[tuple[tuple[str, str], ...], HistogramDataPoint] = {}
    below: dict[tuple[tuple[str, str], ...], int] = {}
    for sample in metric.samples:
        labels = {name: value for name, value in sample.labels.items() if name != _BOUND}
        key = tuple(sorted(labels.items()))
        if key not in points:
            points[key] = HistogramDataPoint(start_time_unix_nano=began_ns, attributes=_to_key_values(labels))
        point = points[key]
        if sample.name.endswith("_sum"):
            point.sum = sample.value
        elif sample.name.endswith("_count"):
            point.count = int(sample.value)
        else:
            point.bucket_counts.append(int(sample.value) - below.get(key, 0))
            below[key] = int(sample.value)
            if sample.labels[_BOUND] != "+Inf":
                point.explicit_bounds.append(float(sample.labels[_BOUND]))
    return points.values()


def _to_key_values(labels: Mapping[str, str]) -> list[KeyValue]:
    return [KeyValue(key=name, value=build_any_value(value)) for name, value in labels.items()]
