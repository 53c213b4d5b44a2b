"""What the collector reports about itself: counters for Prometheus and log lines.

A counter per thing that can happen to a request, a span, a trace or a forwarded batch, so that whatever was
refused, cut, skipped or dropped can be seen from outside. Never holds content of a trace.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Hashable, Iterator
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from spanproof.collector.process_metrics import add_process_metrics
from spanproof.collector.run_amounts import RunAmounts
from spanproof.collector.verdict_counts import VerdictCounts

log = logging.getLogger("spanproof.collector")

_LINE_EVERY_S = 1.0
_QUICK_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_SECONDS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0)


class Sparingly:
    """Keeps a client that errs a thousand times a second from filling the log. For one thread."""

    def __init__(self) -> None:
        self._last_s: dict[Hashable, float] = {}
        self._left_out: dict[Hashable, int] = {}

    def find_left_out(self, kind: Hashable) -> int | None:
        """Return how many such lines were left out since the last; None to leave this one out too."""
        now_s = time.monotonic()
        if now_s - self._last_s.get(kind, -_LINE_EVERY_S) < _LINE_EVERY_S:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return None
        self._last_s[kind] = now_s
        return self._left_out.pop(kind, 0)


class OneLineASecond(logging.Filter):
    """Lets one line of each kind through in a second: for a library that logs a line for each bad request."""

    def __init__(self) -> None:
        super().__init__()
        self._sparingly = Sparingly()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the line is written."""
        return self._sparingly.find_left_out((record.levelno, str(record.msg))) is not None


class JsonLines(logging.Formatter):
    """Log records as JSON Lines, for machines that read them."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "thread": record.threadName,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


class Telemetry:
    """The counters of one collector; each collector in a process has its own."""

    def __init__(self, max_cohorts: int = 200) -> None:
        self.registry = CollectorRegistry()
        add_process_metrics(self.registry)
        self.verdicts = VerdictCounts(self.registry, max_cohorts)
        self.run_amounts = RunAmounts(self.registry, max_cohorts)
        self._add_receive_metrics()
        self._add_evaluation_metrics()
        self._add_delivery_metrics()
        self._add_verdict_metrics()

    def _add_receive_metrics(self) -> None:
        self.requests = self._build_counter(
            "spanproof_receive_requests",
            "Export requests by protocol and outcome: accepted, partial, or the reason for the refusal.",
            "protocol",
            "outcome",
        )
        self.bytes_received = self._build_counter(
            "spanproof_receive_bytes", "Bytes of request bodies, after decompression."
        )
        self.spans_received = self._build_counter("spanproof_receive_spans", "Spans acknowledged.")
        self.spans_refused = self._build_counter(
            "spanproof_receive_spans_refused",
            "Spans refused in a request whose other spans were accepted, by reason.",
            "reason",
        )
        self.spans_ignored = self._build_counter(
            "spanproof_spans_ignored",
            "Spans acknowledged and not stored, by reason: repeated, own_evaluator.",
            "reason",
        )
        self.spans_clamped = self._build_counter(
            "spanproof_receive_spans_clamped", "Spans with an impossible time, which was corrected."
        )
        self.values_redacted = self._build_counter(
            "spanproof_receive_values_redacted", "Values in which a redaction rule replaced something."
        )
        self.replayed_records = self._build_counter(
            "spanproof_wal_replayed_records", "Requests read again from the log at start."
        )
        self.kafka_messages = self._build_counter(
            "spanproof_kafka_messages",
            "Messages of the topic by event: produced, consumed, unreadable.",
            "event",
        )
        self.kafka_partitions = Gauge(
            "spanproof_kafka_partitions", "Partitions assigned to this worker.", registry=self.registry
        )
        self.kafka_lag = Gauge(
            "spanproof_kafka_lag_messages",
            "Unread messages in the partitions of this worker.",
            registry=self.registry,
        )
        self.kafka_rebalances = self._build_counter(
            "spanproof_kafka_rebalances",
            "Changes of this worker's partitions: assigned, revoked, lost.",
            "event",
        )

    def _add_evaluation_metrics(self) -> None:
        self.traces_completed = self._build_counter(
            "spanproof_traces_completed",
            "Traces handed to evaluation, by reason: quiet, orphans, max_wait, memory, shutdown.",
            "why",
        )
        self.traces_evaluated = self._build_counter(
            "spanproof_traces_evaluated", "Traces evaluated and stored."
        )
        self.traces_failed = self._build_counter(
            "spanproof_traces_failed", "Traces that became dead letters, by the stage that failed.", "stage"
        )
        self.evaluation_attempts_failed = self._build_counter(
            "spanproof_evaluation_attempts_failed",
            "Failed attempts to evaluate a trace, by stage, whether they are repeated or not.",
            "stage",
        )
        self.evaluation_seconds = Histogram(
            "spanproof_evaluation_seconds",
            "Time to evaluate one trace.",
            buckets=_SECONDS,
            registry=self.registry,
        )

    def _add_delivery_metrics(self) -> None:
        self.scores = self._build_counter(
            "spanproof_scores", "Scores stored, by layer and outcome.", "layer", "outcome"
        )
        self.spans_stored = self._build_counter("spanproof_store_spans", "Spans written to the store.")
        self.spans_not_stored = self._build_counter(
            "spanproof_store_spans_refused", "Spans that the store refused permanently."
        )
        self.store_retries = self._build_counter(
            "spanproof_store_retries", "Failed attempts to write to the store."
        )
        self.forwarded = self._build_counter(
            "spanproof_forward_requests",
            "Forwarded requests by signal and outcome: sent, partial, refused, dropped.",
            "signal",
            "outcome",
        )
        self.forward_waiting = Gauge(
            "spanproof_forward_waiting_requests",
            "Requests in the queue of a forward target.",
            ["target"],
            registry=self.registry,
        )
        self.notifications = self._build_counter(
            "spanproof_notifications",
            "Attempts to deliver notifications, by kind of target and outcome:"
            " delivered, undelivered, superseded, given_up.",
            "kind",
            "outcome",
        )
        self.sink_scores = self._build_counter(
            "spanproof_sink_scores",
            "Scores for sinks, by sink and outcome: sent, retried, postponed, refused, expired, dropped.",
            "sink",
            "outcome",
        )
        self.sink_waiting = Gauge(
            "spanproof_sink_waiting_scores",
            "Scores in the queue of a sink.",
            ["sink"],
            registry=self.registry,
        )
        self.tick_failures = self._build_counter(
            "spanproof_tick_failures", "Failures of the tasks that run after each write, such as alerting."
        )

    def _add_verdict_metrics(self) -> None:
        self.json_requests = self._build_counter(
            "spanproof_json_requests",
            "Requests for a verdict or a route, or with scores, by outcome: answered, or why it was refused.",
            "kind",
            "outcome",
        )
        self.external_scores = self._build_counter(
            "spanproof_external_scores", "Stored scores of other systems.", "layer"
        )
        self.verdicts_given = self._build_counter(
            "spanproof_verdicts", "Answers to requests for a verdict, by verdict.", "verdict"
        )
        self.routes = self._build_counter(
            "spanproof_routes",
            "Answers to requests for a route, by rule (empty for the action continue) and action.",
            "rule",
            "action",
        )
        self.json_seconds = Histogram(
            "spanproof_json_seconds",
            "Time to answer a request for a verdict or a route, or with scores.",
            ["kind"],
            buckets=_QUICK_SECONDS,
            registry=self.registry,
        )

    def _build_counter(self, name: str, help_: str, *labels: str) -> Counter:
        return Counter(name, help_, labels, registry=self.registry)

    def add_gauge(self, name: str, help_: str, read: Callable[[], float]) -> None:
        """Show a value that is read when the metrics are."""
        Gauge(name, help_, registry=self.registry).set_function(read)

    def iter_counters(self) -> Iterator[Metric]:
        """Yield all counters and gauges."""
        for metric in self.collect():
            if metric.type in ("counter", "gauge"):
                yield metric

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        return _WithoutCreated(self.registry).collect()

    def encode_metrics(self, accept: str = "") -> tuple[bytes, str]:
        """Return all metrics and their type: OpenMetrics or Prometheus' text format, as `accept` has it."""
        encode, content_type = choose_encoder(accept)
        return encode(_WithoutCreated(self.registry)), content_type


class _WithoutCreated(Collector):
    """A registry without the times at which series began: they double the number, and no query uses them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
