"""The stage that evaluates: OTLP bytes of one trace to a `TraceEvaluation`, several traces at once.

Comes in: complete traces. Goes out, to the writer: each with its evaluation, or with none where a stage
failed on it. Two states of one trace are never evaluated at the same time, so that the later one is also
written later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.assemble import CompleteTrace
from spanproof.collector.dialects import normalise
from spanproof.collector.telemetry import Telemetry
from spanproof.evaluators.model import TraceEvaluation
from spanproof.semconv.spanproof import COHORT_PREFIX
from spanproof.trace import Span, Trace, trace_of
from spanproof.trace.otlp import any_value

log = logging.getLogger(__name__)

_PROJECT = f"{COHORT_PREFIX}project"


class Evaluates(Protocol):
    """What evaluates a trace: `spanproof.evaluators.engine.Engine`."""

    def evaluate(self, trace: Trace) -> TraceEvaluation:
        """Everything found about this trace."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A trace after evaluation; `evaluation` is None where it failed, and `error` says why."""

    complete: CompleteTrace
    evaluation: TraceEvaluation | None
    error: str = ""


class Evaluators:
    """A bounded number of threads, each evaluating one trace at a time.

    Args:
        known_spans: spans of a trace that were stored before; asked for where a trace lacks parents.
        hand_on: given each evaluated trace, in the thread that evaluated it.
        superseded: told of a trace that a later state of itself took the place of, unevaluated.
    """

    def __init__(
        self,
        *,
        engine: Evaluates,
        workers: int,
        project: str,
        telemetry: Telemetry,
        known_spans: Callable[[str], tuple[Span, ...]],
        hand_on: Callable[[Evaluated], None],
        superseded: Callable[[CompleteTrace], None],
    ) -> None:
        self._engine = engine
        self._project = project
        self._telemetry = telemetry
        self._known_spans = known_spans
        self._hand_on = hand_on
        self._superseded = superseded
        self._guard = threading.Condition()
        self._running: set[str] = set()
        self._waiting: dict[str, CompleteTrace] = {}
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="spanproof-evaluate")

    def submit(self, complete: CompleteTrace) -> None:
        """Evaluate this trace as soon as a thread is free and its former state is through."""
        with self._guard:
            if complete.trace_id in self._running:
                former = self._waiting.get(complete.trace_id)
                self._waiting[complete.trace_id] = merged(former, complete) if former else complete
                if former:
                    self._superseded(former)
                return
            self._running.add(complete.trace_id)
        self._pool.submit(self._work, complete)

    def drain(self, timeout_s: float) -> bool:
        """Wait until nothing is left to do; False when time ran out, and what did not begin is dropped."""
        with self._guard:
            drained = self._guard.wait_for(lambda: not self._running, timeout_s)
            self._waiting.clear()
        self._pool.shutdown(wait=drained, cancel_futures=True)
        return drained

    def _work(self, complete: CompleteTrace) -> None:
        try:
            self._hand_on(self._evaluate(complete))
        finally:
            with self._guard:
                following = self._waiting.pop(complete.trace_id, None)
                if following is None:
                    self._running.discard(complete.trace_id)
                    self._guard.notify_all()
            if following is not None:
                self._pool.submit(self._work, following)

    def _evaluate(self, complete: CompleteTrace) -> Evaluated:
        began = time.monotonic()
        stage = "normalise"
        try:
            trace = trace_of([*self._earlier(complete), *normalise(request_of(complete, self._project))])
            stage = "evaluate"
            evaluation = self._engine.evaluate(trace)
        except Exception as failure:
            log.exception("trace %s: %s failed", complete.trace_id, stage)
            self._telemetry.traces_failed.labels(stage).inc()
            return Evaluated(complete, None, f"{type(failure).__name__}: {failure}")
        self._telemetry.evaluation_seconds.observe(time.monotonic() - began)
        return Evaluated(complete, evaluation)

    def _earlier(self, complete: CompleteTrace) -> tuple[Span, ...]:
        """Spans that came so long ago that only the store still has them."""
        if complete.whole or complete.generation:
            return ()
        try:
            return self._known_spans(complete.trace_id)
        except Exception:
            log.exception("trace %s: what was stored of it before cannot be read", complete.trace_id)
            return ()


def request_of(complete: CompleteTrace, project: str = "") -> ExportTraceServiceRequest:
    """The trace as one OTLP request; resources that name no project get this one."""
    request = ExportTraceServiceRequest.FromString(b"".join(complete.bodies))
    for resource in request.resource_spans if project else ():
        if all(pair.key != _PROJECT for pair in resource.resource.attributes):
            resource.resource.attributes.add(key=_PROJECT, value=any_value(project))
    return request


def merged(former: CompleteTrace, later: CompleteTrace) -> CompleteTrace:
    """The later state of a trace, answerable for the former's records and unforwarded spans too."""
    return replace(
        later,
        records=former.records | later.records,
        fresh_from=min(former.fresh_from, later.fresh_from),
        generation=min(former.generation, later.generation),
    )
