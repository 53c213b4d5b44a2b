"""Sends what the queues hold: one thread for each sink, in order, for as long as it takes.

Comes in: each stored trace, before its log record is settled. Goes out: requests to the products. A product
that is down or slow holds up itself alone; a score that one refuses is noted with the reason and costs no
other. After a crash the queue goes on where it was; what was sent and not noted is sent again, under the same
key.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from spanproof.collector.sinks.http import Adapter, Refused, Unavailable
from spanproof.collector.sinks.lane import Lane, QueueLane, close_lanes
from spanproof.collector.sinks.products import ADAPTERS, open_client
from spanproof.collector.sinks.queue import SinkQueue, Waiting
from spanproof.collector.telemetry import Sparingly, Telemetry
from spanproof.config.sinks import Sink
from spanproof.evaluators.model import TraceEvaluation
from spanproof.trace import Score

log = logging.getLogger(__name__)

_LONGEST_PAUSE_S = 300.0
# Pause of a score whose span the product does not have yet: it may come from another exporter.
_LATE_FIRST_S = 5.0

_LATE_LONGEST_S = 600.0


class Sinks:
    """All sinks of a collector.

    Args:
        sinks: where scores are sent.
        directory: where the queues are kept.
    """

    def __init__(self, sinks: Sequence[Sink], directory: Path, telemetry: Telemetry) -> None:
        self._lanes = [_Lane(sink, directory / f"{sink.label}.sqlite3", telemetry) for sink in sinks]

    def start(self) -> None:
        """Begin to send, what former runs left in the queues too."""
        for lane in self._lanes:
            lane.start()

    def keep(self, evaluations: Sequence[TraceEvaluation]) -> None:
        """Queue what is new about these traces; durable when it returns.

        Raises:
            sqlite3.Error: a queue cannot be written.
        """
        for lane in self._lanes:
            for evaluation in evaluations:
                lane.keep(evaluation)

    def drain(self, timeout_s: float) -> None:
        """Send what can be sent within the time, and end; the rest stays in the queues."""
        close_lanes(self._lanes, timeout_s)


class _Lane(QueueLane[SinkQueue]):
    """One sink's queue and thread."""

    def __init__(self, sink: Sink, path: Path, telemetry: Telemetry) -> None:
        lane = Lane(
            f"sink {sink.label}",
            self._handle_due,
            lambda: self._record_outcome("retried", 1),
            _LONGEST_PAUSE_S,
        )
        queue = SinkQueue(path, sink.max_waiting)
        super().__init__(lane, queue, telemetry.sink_waiting, sink.label, sink.timeout_s)
        self._sink = sink
        self._adapter: Adapter = ADAPTERS[sink.kind](sink)
        self._telemetry = telemetry
        self._sparingly = Sparingly()
        self._client: httpx.Client | None = None

    def keep(self, evaluation: TraceEvaluation) -> None:
        dropped = self._queue.keep(
            evaluation.key, [score for score in evaluation.scores if self._accepts_score(score)]
        )
        if dropped:
            self._record_outcome("dropped", dropped)
            log.warning("the queue of sink %s is full: %d scores are dropped", self._sink.label, dropped)
        self._lane.wake()

    def _accepts_score(self, score: Score) -> bool:
        is_of_layer = score.name == score.layer.value
        match self._sink.scores:
            case "layers":
                return is_of_layer and score.span_id == score.run_span_id
            case "steps":
                return is_of_layer
            case "all":
                return True

    def _handle_due(self) -> bool:
        due = self._queue.due(self._adapter.batch)
        if due:
            if self._client is None:
                self._client = self._open.enter_context(open_client(self._sink))
            self._send_items(self._client, due)
        return bool(due)

    def _send_items(self, client: httpx.Client, due: Sequence[Waiting]) -> None:
        """Send these; where one of several is refused, find it by halves."""
        try:
            self._adapter.send(client, [entry.item for entry in due])
        except Unavailable:
            raise
        except Exception as problem:  # noqa: BLE001 - an answer of any shape costs its own score alone
            if len(due) > 1:
                middle = len(due) // 2
                self._send_items(client, due[:middle])
                self._send_items(client, due[middle:])
                return
            self._record_failed(due[0], problem)
        else:
            self._queue.sent(due)
            self._record_outcome("sent", len(due))

    def _record_failed(self, waiting: Waiting, problem: Exception) -> None:
        age_s = (time.time_ns() - waiting.since_ns) / 1e9
        if not isinstance(problem, Refused) and age_s < self._sink.keep_for_s:
            pause_s = min(_LATE_FIRST_S * 2 ** min(waiting.tries, 20), _LATE_LONGEST_S)
            self._queue.postpone([waiting], pause_s)
            self._record_outcome("postponed", 1)
            return
        self._queue.refuse(waiting, str(problem))
        self._record_outcome("refused" if isinstance(problem, Refused) else "expired", 1)
        if (left_out := self._sparingly.find_left_out("refused")) is not None:
            more = f" ({left_out} more since the last line)" if left_out else ""
            log.warning("sink %s does not take a score%s: %s", self._sink.label, more, problem)

    def _record_outcome(self, outcome: str, number: int) -> None:
        self._telemetry.sink_scores.labels(self._sink.label, outcome).inc(number)
