"""Builders of small runs by hand, for the tests of replay, layers and engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from spanproof.evaluators.model import ApiReport, NoReplay, Replay, ReplayedStep, RunEvidence
from spanproof.evaluators.outcomes.account import build_account
from spanproof.sandbox import Execution, FailureClass, Sandbox
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.model import Finding, Scan, Severity, Verdict
from spanproof.trace import (
    Language,
    Payload,
    RecordedCall,
    Run,
    Snippet,
    Span,
    SpanError,
    SpanKind,
    Step,
    Trace,
    snippet_id,
    trace_of,
)

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
RUN_SPAN = "00000000000000ff"
START_NS = 1_780_000_000_000_000_000
ALLOW = Scan(Verdict.ALLOW, ())


@dataclass
class Building:
    """Builds snippets and runs; each snippet is on a step span of its own."""

    snippets: list[Snippet] = field(default_factory=list)

    def snippet(self, source: str, **fields: object) -> Snippet:
        """The next snippet, executed and Python unless given otherwise."""
        span_id = f"{len(self.snippets) + 1:016x}"
        path = "spanproof.code.source"
        values: dict[str, object] = {
            "id": snippet_id(TRACE_ID, span_id, path, source),
            "trace_id": TRACE_ID,
            "span_id": span_id,
            "path": path,
            "language": Language.PYTHON,
            "source": source,
            "executed": True,
        }
        made = Snippet(**(values | fields))  # type: ignore[arg-type]
        self.snippets.append(made)
        return made

    def run(self, snippets: Sequence[Snippet], **fields: object) -> Run:
        """A run with a step per snippet."""
        steps = tuple(
            Step(
                number=number,
                span_id=snippet.span_id,
                snippets=(snippet,),
                calls=snippet.tape,
                observation=snippet.observation,
                error=snippet.error,
                start_ns=START_NS + number,
                end_ns=START_NS + number + 1,
            )
            for number, snippet in enumerate(snippets, 1)
        )
        values: dict[str, object] = {
            "trace_id": TRACE_ID,
            "span_id": RUN_SPAN,
            "name": "an agent",
            "task": "a task",
            "answer": Payload("an answer", "an answer"),
            "steps": steps,
            "start_ns": START_NS,
            "end_ns": START_NS + 1000,
        }
        return Run(**(values | fields))  # type: ignore[arg-type]

    def trace(self, run: Run) -> Trace:
        """The spans this run could have come from."""
        root = Span(TRACE_ID, run.span_id, None, run.name, SpanKind.AGENT, run.start_ns, run.end_ns)
        steps = [
            Span(TRACE_ID, step.span_id, run.span_id, "Step", SpanKind.CHAIN, step.start_ns, step.end_ns)
            for step in run.steps
        ]
        return trace_of([root, *steps])

    def evidence(
        self,
        run: Run,
        *,
        scans: dict[str, Scan] | None = None,
        replayed: Sequence[ReplayedStep] | None = None,
        unreplayed: dict[str, str] | None = None,
        apis: dict[str, ApiReport] | None = None,
    ) -> RunEvidence:
        """Evidence about the run: everything allowed, and replayed only as given."""
        replay: Replay | NoReplay = NoReplay("replay is switched off")
        if replayed is not None or unreplayed is not None:
            replay = Replay(run.span_id, "jail", tuple(replayed or ()), unreplayed or {})
        all_scans = {snippet.id: ALLOW for snippet in run.snippets} | (scans or {})
        trace = self.trace(run)
        account = build_account(trace, run, all_scans, replay)
        return RunEvidence(trace, run, all_scans, replay, apis or {}, account=account)

    def step(
        self, snippet: Snippet, failure_class: FailureClass = FailureClass.OK, **fields: object
    ) -> ReplayedStep:
        """A replayed step of this snippet."""
        of_step = {
            name: fields.pop(name) for name in ("agrees", "difference", "divergences") if name in fields
        }
        execution = Execution(failure_class, **fields)  # type: ignore[arg-type]
        return ReplayedStep(snippet, execution, **of_step)  # type: ignore[arg-type]

    def scan(
        self, verdict: Verdict, message: str = "reads the environment", rule: str = "python.env"
    ) -> Scan:
        """A scan with one finding."""
        return Scan(verdict, (Finding(rule, Severity.HIGH, verdict, 1, 1, 1, 5, message),))

    def error(self, type_: str | None, message: str = "", *chain: str) -> SpanError:
        """A recorded error."""
        return SpanError(type_, message, chain)

    def call(self, tool: str, result: object = None, *args: object, **kwargs: object) -> RecordedCall:
        """A recorded call that returned."""
        payload = Payload(str(result), result, typed=True)  # type: ignore[arg-type]
        return RecordedCall(tool, args, kwargs, payload)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def jail() -> Iterator[Sandbox]:
    """The real sandbox, one for all tests."""
    with open_sandbox("jail") as sandbox:
        yield sandbox


@pytest.fixture
def build() -> Building:
    return Building()


@pytest.fixture
def score_of() -> Callable[..., object]:
    """The outcome of a name among judgements: the layer's own, or a sub-score's of a snippet."""

    def find(judgements: Sequence[object], name: str, snippet: Snippet | None = None) -> object:
        wanted = snippet.id if snippet is not None else None
        found = [j for j in judgements if j.name == name and j.snippet_id == wanted]  # type: ignore[attr-defined]
        assert len(found) == 1, [(j.name, j.snippet_id) for j in judgements]  # type: ignore[attr-defined]
        return found[0].outcome  # type: ignore[attr-defined]

    return find
