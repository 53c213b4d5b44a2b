"""The stage that evaluates: OTLP bytes of one trace to a `TraceEvaluation`, several traces at once.

Comes in: complete traces. Goes out, to the writer: each with its evaluation, or with none where a stage
failed on it. A later state of a trace is evaluated once the former is stored, never beside it, as it may
build on it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.stages.assemble import CompleteTrace
from spanproof.collector.telemetry import Telemetry
from spanproof.evaluators.model import TraceEvaluation
from spanproof.semconv.spanproof import COHORT_PREFIX
from spanproof.store import StoreError, StoreUnavailable
from spanproof.trace import Span, Trace, trace_of
from spanproof.trace.dialects import normalise
from spanproof.trace.otlp import any_value

log = logging.getLogger(__name__)

_STORE_PAUSE_S = 2.0
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
        known_spans: spans of a trace that were stored before.
        hand_on: given each evaluated trace, in the thread that evaluated it.
        counted_twice: told how many bytes two states had in common that became one, unevaluated.
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
        counted_twice: Callable[[int], None],
    ) -> None:
        self._engine = engine
        self._project = project
        self._telemetry = telemetry
        self._known_spans = known_spans
        self._hand_on = hand_on
        self._counted_twice = counted_twice
        self._guard = threading.Condition()
        self._closing = threading.Event()
        self._under_way: set[str] = set()
        self._waiting: dict[str, CompleteTrace] = {}
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="spanproof-evaluate")

    def submit(self, complete: CompleteTrace) -> None:
        """Evaluate this trace as soon as a thread is free and its former state is stored."""
        with self._guard:
            if complete.trace_id in self._under_way:
                former = self._waiting.get(complete.trace_id)
                both = merged(former, complete) if former else complete
                self._waiting[complete.trace_id] = both
                self._counted_twice(complete.size + (former.size if former else 0) - both.size)
                return
            self._under_way.add(complete.trace_id)
        self._pool.submit(self._work, complete)

    def settled(self, trace_id: str) -> None:
        """The state of this trace that was handed on is stored: a later one may follow."""
        with self._guard:
            following = self._waiting.pop(trace_id, None)
            if following is None:
                self._under_way.discard(trace_id)
                self._guard.notify_all()
        if following is not None:
            self._pool.submit(self._work, following)

    def drain(self, timeout_s: float) -> bool:
        """Wait until everything is evaluated and stored; False when time ran out."""
        self._closing.set()
        with self._guard:
            drained = self._guard.wait_for(lambda: not self._under_way, timeout_s)
            self._waiting.clear()
        self._pool.shutdown(wait=drained, cancel_futures=True)
        return drained

    def _work(self, complete: CompleteTrace) -> None:
        try:
            self._hand_on(self._evaluate(complete))
        except StoreUnavailable as unavailable:
            log.warning("trace %s stays in the log: %s", complete.trace_id, unavailable)
            with self._guard:
                self._under_way.discard(complete.trace_id)
                self._guard.notify_all()

    def _evaluate(self, complete: CompleteTrace) -> Evaluated:
        began = time.monotonic()
        stage = "normalise"
        try:
            spans = normalise(request_of(complete, self._project))
            trace = trace_of([*self._stored_before(complete.trace_id, spans), *spans])
            stage = "evaluate"
            evaluation = self._engine.evaluate(trace)
        except StoreUnavailable:
            raise
        except Exception as failure:
            log.exception("trace %s: %s failed", complete.trace_id, stage)
            self._telemetry.traces_failed.labels(stage).inc()
            return Evaluated(complete, None, f"{type(failure).__name__}: {failure}")
        self._telemetry.evaluation_seconds.observe(time.monotonic() - began)
        return Evaluated(complete, evaluation)

    def _stored_before(self, trace_id: str, spans: Sequence[Span]) -> list[Span]:
        """Spans that came so long ago, or before a restart, that only the store still has them.

        Without them a root that ends an hour after its children would be taken for the whole trace, and its
        evaluation would replace theirs.
        """
        try:
            known = self._ask_store(trace_id)
        except StoreUnavailable:
            raise
        except StoreError as problem:
            log.warning("trace %s: what was stored of it before cannot be read: %s", trace_id, problem)
            return []
        here = {span.span_id for span in spans}
        return [span for span in known if span.span_id not in here]

    def _ask_store(self, trace_id: str) -> tuple[Span, ...]:
        """Wait for a store that is down: without its answer a part would be taken for the whole."""
        while True:
            try:
                return self._known_spans(trace_id)
            except StoreUnavailable:
                if self._closing.wait(_STORE_PAUSE_S):
                    raise


def request_of(complete: CompleteTrace, project: str = "") -> ExportTraceServiceRequest:
    """The trace as one OTLP request; resources that name no project get this one."""
    request = ExportTraceServiceRequest.FromString(b"".join(complete.bodies))
    for resource in request.resource_spans if project else ():
        if all(pair.key != _PROJECT for pair in resource.resource.attributes):
            resource.resource.attributes.add(key=_PROJECT, value=any_value(project))
    return request


def merged(former: CompleteTrace, later: CompleteTrace) -> CompleteTrace:
    """Two states of a trace as one: all bodies of both once, what was not forwarded last.

    Most often the later state holds the former; where memory was short in between it holds only what came
    since. Bodies are shared between states, so one is known by its identity.
    """
    known = {id(body) for body in former.bodies}
    return replace(
        later,
        bodies=(*former.bodies, *(body for body in later.bodies if id(body) not in known)),
        records=former.records | later.records,
        fresh_from=former.fresh_from,
        generation=min(former.generation, later.generation),
    )
