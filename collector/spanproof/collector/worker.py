"""A process that evaluates traces, one at a time: `python -m spanproof.collector.worker DESCRIPTOR`.

Comes in, over a socket: jobs that name log records. Goes out: evaluations. Bodies are read from the log here,
so the collector never holds them. It ends with its socket, and with the collector, however that ends. It must
never load the store: chDB belongs to one process.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import os
import pickle
import signal
import sys
import time
from collections import OrderedDict
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.receive.body import decode_record
from spanproof.collector.stages.fragments import select_trace_spans
from spanproof.collector.stages.jobs import (
    SIZE_STAGE,
    Job,
    Loaded,
    LogLine,
    Result,
    Start,
    Started,
    check_trace_size,
)
from spanproof.collector.wal.file import find_record
from spanproof.config.engine import OpenEngine, build_engine
from spanproof.config.model import Config
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.failed import build_failed_evaluation
from spanproof.evaluators.model import TraceEvaluation
from spanproof.reading.english import ParserUnavailableError, parse_english
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Layer, Span, Trace
from spanproof.trace.codec import MalformedDocument
from spanproof.trace.dialects import build_extended_trace
from spanproof.trace.packed import decode_packed
from spanproof.trace.pickling import encode_pickle

log = logging.getLogger(__name__)

# Decoded log records that are kept: traces that came in one request are mostly evaluated together.
_RECENT_RECORDS = 16

# Objects made before the youngest are collected. Reading outputs makes a million small objects, next to none
# in cycles. With Python's 700, and what is loaded not frozen, a trace with 50 KB a step takes 1.81 s of
# processor time instead of 1.37 s (traces of `tests/bench/served.py`, by turns in one process).
_YOUNG_OBJECTS = 20_000

# Its words do not matter: reading it loads all parts of the parser.
_SENTENCE = "This is a sentence."

_MOST_LINES = 100
_PR_SET_PDEATHSIG = 1


class Worker:
    """Evaluates jobs with an engine of its own."""

    def __init__(self, config: Config, opened: OpenEngine) -> None:
        self._config = config
        self._opened = opened
        opened.engine.start_background_builds()
        self._recent: OrderedDict[tuple[Path, int], ExportTraceServiceRequest] = OrderedDict()

    def handle_job(self, job: Job) -> Result:
        """Return the result of a job; never raises."""
        began = time.monotonic()
        stage, request = "read", ExportTraceServiceRequest()
        try:
            request = self._read_request(job)
            stage = "normalise"
            trace = build_extended_trace(job.key.trace_id, _decode_former_spans(job), [request])
            if job.failure is None:
                stage = SIZE_STAGE
                check_trace_size(len(trace.spans), self._config.evaluation.max_spans)
            stage = "evaluate"
            evaluation = self._evaluate(job, trace)
        except Exception as failure:
            log.warning("trace %s: %s failed", job.key.trace_id, stage, exc_info=True)
            body = request.SerializeToString()
            return Result(None, stage, type(failure).__name__, str(failure), body, time.monotonic() - began)
        body = request.SerializeToString() if job.wants_body else b""
        return Result(evaluation, body=body, seconds=time.monotonic() - began)

    def _evaluate(self, job: Job, trace: Trace) -> TraceEvaluation:
        if job.failure is not None:
            return build_failed_evaluation(trace, *job.failure, self._config.evaluation.layers)
        if job.without_replay:
            engine = self._build_engine_without_replay(job.without_replay)
        else:
            engine = self._opened.engine
        return engine.evaluate(trace)

    def _build_engine_without_replay(self, reason: str) -> Engine:
        if self._config.policy:
            policy = load_policy(self._config.policy)
        else:
            policy = Policy()
        return build_engine(self._config, Pipeline(policy), None, reason)

    def _read_request(self, job: Job) -> ExportTraceServiceRequest:
        """Return the trace's spans out of the log; all of their resources name its project."""
        whole = ExportTraceServiceRequest()
        for location in job.places:
            record = self._load_record(location)
            whole.MergeFrom(select_trace_spans(record, job.key, self._config.project))
        return whole

    def _load_record(self, location: tuple[Path, int]) -> ExportTraceServiceRequest:
        if location in self._recent:
            self._recent.move_to_end(location)
            return self._recent[location]
        record = find_record(*location)
        if record is None:
            raise LookupError(f"the log holds no record at {location[0].name}, byte {location[1]}")
        request = self._recent[location] = decode_record(record)
        if len(self._recent) > _RECENT_RECORDS:
            self._recent.popitem(last=False)
        return request


def _decode_former_spans(job: Job) -> tuple[Span, ...]:
    """Return the spans that came so long ago, or before a restart, that only the store still has them.

    Without them a root that ends an hour after its children would be taken for the whole trace, and its
    evaluation would replace theirs.
    """
    if job.former is None:
        return ()
    try:
        return decode_packed(TraceEvaluation, job.former).trace.spans
    except MalformedDocument as problem:
        log.warning("trace %s: what was stored of it before cannot be read: %s", job.key.trace_id, problem)
        return ()


def main() -> None:
    """Serve the socket whose descriptor is the first argument, until it is closed."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    with Connection(int(sys.argv[1])) as line:
        lines = _Lines()
        logging.basicConfig(level=logging.WARNING, handlers=[lines], format="%(message)s")
        try:
            opened = _find_engine(line, lines)
            if opened is not None:
                _run_worker(line, lines, *opened)
        except (EOFError, ConnectionError):
            os._exit(0)  # the collector is gone


class _Lines(logging.Handler):
    """Gathers log lines for the collector, up to a bound."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[LogLine] = []

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._lines) < _MOST_LINES:
            self._lines.append(LogLine(record.levelno, record.name, self.format(record)))

    def list_new(self) -> tuple[LogLine, ...]:
        """Return the lines gathered since the last call."""
        lines, self._lines = self._lines, []
        return tuple(lines)


def _find_engine(line: Connection, lines: _Lines) -> tuple[Config, OpenEngine] | None:
    sys.path[:] = line.recv()
    start: Start = line.recv()
    try:
        opened = start.open_engine(start.config)
    except Exception as failure:  # noqa: BLE001 - raised again in the collector
        _send_failure(line, failure)
        return None
    line.send(Started(lines=lines.list_new()))
    return start.config, opened


def _run_worker(line: Connection, lines: _Lines, config: Config, opened: OpenEngine) -> None:
    try:
        worker = Worker(config, opened)
        gc.set_threshold(_YOUNG_OBJECTS)
        _load_models(config)
        line.send(Loaded())
        _handle_job(line, lines, worker)
        # Only now: the first trace loads what is left.
        gc.freeze()
        while True:
            _handle_job(line, lines, worker)
    finally:
        opened.close()


def _handle_job(line: Connection, lines: _Lines, worker: Worker) -> None:
    result = worker.handle_job(line.recv())
    line.send_bytes(encode_pickle(replace(result, lines=lines.list_new())))


def _load_models(config: Config) -> None:
    """Load the parser of English while no trace waits: it takes a second of processor time.

    Where it is missing, groundedness says so with each answer.
    """
    if Layer.GROUNDEDNESS in config.evaluation.layers:
        with contextlib.suppress(ParserUnavailableError), parse_english([_SENTENCE]):
            pass


def _send_failure(line: Connection, failure: Exception) -> None:
    try:
        line.send(Started(pickle.loads(pickle.dumps(failure))))  # noqa: S301 - made in this line
    except Exception:  # noqa: BLE001 - an exception may refuse to be pickled, in any way
        line.send(Started(RuntimeError(f"{type(failure).__name__}: {failure}")))


if __name__ == "__main__":
    main()
