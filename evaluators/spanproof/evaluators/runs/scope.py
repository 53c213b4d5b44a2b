"""Which spans are runs, and which spans belong to which run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from spanproof.trace import Message, Run, Span, SpanKind, ToolCall, Trace, Usage

_WORK = frozenset({SpanKind.CHAIN, SpanKind.LLM, SpanKind.TOOL, SpanKind.RETRIEVER})
_HANDOFFS = ("handoff", "transfer_to_", "transfer to ")


@dataclass(frozen=True, slots=True)
class RunScope:
    """A run before its steps are known.

    Attributes:
        root: the span that is the run.
        members: the spans below it that are no other run's, in order of time.
        parent_span_id: the run that called it.
    """

    root: Span
    members: tuple[Span, ...]
    parent_span_id: str | None


def list_scopes(trace: Trace, coded: Collection[str] = ()) -> list[RunScope]:
    """Return the runs of this trace, in order of time.

    Args:
        trace: the whole trace.
        coded: ids of the spans that bear code: none of them is left out, whatever the trace's shape.
    """
    agents = _list_agents(trace)
    roots = (
        sorted([*agents, *_iter_code_roots(trace, agents, coded)], key=_get_time_key)
        if agents
        else _list_work_roots(trace)
    )
    ids = {root.span_id for root in roots}
    scopes: list[RunScope] = []
    for root in roots:
        above = (span.span_id for span in trace.ancestors(root.span_id)) if agents else iter(())
        parent = next((span_id for span_id in above if span_id in ids), None)
        members = tuple(sorted(_iter_below(trace, root.span_id, ids), key=_get_time_key))
        scopes.append(RunScope(root, members, parent or _find_handoff_source(trace, root, scopes)))
    return scopes


def list_run_spans(trace: Trace, run: Run) -> list[Span]:
    """Return the run's own span and those below it that are no other run's, in order of time."""
    coded = {snippet.span_id for snippet in run.snippets}
    scope = next((scope for scope in list_scopes(trace, coded) if scope.root.span_id == run.span_id), None)
    if scope is not None:
        return [scope.root, *scope.members]
    return [trace.by_id[run.span_id]]


def list_model_calls(trace: Trace, members: Sequence[Span]) -> list[Span]:
    """Return the model calls among these spans, without calls within calls."""
    return list_outermost(trace, members, frozenset({SpanKind.LLM}))


def list_outermost(trace: Trace, spans: Sequence[Span], kinds: frozenset[SpanKind]) -> list[Span]:
    """Return the spans of these kinds that are not inside another one of them."""
    own = {span.span_id for span in spans if span.kind in kinds}
    return [
        span
        for span in spans
        if span.span_id in own and not any(above.span_id in own for above in trace.ancestors(span.span_id))
    ]


def list_hosted_calls(call: Span) -> list[tuple[ToolCall, Message]]:
    """Return calls that ran at the model's provider, with their answers: both are in the model's output."""
    answers = {message.tool_call_id: message for message in call.output_messages if message.role == "tool"}
    requested = [one for message in call.output_messages for one in message.tool_calls]
    return [(one, answers[one.call_id]) for one in requested if one.call_id in answers]


def awaits_tools(call: Span) -> bool:
    """Whether the model stopped for tools to run: it requested calls its own output does not answer."""
    requested = sum(len(message.tool_calls) for message in call.output_messages)
    return requested > len(list_hosted_calls(call))


def _list_agents(trace: Trace) -> list[Span]:
    agents = [span for span in trace.spans if span.kind is SpanKind.AGENT]
    return [span for span in agents if not _repeats_its_parent(trace, span)]


def _iter_code_roots(trace: Trace, agents: Sequence[Span], coded: Collection[str]) -> Iterator[Span]:
    """Yield topmost spans with code outside every agent, as where the span between the two is missing."""
    agent_ids = {span.span_id for span in agents}
    around = {above.span_id for span in agents for above in trace.ancestors(span.span_id)}
    pending = list(trace.roots)
    while pending:
        span = pending.pop()
        if span.span_id in agent_ids:
            continue
        if span.span_id in around:
            pending.extend(trace.children(span.span_id))
        elif not {span.span_id, *(below.span_id for below in trace.descendants(span.span_id))}.isdisjoint(
            coded
        ):
            yield span


def _repeats_its_parent(trace: Trace, span: Span) -> bool:
    """Whether an agent's span repeats that of the agent around it: the same name, and no other work in it."""
    outer = next((above for above in trace.ancestors(span.span_id) if above.kind is not SpanKind.CHAIN), None)
    if outer is None or outer.kind is not SpanKind.AGENT or outer.agent is None or outer.agent != span.agent:
        return False
    inside = {span.span_id, *(below.span_id for below in trace.descendants(span.span_id))}
    return not any(
        below.kind in (SpanKind.LLM, SpanKind.TOOL) and below.span_id not in inside
        for below in trace.descendants(outer.span_id)
    )


def _list_work_roots(trace: Trace) -> list[Span]:
    """Return the work of a trace without agents: its roots, or the chains a plain span holds together.

    A root with no agent's work under it, as of any other request of an application, is none.
    """
    found: list[Span] = []
    for root in trace.roots:
        inner = [
            work for top in _iter_topmost_work(trace, root) for work in (top, *_iter_overlapping(trace, top))
        ]
        if not inner:
            continue
        several = len(inner) > 1 and all(span.kind is SpanKind.CHAIN for span in inner)
        found.extend(inner if several else [root])
    return found


def _iter_overlapping(trace: Trace, work: Span) -> Iterator[Span]:
    """Yield chains that producers nest by mistake when several run at once: they outlive the one above."""
    for child in trace.children(work.span_id):
        if child.kind is SpanKind.CHAIN and child.name == work.name and child.end_ns > work.end_ns:
            yield child
            yield from _iter_overlapping(trace, child)


def _iter_topmost_work(trace: Trace, span: Span) -> Iterator[Span]:
    if span.kind in _WORK:
        yield span
        return
    for child in trace.children(span.span_id):
        yield from _iter_topmost_work(trace, child)


def _get_time_key(span: Span) -> tuple[int, int, str]:
    return span.start_ns, -span.end_ns, span.span_id


def _iter_below(trace: Trace, span_id: str, run_ids: set[str]) -> Iterator[Span]:
    for child in trace.children(span_id):
        if child.span_id not in run_ids:
            yield child
            yield from _iter_below(trace, child.span_id, run_ids)


def _find_handoff_source(trace: Trace, root: Span, earlier: Sequence[RunScope]) -> str | None:
    """Return the run before this one that handed over to it: they are side by side under one span."""
    parent = trace.parents[root.span_id]
    if parent is None:
        return None
    for scope in reversed(earlier):
        precedes = trace.parents[scope.root.span_id] == parent and scope.root.end_ns <= root.start_ns
        if precedes and any(_is_handoff(span) for span in scope.members):
            return scope.root.span_id
    return None


def _is_handoff(span: Span) -> bool:
    names = [
        span.name.lower(),
        *(call.name.lower() for message in span.output_messages for call in message.tool_calls),
    ]
    return any(name.startswith(_HANDOFFS) or name.endswith(".handoff") for name in names)


def compute_usage(trace: Trace, spans: Sequence[Span]) -> Usage:
    """Return the tokens of these spans, each call counted once: an outer call repeats the inner one's."""
    counted = [span for span in spans if span.kind is SpanKind.LLM and span.usage is not None]
    outer = {above.span_id for span in counted for above in trace.ancestors(span.span_id)}
    total = Usage()
    for span in counted:
        if span.span_id not in outer and span.usage is not None:
            total += span.usage
    return total
