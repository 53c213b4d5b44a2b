"""Sends spans with their scores, and evaluation events, on to OTLP targets, from a durable queue each.

In: batches of traces that are stored, before their log records are settled; and the logs and metrics that
came. Out: the original spans, to some targets with their scores as attributes and evaluator spans; log
records; metrics. What was sent for an earlier state of a trace is not sent again. A target that is slow or
down holds up itself alone, and gets what waits once it answers again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.receive.signals import Signal
from spanproof.collector.sinks.lane import Lane, QueueLane, close_lanes
from spanproof.collector.stages.attach import add_annotations, build_evaluation_events, build_evaluator_spans
from spanproof.collector.stages.evaluate import Evaluated
from spanproof.collector.stages.otlp_client import Delivery, Target, open_target
from spanproof.collector.stages.own_spans import build_own_spans
from spanproof.collector.stages.request_queue import RequestQueue
from spanproof.collector.telemetry import Sparingly, Telemetry, log
from spanproof.config.model import Forward
from spanproof.trace import Score
from spanproof.trace.project import TraceKey

# Traces whose sent scores are remembered; one that comes again after that has its scores sent again, under
# the same ids.
_REMEMBERED_TRACES = 5_000

_LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True, slots=True)
class _TraceRequests:
    """The requests that one evaluated trace becomes; empty bytes: nothing to send.

    Attributes:
        plain: the spans as they came.
        judged: those with their scores as attributes, and evaluator spans.
        events: the scores as events.
    """

    plain: bytes
    judged: bytes
    events: bytes


class Forwarder:
    """Forwards to every target, each with a thread and a queue of its own.

    Args:
        directory: where the queues are kept.
    """

    def __init__(self, targets: Sequence[Forward], directory: Path, telemetry: Telemetry) -> None:
        self._lanes = [
            _TargetLane(target, directory / f"{target.label}.sqlite3", telemetry) for target in targets
        ]
        self._sends_own = any(target.own_traces for target in targets)
        self._sends_judged = any(target.traces == "all" for target in targets)
        self._sent: OrderedDict[TraceKey, frozenset[int]] = OrderedDict()

    def start(self) -> None:
        """Begin to send, what former runs left in the queues too."""
        for lane in self._lanes:
            lane.start()

    def keep(self, batch: Sequence[Evaluated]) -> None:
        """Queue what is new about these traces, durably; to be called from one thread.

        Raises:
            OSError: a queue cannot be written.
        """
        if not self._lanes:
            return
        requests = [self._build_requests(evaluated) for evaluated in batch]
        if self._sends_own:
            own = build_own_spans(batch, time.time_ns()).SerializeToString()
        else:
            own = b""
        for lane in self._lanes:
            lane.add_traces(requests, own)

    def forward(self, signal: Signal, body: bytes) -> None:
        """Queue a request as it came, durably.

        Raises:
            OSError: a queue cannot be written.
        """
        for lane in self._lanes:
            lane.put(signal, body)

    def drain(self, timeout_s: float) -> None:
        """Send what can be sent within the time, and end; the rest stays in the queues."""
        close_lanes(self._lanes, timeout_s)

    def _build_requests(self, evaluated: Evaluated) -> _TraceRequests:
        evaluation = evaluated.evaluation
        if evaluation is None:
            return _TraceRequests(evaluated.body, evaluated.body, b"")
        scores = self._select_unsent(evaluated.complete.key, evaluation.scores)
        events = build_evaluation_events(evaluation, scores, time.time_ns()).SerializeToString()
        if not self._sends_judged:
            return _TraceRequests(evaluated.body, b"", events)
        judged = ExportTraceServiceRequest.FromString(evaluated.body)
        add_annotations(judged, evaluation.scores)
        judged.MergeFrom(build_evaluator_spans(evaluation, scores))
        return _TraceRequests(evaluated.body, judged.SerializeToString(), events)

    def _select_unsent(self, key: TraceKey, scores: Sequence[Score]) -> list[Score]:
        """Return the scores that are not as they were when this trace was forwarded before."""
        before = self._sent.pop(key, frozenset())
        marks = {hash((score.id, score.outcome)): score for score in scores}
        self._sent[key] = frozenset(marks)
        while len(self._sent) > _REMEMBERED_TRACES:
            self._sent.popitem(last=False)
        return [score for mark, score in marks.items() if mark not in before]


class _TargetLane(QueueLane[RequestQueue]):
    """One target's queue and thread."""

    def __init__(self, target: Forward, path: Path, telemetry: Telemetry) -> None:
        lane = Lane(f"forward {target.label}", self._handle_first, lambda: None, _LONGEST_PAUSE_S)
        queue = RequestQueue(path, target.queue_bytes)
        super().__init__(lane, queue, telemetry.forward_waiting, target.label, target.timeout_s)
        self._target = target
        self._telemetry = telemetry
        self._sparingly = Sparingly()
        self._wanted = {
            signal
            for signal, wanted in (
                (Signal.TRACES, target.traces),
                (Signal.LOGS, target.logs),
                (Signal.METRICS, target.metrics),
            )
            if wanted
        }
        self._client: Target | None = None
        self._trying, self._tried_s = 0, 0.0

    def add_traces(self, requests: Iterable[_TraceRequests], own_traces: bytes) -> None:
        wanted: list[tuple[Signal, bytes]] = []
        for request in requests:
            if self._target.traces == "all":
                spans = request.judged
            else:
                spans = request.plain
            wanted += [(Signal.TRACES, spans), (Signal.LOGS, request.events)]
        self._add_requests(self._select_wanted(wanted) + self._select_own(own_traces))

    def put(self, signal: Signal, body: bytes) -> None:
        self._add_requests(self._select_wanted([(signal, body)]))

    def _select_wanted(self, requests: Iterable[tuple[Signal, bytes]]) -> list[tuple[Signal, bytes]]:
        return [(signal, body) for signal, body in requests if body and signal in self._wanted]

    def _select_own(self, body: bytes) -> list[tuple[Signal, bytes]]:
        if body and self._target.own_traces:
            return [(Signal.TRACES, body)]
        return []

    def _add_requests(self, wanted: Sequence[tuple[Signal, bytes]]) -> None:
        if not wanted:
            return
        dropped = self._queue.put(wanted)
        for signal in dropped:
            self._record_delivery(signal, Delivery.DROPPED)
        if dropped and (left_out := self._sparingly.find_left_out("full")) is not None:
            log.warning(
                "the queue for %s is full: %d requests are dropped",
                self._target.label,
                len(dropped) + left_out,
            )
        self._lane.wake()

    def _handle_first(self) -> bool:
        waiting = self._queue.first()
        if waiting is None:
            return False
        if waiting.number != self._trying:
            self._trying, self._tried_s = waiting.number, time.monotonic()
        if time.monotonic() - self._tried_s > self._target.retry_for_s:
            log.warning("%s: dropped a request after repeated attempts", self._target.label)
            delivery = Delivery.DROPPED
        else:
            if self._client is None:
                self._client = self._open.enter_context(open_target(self._target))
            delivery = self._client.send(waiting.signal, waiting.body)
        self._queue.remove(waiting)
        self._record_delivery(waiting.signal, delivery)
        return True

    def _record_delivery(self, signal: Signal, delivery: Delivery) -> None:
        self._telemetry.forwarded.labels(signal.value, delivery.value).inc()
