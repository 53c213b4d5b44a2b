"""A real store with scores in it, and a webhook receiver on the loopback interface."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import plain_http
import pytest
import yaml
from emptied_store import empty
from free_port import free_port
from waiting import wait_until

from spanproof.alerts import AlertEngine, AlertRule, Notification
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.store import Store, open_store
from spanproof.trace import (
    Cause,
    Cohort,
    Errored,
    Label,
    Layer,
    Outcome,
    Run,
    Score,
    Scored,
    Skipped,
    Span,
    SpanKind,
    digest,
    trace_of,
)

NOW = 1_790_000_000 * 10**9

OUTCOMES: dict[str, Outcome] = {
    "pass": Scored(1.0, Label.PASS, "every number is grounded"),
    "fail": Scored(0.0, Label.FAIL, "$54.00 is said, 4500 cents were returned"),
    "skipped": Skipped("the answer is hidden"),
    "errored": Errored("SandboxBroken", "gone"),
    "open": Scored(0.5, None, "45.00 is nowhere", cause=Cause.VALUE_NOT_FOUND, detail="45.00"),
    "uncertain": Scored(0.5, None, "45.00 may be 45", cause=Cause.VALUE_NOT_CERTAIN, detail="45.00"),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for a module whose tests open no other: a process has one embedded store at a time."""
    with open_store(tmp_path_factory.mktemp("shared") / "store") as opened:
        yield opened


@pytest.fixture
def emptied(shared_store: Store) -> Store:
    """The module's store, without a row."""
    empty(shared_store)
    return shared_store


class Engines:
    """Opens alert engines over one store, whose clock is that of the tests."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open: list[AlertEngine] = []
        self.clock = NOW

    def open(self, *rules: AlertRule, first_pause_s: float = 600.0, **more: Any) -> AlertEngine:
        """Open an engine; a first pause so long keeps failed attempts from being repeated by themselves."""
        engine = AlertEngine(
            rules, self._store, clock=lambda: self.clock, first_pause_s=first_pause_s, **more
        )
        self._open.append(engine)
        return engine

    def tick(self, engine: AlertEngine, seconds: float = 0.0) -> list[Notification]:
        """Tick at NOW and so many seconds, and wait until targets were tried with what it made."""
        self.clock = max(self.clock, NOW + int(seconds * 10**9))
        made = engine.evaluate_rules(NOW + int(seconds * 10**9))
        assert engine.wait_delivered(60)
        return made

    def close(self) -> None:
        """Close all of them."""
        for engine in self._open:
            assert engine.close(60)


@pytest.fixture
def engines(store: Store) -> Iterator[Engines]:
    opened = Engines(store)
    yield opened
    opened.close()


@pytest.fixture
def judged(store: Store) -> Callable[..., None]:
    """Stores one run per word of `outcomes`, judged so in groundedness."""
    written = 0

    def write(outcomes: str, agent: str = "pricer", at_ns: int = NOW - 10**9, release: str = "") -> None:
        nonlocal written
        found = []
        for word in outcomes.split():
            written += 1
            cohort = Cohort(agent=agent, release=release)
            found.append(evaluation(written, OUTCOMES[word], cohort, at_ns))
        store.write(found)

    return write


@pytest.fixture
def judged_cost(store: Store) -> Callable[..., None]:
    """Stores one run per cost in US dollars; None is a row from before raw values were stored."""

    def write(*dollars: float | None) -> None:
        outcomes = [
            Scored(0.1 / (0.1 + (cost or 0)), None, "its cost", raw=cost, unit="USD" if cost else "")
            for cost in dollars
        ]
        store.write(
            [
                evaluation(number, outcome, Cohort(agent="pricer"), NOW - 10**9, Layer.TRAJECTORY, "cost_usd")
                for number, outcome in enumerate(outcomes, 1)
            ]
        )

    return write


@pytest.fixture
def judged_blocks(store: Store) -> Callable[..., None]:
    """Stores one run of a task per number of blocks by a guardrail."""
    written = 0

    def write(task: str, *blocks: int) -> None:
        nonlocal written
        found = []
        for count in blocks:
            written += 1
            outcome = Scored(1 / (1 + count), None, "blocked", raw=float(count), unit="blocks")
            cohort = Cohort(agent="clerk", task=task)
            found.append(evaluation(written, outcome, cohort, NOW - 10**9, Layer.BOUNDARY, "blocks"))
        store.write(found)

    return write


def evaluation(
    number: int,
    outcome: Outcome,
    cohort: Cohort,
    at_ns: int,
    layer: Layer = Layer.GROUNDEDNESS,
    name: str = "groundedness",
) -> TraceEvaluation:
    trace_id, span_id, agent = f"{number:032x}", "a" * 16, cohort.agent
    span = Span(trace_id, span_id, None, agent, SpanKind.AGENT, at_ns, at_ns + 1)
    run = Run(trace_id, span_id, agent, None, None, (), cohort=cohort, start_ns=at_ns, end_ns=at_ns + 1)
    score = Score(
        id=digest(trace_id, str(outcome)),
        trace_id=trace_id,
        run_span_id=span_id,
        span_id=span_id,
        snippet_id=None,
        layer=layer,
        name=name,
        evaluator="spanproof.groundedness",
        version="1",
        outcome=outcome,
        cohort=cohort,
        span_time_ns=at_ns,
        input_digest="",
    )
    return TraceEvaluation(trace_of([span]), (RunEvaluation(run, {}, NoReplay("off"), (score,)),), ())


@dataclass
class Receiver:
    """What arrived, and what it answers: `answers` one after another, then 200.

    Attributes:
        open: cleared, each request waits until it is set.
    """

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)

    @property
    def said(self) -> list[str]:
        """The status of each notification that arrived."""
        return [body["status"] for body in self.bodies]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    """Run a receiver on the loopback; 0 is any free port."""
    state = Receiver()
    state.open.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.open.wait(60)
            state.raw.append(body)
            state.bodies.append(json.loads(body))
            state.headers.append(dict(self.headers))
            self.send_response(state.answers.pop(0) if state.answers else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/hooks/token-in-path"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def running(directory: Path, url: str, *command: str) -> Iterator[None]:
    """Start a server, wait until it is ready, and end it."""
    with (directory / "log").open("ab") as log:
        process = subprocess.Popen(command, cwd=directory, stdout=log, stderr=log)
    try:
        wait_until(lambda: process.poll() is not None or is_ready(url), f"{command[0]} is ready")
        assert process.poll() is None, (directory / "log").read_text()
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_ready(url: str) -> bool:
    try:
        return plain_http.get(f"{url}/-/ready").is_success
    except httpx.HTTPError:
        return False


@pytest.fixture
def alertmanager(tmp_path: Path, receiver) -> Callable[[], Any]:
    """Returns a context that runs an Alertmanager which sends to the receiver; gives its URL."""
    directory, port = tmp_path / "alertmanager", free_port()
    directory.mkdir()
    config = {
        "route": {"receiver": "hook", "group_by": ["alertname"], "group_wait": "1s", "group_interval": "1s"},
        "receivers": [{"name": "hook", "webhook_configs": [{"url": receiver.url, "send_resolved": True}]}],
    }
    (directory / "config.yaml").write_text(yaml.safe_dump(config))

    @contextmanager
    def run() -> Iterator[str]:
        url = f"http://127.0.0.1:{port}"
        command = (
            "prometheus-alertmanager", "--config.file=config.yaml", "--storage.path=data",
            f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address=",
        )  # fmt: skip
        with running(directory, url, *command):
            yield url

    return run
