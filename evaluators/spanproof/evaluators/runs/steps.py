"""The steps of a run.

Where the framework numbers its steps, those are they, and model calls between them are planning or the final
answer. Elsewhere a step is a model call with the tool calls that follow it; a run without model calls on the
trace has a step per tool call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanproof.evaluators.detect.calls import recorded_call
from spanproof.evaluators.runs.scope import RunScope, model_calls, usage_of
from spanproof.trace import Snippet, Span, SpanError, SpanKind, Step, Trace

_FINAL_ANSWER = "final_answer"


@dataclass(frozen=True, slots=True)
class _Turn:
    """The spans of one step: the one that stands for it, its model calls, its outermost tool calls, all of them."""

    span: Span
    kind: str
    calls: tuple[Span, ...]
    tools: tuple[Span, ...]
    spans: tuple[Span, ...]


def steps_of(trace: Trace, scope: RunScope, snippets: Sequence[Snippet]) -> tuple[Step, ...]:
    """The steps of this run, in order of time, with its snippets in them."""
    by_span: dict[str, list[Snippet]] = {}
    for snippet in snippets:
        by_span.setdefault(snippet.span_id, []).append(snippet)
    turns = _turns(trace, scope)
    calls = model_calls(trace, scope.members)
    return tuple(
        _step(trace, turn, number, by_span, _shown_next(turn, calls)) for number, turn in enumerate(turns, start=1)
    )


def _turns(trace: Trace, scope: RunScope) -> list[_Turn]:
    members = scope.members if scope.root.kind is SpanKind.AGENT else (scope.root, *scope.members)
    calls = model_calls(trace, members)
    tools = _outermost_tools(trace, members)
    stepped = [span for span in members if span.step is not None]
    if stepped:
        return _numbered_turns(trace, members, stepped, calls)
    turns = [_call_turn(trace, scope, members, call, until, tools) for call, until in _with_ends(calls)]
    first = calls[0].start_ns if calls else None
    before = [tool for tool in tools if first is None or tool.start_ns < first]
    alone = [_Turn(tool, "action", (), (tool,), _with_below(trace, members, tool)) for tool in before]
    alone += _code_turns(members, [*turns, *alone])
    return sorted([*alone, *turns], key=lambda turn: turn.span.start_ns)


def _numbered_turns(
    trace: Trace, members: Sequence[Span], stepped: Sequence[Span], calls: Sequence[Span]
) -> list[_Turn]:
    turns = []
    inside: set[str] = set()
    for span in stepped:
        below = _with_below(trace, members, span)
        inside.update(one.span_id for one in below)
        own = tuple(call for call in calls if call in below)
        kind = span.step.kind if span.step is not None else "action"
        turns.append(_Turn(span, kind, own, tuple(_outermost_tools(trace, below)), below))
    last = max(span.start_ns for span in stepped)
    for call in calls:
        if call.span_id not in inside:
            kind = "planning" if call.start_ns < last else "final_answer"
            turns.append(_Turn(call, kind, (call,), (), _with_below(trace, members, call)))
    return sorted(turns, key=lambda turn: turn.span.start_ns)


def _with_ends(calls: Sequence[Span]) -> list[tuple[Span, int | None]]:
    """Each call with the start of the next one, which ends its turn."""
    ends = [*(call.start_ns for call in calls[1:]), None]
    return list(zip(calls, ends, strict=True)) if calls else []


def _call_turn(
    trace: Trace, scope: RunScope, members: Sequence[Span], call: Span, until: int | None, tools: Sequence[Span]
) -> _Turn:
    mine = tuple(
        tool for tool in tools if tool.start_ns >= call.start_ns and (until is None or tool.start_ns < until)
    )
    spans = {span.span_id: span for one in (call, *mine) for span in _with_below(trace, members, one)}
    above = trace.by_id.get(call.parent_id) if call.parent_id is not None else None
    if above is not None and above.kind is SpanKind.CHAIN and above in members:
        below = _with_below(trace, members, above)
        alone = model_calls(trace, below) == [call]
        if alone and all(tool in below for tool in mine):
            return _Turn(above, "action", (call,), mine, below)
    return _Turn(call, "action", (call,), mine, tuple(spans.values()))


def _code_turns(members: Sequence[Span], turns: Sequence[_Turn]) -> list[_Turn]:
    """Spans with recorded code that no other turn holds."""
    held = {span.span_id for turn in turns for span in turn.spans}
    return [
        _Turn(span, "action", (), (), (span,)) for span in members if span.code is not None and span.span_id not in held
    ]


def _outermost_tools(trace: Trace, members: Sequence[Span]) -> list[Span]:
    tools = {span.span_id for span in members if span.kind is SpanKind.TOOL}
    return [
        span
        for span in members
        if span.span_id in tools and not any(above.span_id in tools for above in trace.ancestors(span.span_id))
    ]


def _with_below(trace: Trace, members: Sequence[Span], span: Span) -> tuple[Span, ...]:
    inside = {span.span_id, *(below.span_id for below in trace.descendants(span.span_id))}
    return tuple(member for member in members if member.span_id in inside)


def _shown_next(turn: _Turn, calls: Sequence[Span]) -> str | None:
    """What the next model call says the agent was shown, for a numbered step that does not say it itself."""
    if turn.span.step is None:
        return None
    after = next((call for call in calls if call.start_ns >= turn.span.end_ns), None)
    if after is None or not after.input_messages or after.input_messages[-1].role != "tool":
        return None
    return after.input_messages[-1].text


def _step(
    trace: Trace, turn: _Turn, number: int, by_span: Mapping[str, list[Snippet]], shown_next: str | None
) -> Step:
    said = [message for call in turn.calls for message in call.output_messages if message.role == "assistant"]
    found = [snippet for span in turn.spans for snippet in by_span.get(span.span_id, ())]
    found.sort(key=lambda snippet: not snippet.executed)
    recorded = tuple(recorded_call(tool) for tool in turn.tools)
    return Step(
        number=number,
        span_id=turn.span.span_id,
        kind=turn.kind,
        text="\n".join(message.text for message in said if message.text),
        asked=tuple(call for message in said for call in message.tool_calls),
        snippets=tuple(found),
        calls=recorded,
        observation=_observation(turn, found) or shown_next,
        error=_error(turn),
        is_final=any(call.tool == _FINAL_ANSWER and call.error is None for call in recorded)
        or any(snippet.is_final for snippet in found),
        start_ns=turn.span.start_ns,
        end_ns=max(span.end_ns for span in (turn.span, *turn.spans)),
        usage=usage_of(trace, turn.spans),
    )


def _observation(turn: _Turn, snippets: Sequence[Snippet]) -> str | None:
    if turn.span.observation is not None:
        return turn.span.observation
    shown = [snippet.observation for snippet in snippets if snippet.executed and snippet.observation is not None]
    if turn.span.step is not None:
        return "\n".join(shown) or None
    results = [tool.output.text for tool in turn.tools if tool.output is not None]
    return "\n".join(results or shown) or None


def _error(turn: _Turn) -> SpanError | None:
    return next(
        (span.error for span in (turn.span, *turn.tools, *turn.calls) if span.error is not None), None
    )
