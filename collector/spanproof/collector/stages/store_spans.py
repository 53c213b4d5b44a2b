"""The stage that stores spans as they arrive, whatever evaluation does: whole batches, one large insert each.

Comes in: durable requests. Goes out: rows of `otel_traces`; only then the log learns that this party is done
with the records. A store that cannot be reached is tried again for as long as the collector runs, while the
receivers refuse what there is no room for.
"""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable, Sequence

from spanproof.collector.receive.accept import Accepted
from spanproof.collector.stages.pace import Pace
from spanproof.collector.stages.queued_writer import QueuedWriter
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.log import Wal
from spanproof.store import Store

log = logging.getLogger(__name__)

_BATCH_SPANS = 20_000


class SpanWriter(QueuedWriter[Accepted]):
    """One thread that writes spans.

    Args:
        every_s: the longest time that a request waits for its batch.
        on_stored: called with the size of each request that is stored, or that the store refused.
    """

    def __init__(
        self,
        *,
        store: Store,
        project: str,
        every_s: float,
        wal: Wal,
        telemetry: Telemetry,
        on_stored: Callable[[int], None],
    ) -> None:
        super().__init__("spans", telemetry)
        self._store = store
        self._project = project
        self._pace = Pace(every_s)
        self._wal = wal
        self._on_stored = on_stored

    def _run(self) -> None:
        more = True
        while more:
            batch, more = self._take_batch()
            if batch:
                try:
                    self._write(batch)
                except Exception:
                    log.exception("writing the spans of %d requests failed; they stay in the log", len(batch))

    def _take_batch(self) -> tuple[list[Accepted], bool]:
        """Return what came until the batch is due; False where nothing more will come."""
        first = self._inbox.get()
        if first is None:
            return [], False
        batch, spans = [first], first.index.spans
        until = self._pace.compute_deadline(time.monotonic())
        more = True
        while more and spans < _BATCH_SPANS:
            try:
                taken = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                break
            if taken is None:
                more = False
                continue
            batch.append(taken)
            spans += taken.index.spans
        self._pace.note_write()
        return batch, more

    def _write(self, batch: Sequence[Accepted]) -> None:
        """Store a batch; of one that the store refuses each request by itself."""
        try:
            if not self._patience.write(lambda: self._store_batch(batch)):
                return
        except Exception as failure:
            if len(batch) > 1:
                log.warning("the store refused the spans of %d requests: %s", len(batch), failure)
                for accepted in batch:
                    self._write([accepted])
                return
            # The spans are still evaluated, and the document of their trace has them.
            log.exception("the store refused the spans of log record %d", batch[0].record)
            self._telemetry.spans_not_stored.inc(batch[0].index.spans)
        self._wal.settle(accepted.record for accepted in batch)
        for accepted in batch:
            self._on_stored(accepted.size)

    def _store_batch(self, batch: Sequence[Accepted]) -> None:
        stored = self._store.write_spans([accepted.request for accepted in batch], self._project)
        self._telemetry.spans_stored.inc(stored)
