"""Which spans make a step.

Where the framework numbers its steps, those are they, and model calls between them are planning or the final
answer. Elsewhere a step is a model call with the tool calls that follow it; a run without model calls on the
trace has a step per tool call.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from spanproof.evaluators.detect.calls import iter_calls_below
from spanproof.evaluators.runs.scope import RunScope, list_model_calls, list_outermost
from spanproof.trace import Span, SpanKind, Trace


@dataclass(frozen=True, slots=True)
class Turn:
    """The spans of one step.

    Attributes:
        span: the one that is the step.
        kind: `action`, `planning` or `final_answer`.
        calls: its model calls, those within others left out.
        tools: its tool calls, and agents it called, those made by tools left out.
        spans: all of them.
    """

    span: Span
    kind: str
    calls: tuple[Span, ...]
    tools: tuple[Span, ...]
    spans: tuple[Span, ...]


def list_turns(trace: Trace, scope: RunScope) -> list[Turn]:
    """Return the steps of this run as spans, in order of time."""
    if scope.root.kind is SpanKind.AGENT:
        members = scope.members
    else:
        members = (scope.root, *scope.members)
    run = _Run(trace, members)
    stepped = [span for span in members if span.step is not None]
    if stepped:
        turns = run.split_by_number(stepped)
    else:
        turns = run.split_by_calls()
    return sorted(turns, key=lambda turn: turn.span.start_ns)


class _Run:
    """The spans of one run with what is looked up of them again and again."""

    def __init__(self, trace: Trace, members: Sequence[Span]) -> None:
        self._trace = trace
        self._members = members
        self._order = {span.span_id: index for index, span in enumerate(members)}
        self._calls = list_model_calls(trace, members)
        # A retrieval is a look-up like a tool's: a query goes out, documents come back.
        self._tools = list_outermost(trace, members, frozenset({SpanKind.TOOL, SpanKind.RETRIEVER}))

    def split_by_number(self, stepped: Sequence[Span]) -> list[Turn]:
        """Return a turn per numbered step, and per model call outside them."""
        outermost = {call.span_id for call in self._calls}
        inside: set[str] = set()
        turns = []
        for span in stepped:
            below = self._with_below(span)
            inside.update(one.span_id for one in below)
            calls = tuple(one for one in below if one.span_id in outermost)
            kind = span.step.kind if span.step is not None else "action"
            turns.append(Turn(span, kind, calls, tuple(iter_calls_below(self._trace, span.span_id)), below))
        last = max(span.start_ns for span in stepped)
        for call in self._calls:
            if call.span_id not in inside:
                kind = "planning" if call.start_ns < last else "final_answer"
                turns.append(Turn(call, kind, (call,), (), self._with_below(call)))
        return turns

    def split_by_calls(self) -> list[Turn]:
        """Return a turn per model call with the tools before the next, and per tool before the first."""
        starts = [tool.start_ns for tool in self._tools]
        ends = [call.start_ns for call in self._calls[1:]]
        turns = []
        for call, end in zip(self._calls, [*ends, None], strict=False):
            first = bisect_left(starts, call.start_ns)
            after = bisect_left(starts, end) if end is not None else len(starts)
            turns.append(self._build_call_turn(call, tuple(self._tools[first:after])))
        if self._calls:
            before = bisect_left(starts, self._calls[0].start_ns)
        else:
            before = len(starts)
        turns += [Turn(tool, "action", (), (tool,), self._with_below(tool)) for tool in self._tools[:before]]
        return turns + self._list_code_turns(turns)

    def _build_call_turn(self, call: Span, tools: tuple[Span, ...]) -> Turn:
        """Return the turn of this call; a chain takes its part that holds all of it and no other call."""
        parents = self._trace.parents
        above = self._trace.by_id.get(parents[call.span_id] or "")
        if above is not None and above.kind is SpanKind.CHAIN and above.span_id in self._order:
            below = self._with_below(above)
            inside = {span.span_id for span in below}
            models = (one for one in below if one.kind is SpanKind.LLM)
            calls = [one for one in models if parents[one.span_id] == above.span_id]
            if calls == [call] and all(tool.span_id in inside for tool in tools):
                return Turn(above, "action", (call,), tools, below)
        spans = {span.span_id: span for one in (call, *tools) for span in self._with_below(one)}
        return Turn(call, "action", (call,), tools, tuple(spans.values()))

    def _list_code_turns(self, turns: Sequence[Turn]) -> list[Turn]:
        """Return a turn for each span with recorded code that no turn holds."""
        held = {span.span_id for turn in turns for span in turn.spans}
        return [
            Turn(span, "action", (), (), (span,))
            for span in self._members
            if span.code is not None and span.span_id not in held
        ]

    def _with_below(self, span: Span) -> tuple[Span, ...]:
        """Return this span and those of the run below it, in order of time."""
        inside = [span, *self._trace.descendants(span.span_id)]
        spans = [one for one in inside if one.span_id in self._order]
        return tuple(sorted(spans, key=lambda one: self._order[one.span_id]))
