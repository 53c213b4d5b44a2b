"""Each dialect's golden trace: the same small story, read to the same spans, snippets and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import Message, Payload, Run, Snippet, Span, SpanError, ToolCall, Trace, trace_of

GOLDEN = Path(__file__).parents[2] / "golden" / "dialects"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_trace_is_read_as_its_golden_text_says(name, golden_spans, assert_golden):
    trace = trace_of(golden_spans(name))
    snippets = list_snippets(trace)
    runs = list_runs(trace, snippets)
    assert_golden(name, "\n".join([*_tree(trace, trace.roots, 0), "", *_runs(runs)]) + "\n")


@pytest.mark.parametrize(
    "name", ["otel_genai", "openinference_langgraph", "traceai", "traceloop", "langfuse", "vercel", "mlflow"]
)
def test_tokens_are_counted_once_in_every_dialect(name, golden_spans):
    trace = trace_of(golden_spans(name))
    (run,) = list_runs(trace, list_snippets(trace))
    assert (run.usage.input_tokens, run.usage.output_tokens) in {(30, 9), (30, 12)}
    assert sum(span.usage.input_tokens for span in trace.spans if span.usage) == 30


def _tree(trace: Trace, spans: Sequence[Span], depth: int) -> Iterator[str]:
    for span in spans:
        yield "  " * depth + f"{span.kind} {span.name} [{span.dialect}]"
        yield from ("  " * depth + f"  {line}" for line in _content(span))
        yield from _tree(trace, trace.children(span.span_id), depth + 1)


def _content(span: Span) -> Iterator[str]:
    for name, value in (("input", span.input), ("output", span.output)):
        if value is not None and not span.input_messages:
            yield f"{name}: {_payload(value)}"
    yield from (f"< {_message(message)}" for message in span.input_messages)
    yield from (f"> {_message(message)}" for message in span.output_messages)
    if span.tool is not None:
        yield f"tool: {_call(span.tool)}"
    if span.code is not None:
        yield f"code: {span.code.source!r} logs={span.code.logs!r} output={_payload(span.code.output)}"
    for name in ("observation", "step", "usage", "model", "agent"):
        value = getattr(span, name)
        if value is not None:
            yield f"{name}: {value!r}"
    if span.error is not None:
        yield f"error: {_error(span.error)}"
    if span.hidden or span.truncated:
        yield " ".join(word for word in ("hidden", "truncated") if getattr(span, word))


def _runs(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        yield f"RUN {run.name} {run.ending}" + (
            f" called by {run.parent_span_id}" if run.parent_span_id else ""
        )
        yield f"  task: {run.task!r}"
        yield f"  answer: {_payload(run.answer)}"
        yield f"  usage: {run.usage.input_tokens}/{run.usage.output_tokens} model: {run.cohort.model}"
        if run.hidden or run.truncated:
            yield "  " + " ".join(word for word in ("hidden", "truncated") if getattr(run, word))
        for step in run.steps:
            yield f"  step {step.number} {step.kind}" + (" final" if step.is_final else "")
            yield from (f"    asked: {_call(call)}" for call in step.requested)
            yield from (f"    {line}" for snippet in step.snippets for line in _snippet(snippet))
            for call in step.calls:
                outcome = _payload(call.result) if call.error is None else _error(call.error)
                yield f"    call: {call.tool} {list(call.args)} {dict(call.kwargs)} -> {outcome}"
            if step.observation is not None:
                yield f"    observed: {step.observation!r}"
            if step.error is not None:
                yield f"    error: {_error(step.error)}"


def _snippet(snippet: Snippet) -> Iterator[str]:
    state = "ran" if snippet.executed else "proposed"
    yield f"{snippet.language} {state} at {snippet.path}: {snippet.source!r}"
    tape = ", ".join(call.tool for call in snippet.tape)
    flags = [name for name in ("is_final", "truncated") if getattr(snippet, name)]
    outcome = f"logs={snippet.logs!r} output={_payload(snippet.output)} tape=[{tape}]"
    yield " ".join([f"  {outcome}", *flags])


def _payload(value: Payload | None) -> str:
    return "-" if value is None else f"{value.value!r}{' (typed)' if value.typed else ''}"


def _message(message: Message) -> str:
    calls = "".join(f" {_call(call)}" for call in message.tool_calls)
    answers = f" answers {message.tool_call_id}" if message.tool_call_id else ""
    return f"{message.role}{answers}: {message.text!r}{calls}"


def _call(call: ToolCall) -> str:
    return f"{call.name}({call.arguments!r})" + (f"#{call.call_id}" if call.call_id else "")


def _error(error: SpanError) -> str:
    return f"{error.type}: {error.message!r} chain={list(error.chain)}"
