"""The stage that stores: evaluated traces in batches to the store, and only then is their log done.

Comes in: evaluated traces. Goes out: the same, to whoever listens, once they are stored. A store that cannot
be reached is tried again for as long as the collector runs, while the receivers refuse what there is no
room for; a trace the store refuses is set aside and never takes its batch along.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence

from spanproof.collector.stages.evaluate import Evaluated
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.ledger import Ledger
from spanproof.collector.wal.log import Wal
from spanproof.collector.wal.set_aside import SetAside
from spanproof.config.model import Evaluation
from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import Store, StoreUnavailable
from spanproof.trace import Errored, Scored

log = logging.getLogger(__name__)

_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 10.0
_CHECKPOINT_EVERY_S = 1.0


class Writer:
    """One thread that writes to the store.

    Args:
        listeners: called, in this thread, with each batch once it is safe; evaluated or set aside.
    """

    def __init__(
        self,
        *,
        store: Store,
        rules: Evaluation,
        wal: Wal,
        ledger: Ledger,
        set_aside: SetAside,
        telemetry: Telemetry,
        listeners: Sequence[Callable[[Sequence[Evaluated]], None]],
    ) -> None:
        self._store = store
        self._rules = rules
        self._wal = wal
        self._ledger = ledger
        self._set_aside = set_aside
        self._telemetry = telemetry
        self._listeners = listeners
        self._inbox: queue.SimpleQueue[Evaluated | None] = queue.SimpleQueue()
        self._give_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spanproof-store", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def put(self, evaluated: Evaluated) -> None:
        """Write this one soon."""
        self._inbox.put(evaluated)

    def drain(self, timeout_s: float) -> bool:
        """Write everything that was put and end; False when the store would not take it in time."""
        self._inbox.put(None)
        self._thread.join(timeout_s)
        self._give_up.set()
        drained = not self._thread.is_alive()
        self._thread.join(_LONGEST_PAUSE_S)
        return drained

    def _run(self) -> None:
        checkpointed = time.monotonic()
        more = True
        while more:
            batch, more = self._next_batch()
            if batch:
                self._write_or_tell(batch)
            if not more or time.monotonic() - checkpointed >= _CHECKPOINT_EVERY_S:
                self._checkpoint()
                checkpointed = time.monotonic()

    def _next_batch(self) -> tuple[list[Evaluated], bool]:
        """What came within the waiting time; False says that nothing more will come."""
        batch: list[Evaluated] = []
        until = time.monotonic() + self._rules.store_every_s
        while len(batch) < self._rules.store_batch:
            try:
                taken = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                break
            if taken is None:
                return batch, False
            batch.append(taken)
        return batch, True

    def _write_or_tell(self, batch: Sequence[Evaluated]) -> None:
        try:
            self._write(batch)
        except Exception:
            log.exception("writing %d traces failed; they stay in the log", len(batch))

    def _write(self, batch: Sequence[Evaluated]) -> None:
        for failed in (evaluated for evaluated in batch if evaluated.evaluation is None):
            self._keep_aside(failed, failed.error)
        refused = self._store_all([evaluated for evaluated in batch if evaluated.evaluation is not None])
        if refused is None:
            return
        for evaluated in refused:
            self._telemetry.traces_failed.labels("store").inc()
            self._keep_aside(evaluated, "the store refused it")
        for evaluated in batch:
            self._ledger.settle(evaluated.complete.records)
        self._count([evaluated for evaluated in batch if evaluated not in refused])
        for listener in self._listeners:
            try:
                listener(batch)
            except Exception:
                log.exception("a listener failed on a batch of %d traces", len(batch))

    def _store_all(self, batch: Sequence[Evaluated]) -> list[Evaluated] | None:
        """The traces the store refused; None where it could not be reached until the collector stopped."""
        try:
            return [] if self._store_patiently(batch) else None
        except Exception as failure:  # noqa: BLE001 - which trace it is about is found out one by one
            self._telemetry.store_retries.inc()
            log.warning("the store refused a batch of %d traces: %s", len(batch), failure)
        refused = []
        for evaluated in batch:
            try:
                if not self._store_patiently([evaluated]):
                    return None
            except Exception:
                log.exception("the store refused trace %s", evaluated.complete.trace_id)
                refused.append(evaluated)
        return refused

    def _store_patiently(self, batch: Sequence[Evaluated]) -> bool:
        """Write; while the store cannot be reached try again. False when the collector gave up."""
        evaluations: list[TraceEvaluation] = [
            evaluated.evaluation for evaluated in batch if evaluated.evaluation is not None
        ]
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                self._store.write(evaluations)
            except StoreUnavailable as unavailable:
                self._telemetry.store_retries.inc()
                log.warning("the store cannot be reached, trying again in %.1f s: %s", pause_s, unavailable)
                if self._give_up.wait(pause_s):
                    log.warning("%d traces are not stored; they stay in the log", len(batch))
                    return False
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            else:
                return True

    def _keep_aside(self, evaluated: Evaluated, why: str) -> None:
        trace_id = evaluated.complete.trace_id
        path = self._set_aside.keep(trace_id, b"".join(evaluated.complete.bodies))
        log.error("trace %s is set aside in %s: %s", trace_id, path, why)

    def _count(self, batch: Sequence[Evaluated]) -> None:
        for evaluation in (evaluated.evaluation for evaluated in batch):
            if evaluation is None:
                continue
            self._telemetry.traces_evaluated.inc()
            for score in evaluation.scores:
                outcome = score.outcome
                kind = "errored" if isinstance(outcome, Errored) else "skipped"
                kind = "scored" if isinstance(outcome, Scored) else kind
                self._telemetry.scores.labels(score.layer.value, kind).inc()

    def _checkpoint(self) -> None:
        try:
            self._wal.checkpoint()
        except OSError as failure:
            log.warning("the log's checkpoint cannot be written, a restart will do more twice: %s", failure)
