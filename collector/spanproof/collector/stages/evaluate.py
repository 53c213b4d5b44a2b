"""The stage that evaluates: complete traces to evaluations, in a pool of processes.

Comes in: complete traces. Goes out, to the writer: each with its evaluation, and with a dead letter where no
attempt succeeded. A trace belongs to one process of the pool, by its id. An attempt that fails, takes longer
than the deadline or ends its process is repeated after a pause; one that took too long without a replay. A
later state of a trace is evaluated once the former is stored, never beside it, as it may build on it.
"""

from __future__ import annotations

import heapq
import logging
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

from spanproof.collector.stages.assemble import CompleteTrace
from spanproof.collector.stages.jobs import (
    SIZE_STAGE,
    Job,
    Result,
    Start,
    Started,
    TraceTooLarge,
    check_trace_size,
    write_log_lines,
)
from spanproof.collector.stages.shared_starts import list_shared_starts
from spanproof.collector.stages.work_clock import WorkClock
from spanproof.collector.telemetry import Telemetry
from spanproof.evaluators.model import NoReplay, NoReplayCause, TraceEvaluation
from spanproof.store import DeadLetter, StoreUnavailable
from spanproof.trace.project import TraceKey

log = logging.getLogger(__name__)

_STORE_PAUSE_S = 2.0
_FIRST_BACKOFF_S = 1.0
_LONGEST_BACKOFF_S = 60.0
_BUILD_PAUSE_S = 2.0
_LONGEST_BUILD_PAUSE_S = 60.0
# After so long a trace whose environment is still being built is given out without a replay.
_LONGEST_BUILD_S = 900.0

# After so long such a trace is evaluated again from the store, until its environment is there.
_RESUBMIT_PAUSE_S = 60.0

# Longest time to write down that a trace could not be evaluated. For 100,000 spans that takes 26 s of
# processor time, more than a deadline for judging; nothing is judged, so that no snippet can prolong it.
_FAILURE_DEADLINE_S = 300.0

# How often a process that evaluates is looked at: whether it works, or waits for a processor.
_LOOK_EVERY_S = 0.5

# After so many deadlines by the clock an attempt ends however busy the machine is.
_LONGEST_DELAY = 6.0

_STOP_S = 10.0


@dataclass(frozen=True, slots=True)
class Work:
    """What evaluating a trace took.

    Attributes:
        complete_ns: when the trace was given to the pool, as time since 1970.
        began_ns: when the last attempt began.
        seconds: what that took.
    """

    complete_ns: int
    began_ns: int
    seconds: float
    attempts: int


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A trace after evaluation.

    Attributes:
        evaluation: None where not even errored scores could be made.
        letter: the error and the spans, where no attempt succeeded.
        body: the spans that were not given out before, where forwarding needs them or evaluation failed.
    """

    complete: CompleteTrace
    evaluation: TraceEvaluation | None
    letter: DeadLetter | None = None
    body: bytes = field(default=b"", repr=False)
    work: Work | None = None


class WorkerGone(RuntimeError):  # noqa: N818 - says what happened
    """A worker process ended in the middle of a job."""


class WorkerSlow(RuntimeError):  # noqa: N818 - says what happened
    """A worker process overran the deadline of a job."""


class Evaluators:
    """A pool of processes, each evaluating one trace at a time.

    Args:
        start: how a process opens its engine.
        places: segment file and offset of each of these log records.
        documents: the stored documents of these traces; raises `StoreUnavailable` while there is no answer.
        hand_on: called with each evaluated trace, in a thread of the pool.
        wants_bodies: whether the spans are handed on with each trace.
    """

    def __init__(
        self,
        *,
        start: Start,
        telemetry: Telemetry,
        places: Callable[[tuple[int, ...]], tuple[tuple[Path, int], ...]],
        documents: Callable[[list[TraceKey]], dict[TraceKey, str]],
        hand_on: Callable[[Evaluated], None],
        wants_bodies: bool,
    ) -> None:
        self._documents = documents
        self._guard = threading.Condition()
        self._draining = threading.Event()
        self._closing = threading.Event()
        self._under_way: set[TraceKey] = set()
        self._waiting: dict[TraceKey, CompleteTrace] = {}
        self._inbox: queue.SimpleQueue[CompleteTrace | None] = queue.SimpleQueue()
        self._dispatch = threading.Thread(target=self._run_dispatch, name="spanproof-dispatch", daemon=True)
        self._lanes = [
            _Lane(
                number,
                share,
                telemetry,
                places,
                hand_on,
                self._closing,
                resubmit=self.submit,
                wants_bodies=wants_bodies,
            )
            for number, share in enumerate(list_shared_starts(start))
        ]

    @property
    def pending(self) -> int:
        """Traces that were submitted and are not stored."""
        with self._guard:
            return len(self._under_way) + len(self._waiting)

    def open(self) -> None:
        """Start the processes.

        Raises:
            Exception: what opening the engine raised in the first of them.
        """
        for lane in self._lanes:
            lane.start()
        failures = [failure for lane in self._lanes if (failure := lane.opened.exception()) is not None]
        if failures:
            raise failures[0]

    def start(self) -> None:
        """Begin to evaluate."""
        self._dispatch.start()

    def submit(self, complete: CompleteTrace) -> None:
        """Evaluate this trace as soon as its process is free and its former state is stored."""
        with self._guard:
            if complete.key in self._under_way:
                former = self._waiting.get(complete.key)
                self._waiting[complete.key] = build_merged_state(former, complete) if former else complete
                return
            self._under_way.add(complete.key)
        self._inbox.put(complete)

    def settled(self, key: TraceKey) -> None:
        """Note that the state of this trace that was handed on is stored: a later one may follow."""
        with self._guard:
            following = self._waiting.pop(key, None)
            if following is None:
                self._under_way.discard(key)
                self._guard.notify_all()
        if following is not None:
            self._inbox.put(following)

    def drain(self, timeout_s: float) -> bool:
        """Wait until everything is evaluated and stored, then end; False when time ran out."""
        self._draining.set()
        with self._guard:
            drained = self._guard.wait_for(lambda: not self._under_way, timeout_s)
        self.close()
        return drained

    def close(self) -> None:
        """End the processes; what is not evaluated stays in the log. Safe to call twice."""
        self._draining.set()
        self._closing.set()
        self._inbox.put(None)
        for lane in self._lanes:
            lane.close()
        for lane in self._lanes:
            lane.join()
        if self._dispatch.ident is not None:
            self._dispatch.join()

    def _run_dispatch(self) -> None:
        while True:
            batch = [self._inbox.get()]
            while not self._inbox.empty():
                batch.append(self._inbox.get())
            traces = [complete for complete in batch if complete is not None]
            former = self._fetch_former([complete.key for complete in traces])
            for complete in traces:
                if former is None:
                    self._record_left_in_log(complete)
                    continue
                shard = int(complete.trace_id[-8:], 16) % len(self._lanes)
                self._lanes[shard].put(_Attempt(complete, former.get(complete.key)))
            if len(traces) < len(batch):
                return

    def _fetch_former(self, keys: list[TraceKey]) -> dict[TraceKey, str] | None:
        """Return the stored documents; waits for a store that is down, None where the collector stops.

        Without its answer a part would be taken for the whole trace.
        """
        while keys:
            try:
                return self._documents(keys)
            except StoreUnavailable as unavailable:
                log.warning("%d traces wait for the store: %s", len(keys), unavailable)
                if self._draining.wait(_STORE_PAUSE_S):
                    return None
        return {}

    def _record_left_in_log(self, complete: CompleteTrace) -> None:
        with self._guard:
            self._under_way.discard(complete.key)
            self._waiting.pop(complete.key, None)
            self._guard.notify_all()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One evaluation of a trace.

    Attributes:
        waited_s: how long it has waited for its environment.
        is_stored: it was given out without its environment: the store has all of it.
        complete_ns: when it was given to the pool, as time since 1970.
    """

    complete: CompleteTrace
    former: str | None
    number: int = 1
    without_replay: str = ""
    waited_s: float = 0.0
    is_stored: bool = False
    complete_ns: int = field(default_factory=time.time_ns)


class _Lane:
    """One process of the pool, and the thread that talks to it.

    Attributes:
        opened: done once the process's engine is open, or with what opening it raised.
    """

    def __init__(
        self,
        number: int,
        start: Start,
        telemetry: Telemetry,
        places: Callable[[tuple[int, ...]], tuple[tuple[Path, int], ...]],
        hand_on: Callable[[Evaluated], None],
        closing: threading.Event,
        *,
        resubmit: Callable[[CompleteTrace], None],
        wants_bodies: bool,
    ) -> None:
        self.opened: Future[None] = Future()
        self._number = number
        self._start = start
        self._rules = start.config.evaluation
        self._telemetry = telemetry
        self._places = places
        self._hand_on = hand_on
        self._closing = closing
        self._resubmit = resubmit
        self._wants_bodies = wants_bodies
        self._inbox: queue.SimpleQueue[_Attempt | None] = queue.SimpleQueue()
        self._later: list[tuple[float, int, _Attempt]] = []
        self._order = count()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None
        self._is_loading = False
        self._thread = threading.Thread(target=self._run, name=f"spanproof-evaluate-{number}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, attempt: _Attempt) -> None:
        self._inbox.put(attempt)

    def close(self) -> None:
        self._inbox.put(None)

    def join(self) -> None:
        if self._thread.ident is not None:
            self._thread.join(_STOP_S)
            if self._thread.is_alive():
                self._wait_for_process_end()  # the thread waits for a job's answer: this gives it one
                self._thread.join(_STOP_S)

    def _run(self) -> None:
        # The kernel ends a worker with the thread that started it, so the thread that uses it starts it.
        try:
            self._start_process()
        except Exception as failure:  # noqa: BLE001 - raised again by `Evaluators.open`
            self.opened.set_exception(failure)
            return
        self.opened.set_result(None)
        try:
            while (attempt := self._find_next()) is not None:
                self._handle_attempt(attempt)
        finally:
            self._wait_for_process_end()

    def _find_next(self) -> _Attempt | None:
        """Return the attempt whose time has come, or the next of the inbox; None at the end."""
        while not self._closing.is_set():
            now_s = time.monotonic()
            if self._later and self._later[0][0] <= now_s:
                return heapq.heappop(self._later)[2]
            try:
                return self._inbox.get(timeout=self._later[0][0] - now_s if self._later else None)
            except queue.Empty:
                continue
        return None

    def _handle_attempt(self, attempt: _Attempt) -> None:
        if attempt.is_stored:
            self._resubmit(attempt.complete)
            return
        began_ns = time.time_ns()
        too_large = self._find_size_failure(attempt)
        if too_large is not None:
            attempt = replace(attempt, number=0)
        result = too_large or self._run_attempt(attempt)
        if self._closing.is_set() and result.evaluation is None:
            return  # it stays in the log
        work = Work(attempt.complete_ns, began_ns, (time.time_ns() - began_ns) / 1e9, attempt.number)
        if result.evaluation is None:
            self._add_next_attempt(attempt, result, work)
            return
        again = self._find_follow_up(attempt, result.evaluation)
        if again is not None:
            self._add_later(*again)
            return
        self._telemetry.evaluation_seconds.observe(result.seconds)
        self._hand_on(Evaluated(attempt.complete, result.evaluation, body=result.body, work=work))
        if NoReplayCause.BUILDING in _list_causes(result.evaluation):
            stored = replace(
                attempt.complete, bodies=(), records=(), generation=attempt.complete.generation + 1
            )
            self._add_later(_RESUBMIT_PAUSE_S, _Attempt(stored, None, is_stored=True))

    def _add_next_attempt(self, attempt: _Attempt, result: Result, work: Work) -> None:
        """Put the attempt that follows a failed one in the queue; after the last give the trace up."""
        self._telemetry.evaluation_attempts_failed.labels(result.stage).inc()
        # What is too slow without a replay is as slow the next time, and a trace does not get smaller.
        is_too_slow = result.stage == "deadline" and bool(attempt.without_replay)
        is_hopeless = is_too_slow or result.stage == SIZE_STAGE
        if attempt.number < self._rules.attempts and not is_hopeless:
            pause_s = _compute_backoff_s(attempt)
            without = attempt.without_replay or (result.error if result.stage == "deadline" else "")
            following = replace(attempt, number=attempt.number + 1, without_replay=without)
            self._add_later(pause_s, following)
            return
        self._record_failed(attempt, result, work)

    def _find_size_failure(self, attempt: _Attempt) -> Result | None:
        """Return the failure of a trace of too many spans, which no process has to read to know it.

        Those that only the store has are counted by the process.
        """
        try:
            check_trace_size(attempt.complete.spans, self._rules.max_spans)
        except TraceTooLarge as problem:
            return Result(None, SIZE_STAGE, type(problem).__name__, str(problem))
        return None

    def _add_later(self, pause_s: float, attempt: _Attempt) -> None:
        heapq.heappush(self._later, (time.monotonic() + pause_s, next(self._order), attempt))

    def _find_follow_up(
        self, attempt: _Attempt, evaluation: TraceEvaluation
    ) -> tuple[float, _Attempt] | None:
        """Return when to evaluate the trace again, and how; None where the evaluation holds.

        Again: while an environment is being built, and where a replay failed on our side.
        """
        causes = _list_causes(evaluation)
        if NoReplayCause.BUILDING in causes and attempt.waited_s < _LONGEST_BUILD_S:
            pause_s = compute_build_pause_s(attempt.waited_s)
            return pause_s, replace(attempt, waited_s=attempt.waited_s + pause_s)
        if NoReplayCause.FAILED in causes and attempt.number < self._rules.attempts:
            return _compute_backoff_s(attempt), replace(attempt, number=attempt.number + 1)
        return None

    def _record_failed(self, attempt: _Attempt, failed: Result, work: Work) -> None:
        """Hand on errored scores in place of an evaluation, and a dead letter to retry it from."""
        complete = attempt.complete
        self._telemetry.traces_failed.labels(failed.stage).inc()
        log.error(
            "trace %s could not be evaluated in %d attempts: %s: %s",
            complete.trace_id,
            attempt.number,
            failed.error_type,
            failed.error,
        )
        errored = self._run_attempt(replace(attempt, number=0), failure=(failed.error_type, failed.error))
        letter = DeadLetter(
            complete.trace_id,
            failed.stage,
            failed.error_type,
            failed.error,
            attempt.number,
            errored.body or failed.body,
            time.time_ns(),
            complete.key.project,
        )
        self._hand_on(Evaluated(complete, errored.evaluation, letter, letter.body, work))

    def _run_attempt(self, attempt: _Attempt, failure: tuple[str, str] | None = None) -> Result:
        try:
            job = Job(
                attempt.complete.key,
                self._places(attempt.complete.bodies),
                attempt.former,
                attempt.without_replay,
                failure,
                self._wants_bodies or failure is not None,
            )
            return self._run_job(job)
        except WorkerSlow as slow:
            return Result(None, "deadline", "DeadlineExceeded", str(slow))
        except WorkerGone as gone:
            return Result(None, "worker", "WorkerEnded", str(gone))
        except LookupError as missing:
            return Result(None, "read", type(missing).__name__, str(missing))

    def _run_job(self, job: Job) -> Result:
        """Return the result of a job that the process does.

        Raises:
            WorkerGone: it ended meanwhile.
            WorkerSlow: it took too long, and was ended.
        """
        if self._line is None:
            try:
                self._start_process()
            except Exception as problem:
                raise WorkerGone(f"a worker process could not be started: {problem}") from problem
        assert self._line is not None
        try:
            if self._is_loading:
                self._line.recv()  # `Loaded`; what it waits for is no part of the time of its first job
                self._is_loading = False
            self._line.send(job)
            deadline_s = self._rules.deadline_s
            if job.failure is not None:
                deadline_s = max(deadline_s, _FAILURE_DEADLINE_S)
            if not self._wait_for_result(self._line, deadline_s):
                self._wait_for_process_end()
                raise WorkerSlow(f"evaluating the trace took longer than {deadline_s:g} s")
            result = self._line.recv()
        except (EOFError, OSError) as gone:
            code = self._wait_for_process_end()
            raise WorkerGone(f"the worker process ended with exit code {code}") from gone
        assert isinstance(result, Result)
        write_log_lines(result.lines)
        return result

    def _wait_for_result(self, line: Connection, deadline_s: float) -> bool:
        """Wait for the result of a job; False where it is late, also by what an idle machine would need."""
        assert self._process is not None
        clock, worked_s = WorkClock(self._process.pid), 0.0
        while not line.poll(min(_LOOK_EVERY_S, max(0.0, deadline_s - worked_s))):
            worked_s = clock.compute_work_s()
            if worked_s >= deadline_s or clock.elapsed_s >= _LONGEST_DELAY * deadline_s:
                return False
        return True

    def _start_process(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # -P: what lies in the working directory is no part of the program.
            command = [sys.executable, "-P", "-m", "spanproof.collector.worker", str(theirs.fileno())]
            # A group of its own: Ctrl-C reaches each process of the terminal's, also one that just starts;
            # the collector says when to end.
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, process_group=0
            )
        self._line = Connection(ours.detach())
        try:
            self._line.send(list(self._start.modules))
            self._line.send(self._start)
            started = self._line.recv()
        except (EOFError, OSError) as gone:
            code = self._wait_for_process_end()
            if code == -signal.SIGINT:
                # Ctrl-C came before the process had its group: the collector ends the next one when it stops.
                self._start_process()
                return
            raise WorkerGone(f"a worker process ended at its start with exit code {code}") from gone
        assert isinstance(started, Started)
        if self._number == 0:
            write_log_lines(started.lines)
        if started.failure is not None:
            self._wait_for_process_end()
            raise started.failure
        self._is_loading = True

    def _wait_for_process_end(self) -> int | None:
        """End the process, if there is one; returns its exit code."""
        process, line = self._process, self._line
        self._process = self._line = None
        if line is not None:
            line.close()  # its end of file is what a worker that waits for a job ends by
        if process is None:
            return None
        try:
            return process.wait(1.0 if not self._closing.is_set() else _STOP_S / 2)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def _compute_backoff_s(attempt: _Attempt) -> float:
    return float(min(_FIRST_BACKOFF_S * 4.0 ** (attempt.number - 1), _LONGEST_BACKOFF_S))


def compute_build_pause_s(waited_s: float) -> float:
    """Return when to look again for an environment: a trace waits at most twice as long as it is built."""
    return min(max(_BUILD_PAUSE_S, waited_s), _LONGEST_BUILD_PAUSE_S)


def _list_causes(evaluation: TraceEvaluation) -> set[NoReplayCause]:
    """Return why runs of a trace were not replayed."""
    return {run.replay.cause for run in evaluation.runs if isinstance(run.replay, NoReplay)}


def build_merged_state(former: CompleteTrace, later: CompleteTrace) -> CompleteTrace:
    """Return two states of a trace that wait for the same former one as one state."""
    return replace(
        later,
        bodies=tuple(dict.fromkeys((*former.bodies, *later.bodies))),
        records=(*former.records, *later.records),
        generation=min(former.generation, later.generation),
    )
