"""The way of a request through the collector: intake → assemble → evaluate → write → listeners.

Comes in: durable requests, from the receivers or read again from the log. Goes out: evaluated traces in the
store, and to the listeners after that. Each stage is bounded, and a stage that is full makes the receivers
refuse. An error of one trace is counted and logged and never takes another one along.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from spanproof.collector.receive.accept import Accepted
from spanproof.collector.receive.admission import Backlog
from spanproof.collector.receive.body import decode_stored
from spanproof.collector.receive.refused import Refused
from spanproof.collector.stages.assemble import Assembler, CompleteTrace
from spanproof.collector.stages.evaluate import Evaluated, Evaluates, Evaluators
from spanproof.collector.stages.fragments import reject_bad_ids, split
from spanproof.collector.stages.write import Writer
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.file import Record
from spanproof.collector.wal.ledger import Ledger
from spanproof.collector.wal.log import Wal
from spanproof.collector.wal.set_aside import SetAside
from spanproof.config.model import Config
from spanproof.store import Store
from spanproof.trace import Span

log = logging.getLogger(__name__)

_TICK_S = 0.1
"""How late a trace may be noticed to be complete."""


class Pipeline:
    """All stages between the receivers and the store.

    Args:
        listeners: called with each batch of traces once it is stored.
    """

    def __init__(
        self,
        *,
        config: Config,
        wal: Wal,
        store: Store,
        engine: Evaluates,
        telemetry: Telemetry,
        backlog: Backlog,
        listeners: Sequence[Callable[[Sequence[Evaluated]], None]],
    ) -> None:
        self._wal = wal
        self._store = store
        self._telemetry = telemetry
        self._backlog = backlog
        self._ledger = Ledger(wal)
        self._set_aside = SetAside(config.wal.directory / "set-aside")
        self._inbox: queue.SimpleQueue[Accepted | None] = queue.SimpleQueue()
        self._assembler = Assembler(
            config.assembly, lambda spans: telemetry.spans_ignored.labels("repeated").inc(spans)
        )
        self._writer = Writer(
            store=store,
            rules=config.evaluation,
            wal=wal,
            ledger=self._ledger,
            set_aside=self._set_aside,
            telemetry=telemetry,
            listeners=[self._settle, *listeners],
        )
        self._evaluators = Evaluators(
            engine=engine,
            workers=config.evaluation.workers,
            project=config.project,
            telemetry=telemetry,
            known_spans=self._known_spans,
            hand_on=self._writer.put,
            counted_twice=backlog.remove,
        )
        self._stopping = threading.Event()
        self._replay = threading.Thread(target=self._read_log, name="spanproof-replay", daemon=True)
        self._intake = threading.Thread(target=self._take_in, name="spanproof-intake", daemon=True)
        self._show_load()

    def _show_load(self) -> None:
        gauge, assembler, backlog, wal = self._telemetry.gauge, self._assembler, self._backlog, self._wal
        gauge("spanproof_open_traces", "Traces being assembled.", lambda: assembler.open_traces)
        gauge(
            "spanproof_assembly_bytes",
            "Bytes held for traces being assembled and for late spans.",
            lambda: assembler.held_bytes,
        )
        gauge(
            "spanproof_backlog_bytes", "Acknowledged bytes on their way to the store.", lambda: backlog.bytes
        )
        gauge("spanproof_wal_pending_records", "Log records that are not done.", lambda: wal.pending)

    def start(self) -> None:
        """Begin to work, on what the log still holds too."""
        self._writer.start()
        self._intake.start()
        self._replay.start()

    def put(self, accepted: Accepted) -> None:
        """Take a durable request; never blocks."""
        self._backlog.add(accepted.size)
        self._inbox.put(accepted)

    def drain(self, timeout_s: float) -> bool:
        """Evaluate and store everything that was put, then end; False when there was not enough time."""
        until = time.monotonic() + timeout_s
        self._stopping.set()
        self._replay.join(timeout_s)
        self._inbox.put(None)
        self._intake.join(timeout_s)
        evaluated = self._evaluators.drain(max(0.0, until - time.monotonic()))
        return self._writer.drain(max(0.0, until - time.monotonic())) and evaluated

    def _read_log(self) -> None:
        """Take in what former runs left in the log, as fast as there is room for it."""
        count = 0
        for record in self._wal.undone():
            while not self._backlog.wait_for_room(timeout_s=_TICK_S):
                if self._stopping.is_set():
                    break
            if self._stopping.is_set():
                log.info("stopping: the rest of the log is read at the next start")
                break
            count += 1
            self._telemetry.replayed_records.inc()
            self._put_again(record)
        if count:
            log.info("%d requests were read again from the log of a former run", count)

    def _put_again(self, record: Record) -> None:
        try:
            request = decode_stored(record.encoding, record.payload)
        except Refused as unreadable:
            log.warning("log record %d cannot be read and is left out: %s", record.number, unreadable)
            self._wal.done({record.number})
            return
        reject_bad_ids(request)
        self.put(Accepted(record.number, request, len(record.payload)))

    def _take_in(self) -> None:
        while True:
            try:
                accepted = self._inbox.get(timeout=_TICK_S)
            except queue.Empty:
                pass
            else:
                if accepted is None:
                    break
                self._assemble(accepted)
            self._submit(self._assembler.due(time.monotonic()))
        self._submit(self._assembler.flush(time.monotonic()))

    def _assemble(self, accepted: Accepted) -> None:
        taken = 0
        try:
            parts = split(accepted.request)
            self._telemetry.spans_ignored.labels("own_evaluator").inc(parts.own)
            now_s = time.monotonic()
            for fragment in parts.fragments:
                taken += self._assembler.add(fragment, accepted.record, now_s)
        except Exception:
            log.exception("log record %d cannot be assembled", accepted.record)
            self._set_aside.keep(f"record-{accepted.record}", accepted.request.SerializeToString())
            self._telemetry.traces_failed.labels("assemble").inc()
        self._ledger.expect(accepted.record, taken)
        self._backlog.remove(accepted.size)

    def _submit(self, completes: Iterable[CompleteTrace]) -> None:
        for complete in completes:
            self._telemetry.traces_completed.labels(complete.why.value).inc()
            self._backlog.add(complete.size)
            self._evaluators.submit(complete)

    def _settle(self, batch: Sequence[Evaluated]) -> None:
        for evaluated in batch:
            self._backlog.remove(evaluated.complete.size)
            self._evaluators.settled(evaluated.complete.trace_id)

    def _known_spans(self, trace_id: str) -> tuple[Span, ...]:
        stored = self._store.evaluation(trace_id)
        return stored.trace.spans if stored else ()
