"""The steps of a run: what its model said, what was done, what came back."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from spanproof.evaluators.detect.calls import split_arguments, to_recorded_call
from spanproof.evaluators.refusals import find_refusal
from spanproof.evaluators.runs.scope import RunScope, find_hosted_calls, find_model_calls, sum_usage
from spanproof.evaluators.runs.turns import Turn, find_turns
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
    calls = find_model_calls(trace, scope.members)
    answers = _map_answers(calls) if not any(span.kind is SpanKind.TOOL for span in scope.members) else {}
    turns = find_turns(trace, scope)
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


def _map_answers(calls: Sequence[Span]) -> dict[str, Message]:
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
    return history[-1].text if history and history[-1].role == "tool" else None


def _build_step(
    trace: Trace,
    turn: Turn,
    number: int,
    by_span: Mapping[str, list[Snippet]],
    shown_next: str | None,
    answers: Mapping[str, Message],
) -> Step:
    said = [message for call in turn.calls for message in call.output_messages if message.role == "assistant"]
    found = [snippet for span in turn.spans for snippet in by_span.get(span.span_id, ())]
    found.sort(key=lambda snippet: not snippet.executed)
    hosted = [
        _make_hosted_call(call, answer) for span in turn.calls for call, answer in find_hosted_calls(span)
    ]
    hosted += [
        _make_hosted_call(call, answers[call.call_id])
        for message in said
        for call in message.tool_calls
        if call.call_id is not None and call.call_id in answers and not _holds_code(call, found)
    ]
    recorded = _collect_calls(trace, turn, found, hosted)
    return Step(
        number=number,
        span_id=turn.span.span_id,
        kind=turn.kind,
        text="\n".join(message.text for message in said if message.text),
        requested=tuple(call for message in said for call in message.tool_calls),
        snippets=tuple(found),
        calls=recorded,
        observation=_find_observation(turn, found) or shown_next,
        error=_find_error(turn),
        is_final=any(call.tool == _FINAL_ANSWER and call.error is None for call in recorded)
        or any(snippet.is_final for snippet in found),
        start_ns=turn.span.start_ns,
        end_ns=max(span.end_ns for span in (turn.span, *turn.spans)),
        usage=sum_usage(trace, turn.spans),
        refusal=find_refusal(trace, turn.span) or _find_common_refusal(found, recorded),
    )


def _find_common_refusal(snippets: Sequence[Snippet], calls: Sequence[RecordedCall]) -> Refusal | None:
    """Return the refusal that ended a step's code; where no code ran, that of its calls if all have one."""
    ran = [snippet for snippet in snippets if snippet.executed]
    if ran:
        return ran[-1].refusal
    refusals = [call.refusal for call in calls if call.tool != _FINAL_ANSWER]
    return refusals[0] if refusals and None not in refusals else None


def _collect_calls(
    trace: Trace, turn: Turn, snippets: Sequence[Snippet], hosted: Iterable[RecordedCall]
) -> tuple[RecordedCall, ...]:
    """Return the calls of a step: at the provider, on the trace, and made by code given to a tool."""
    recorded = [*hosted, *(to_recorded_call(trace, tool) for tool in turn.tools)]
    known = {call.span_id for call in recorded}
    made = (call for snippet in snippets for call in snippet.tape)
    return (*recorded, *(call for call in made if call.span_id not in known))


def _holds_code(call: ToolCall, snippets: Sequence[Snippet]) -> bool:
    """Whether a call is one of code, which is a snippet with its own outcome."""
    given = call.arguments.values() if isinstance(call.arguments, Mapping) else [call.arguments]
    return any(snippet.source in given for snippet in snippets)


def _make_hosted_call(call: ToolCall, answer: Message) -> RecordedCall:
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
