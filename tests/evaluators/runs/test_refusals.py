"""Which spans record that an operation was refused, whatever their messages say."""

from __future__ import annotations

from typing import Any

import pytest

from spanproof.evaluators.detect.traces import list_snippets
from spanproof.evaluators.refusals import find_refusal, format_refuser, is_budget_used_up
from spanproof.evaluators.runs import list_runs
from spanproof.trace import (
    Event,
    ExecutedCode,
    Message,
    Payload,
    Refusal,
    Refuser,
    Span,
    SpanError,
    SpanKind,
    StepInfo,
    ToolCall,
    trace_of,
)

RAISED = SpanError("CodeRefused", "any words")
GUARD = Refusal(Refuser.GUARD, "py.exec")


def span(span_id: str, parent: str | None, kind: SpanKind, **fields: Any) -> Span:
    number = int(span_id, 16)
    return Span(
        "ab" * 16, span_id, parent, fields.pop("name", kind.value), kind, number, 1000 - number, **fields
    )


def refusing(rule: str = "py.exec", *, blocked: bool = True, **attributes: Any) -> Event:
    return Event(
        "spanproof.guard.finding",
        0,
        {"spanproof.guard.blocked": blocked, "spanproof.guard.rule": rule, **attributes},
    )


def refusal_of(*spans: Span) -> Refusal | None:
    """Of the first of these spans."""
    trace = trace_of([span("01", None, SpanKind.AGENT), *spans])
    return find_refusal(trace, spans[0])


def test_a_step_is_refused_by_the_guards_event_and_its_error() -> None:
    assert refusal_of(span("02", "01", SpanKind.CHAIN, events=(refusing(),), error=RAISED)) == GUARD
    assert refusal_of(span("02", "01", SpanKind.CHAIN, events=(refusing(),))) is None
    assert refusal_of(span("02", "01", SpanKind.CHAIN, error=RAISED)) is None


def test_a_tool_is_refused_by_the_guards_event_alone() -> None:
    assert refusal_of(span("02", "01", SpanKind.TOOL, events=(refusing(),))) == GUARD
    assert refusal_of(span("02", "01", SpanKind.TOOL, events=(refusing(blocked=False),))) is None


def test_a_budget_has_rules_of_its_own() -> None:
    limit = {"spanproof.guard.budget.limit": 40.0}
    event = refusing("budget.steps", **limit)
    assert refusal_of(span("02", "01", SpanKind.TOOL, events=(event,))) == Refusal(
        Refuser.BUDGET, "budget.steps", 40.0
    )


@pytest.mark.parametrize(
    ("refusal", "words", "used_up"),
    [
        (GUARD, "the guard (py.exec)", False),
        (Refusal(Refuser.BUDGET, "budget.steps", 1.0), "the budget for 1 step", True),
        (Refusal(Refuser.BUDGET, "budget.tokens", 200_000.0), "the budget for 200,000 tokens", True),
        (Refusal(Refuser.BUDGET, "budget.cost_usd", 1.5), "the budget for $1.5", True),
        (Refusal(Refuser.BUDGET, "budget.steps"), "the budget (budget.steps)", True),
        (Refusal(Refuser.BUDGET, "budget.tool"), "the budget (budget.tool)", False),
        (Refusal(Refuser.GUARDRAIL, "topic"), "the guardrail topic", False),
    ],
)
def test_a_refusal_in_words(refusal: Refusal, words: str, used_up: bool) -> None:
    assert format_refuser(refusal) == words
    assert is_budget_used_up(refusal) is used_up


def test_a_guardrail_refuses_the_span_that_ended_with_its_exception() -> None:
    raised = SpanError("ValidationError", "")
    step = span("02", "01", SpanKind.CHAIN, error=raised)
    assert refusal_of(step, span("03", "02", SpanKind.GUARDRAIL, name="pii", error=raised)) == Refusal(
        Refuser.GUARDRAIL, "pii"
    )
    other = SpanError("GuardFailed", "")
    assert refusal_of(step, span("03", "02", SpanKind.GUARDRAIL, error=other)) is None


def test_a_triggered_guardrail_refuses_by_the_tripwire_of_the_sdk_only() -> None:
    hit = span("03", "02", SpanKind.GUARDRAIL, name="topic", output=Payload('{"triggered": true}', None))
    tripped = SpanError("OutputGuardrailTripwireTriggered", "")
    assert refusal_of(span("02", "01", SpanKind.CHAIN, error=tripped), hit) == Refusal(
        Refuser.GUARDRAIL, "topic"
    )
    assert refusal_of(span("02", "01", SpanKind.CHAIN, error=SpanError("KeyError", "")), hit) is None


def run_of(*spans: Span):
    trace = trace_of([span("01", None, SpanKind.AGENT), *spans])
    (run,) = list_runs(trace, list_snippets(trace))
    return run


def test_an_event_with_a_tool_on_a_step_is_of_a_call_that_its_code_made() -> None:
    event = refusing(**{"gen_ai.tool.name": "shell"})
    code = ExecutedCode("shell('rm -rf /')", "spanproof.code.source", "python")
    step = span("02", "01", SpanKind.CHAIN, events=(event,), error=RAISED, code=code, step=StepInfo(1))
    (snippet,) = run_of(step).snippets
    assert (snippet.executed, snippet.refusal) == (True, GUARD)


def test_a_step_of_which_one_call_ran_is_not_refused() -> None:
    model = span(
        "02",
        "01",
        SpanKind.LLM,
        output_messages=(Message("assistant", "", (ToolCall("a", {}, "1"), ToolCall("b", {}, "2"))),),
    )
    refused = span("03", "01", SpanKind.TOOL, tool=ToolCall("a", {}, "1"), events=(refusing(),))
    ran = span("04", "01", SpanKind.TOOL, tool=ToolCall("b", {}, "2"), output=Payload("1", 1))
    (step,) = run_of(model, refused, ran).steps
    assert [call.refusal for call in step.calls] == [GUARD, None]
    assert step.refusal is None
    (step,) = run_of(model, refused).steps
    assert step.refusal == GUARD
