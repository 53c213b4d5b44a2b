"""A run that misquotes what its code returned, evaluated by the real engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import TraceEvaluation
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store
from spanproof.trace import (
    ExecutedCode,
    Payload,
    Span,
    SpanKind,
    StepInfo,
    ToolCall,
    Trace,
    trace_of,
)

TRACE_ID, RUN_ID = "5" * 32, "a" * 16
START_NS = 1_790_000_000_000_000_000

TASK = "What does a box of tea cost, in dollars?"
FIRST = "cents = price_of('tea')\nprint(cents)"
SECOND = "final_answer('A box of tea costs $54.00.')"


def misquote(answer: str = "A box of tea costs $54.00.") -> Trace:
    second = f"final_answer({answer!r})"
    resource = {"service.name": "shop"}

    def span(number: int, parent: str | None, name: str, kind: SpanKind, **more: object) -> Span:
        at = START_NS + number * 1_000_000
        span_id = RUN_ID if parent is None else f"{number:016x}"
        length = 90_000_000 if parent is None else 900_000
        return Span(
            TRACE_ID, span_id, parent, name, kind, at, at + length, "spanproof", resource=resource, **more
        )

    return trace_of(
        [
            span(
                0,
                None,
                "pricing agent",
                SpanKind.AGENT,
                agent="pricing agent",
                input=Payload(TASK, TASK),
                output=Payload(answer, answer),
            ),
            span(
                1,
                RUN_ID,
                "Step 1",
                SpanKind.CHAIN,
                step=StepInfo(1),
                code=ExecutedCode(FIRST, "spanproof.code.source", "python", logs="4500\n"),
                observation="Execution logs:\n4500\nLast output from code snippet:\nNone",
            ),
            span(
                2,
                f"{1:016x}",
                "price_of",
                SpanKind.TOOL,
                tool=ToolCall("price_of", {"args": ["tea"], "kwargs": {}}),
                input=Payload('"tea"', "tea"),
                output=Payload("4500", 4500, typed=True),
            ),
            span(
                3,
                RUN_ID,
                "Step 2",
                SpanKind.CHAIN,
                step=StepInfo(2),
                code=ExecutedCode(
                    second, "spanproof.code.source", "python", output=Payload(answer, answer), is_final=True
                ),
                observation=f"Last output from code snippet:\n{answer}",
            ),
        ]
    )


# One jail serves all tests here: what it is given cannot change it.
@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """The real engine; with a replay where this machine gives the jail what it needs."""
    with open_sandbox("jail") as sandbox:
        usable = sandbox.availability().usable
        yield Engine(
            pipeline=Pipeline(),
            sandbox=sandbox if usable else None,
            replay_disabled_reason="" if usable else "no jail on this machine",
        )


@pytest.fixture(scope="session")
def evaluation(engine: Engine) -> TraceEvaluation:
    return engine.evaluate(misquote())


@pytest.fixture(scope="session")
def stored(evaluation: TraceEvaluation, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with the evaluation, which is only read."""
    folder = tmp_path_factory.mktemp("stored") / "store"
    with open_store(folder) as store:
        store.write([evaluation])
    return str(folder)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return tmp_path / "suites" / "shop"
