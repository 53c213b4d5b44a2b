"""Runs that lie in several traces, because their context was lost on the way: known by one conversation id.

In: the traces of a file. Out: which of them belong to one conversation and cannot be runs of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from spanproof.trace import Span, SpanKind, Trace

_CONVERSATION: Final = ("gen_ai.conversation.id", "session.id")


@dataclass(frozen=True, slots=True)
class SplitRun:
    """Traces that are parts of one run.

    Attributes:
        conversation: the id that all of them name.
        trace_ids: of all traces of the conversation, in order of time.
        fragments: how many of these have no agent and no turn of their own.
    """

    conversation: str
    trace_ids: tuple[str, ...]
    fragments: int


def list_split_runs(traces: Iterable[Trace]) -> list[SplitRun]:
    """Return the runs that were split into several traces.

    A turn of a conversation is a trace of its own, and is none of them: a trace is a fragment where it has no
    agent, and either calls of tools without any model call, or a time within an agent's run in another trace.
    """
    of_conversation: dict[str, list[Trace]] = {}
    for trace in traces:
        named = _find_conversation(trace)
        if named is not None:
            of_conversation.setdefault(named, []).append(trace)
    found = []
    for conversation, members in of_conversation.items():
        members.sort(key=lambda trace: trace.spans[0].start_ns)
        fragments = sum(_is_fragment(trace, members) for trace in members)
        if fragments and len(members) > 1:
            found.append(SplitRun(conversation, tuple(trace.trace_id for trace in members), fragments))
    return found


def _find_conversation(trace: Trace) -> str | None:
    named = (span.attributes.get(name) for span in trace.spans for name in _CONVERSATION)
    return next((value for value in named if isinstance(value, str) and value), None)


def _is_fragment(trace: Trace, members: Sequence[Trace]) -> bool:
    kinds = {span.kind for span in trace.spans}
    if SpanKind.AGENT in kinds:
        return False
    if SpanKind.TOOL in kinds and SpanKind.LLM not in kinds:
        return True
    agents = [
        span for other in members if other is not trace for span in other.spans if span.kind is SpanKind.AGENT
    ]
    return any(_is_within(trace, agent) for agent in agents)


def _is_within(trace: Trace, agent: Span) -> bool:
    return all(agent.start_ns <= span.start_ns and span.end_ns <= agent.end_ns for span in trace.spans)
