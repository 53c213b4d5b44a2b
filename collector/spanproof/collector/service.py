"""The collector as a whole: it starts the stages in order and stops them so that nothing is lost.

Comes in: a `Config`. Goes out: a running collector, in threads of this process and a pool of evaluating
processes, that reports where it listens and what it evaluated. One collector owns its log directory and its
store.
"""

from __future__ import annotations

import logging
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

from spanproof.collector.evaluated import EvaluationLog
from spanproof.collector.external import MAX_BYTES, ScoreIntake
from spanproof.collector.own_metrics import MetricsExport
from spanproof.collector.pipeline import Pipeline
from spanproof.collector.receive.accept import Accepted, Acceptor, DurableLog, Relay
from spanproof.collector.receive.admission import Admission, Backlog
from spanproof.collector.receive.auth import Authoriser
from spanproof.collector.receive.json_endpoints import JsonEndpoints
from spanproof.collector.receive.redaction import Redactor
from spanproof.collector.receive.server import Endpoints, Receiver
from spanproof.collector.receive.signals import Signal
from spanproof.collector.sinks.sender import Sinks
from spanproof.collector.stages.evaluate import Evaluated
from spanproof.collector.stages.forward import Forwarder
from spanproof.collector.stages.jobs import open_configured_engine
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.ticker import Ticker, Watcher
from spanproof.collector.verdicts.http import VerdictService
from spanproof.collector.verdicts.pool import ScanPool
from spanproof.collector.verdicts.router import Router
from spanproof.collector.wal.log import Wal
from spanproof.config.hosts import is_loopback
from spanproof.config.model import Config, Role
from spanproof.store import ExternalScore, Lease, Store, StoreError, open_store

if TYPE_CHECKING:
    from spanproof.config.engine import OpenEngine

log = logging.getLogger(__name__)

_STOP_S = 60.0
_FAILED_START_S = 10.0
# An hour's verdicts are counted ahead once its scores did not change for so long.
_ROLLUP_SETTLED_S = 60.0


@dataclass(frozen=True, slots=True)
class StoreRelay:
    """Sends logs and metrics on, and stores the scores that came with them.

    Attributes:
        open_store: returns the store; raises `StoreError` in a receiver without one, whose clients then send
            their scores again.
    """

    forwarder: Forwarder
    open_store: Callable[[], Store]

    def forward(self, signal: Signal, body: bytes) -> None:
        """Put a request into the queues of the targets that want its signal."""
        self.forwarder.forward(signal, body)

    def write_scores(self, scores: Sequence[ExternalScore]) -> None:
        """Store scores from elsewhere."""
        self.open_store().write_external(scores)


def add_to_queues(batch: Sequence[Evaluated], forwarder: Forwarder, sinks: Sinks) -> None:
    """Put evaluated traces and their scores into the durable queues of forwarding and sinks."""
    forwarder.keep(batch)
    sinks.keep([evaluated.evaluation for evaluated in batch if evaluated.evaluation is not None])


def build_acceptor(
    config: Config,
    telemetry: Telemetry,
    wal: DurableLog,
    backlog: Backlog,
    hand_on: Callable[[Accepted], None],
    relay: Relay | None = None,
) -> Acceptor:
    """Return what takes requests in, as the configuration has it.

    Raises:
        TokenFileError: `tokens_file` cannot be read.
    """
    return Acceptor(
        authoriser=Authoriser(config.tokens, config.tokens_file),
        limits=config.limits,
        admission=Admission(config.limits, backlog),
        wal=wal,
        telemetry=telemetry,
        hand_on=hand_on,
        relay=relay,
        redactor=Redactor(config.redaction) if config.redaction.any else None,
        project=config.project,
    )


class Collector:
    """A collector; a context manager that starts and stops it.

    Args:
        config: what to do.
        watch: each is given the store at start and returns what is called soon after something was stored,
            and every now and then besides; alerting is called so.
        open_engine: how each evaluating process opens its engine; a function that can be imported by name.
    """

    def __init__(
        self,
        config: Config,
        *,
        watch: Sequence[Callable[[Store], Watcher]] = (),
        open_engine: Callable[[Config], OpenEngine] = open_configured_engine,
    ) -> None:
        self._config = config
        self._watch = tuple(watch)
        self._open_engine = open_engine
        self._telemetry = Telemetry(config.metrics.max_cohorts)
        self._evaluated = EvaluationLog()
        self._endpoints: Endpoints | None = None
        self._store: Store | None = None
        self._stops: list[tuple[str, Callable[[float], object]]] = []
        self._stop_requested = False

    def start(self) -> None:
        """Start every stage; returns once spans are taken.

        Raises:
            PortTaken: a port is taken and `receivers.fallback_port` is off.
            WalInUse: another collector has the log directory.
            StoreError: the store cannot be opened.
            PolicyError: the policy file is not valid.
            OSError: an address or a directory cannot be used.
        """
        try:
            self._start()
        except BaseException:
            self._close_all(_FAILED_START_S)
            raise

    def stop(self, timeout_s: float = _STOP_S) -> bool:
        """Stop receiving, evaluate and store what was received, close everything. Safe to call twice.

        Returns:
            False when there was not enough time: what was not stored stays in the log for the next start.
        """
        return self._close_all(timeout_s)

    def run_forever(self, on_ready: Callable[[Endpoints], None] = lambda _: None) -> bool:
        """Start, and stop gracefully on SIGTERM or SIGINT; to be called in the main thread.

        The former handlers of those signals are in place again when it returns or raises.

        Args:
            on_ready: called with where it listens, once it does.

        Returns:
            What `stop` does.
        """
        before = {
            number: signal.signal(number, self._on_signal) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            with _open_wakeup_socket() as wakeup:
                self.start()
                on_ready(self.endpoints)
                while not self._stop_requested:
                    wakeup.recv(1)
                return self.stop()
        finally:
            for number, answer in before.items():
                signal.signal(number, answer)

    @property
    def endpoints(self) -> Endpoints:
        """Where it listens; `RuntimeError` before `start`."""
        if self._endpoints is None:
            raise RuntimeError("the collector has not been started")
        return self._endpoints

    @property
    def store(self) -> Store:
        """The open store; `RuntimeError` before `start`."""
        if self._store is None:
            raise RuntimeError("the collector has not been started")
        return self._store

    @property
    def telemetry(self) -> Telemetry:
        """Its counters."""
        return self._telemetry

    @property
    def evaluated(self) -> EvaluationLog:
        """What was evaluated and stored."""
        return self._evaluated

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(self) -> None:
        config, telemetry = self._config, self._telemetry
        for warning in config.warnings:
            log.warning("%s", warning)
        backlog = Backlog(config.limits.max_backlog_bytes)
        # The processes come first: a wrong policy or evaluator is reported before anything else is opened.
        pipeline = Pipeline(
            config=config, telemetry=telemetry, backlog=backlog, open_engine=self._open_engine
        )
        pipeline.open()
        self.on_stop("evaluating processes", lambda _: pipeline.close())
        store = self._store = open_store(config.store.location, share=True)
        self.on_stop("store", lambda _: store.close())
        self._update_retention(store)
        rules = config.wal
        wal = Wal(
            rules.directory,
            segment_bytes=rules.segment_bytes,
            max_bytes=rules.max_bytes,
            fsync=rules.fsync,
            keep_damaged_s=rules.keep_damaged_days * 86_400.0,
            damaged_bytes=rules.damaged_bytes,
        )
        self.on_stop("log", lambda _: wal.close())
        forwarder = self._start_forwarding()
        sinks = Sinks(config.sinks, config.sinks_directory, telemetry)
        sinks.start()
        self.on_stop("sinks", sinks.drain)
        ticker = self._start_watching(store)
        pipeline.start(
            wal,
            store,
            [self._evaluated.record, lambda _: ticker.nudge()],
            lambda batch: add_to_queues(batch, forwarder, sinks),
        )
        self.on_stop("pipeline", pipeline.drain)
        self._start_receivers(wal, backlog, pipeline.put, forwarder)

    def _start_forwarding(self) -> Forwarder:
        """Start forwarding, of the collector's own metrics too where a target wants metrics."""
        config, telemetry = self._config, self._telemetry
        forwarder = Forwarder(config.forward, config.forward_directory, telemetry)
        forwarder.start()
        self.on_stop("forwarding", forwarder.drain)
        if any(target.metrics for target in config.forward):
            own = MetricsExport(
                telemetry.collect,
                lambda body: forwarder.forward(Signal.METRICS, body),
                config.metrics.export_every_s,
            )
            own.start()
            self.on_stop("own metrics", lambda _: own.stop())
        return forwarder

    def _update_retention(self, store: Store) -> None:
        changed = store.apply_retention(self._config.store.keep_days.model_dump())
        if changed:
            log.info("store.keep_days: changed how long these tables keep rows: %s", ", ".join(changed))

    def _start_watching(self, store: Store) -> Ticker:
        """Start calling the watchers; where processes share the store, one process at a time does."""
        refresh = partial(store.refresh_rollups, _ROLLUP_SETTLED_S)
        watchers: list[Watcher] = [refresh, *(watch(store) for watch in self._watch)]
        if not store.exclusive:
            lease = store.task_lease("watch")
            self.on_stop("lease", lambda _: lease.release())
            watchers = [_build_leased_watcher(lease, watcher) for watcher in watchers]
        ticker = Ticker(watchers, self._telemetry)
        ticker.start()
        self.on_stop("watchers", lambda _: ticker.stop())
        return ticker

    def _start_receivers(
        self, wal: DurableLog, backlog: Backlog, hand_on: Callable[[Accepted], None], forwarder: Forwarder
    ) -> None:
        """Start the receivers, which write to this log and hand on what is durable."""
        config = self._config
        relay = StoreRelay(forwarder, self._get_store)
        acceptor = build_acceptor(config, self._telemetry, wal, backlog, hand_on, relay)
        endpoints = JsonEndpoints(acceptor, self._telemetry, is_loopback(config.receivers.http.host))
        intake = ScoreIntake(self._get_store, config.external_scores, self._telemetry, acceptor.redact_text)
        routes = [endpoints.build_post_route("/v1/scores", intake.write_scores_of, MAX_BYTES, Role.WRITE)]
        if config.verdicts.enabled:
            routes += self._open_verdict_service().list_routes(endpoints)
        receiver = Receiver(config.receivers, acceptor, self._telemetry, routes)
        self.on_stop("receivers", lambda _: receiver.stop())
        self._endpoints = receiver.start()
        log.info("listening: grpc %s, http %s", self._endpoints.grpc, self._endpoints.http)

    def _get_store(self) -> Store:
        if self._store is None:
            raise StoreError("this receiver has no store: set store.location to a server")
        return self._store

    def _open_verdict_service(self) -> VerdictService:
        rules = self._config.verdicts
        pool = ScanPool(rules, self._config.policy)
        self.on_stop("scanning processes", lambda _: pool.close())
        pool.open()
        return VerdictService(
            pool,
            Router(self._config.routes, self._get_store),
            self._telemetry,
            max_bytes=rules.max_bytes,
        )

    def on_stop(self, what: str, stop: Callable[[float], object]) -> None:
        """Call this at the stop, in the reverse order of the start, with the seconds that are left."""
        self._stops.append((what, stop))

    def _close_all(self, timeout_s: float) -> bool:
        until = time.monotonic() + timeout_s
        in_time = True
        while self._stops:
            what, stop = self._stops.pop()
            try:
                if stop(max(0.0, until - time.monotonic())) is False:
                    in_time = False
                    log.warning("%s did not end in time; the rest stays in the log", what)
            except Exception:
                log.exception("stopping the %s failed", what)
        return in_time

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        log.info(
            "%s: stopping; once more ends at once, what is not stored stays in the log",
            signal.Signals(number).name,
        )
        signal.signal(number, signal.SIG_DFL)
        self._stop_requested = True


@contextmanager
def _open_wakeup_socket() -> Iterator[socket.socket]:
    """Yield a socket that gets a byte with each signal.

    A thread that waits for a lock sleeps on where the signal came between its last look for signals and its
    going to sleep: the handler has to wait until something else wakes it. A byte in a socket stays there.
    """
    reading, writing = socket.socketpair()
    with reading, writing:
        writing.settimeout(0)
        before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        try:
            yield reading
        finally:
            signal.set_wakeup_fd(before)


def _build_leased_watcher(lease: Lease, watcher: Watcher) -> Watcher:
    """Return the watcher as one that does nothing while another process has the lease."""
    return lambda: lease.held() and watcher()
