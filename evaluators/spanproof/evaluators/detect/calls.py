"""Recorded tool calls: TOOL spans as the calls they were, and the tape of the code that made them."""

from __future__ import annotations

from collections.abc import Iterator

from spanproof.evaluators.refusals import find_refusal
from spanproof.trace import JsonValue, RecordedCall, Span, SpanKind, Trace


def list_tape(trace: Trace, span_id: str) -> tuple[RecordedCall, ...]:
    """Return the tool calls made right by the code that ran within this span, in order.

    Calls made by tools themselves, or within agents that were called, are not the code's own.
    """
    return tuple(to_recorded_call(trace, span) for span in iter_calls_below(trace, span_id))


def iter_calls_below(trace: Trace, span_id: str) -> Iterator[Span]:
    """Yield TOOL spans and called agents below this span, without what is below those."""
    for child in trace.children(span_id):
        if child.kind in (SpanKind.TOOL, SpanKind.AGENT):
            yield child
        else:
            yield from iter_calls_below(trace, child.span_id)


def to_recorded_call(trace: Trace, span: Span) -> RecordedCall:
    """Return the call that a TOOL or RETRIEVER span records, or that a called agent's span represents."""
    if span.kind is SpanKind.AGENT:
        return _build_agent_call(span)
    arguments = span.tool.arguments if span.tool is not None else None
    if span.kind is SpanKind.RETRIEVER and span.input is not None:
        arguments = span.input.value
    args, kwargs = split_arguments(arguments)
    reason = None
    if span.hidden:
        reason = "the producer kept the arguments and the result of this call back"
    elif span.truncated:
        reason = "arguments or result of this call are cut"
    elif span.output is None and span.error is None:
        reason = "the result of this call is not on the trace"
    return RecordedCall(
        tool=span.tool.name if span.tool is not None else span.name,
        args=args,
        kwargs=kwargs,
        result=span.output,
        error=span.error,
        span_id=span.span_id,
        replayable=reason is None,
        reason=reason,
        refusal=find_refusal(trace, span),
    )


def split_arguments(arguments: JsonValue) -> tuple[tuple[JsonValue, ...], dict[str, JsonValue]]:
    """Return decoded arguments as positional and keyword ones."""
    if arguments is None:
        return (), {}
    if isinstance(arguments, list):
        return tuple(arguments), {}
    if not isinstance(arguments, dict):
        return (arguments,), {}
    args, kwargs = arguments.get("args"), arguments.get("kwargs")
    if arguments.keys() == {"args", "kwargs"} and isinstance(args, list) and isinstance(kwargs, dict):
        return tuple(args), kwargs
    return (), arguments


def _build_agent_call(span: Span) -> RecordedCall:
    task = span.input.value if span.input is not None else None
    return RecordedCall(
        tool=span.agent or span.name,
        args=() if task is None else (task,),
        result=span.output,
        error=span.error,
        span_id=span.span_id,
        replayable=False,
        reason="a call of another agent: what it handed back to the code is not on the trace",
    )
