"""The steps of a run: what its model said, what was done, what came back."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from spanproof.evaluators.detect.calls import split_arguments, to_recorded_call
from spanproof.evaluators.refusals import find_refusal
from spanproof.evaluators.runs.scope import RunScope, compute_usage, list_hosted_calls, list_model_calls
from spanproof.evaluators.runs.turns import Turn, list_turns
from spanproof.trace import (
    Message,
    Payload,
    RecordedCall,
    Refusal,
    Snippet,
    Span,
    SpanError,
    SpanKind,
    Step,
    ToolCall,
    Trace,
)

_FINAL_ANSWER = "final_answer"


def build_steps(trace: Trace, scope: RunScope, snippets: Sequence[Snippet]) -> tuple[Step, ...]:
    """Return the steps of this run, in order of time, with its snippets in them."""
    by_span: dict[str, list[Snippet]] = {}
    for snippet in snippets:
        by_span.setdefault(snippet.span_id, []).append(snippet)
    calls = list_model_calls(trace, scope.members)
    answers = _group_answers(calls) if not any(span.kind is SpanKind.TOOL for span in scope.members) else {}
    turns = list_turns(trace, scope)
    steps = tuple(
        _build_step(trace, turn, number, by_span, _find_shown_next(turn, calls), answers)
        for number, turn in enumerate(turns, start=1)
    )
    held = {span.span_id for turn in turns for span in turn.spans}
    left = [snippet for snippet in snippets if snippet.span_id not in held]
    return _with_answered_code(scope, steps, left)


def _with_answered_code(
    scope: RunScope, steps: tuple[Step, ...], snippets: Sequence[Snippet]
) -> tuple[Step, ...]:
    """Return the steps with code that only the run's answer holds, on the last of them."""
    if not snippets:
        return steps
    if steps:
        last = steps[-1]
        return (*steps[:-1], replace(last, snippets=(*last.snippets, *snippets)))
    root = scope.root
    answer = Step(1, root.span_id, "final_answer", snippets=tuple(snippets), is_final=True)
    return (replace(answer, start_ns=root.start_ns, end_ns=root.end_ns),)


def _group_answers(calls: Sequence[Span]) -> dict[str, Message]:
    """Return what tools answered, by the id of the call, from what the model was sent.

    Where the producer makes no spans of tools these messages are the record.
    """
    sent = (message for call in calls for message in call.input_messages if message.role == "tool")
    return {message.tool_call_id: message for message in sent if message.tool_call_id}


def _find_shown_next(turn: Turn, calls: Sequence[Span]) -> str | None:
    """Return what the next model call says the agent was shown, for a numbered step without that itself."""
    if turn.span.step is None:
        return None
    at = bisect_left(calls, turn.span.end_ns, key=lambda call: call.start_ns)
    history = calls[at].input_messages if at < len(calls) else ()
    if history and history[-1].role == "tool":
        return history[-1].text
    return None


def _build_step(
    trace: Trace,
    turn: Turn,
    number: int,
    by_span: Mapping[str, list[Snippet]],
    shown_next: str | None,
    answers: Mapping[str, Message],
) -> Step:
    outputs = (message for call in turn.calls for message in call.output_messages)
    messages = [message for message in outputs if message.role == "assistant"]
    snippets = [snippet for span in turn.spans for snippet in by_span.get(span.span_id, ())]
    snippets.sort(key=lambda snippet: not snippet.executed)
    requested = tuple(call for message in messages for call in message.tool_calls)
    hosted = _list_hosted_calls(turn, requested, answers, snippets)
    calls = _list_calls(trace, turn, snippets, hosted)
    is_final = any(call.tool == _FINAL_ANSWER and call.error is None for call in calls)
    is_final = is_final or any(snippet.is_final for snippet in snippets)
    return Step(
        number=number,
        span_id=turn.span.span_id,
        kind=turn.kind,
        text="\n".join(filter(None, (message.text for message in messages))),
        requested=requested,
        snippets=tuple(snippets),
        calls=calls,
        observation=_find_observation(turn, snippets) or shown_next,
        error=_find_error(turn),
        is_final=is_final,
        start_ns=turn.span.start_ns,
        end_ns=max(span.end_ns for span in (turn.span, *turn.spans)),
        usage=compute_usage(trace, turn.spans),
        refusal=_find_refusal(trace, turn, snippets, calls),
    )


def _list_hosted_calls(
    turn: Turn, requested: Sequence[ToolCall], answers: Mapping[str, Message], snippets: Sequence[Snippet]
) -> list[RecordedCall]:
    """Return the calls that ran at the provider, and those that only messages record as answered."""
    hosted = [
        _build_hosted_call(call, answer) for span in turn.calls for call, answer in list_hosted_calls(span)
    ]
    for call in requested:
        answer = answers.get(call.call_id or "")
        if answer is not None and not _holds_code(call, snippets):
            hosted.append(_build_hosted_call(call, answer))
    return hosted


def _find_refusal(
    trace: Trace, turn: Turn, snippets: Sequence[Snippet], calls: Sequence[RecordedCall]
) -> Refusal | None:
    """Return the refusal of a step: its own, that of its code, or without code that of all its calls."""
    own = find_refusal(trace, turn.span)
    if own is not None:
        return own
    ran = [snippet for snippet in snippets if snippet.executed]
    if ran:
        return ran[-1].refusal
    refusals = [call.refusal for call in calls if call.tool != _FINAL_ANSWER]
    return refusals[0] if refusals and None not in refusals else None


def _list_calls(
    trace: Trace, turn: Turn, snippets: Sequence[Snippet], hosted: Iterable[RecordedCall]
) -> tuple[RecordedCall, ...]:
    """Return the calls of a step: at the provider, on the trace, and made by code given to a tool."""
    recorded = [*hosted, *(to_recorded_call(trace, tool) for tool in turn.tools)]
    span_ids = {call.span_id for call in recorded}
    made = (call for snippet in snippets for call in snippet.tape)
    return (*recorded, *(call for call in made if call.span_id not in span_ids))


def _holds_code(call: ToolCall, snippets: Sequence[Snippet]) -> bool:
    """Whether a call is one of code, which is a snippet with its own outcome."""
    values = call.arguments.values() if isinstance(call.arguments, Mapping) else [call.arguments]
    return any(snippet.source in values for snippet in snippets)


def _build_hosted_call(call: ToolCall, answer: Message) -> RecordedCall:
    args, kwargs = split_arguments(call.arguments)
    return RecordedCall(call.name, args, kwargs, Payload(answer.text, answer.text))


def _find_observation(turn: Turn, snippets: Sequence[Snippet]) -> str | None:
    if turn.span.observation is not None:
        return turn.span.observation
    shown = [
        snippet.observation for snippet in snippets if snippet.executed and snippet.observation is not None
    ]
    if turn.span.step is not None:
        return "\n".join(shown) or None
    results = [tool.output.text for tool in turn.tools if tool.output is not None]
    return "\n".join(results or shown) or None


def _find_error(turn: Turn) -> SpanError | None:
    return next(
        (span.error for span in (turn.span, *turn.tools, *turn.calls) if span.error is not None), None
    )
