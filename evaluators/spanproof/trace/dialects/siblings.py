"""What only the other spans of a request show: usage counted once, dropped messages put back.

Takes spans that were read one by one; returns them in the same order. A parent outside the request leaves a
span as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spanproof.trace import Message, Span, SpanKind, ToolCall
from spanproof.trace.dialects.claude_code import with_executions
from spanproof.trace.dialects.code_act import with_code_that_ran
from spanproof.trace.dialects.flattened import read_flattened_by_index
from spanproof.trace.dialects.genai import AG2_CHAT, AG2_TYPE
from spanproof.trace.dialects.google_adk import with_responses
from spanproof.trace.dialects.requested import with_named_arguments

# Dialects whose producers drop the oldest messages first, when a span has more attributes than allowed.
_FLATTENED = {"openinference": "llm.input_messages", "traceai": "gen_ai.input.messages"}

_MCP = "mcp-python-sdk"
# Spans that MCP's SDK may have between a call and what serves it.
_MOST_HOPS = 4


def list_corrected(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with usage on innermost model calls only, calls once, dropped messages put back."""
    spans = with_code_that_ran(with_responses(with_executions(_list_merged(spans))))
    spans = _list_with_turns(with_named_arguments(spans))
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    callers = {
        key
        for span in spans
        if span.kind is SpanKind.LLM and span.usage is not None
        for key in _list_outer_model_calls(span, by_id)
    }
    found: list[Span] = []
    for span in spans:
        if (span.trace_id, span.span_id) in callers and span.usage is not None:
            span = replace(span, usage=None)
        if span.dropped_attributes and span.kind is SpanKind.LLM and span.dialect in _FLATTENED:
            span = _with_dropped_messages(span, spans)
        found.append(span)
    return found


def _list_with_turns(spans: Sequence[Span]) -> list[Span]:
    """Return the turns of the agents in a chat of AG2 as CHAINs: the chat is the run."""
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    if not any(_is_chat(span) for span in spans):
        return list(spans)
    return [replace(span, kind=SpanKind.CHAIN) if _is_turn(span, by_id) else span for span in spans]


def _is_chat(span: Span) -> bool:
    return span.attributes.get(AG2_TYPE) == AG2_CHAT


def _is_turn(span: Span, by_id: Mapping[tuple[str, str], Span]) -> bool:
    """Whether a span is the turn of one agent of a chat."""
    return span.kind is SpanKind.AGENT and not _is_chat(span) and _is_in_chat(span, by_id)


def _is_in_chat(span: Span, by_id: Mapping[tuple[str, str], Span]) -> bool:
    """Whether a turn is of the chat above it; the agent that a tool runs has a run of its own."""
    seen: set[str] = set()
    above = by_id.get((span.trace_id, span.parent_id or ""))
    while above is not None and above.kind is not SpanKind.TOOL and above.span_id not in seen:
        if _is_chat(above):
            return True
        seen.add(above.span_id)
        above = by_id.get((above.trace_id, above.parent_id or ""))
    return False


def _list_merged(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with one for each call that two instrumentors recorded, one of them without content.

    The bare one becomes a CHAIN; what it alone knows, the error and the call's id, goes to the other.
    """
    merged = {(span.trace_id, span.span_id): span for span in spans}
    if len(merged) != len(spans):
        return list(spans)  # ids that are not unique say nothing of who calls whom
    for key in merged:
        above = _get_caller(key, merged)
        span, parent = merged[key], merged.get(above)
        if parent is None or not _is_same_call(span, parent) or not (_is_bare(span) or _is_bare(parent)):
            continue
        if _is_bare(parent) and (not _is_bare(span) or span.kind is SpanKind.AGENT):
            merged[above], merged[key] = _as_chain(parent), _with_facts_of(span, parent)
        elif not _is_bare(parent):
            merged[key], merged[above] = _as_chain(span), _with_facts_of(parent, span)
    return list(merged.values())


def _get_caller(key: tuple[str, str], spans: Mapping[tuple[str, str], Span]) -> tuple[str, str]:
    """Return the parent of a span, past what MCP's SDK records of sending the call."""
    above = (key[0], spans[key].parent_id or "")
    for _ in range(_MOST_HOPS):
        parent = spans.get(above)
        if parent is None or parent.scope != _MCP or parent.kind is SpanKind.TOOL:
            break
        above = (key[0], parent.parent_id or "")
    return above


def _is_same_call(span: Span, parent: Span) -> bool:
    if span.kind is not parent.kind:
        return False
    if span.tool is not None and parent.tool is not None:
        return span.tool.name == parent.tool.name
    if span.kind is SpanKind.AGENT:
        return span.agent is not None and span.agent == parent.agent
    return span.kind is SpanKind.LLM


def _is_bare(span: Span) -> bool:
    """Whether nothing of the call's content is on it."""
    contents = (span.input, span.output, span.input_messages, span.output_messages, span.code)
    return not any(contents) and (span.tool is None or span.tool.arguments is None)


def _as_chain(span: Span) -> Span:
    return replace(span, kind=SpanKind.CHAIN, tool=None, usage=None, hidden=False)


def _with_facts_of(full: Span, bare: Span) -> Span:
    """Return the full span, with usage, error and the call's id of the bare one where it has none."""
    return replace(
        full, tool=_with_id(full, bare), usage=full.usage or bare.usage, error=full.error or bare.error
    )


def _with_id(full: Span, bare: Span) -> ToolCall | None:
    if full.tool is None or bare.tool is None or full.tool.call_id is not None:
        return full.tool
    return replace(full.tool, call_id=bare.tool.call_id)


def _list_outer_model_calls(span: Span, by_id: Mapping[tuple[str, str], Span]) -> list[tuple[str, str]]:
    """Return the model calls this one is part of: a framework's call around the client's."""
    above: list[tuple[str, str]] = []
    seen: set[str] = set()
    parent = span.parent_id
    while parent is not None and parent not in seen:
        seen.add(parent)
        outer = by_id.get((span.trace_id, parent))
        if outer is None:
            break
        if outer.kind is SpanKind.LLM:
            above.append((outer.trace_id, outer.span_id))
        parent = outer.parent_id
    return above


def _with_dropped_messages(span: Span, spans: Sequence[Span]) -> Span:
    """Return the call with the messages its limits dropped, from a call of the same conversation with them.

    A conversation only grows: where two calls agree on every message both still have, one's missing messages
    are the other's.
    """
    prefix = _FLATTENED[span.dialect]
    own = read_flattened_by_index(span.attributes, prefix, "user")
    if not own:
        return span
    missing = [index for index in range(max(own)) if index not in own]
    calls = (other for other in spans if other.kind is SpanKind.LLM and other.trace_id == span.trace_id)
    for other in calls:
        if other is span or not missing:
            continue
        others = read_flattened_by_index(other.attributes, prefix, "user")
        found = {index: others[index] for index in missing if index in others}
        if found and _are_consistent(own, others):
            own |= found
            missing = [index for index in missing if index not in own]
    restored = tuple(message for index in sorted(own) for message in own[index])
    if len(restored) > len(span.input_messages):
        return replace(span, input_messages=restored)
    return span


def _are_consistent(
    own: Mapping[int, tuple[Message, ...]], others: Mapping[int, tuple[Message, ...]]
) -> bool:
    shared = own.keys() & others.keys()
    return bool(shared) and all(own[index] == others[index] for index in shared)
