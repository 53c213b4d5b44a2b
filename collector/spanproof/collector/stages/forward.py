"""Sends spans with their scores, and evaluation events, on to OTLP/HTTP endpoints.

Comes in: batches of traces that are stored. Goes out: the original spans with what was found added to them,
evaluator spans, and log records. What was sent for an earlier state of a trace is not sent again. An endpoint
that is slow or down is tried for a bounded time from a bounded queue, then its requests are dropped and
counted: forwarding is a courtesy, the store is the record.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.stages.attach import annotate, evaluation_events, evaluator_spans
from spanproof.collector.stages.evaluate import Evaluated
from spanproof.collector.stages.otlp_client import LOGS_PATH, TRACES_PATH, Delivery, OtlpClient
from spanproof.collector.telemetry import Telemetry
from spanproof.config.model import Forward
from spanproof.trace import Score

log = logging.getLogger(__name__)

_REMEMBERED_TRACES = 5_000
"""Traces whose sent scores are remembered; one that comes again after that has its scores sent again, under
the same ids."""


class Forwarder:
    """Forwards to every endpoint, each with a thread and a queue of its own."""

    def __init__(self, endpoints: Sequence[Forward], telemetry: Telemetry) -> None:
        self._lanes = [_Lane(endpoint, telemetry) for endpoint in endpoints]
        self._sent: OrderedDict[str, frozenset[int]] = OrderedDict()

    def start(self) -> None:
        """Begin to send."""
        for lane in self._lanes:
            lane.start()

    def forward(self, batch: Sequence[Evaluated]) -> None:
        """Queue what is new about these traces; to be called from one thread."""
        if not self._lanes:
            return
        for evaluated in batch:
            traces, logs = self._messages(evaluated)
            for lane in self._lanes:
                lane.put(traces, logs)

    def drain(self, timeout_s: float) -> None:
        """Send what is queued and end, within the time."""
        until = time.monotonic() + timeout_s
        for lane in self._lanes:
            lane.close()
        for lane in self._lanes:
            lane.join(max(0.0, until - time.monotonic()))

    def _messages(self, evaluated: Evaluated) -> tuple[bytes, bytes]:
        complete, evaluation = evaluated.complete, evaluated.evaluation
        fresh = ExportTraceServiceRequest.FromString(evaluated.body)
        if evaluation is None:
            return fresh.SerializeToString(), b""
        annotate(fresh, evaluation.scores)
        scores = self._unsent(complete.trace_id, evaluation.scores)
        fresh.MergeFrom(evaluator_spans(evaluation, scores))
        events = evaluation_events(evaluation, scores, time.time_ns())
        return fresh.SerializeToString(), events.SerializeToString()

    def _unsent(self, trace_id: str, scores: Sequence[Score]) -> list[Score]:
        """The scores that are not as they were when this trace was forwarded before."""
        before = self._sent.pop(trace_id, frozenset())
        marks = {hash((score.id, score.outcome)): score for score in scores}
        self._sent[trace_id] = frozenset(marks)
        while len(self._sent) > _REMEMBERED_TRACES:
            self._sent.popitem(last=False)
        return [score for mark, score in marks.items() if mark not in before]


class _Lane:
    """One endpoint's queue and thread."""

    def __init__(self, endpoint: Forward, telemetry: Telemetry) -> None:
        self._endpoint = endpoint
        self._telemetry = telemetry
        self._inbox: queue.SimpleQueue[tuple[str, bytes] | None] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._queued = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spanproof-forward", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, traces: bytes, logs: bytes) -> None:
        wanted = [(TRACES_PATH, traces, self._endpoint.traces), (LOGS_PATH, logs, self._endpoint.logs)]
        for path, body, enabled in wanted:
            if not (enabled and body):
                continue
            with self._guard:
                fits = self._queued + len(body) <= self._endpoint.queue_bytes
                self._queued += len(body) if fits else 0
            if fits:
                self._inbox.put((path, body))
            else:
                self._count(path, Delivery.DROPPED)
                log.warning("the queue for %s is full: a request is dropped", self._endpoint.endpoint)

    def close(self) -> None:
        self._inbox.put(None)

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)
        self._stopping.set()
        self._thread.join(self._endpoint.timeout_s)

    def _run(self) -> None:
        with OtlpClient(self._endpoint, self._stopping) as client:
            while (job := self._inbox.get()) is not None:
                path, body = job
                try:
                    self._count(path, client.send(path, body))
                except Exception:
                    self._count(path, Delivery.DROPPED)
                    log.exception("forwarding to %s failed", self._endpoint.endpoint)
                with self._guard:
                    self._queued -= len(body)

    def _count(self, path: str, delivery: Delivery) -> None:
        self._telemetry.forwarded.labels(path.rpartition("/")[2], delivery.value).inc()
