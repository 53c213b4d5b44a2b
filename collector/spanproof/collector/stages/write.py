"""The stage that stores evaluations, in batches; only then the log records of their traces are done.

Comes in: evaluated traces, and dead letters of those that could not be. Goes out: the same, to the listeners,
once they are stored. A store that cannot be reached is tried again for as long as the collector runs. An
evaluation that the store refuses becomes a dead letter and never takes its batch along.
"""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable, Sequence

from spanproof.collector.receive.body import decode_record
from spanproof.collector.stages.evaluate import Evaluated
from spanproof.collector.stages.fragments import select_trace_spans
from spanproof.collector.stages.pace import Pace
from spanproof.collector.stages.queued_writer import QueuedWriter
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.log import Wal
from spanproof.config.model import Evaluation
from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import DeadLetter, Store
from spanproof.trace import Errored, Scored
from spanproof.trace.project import TraceKey

log = logging.getLogger(__name__)

_CHECKPOINT_EVERY_S = 1.0


class Writer(QueuedWriter[Evaluated]):
    """One thread that writes to the store.

    Args:
        project: of spans that name none.
        listeners: called, in this thread, with each batch once it is stored; evaluations and dead letters.
        keep: called with what was stored before its log records are settled: what it raises leaves them in
            the log.
        may_store: returns whether a trace is still this collector's; others are left out.
    """

    def __init__(
        self,
        *,
        store: Store,
        rules: Evaluation,
        project: str,
        wal: Wal,
        telemetry: Telemetry,
        listeners: Sequence[Callable[[Sequence[Evaluated]], None]],
        keep: Callable[[Sequence[Evaluated]], None] = lambda _: None,
        may_store: Callable[[Evaluated], bool] = lambda _: True,
    ) -> None:
        super().__init__("store", telemetry)
        self._may_store = may_store
        self._keep = keep
        self._store = store
        self._rules = rules
        self._project = project
        self._wal = wal
        self._listeners = listeners
        self._pace = Pace(rules.store_every_s)

    def _run(self) -> None:
        checkpointed = time.monotonic()
        more = True
        while more:
            batch, more = self._get_batch()
            if batch:
                self._write_or_log(batch)
            if not more or time.monotonic() - checkpointed >= _CHECKPOINT_EVERY_S:
                self._write_checkpoint()
                checkpointed = time.monotonic()

    def _get_batch(self) -> tuple[list[Evaluated], bool]:
        """Return what came until the batch is due; False where nothing more will come."""
        batch: list[Evaluated] = []
        until = time.monotonic() + _CHECKPOINT_EVERY_S
        more = True
        while more and len(batch) < self._rules.store_batch:
            try:
                taken = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                break
            if taken is None:
                more = False
                continue
            if not batch:
                until = self._pace.compute_deadline(time.monotonic())
            batch.append(taken)
        if batch:
            self._pace.record_write()
        return batch, more

    def _write_or_log(self, batch: Sequence[Evaluated]) -> None:
        try:
            self._write(batch)
        except Exception:
            log.exception("writing %d traces failed; they stay in the log", len(batch))

    def _write(self, batch: Sequence[Evaluated]) -> None:
        batch = [evaluated for evaluated in batch if self._may_store(evaluated)]
        refused = self._find_refused([evaluated for evaluated in batch if evaluated.evaluation is not None])
        if refused is None:
            return
        letters = [evaluated.letter for evaluated in batch if evaluated.letter is not None]
        letters += [self._build_dead_letter(evaluated, why) for evaluated, why in refused.values()]
        if letters and not self._write_patiently(lambda: self._store.write_dead_letters(letters)):
            return
        self._keep([evaluated for evaluated in batch if evaluated.complete.key not in refused])
        for evaluated in batch:
            self._wal.settle(evaluated.complete.records)
        self._telemetry.traces_failed.labels("store").inc(len(refused))
        self._record_counts([evaluated for evaluated in batch if evaluated.complete.key not in refused])
        for listener in self._listeners:
            try:
                listener(batch)
            except Exception:
                log.exception("a listener failed on a batch of %d traces", len(batch))

    def _find_refused(self, batch: Sequence[Evaluated]) -> dict[TraceKey, tuple[Evaluated, Exception]] | None:
        """Return the traces the store refused; None where it could not be reached to the end."""
        try:
            return {} if self._store_patiently(batch) else None
        except Exception as failure:  # noqa: BLE001 - which trace it is about is found out one by one
            self._telemetry.store_retries.inc()
            log.warning("the store refused a batch of %d traces: %s", len(batch), failure)
        refused = {}
        for evaluated in batch:
            try:
                if not self._store_patiently([evaluated]):
                    return None
            except Exception as failure:
                log.exception("the store refused trace %s", evaluated.complete.trace_id)
                refused[evaluated.complete.key] = evaluated, failure
        return refused

    def _store_patiently(self, batch: Sequence[Evaluated]) -> bool:
        evaluations: list[TraceEvaluation] = [
            evaluated.evaluation for evaluated in batch if evaluated.evaluation is not None
        ]
        return self._write_patiently(lambda: self._store.write(evaluations))

    def _write_patiently(self, write: Callable[[], None]) -> bool:
        """Write; while the store cannot be reached try again. False when the collector gave up."""
        written = self._patience.write(write)
        if not written:
            log.warning("the traces that are not stored stay in the log")
        return written

    def _build_dead_letter(self, evaluated: Evaluated, refusal: Exception) -> DeadLetter:
        """Return the dead letter of a trace whose evaluation the store refused, with its spans of the log."""
        complete = evaluated.complete
        body = evaluated.body
        if not body:
            requests = (decode_record(self._wal.read(number)) for number in complete.bodies)
            body = b"".join(
                select_trace_spans(request, complete.key, self._project).SerializeToString()
                for request in requests
            )
        return DeadLetter(
            complete.trace_id,
            "store",
            type(refusal).__name__,
            str(refusal),
            1,
            body,
            time.time_ns(),
            complete.key.project,
        )

    def _record_counts(self, batch: Sequence[Evaluated]) -> None:
        for evaluated in batch:
            evaluation = evaluated.evaluation
            if evaluation is None:
                continue
            self._telemetry.traces_evaluated.inc()
            if evaluated.complete.generation == 0:
                self._telemetry.verdicts.add_evaluation(evaluation)
                self._telemetry.run_amounts.add_evaluation(evaluation)
            for score in evaluation.scores:
                outcome = score.outcome
                kind = "errored" if isinstance(outcome, Errored) else "skipped"
                kind = "scored" if isinstance(outcome, Scored) else kind
                self._telemetry.scores.labels(score.layer.value, kind).inc()

    def _write_checkpoint(self) -> None:
        try:
            self._wal.checkpoint()
        except OSError as failure:
            log.warning("the log's checkpoint cannot be written, a restart will do more twice: %s", failure)
