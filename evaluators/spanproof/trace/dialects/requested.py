"""Arguments of calls that lost their names, from what the model requested.

LangChain hands a tool its only argument bare where that is a text, and its instrumentors record no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from spanproof.trace import Span, SpanKind, ToolCall


def with_named_arguments(spans: Sequence[Span]) -> list[Span]:
    """Return the spans; a call whose argument is a bare text has it by the name that the model gave it."""
    bare = [span for span in spans if span.tool is not None and isinstance(span.tool.arguments, str)]
    if bare:
        requests = {key: call for span in spans for key, call in _iter_requests(span)}
    else:
        requests = {}
    return [_build_span(span, requests) for span in spans]


_Key = tuple[str, str, str]


def _iter_requests(span: Span) -> Iterator[tuple[_Key, ToolCall]]:
    """Yield the calls with one argument, a text, that a model requested: by trace, tool and text."""
    for message in span.output_messages if span.kind is SpanKind.LLM else ():
        for call in message.tool_calls:
            values = list(call.arguments.values()) if isinstance(call.arguments, dict) else []
            if len(values) == 1 and isinstance(values[0], str):
                yield (span.trace_id, call.name, values[0]), call


def _build_span(span: Span, requests: dict[_Key, ToolCall]) -> Span:
    tool = span.tool
    if tool is None or not isinstance(tool.arguments, str):
        return span
    requested = requests.get((span.trace_id, tool.name, tool.arguments))
    if requested is None:
        return span
    return replace(span, tool=replace(tool, arguments=requested.arguments))
