"""Evaluations made by hand, and a real embedded store.

An embedded store is one per process: each test opens its own and closes it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from emptied_store import empty

from spanproof.evaluators.model import NoReplay, Replay, ReplayedStep, RunEvaluation, TraceEvaluation
from spanproof.sandbox.model import Attempt, AttemptKind, Execution, FailureClass
from spanproof.sandbox.scanners.model import Finding, Scan, Severity, Verdict
from spanproof.store import Store, open_store
from spanproof.store.front import Front
from spanproof.trace import (
    Cohort,
    Ending,
    Errored,
    Event,
    Evidence,
    ExecutedCode,
    Label,
    Language,
    Layer,
    Outcome,
    Payload,
    RecordedCall,
    Run,
    Score,
    Scored,
    Skipped,
    Snippet,
    Span,
    SpanError,
    SpanKind,
    Step,
    digest,
    score_id,
    snippet_id,
    trace_of,
)

START_NS = 1_790_000_000_123_456_789
"""2026-09-21, with nanoseconds no float and no microsecond clock keeps."""

SOURCE = "cents = price_of('tea')\nprint(cents)"

CODE_PATH = "spanproof.code.source"
RUN, STEP = "a" * 16, "b" * 16
"""Ids of the spans."""

QUESTION = Payload("What is tea in dollars?", "What is tea in dollars?")
ANSWER = Payload("$54.00", "$54.00")
SCAN = Scan(
    Verdict.REVIEW,
    (Finding("python.call.unknown", Severity.LOW, Verdict.REVIEW, 1, 9, 1, 24, "price_of is unknown"),),
    elapsed_us=42,
)

VERDICTS: dict[Layer, Outcome] = {
    Layer.CORRECTNESS: Scored(1.0, Label.PASS, "compiles and its record is reproduced"),
    Layer.BOUNDARY: Scored(1.0, Label.PASS, "nothing left the sandbox"),
    Layer.EXECUTION: Errored("SandboxBroken", "the supervisor went away"),
    Layer.GROUNDEDNESS: Scored(
        0.0,
        Label.FAIL,
        "$54.00 is said, 4500 cents were returned",
        (Evidence("the answer's amount", "b" * 16, recorded="4500", replayed="4500"),),
    ),
    Layer.TRAJECTORY: Skipped("the task is hidden: switch content capture on"),
}

MakeEvaluation = Callable[..., TraceEvaluation]


def make_evaluation(
    number: int = 1,
    *,
    cohort: Cohort | None = None,
    verdicts: dict[Layer, Outcome] | None = None,
    start_ns: int = START_NS,
    source: str = SOURCE,
    version: str = "1",
    sub_score: str = "",
) -> TraceEvaluation:
    """A trace of one agent run with one executed snippet, its scan, replay and five scores."""
    who = cohort or Cohort(project="shop", service="api", agent="pricer", model="m-1", language="python")
    spans = _spans(f"{number:032x}", start_ns, source)
    snippet = _snippet(spans[1].trace_id, source)
    run = _run(snippet, who, start_ns)
    scores = [
        _score(run, layer, layer.value, run.span_id, start_ns, outcome, version)
        for layer, outcome in (verdicts or VERDICTS).items()
    ]
    if sub_score:
        passed = Scored(1, Label.PASS, "ok")
        found = _score(run, Layer.CORRECTNESS, sub_score, STEP, start_ns + 1_000, passed, version)
        scores.append(replace(found, snippet_id=snippet.id))
    evaluated = RunEvaluation(run, {snippet.id: SCAN}, _replay(snippet), tuple(scores))
    return TraceEvaluation(trace_of(spans), (evaluated,), (STEP,))


def _spans(trace_id: str, start_ns: int, source: str) -> list[Span]:
    run = Span(
        trace_id,
        RUN,
        None,
        "pricer.run",
        SpanKind.AGENT,
        start_ns,
        start_ns + 9_000,
        input=QUESTION,
        output=ANSWER,
        attributes={"raw": b"\x00\xff", "many": ["a", 1, 2.5, None], "huge": 2**70},
        resource={"service.name": "api"},
    )
    step = Span(
        trace_id,
        STEP,
        RUN,
        "Step 1",
        SpanKind.CHAIN,
        start_ns + 1_000,
        start_ns + 5_000,
        code=ExecutedCode(source, CODE_PATH, "python"),
        observation="4500\n",
        error=SpanError("ValueError", "lone \ud800 surrogate"),
        events=(Event("exception", start_ns + 4_000, {"exception.type": "ValueError"}),),
    )
    return [run, step]


def _snippet(trace_id: str, source: str) -> Snippet:
    return Snippet(
        id=snippet_id(trace_id, STEP, CODE_PATH, source),
        trace_id=trace_id,
        span_id=STEP,
        path=CODE_PATH,
        language=Language.PYTHON,
        source=source,
        executed=True,
        observation="4500\n",
        tape=(RecordedCall("price_of", ("tea",), {}, Payload("4500", 4500, typed=True)),),
    )


def _run(snippet: Snippet, cohort: Cohort, start_ns: int) -> Run:
    return Run(
        snippet.trace_id,
        RUN,
        cohort.agent,
        QUESTION.text,
        ANSWER,
        (Step(1, STEP, snippets=(snippet,), calls=snippet.tape, observation="4500\n"),),
        ending=Ending.ANSWERED,
        cohort=cohort,
        start_ns=start_ns,
        end_ns=start_ns + 9_000,
    )


def _replay(snippet: Snippet) -> Replay:
    execution = Execution(
        FailureClass.OK,
        stdout="4500\n",
        wall_s=0.01,
        attempts=(Attempt(AttemptKind.NETWORK, "example.org:443", allowed=False),),
    )
    return Replay(RUN, "jail", (ReplayedStep(snippet, execution, agrees=True),))


def _score(
    run: Run, layer: Layer, name: str, span_id: str, time_ns: int, outcome: Outcome, version: str
) -> Score:
    evaluator, input_digest = f"spanproof.{layer.value}", digest("input", run.trace_id)
    return Score(
        id=score_id(
            trace_id=run.trace_id,
            span_id=span_id,
            snippet=None,
            layer=layer.value,
            name=name,
            evaluator=evaluator,
            version=version,
            input_digest=input_digest,
        ),
        trace_id=run.trace_id,
        run_span_id=run.span_id,
        span_id=span_id,
        snippet_id=None,
        layer=layer,
        name=name,
        evaluator=evaluator,
        version=version,
        outcome=outcome,
        cohort=run.cohort,
        span_time_ns=time_ns,
        input_digest=input_digest,
    )


@pytest.fixture(scope="session")
def evaluation() -> MakeEvaluation:
    return make_evaluation


class WritableFront(Front):
    """The HTTP interface over an embedded engine, as a server is: writers may change the schema as well."""

    settings = Front.settings[:-1]


@contextmanager
def serving(directory: Path) -> Iterator[str]:
    """DSN of a server: the HTTP interface over an embedded engine of its own."""
    front = WritableFront(directory, "spanproof", {"max_partitions_per_insert_block": 0})
    yield f"{front.write_url}?compress=false"
    front.close()


@contextmanager
def real_database() -> Iterator[str]:
    """DSN of a new database on the ClickHouse server named by CLICKHOUSE_URL."""
    dsn = f"{os.environ['CLICKHOUSE_URL'].rstrip('/')}/spanproof_test_{uuid.uuid4().hex[:12]}"
    yield dsn
    with open_store(dsn) as store, store._connections.lease() as client:
        client.command(f"DROP DATABASE {store._database}")


@contextmanager
def reached(way: str, directory: Path) -> Iterator[Store]:
    """A new store below a directory, or on a server."""
    with ExitStack() as stack:
        location: str | Path = directory / "store"
        if way == "server":
            location = stack.enter_context(serving(directory / "server"))
        elif way == "real_server":
            location = stack.enter_context(real_database())
        yield stack.enter_context(open_store(location))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path / "server") as dsn:
        yield dsn


_REAL = ["real_server"] if "CLICKHOUSE_URL" in os.environ else []
WAYS = ["embedded", "server", *_REAL]
"""One code path, three ways to reach it."""
DIRECT = ["embedded", *_REAL]
"""For what the engine alone says to a query: behind `server` is the engine of `embedded`."""


@pytest.fixture(params=WAYS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A new store; every claim about one holds for each way to reach it."""
    with reached(request.param, tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module", params=WAYS)
def shared_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for a module whose tests open no other: a process has one embedded store at a time."""
    with reached(request.param, tmp_path_factory.mktemp("shared")) as opened:
        yield opened


@pytest.fixture
def emptied(shared_store: Store) -> Store:
    """The module's store, without a row."""
    empty(shared_store)
    return shared_store


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as opened:
        yield opened


@pytest.fixture(scope="session")
def failing(evaluation):
    """Make an evaluation of a run whose one snippet raised."""

    def make(
        number: int, message: str, error_type: str = "ShopError", *, at: int = START_NS, **cohort: str
    ) -> TraceEvaluation:
        who = Cohort(**{"project": "shop", "agent": "pricer", **cohort})
        made = evaluation(
            number, cohort=who, verdicts={Layer.EXECUTION: Scored(0.0, Label.FAIL, "it failed")}, start_ns=at
        )
        (run,) = made.runs
        snippet = replace(run.run.snippets[0], error=SpanError(error_type, message), tape=())
        step = replace(run.run.steps[0], snippets=(snippet,), calls=())
        failed = replace(run, run=replace(run.run, steps=(step,)), replay=NoReplay("off"))
        return replace(made, runs=(failed,))

    return make
