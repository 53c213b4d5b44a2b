"""What the collector tells about itself: counters for Prometheus and log lines.

A counter per thing that can happen to a request, a span, a trace or a forwarded batch, so that whatever was
refused, cut, skipped or dropped can be seen from outside. Never holds content of a trace.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Hashable
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

METRICS_CONTENT_TYPE = CONTENT_TYPE_LATEST

log = logging.getLogger("spanproof.collector")

_LINE_EVERY_S = 1.0
_SECONDS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0)


class Sparingly:
    """Keeps a client that errs a thousand times a second from filling the log. For one thread."""

    def __init__(self) -> None:
        self._last_s: dict[Hashable, float] = {}
        self._left_out: dict[Hashable, int] = {}

    def left_out(self, kind: Hashable) -> int | None:
        """How many lines of this kind were left out since the last; None where this one is to be too."""
        now_s = time.monotonic()
        if now_s - self._last_s.get(kind, -_LINE_EVERY_S) < _LINE_EVERY_S:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return None
        self._last_s[kind] = now_s
        return self._left_out.pop(kind, 0)


class JsonLines(logging.Formatter):
    """Log records as JSON Lines, for machines that read them."""

    def format(self, record: logging.LogRecord) -> str:
        """One record as one line."""
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

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self.registry = registry
        self.requests = Counter(
            "spanproof_receive_requests",
            "Export requests by protocol and outcome.",
            ["protocol", "outcome"],
            registry=registry,
        )
        self.bytes_received = Counter(
            "spanproof_receive_bytes", "Bytes of request bodies, after decompression.", registry=registry
        )
        self.spans_received = Counter("spanproof_receive_spans", "Spans acknowledged.", registry=registry)
        self.spans_refused = Counter(
            "spanproof_receive_spans_refused",
            "Spans refused as part of a request that was otherwise taken, by reason.",
            ["reason"],
            registry=registry,
        )
        self.spans_ignored = Counter(
            "spanproof_spans_ignored",
            "Spans acknowledged and left out, by reason.",
            ["reason"],
            registry=registry,
        )
        self.traces_completed = Counter(
            "spanproof_traces_completed", "Traces handed to evaluation, by why.", ["why"], registry=registry
        )
        self.traces_evaluated = Counter(
            "spanproof_traces_evaluated", "Traces evaluated and stored.", registry=registry
        )
        self.traces_failed = Counter(
            "spanproof_traces_failed",
            "Traces set aside because a stage failed on them, by stage.",
            ["stage"],
            registry=registry,
        )
        self.scores = Counter(
            "spanproof_scores",
            "Scores stored, by layer and outcome.",
            ["layer", "outcome"],
            registry=registry,
        )
        self.store_retries = Counter(
            "spanproof_store_retries", "Failed attempts to write to the store.", registry=registry
        )
        self.forwarded = Counter(
            "spanproof_forward_requests",
            "Forwarded requests by signal and outcome.",
            ["signal", "outcome"],
            registry=registry,
        )
        self.tick_failures = Counter(
            "spanproof_tick_failures",
            "Failures of what runs after each write, alerting among it.",
            registry=registry,
        )
        self.evaluation_seconds = Histogram(
            "spanproof_evaluation_seconds",
            "Time to evaluate one trace.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.replayed_records = Counter(
            "spanproof_wal_replayed_records",
            "Requests read again from the log at start.",
            registry=registry,
        )

    def gauge(self, name: str, help_: str, read: Callable[[], float]) -> None:
        """Show a value that is read when it is asked for."""
        Gauge(name, help_, registry=self.registry).set_function(read)

    def exposition(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self.registry)
