"""What a collector evaluated, for those who watch it from within the process.

Keeps the latest few evaluations and a count; everything else is in the store. Thread-safe.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence

from spanproof.collector.stages.evaluate import Evaluated
from spanproof.evaluators.model import TraceEvaluation

log = logging.getLogger(__name__)

_LATEST = 64


class EvaluationLog:
    """The evaluations of one collector, in the order they were stored."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._traces = 0
        self._latest: deque[TraceEvaluation] = deque(maxlen=_LATEST)
        self._subscribers: list[Callable[[TraceEvaluation], None]] = []

    @property
    def traces(self) -> int:
        """How many traces were evaluated; one that late spans re-opened counts once."""
        with self._changed:
            return self._traces

    @property
    def latest(self) -> tuple[TraceEvaluation, ...]:
        """The latest evaluations, the newest last."""
        with self._changed:
            return tuple(self._latest)

    def add_subscriber(self, callback: Callable[[TraceEvaluation], None]) -> None:
        """Call this with each evaluation, those of re-opened traces too; it must not take long."""
        with self._changed:
            self._subscribers.append(callback)

    def wait_for(self, traces: int, timeout_s: float) -> bool:
        """Block until so many traces were evaluated; False when they were not in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._traces >= traces, timeout_s)

    def record(self, batch: Sequence[Evaluated]) -> None:
        """Note a batch that was stored, and call the subscribers."""
        fresh = [evaluated for evaluated in batch if evaluated.evaluation is not None]
        with self._changed:
            subscribers = tuple(self._subscribers)
        for evaluated in fresh:
            for notify in subscribers:
                try:
                    assert evaluated.evaluation is not None
                    notify(evaluated.evaluation)
                except Exception:
                    log.exception("a subscriber failed on trace %s", evaluated.complete.trace_id)
        with self._changed:
            self._latest.extend(evaluated.evaluation for evaluated in fresh if evaluated.evaluation)
            self._traces += sum(evaluated.complete.generation == 0 for evaluated in fresh)
            self._changed.notify_all()
