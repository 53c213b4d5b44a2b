"""The way of a request through the collector, on two paths.

Comes in: durable requests, from the receivers or read again from the log. On one path their spans go to the
store at once. On the other only their index is held until a trace is complete; a process of the pool then
evaluates it, reading the bodies from the log, and its scores go to the store and to the listeners. A log
record is done when both paths are. Each stage is bounded, and a stage that is full makes the receivers
refuse. An error of one trace is counted and logged and never takes another one along.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.receive.accept import Accepted
from spanproof.collector.receive.admission import Backlog
from spanproof.collector.receive.body import decode_record
from spanproof.collector.receive.redaction import Redactor
from spanproof.collector.receive.refused import Refused
from spanproof.collector.stages.assemble import Assembler, CompleteTrace
from spanproof.collector.stages.evaluate import Evaluated, Evaluators
from spanproof.collector.stages.fragments import build_index
from spanproof.collector.stages.jobs import Start
from spanproof.collector.stages.store_spans import SpanWriter
from spanproof.collector.stages.write import Writer
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.file import Encoding, Record
from spanproof.collector.wal.log import Wal
from spanproof.config.model import Config
from spanproof.store import Store
from spanproof.trace.project import TraceKey

if TYPE_CHECKING:
    from spanproof.config.engine import OpenEngine

log = logging.getLogger(__name__)

# How late a trace may be noticed to be complete.
_TICK_S = 0.1


class Pipeline:
    """All stages between the receivers and the store.

    Args:
        open_engine: how each process of the pool opens its engine; pickled by its name.
    """

    def __init__(
        self,
        *,
        config: Config,
        telemetry: Telemetry,
        backlog: Backlog,
        open_engine: Callable[[Config], OpenEngine],
    ) -> None:
        self._config = config
        self._telemetry = telemetry
        self._backlog = backlog
        self._inbox: queue.SimpleQueue[Accepted | Callable[[], None] | None] = queue.SimpleQueue()
        self._given_out: dict[TraceKey, set[int]] = {}
        self._assembler = Assembler(
            config.assembly, lambda spans: telemetry.spans_ignored.labels("repeated").inc(spans)
        )
        self._evaluators = Evaluators(
            start=Start(config, open_engine, tuple(sys.path)),
            telemetry=telemetry,
            places=self._list_places,
            documents=lambda keys: self._store.readable_documents(keys),
            hand_on=lambda evaluated: self._writer.put(evaluated),
            wants_bodies=bool(config.forward),
        )
        self._wal: Wal
        self._store: Store
        self._is_ours: Callable[[Iterable[int]], bool]
        self._writer: Writer
        self._spans: SpanWriter
        self._redactor = Redactor(config.redaction) if config.redaction.any else None
        self._stopping = threading.Event()
        self._replay = threading.Thread(target=self._add_former_records, name="spanproof-replay", daemon=True)
        self._intake = threading.Thread(target=self._run_assembly, name="spanproof-intake", daemon=True)

    def open(self) -> None:
        """Start the pool of processes, each of which opens its engine.

        Raises:
            Exception: what opening the engine raised.
        """
        try:
            self._evaluators.open()
        except BaseException:
            self._evaluators.close()
            raise

    def start(
        self,
        wal: Wal,
        store: Store,
        listeners: Sequence[Callable[[Sequence[Evaluated]], None]],
        keep: Callable[[Sequence[Evaluated]], None],
        is_ours: Callable[[Iterable[int]], bool] = lambda _: True,
    ) -> None:
        """Begin to work, on what the log still holds too.

        Args:
            wal: the log that the requests are in.
            store: where spans and scores go.
            listeners: called with each batch of traces once it is stored.
            keep: called with it before that, once it is stored and while it is in the log.
            is_ours: returns whether a trace with these log records is still this collector's to store.
        """
        rules, telemetry = self._config.evaluation, self._telemetry
        self._wal, self._store, self._is_ours = wal, store, is_ours
        self._writer = Writer(
            store=store,
            rules=rules,
            project=self._config.project,
            wal=wal,
            telemetry=telemetry,
            listeners=[self._record_settled, *listeners],
            keep=keep,
            may_store=self._is_still_ours,
        )
        self._spans = SpanWriter(
            store=store,
            project=self._config.project,
            every_s=rules.store_every_s,
            wal=wal,
            telemetry=telemetry,
            on_stored=self._backlog.remove,
        )
        self._add_gauges()
        self._writer.start()
        self._spans.start()
        self._evaluators.start()
        self._intake.start()
        self._replay.start()

    def put(self, accepted: Accepted) -> None:
        """Take a durable request; never blocks."""
        # The span writer and each trace need the record; how many those are, assembly finds out.
        self._wal.expect(accepted.record, 2)
        self._backlog.add(accepted.size)
        self._spans.put(accepted)
        self._inbox.put(accepted)

    @property
    def pending_traces(self) -> int:
        """Traces that wait for evaluation or for their scores to be stored."""
        return self._evaluators.pending

    def remove_open(self, records: AbstractSet[int]) -> list[int]:
        """Give up the traces that are not complete and have a part in these log records.

        Returns:
            The log records of those traces, each as often as it is to be settled.
        """
        dropped: Future[list[int]] = Future()
        self._inbox.put(lambda: dropped.set_result(self._assembler.drop(records)))
        return dropped.result()

    def remove_traces(self, records: AbstractSet[int]) -> None:
        """Forget the traces that are not stored yet and are in these log records."""
        traces = [trace for trace, of in list(self._given_out.items()) if not of.isdisjoint(records)]
        self._inbox.put(lambda: self._assembler.forget(traces))

    def drain(self, timeout_s: float) -> bool:
        """Store and evaluate everything that was put, then end; False when there was not enough time."""
        until = time.monotonic() + timeout_s
        self._stopping.set()
        self._replay.join(timeout_s)
        self._inbox.put(None)
        self._intake.join(timeout_s)
        evaluated = self._evaluators.drain(max(0.0, until - time.monotonic()))
        spans = self._spans.drain(max(0.0, until - time.monotonic()))
        return self._writer.drain(max(0.0, until - time.monotonic())) and spans and evaluated

    def close(self) -> None:
        """End the processes of the pool. Safe to call twice."""
        self._evaluators.close()

    def _add_gauges(self) -> None:
        assembler, backlog, wal = self._assembler, self._backlog, self._wal
        gauges: dict[str, tuple[str, Callable[[], float]]] = {
            "spanproof_open_traces": ("Traces being assembled.", lambda: assembler.open_traces),
            "spanproof_assembly_bytes": (
                "Bytes of the index of traces that are being assembled or that late spans may re-open.",
                lambda: assembler.held_bytes,
            ),
            "spanproof_backlog_bytes": (
                "Acknowledged bytes whose spans are not stored yet.",
                lambda: backlog.bytes,
            ),
            "spanproof_evaluation_pending_traces": (
                "Traces that wait for evaluation or for their scores to be stored.",
                lambda: self._evaluators.pending,
            ),
            "spanproof_wal_pending_records": (
                "Records of the log that are not processed yet.",
                lambda: wal.pending,
            ),
            "spanproof_wal_bytes": ("Bytes of the log on disk.", lambda: wal.size_bytes),
            "spanproof_wal_damaged_segments": (
                "Segments of the log that were found damaged at start.",
                lambda: len(wal.damage.segments),
            ),
            "spanproof_wal_lost_records": (
                "Acknowledged requests in damaged or missing segments that cannot be read, at most.",
                lambda: wal.damage.lost_records,
            ),
            "spanproof_wal_missing_records": (
                "Acknowledged requests whose segment was missing at start.",
                lambda: wal.damage.missing_records,
            ),
            "spanproof_wal_read_again_records": (
                "Requests evaluated again because the checkpoint at start did not fit the segments.",
                lambda: wal.damage.read_again,
            ),
        }
        for name, (help_, read) in gauges.items():
            self._telemetry.add_gauge(name, help_, read)

    def _add_former_records(self) -> None:
        """Take in what former runs left in the log, as fast as there is room for it."""
        count = 0
        for record in self._wal.iter_undone():
            while not self._backlog.wait_for_room(timeout_s=_TICK_S):
                if self._stopping.is_set():
                    break
            if self._stopping.is_set():
                log.info("stopping: the rest of the log is read at the next start")
                break
            count += 1
            self._telemetry.replayed_records.inc()
            self._add_again(record)
        if count:
            log.info("%d requests were read again from the log of a former run", count)

    def _add_again(self, record: Record) -> None:
        try:
            request = decode_record(record)
        except Refused:
            log.exception("log record %d cannot be read and is left out", record.number)
            self._wal.settle([record.number])
            return
        if self._redactor is not None and self._redactor.redact(request):
            self._write_redacted(record, request)
            return
        index = build_index(request, request.SerializeToString(), self._config.project)
        self.put(Accepted(record.number, request, index, len(record.payload)))

    def _write_redacted(self, record: Record, request: ExportTraceServiceRequest) -> None:
        """Replace a record from before a rule was set: what must not be kept is not read from it again."""
        body = request.SerializeToString()
        index = build_index(request, body, self._config.project)
        number = self._wal.append(Encoding.PROTOBUF, body).result()
        self.put(Accepted(number, request, index, len(body)))
        self._wal.settle([record.number])

    def _run_assembly(self) -> None:
        while True:
            try:
                accepted = self._inbox.get(timeout=_TICK_S)
            except queue.Empty:
                pass
            else:
                if accepted is None:
                    break
                if isinstance(accepted, Accepted):
                    self._handle_accepted(accepted)
                else:
                    accepted()
            self._start_evaluations(self._assembler.due(time.monotonic()))
        self._start_evaluations(self._assembler.flush(time.monotonic()))

    def _handle_accepted(self, accepted: Accepted) -> None:
        try:
            self._add_to_assembler(accepted)
        except Exception:
            log.exception("log record %d cannot be assembled; it stays in the log", accepted.record)
            self._telemetry.traces_failed.labels("assemble").inc()

    def _add_to_assembler(self, accepted: Accepted) -> None:
        fragments, now_s = accepted.index.fragments, time.monotonic()
        # First more than can be needed: a trace that is given out meanwhile must not make the record done.
        self._wal.expect(accepted.record, 1 + len(fragments))
        needed = sum(self._assembler.add(fragment, accepted.record, now_s) for fragment in fragments)
        self._wal.settle([accepted.record] * (1 + len(fragments) - needed))

    def _start_evaluations(self, completes: Iterable[CompleteTrace]) -> None:
        for complete in completes:
            self._telemetry.traces_completed.labels(complete.why.value).inc()
            self._given_out.setdefault(complete.key, set()).update(complete.records)
            self._evaluators.submit(complete)

    def _is_still_ours(self, evaluated: Evaluated) -> bool:
        """Return False, and let go of it, for a trace that another collector evaluates: it may know more."""
        if self._is_ours(evaluated.complete.records):
            return True
        self._wal.settle(evaluated.complete.records)
        self._record_settled([evaluated])
        return False

    def _record_settled(self, batch: Sequence[Evaluated]) -> None:
        for evaluated in batch:
            self._given_out.pop(evaluated.complete.key, None)
            self._evaluators.settled(evaluated.complete.key)

    def _list_places(self, records: tuple[int, ...]) -> tuple[tuple[Path, int], ...]:
        places = (self._wal.get_place(number) for number in records)
        return tuple((position.path, position.offset) for position in places)
