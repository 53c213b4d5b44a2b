"""A run whose trace has no root yet is not green: the answer may be on the root."""

from __future__ import annotations

from dataclasses import replace

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.rescore import evaluate_again
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    Cause,
    ExecutedCode,
    Layer,
    Payload,
    Scored,
    Span,
    SpanKind,
    State,
    ToolCall,
    trace_of,
)

CODE = ExecutedCode("print(6 * 7)", "code", "python", logs="42\n")
TOOL = Span(
    "t", "b", "a", "run_python", SpanKind.TOOL, 10, 20,
    tool=ToolCall("run_python", {"code": "print(6 * 7)"}), code=CODE, output=Payload("42", "42"),
)  # fmt: skip
AGENT = Span(
    "t", "a", None, "agent", SpanKind.AGENT, 0, 30,
    input=Payload("6 × 7?", "6 × 7?"), output=Payload("It is 42.", "It is 42."),
)  # fmt: skip


def test_a_tool_call_without_its_agent_is_open_and_says_why():
    (run,) = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace_of([TOOL])).runs
    outcome = run.layers[Layer.GROUNDEDNESS]
    assert isinstance(outcome, Scored)
    assert (outcome.cause, outcome.label) == (Cause.ROOT_MISSING, None)
    assert outcome.explanation == "the root of this trace has not come: the answer may be on it"
    assert run.state is State.OPEN


def test_with_its_agent_it_is_that_agents_run():
    (run,) = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace_of([TOOL, AGENT])).runs
    assert run.run.span_id == "a"
    assert run.layers[Layer.GROUNDEDNESS] != Cause.ROOT_MISSING


def test_scoring_again_mends_a_trace_whose_parents_a_former_version_cut():
    engine = Engine(pipeline=Pipeline(), sandbox=None)
    stored = engine.evaluate(trace_of([replace(TOOL, parent_id=None), AGENT]))
    assert len(stored.runs) == 2
    (run,) = evaluate_again(engine, stored, tuple(Layer), {"a": None, "b": "a"}).runs
    (whole,) = engine.evaluate(trace_of([TOOL, AGENT])).runs
    assert (run.run.span_id, run.layers) == ("a", whole.layers)
