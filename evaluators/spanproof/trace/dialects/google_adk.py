"""Google's Agent Development Kit: OTel GenAI, with content under names of its own in its first schema.

There a span `call_llm` holds request and response; the `generate_content` inside it holds counts alone. In
the first versions, as 1.0, spans name no operation, and a tool call is two spans, `tool_call [NAME]` and
`tool_response [NAME]` after it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from spanproof.semconv import genai
from spanproof.trace import JsonValue, Payload, Span, SpanError, SpanKind, ToolCall, Usage
from spanproof.trace.dialects.decode import as_text, decode_document, to_payload
from spanproof.trace.dialects.frameworks import read_arguments
from spanproof.trace.dialects.genai import OPERATIONS, read_as
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_OWN = "gcp.vertex.agent."
_REQUEST, _RESPONSE = f"{_OWN}llm_request", f"{_OWN}llm_response"
_ARGUMENTS, _RESULT = f"{_OWN}tool_call_args", f"{_OWN}tool_response"
_KINDS = {"call_llm": SpanKind.LLM, "invocation": SpanKind.CHAIN}
# The name of a span that sums up calls made side by side, each of which has its own.
_MERGED = "(merged tools)"
# Spans of the first versions: what they are is in their names alone.
_NAMED = re.compile(r"(?P<event>agent_run|tool_call|tool_response) \[(?P<name>.+)\]")


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written by ADK, in either of its schemas."""
    named = _NAMED.fullmatch(raw.name)
    if named is not None:
        return _read_named(raw, named["event"], named["name"])
    kind = OPERATIONS.get(raw.find_text(genai.OPERATION_NAME) or "", _KINDS.get(raw.name, SpanKind.OTHER))
    if kind is SpanKind.TOOL and _MERGED in (raw.find_text(genai.TOOL_NAME) or ""):
        return Reading(SpanKind.CHAIN)
    reading = read_as(raw, kind)
    if kind is SpanKind.TOOL:
        return _read_call(raw, reading)
    if kind is SpanKind.LLM and not reading.input_messages:
        request, response = (
            decode_document(raw.get_first(_REQUEST)),
            decode_document(raw.get_first(_RESPONSE)),
        )
        instructions = _read_field(_read_field(request, "config"), "system_instruction")
        return replace(
            reading,
            input_messages=(
                *read_messages(instructions, "system"),
                *read_messages(_read_field(request, "contents")),
            ),
            output_messages=read_messages(_read_field(response, "content"), "assistant"),
            usage=reading.usage or _find_usage(_read_field(response, "usage_metadata")),
        )
    return reading


def _read_named(raw: RawSpan, event: str, name: str) -> Reading:
    reading = read_as(raw, SpanKind.CHAIN)
    if event == "agent_run":
        return replace(reading, kind=SpanKind.AGENT, agent=name)
    if event == "tool_call":
        call = ToolCall(name, read_arguments(raw.get_first(_ARGUMENTS)))
        return _read_call(raw, replace(reading, kind=SpanKind.TOOL, tool=call))
    parts = _read_field(_read_field(decode_document(raw.get_first(_RESULT)), "content"), "parts")
    if isinstance(parts, list):
        results = [_read_field(part, "function_response") for part in parts]
    else:
        results = []
    result = _read_field(results[0], "response") if results else None
    return replace(reading, output=_find_result(to_payload(as_text(result))))


def with_responses(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with each tool's result on its call, from the span after it (ADK 1.0)."""
    events: defaultdict[tuple[str, str | None, str, str], list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: span.start_ns):
        named = _NAMED.fullmatch(span.name) if span.dialect == DIALECT.name else None
        if named is not None:
            events[span.trace_id, span.parent_id, named["name"], named["event"]].append(span)
    answered: dict[tuple[str, str], Span] = {}
    for (trace_id, parent_id, name, event), calls in events.items():
        if event == "tool_call":
            results = events.get((trace_id, parent_id, name, "tool_response"), [])
            for call, result in zip(calls, results, strict=False):
                answered[trace_id, call.span_id] = replace(call, output=result.output)
    if answered:
        return [answered.get((span.trace_id, span.span_id), span) for span in spans]
    return list(spans)


def _find_usage(counts: JsonValue) -> Usage | None:
    prompt, candidates = (_read_field(counts, f"{name}_token_count") for name in ("prompt", "candidates"))
    if isinstance(prompt, int) and isinstance(candidates, int):
        return Usage(prompt, candidates)
    return None


def _find_result(result: Payload | None) -> Payload | None:
    """Return a result that ADK put into an object, as it does with each that is no object."""
    match result.value if result is not None else None:
        case {"result": value, **others} if not others:
            return Payload(as_text(value), value, typed=True)
    return result


def _read_call(raw: RawSpan, reading: Reading) -> Reading:
    """Return the tool call; ADK puts a result that is no object into one, and an error into another."""
    arguments, tool = to_payload(raw.get_first(_ARGUMENTS)), reading.tool
    if tool is not None and tool.arguments is None and arguments is not None:
        tool = replace(tool, arguments=read_arguments(arguments.value))
    result = _find_result(reading.output or to_payload(raw.get_first(_RESULT)))
    error = reading.error
    match result.value if result is not None else None:
        case {"error": str(message), **others} if not others and error is not None:
            error = SpanError(error.type, message, error.chain)
    return replace(reading, tool=tool, input=reading.input or arguments, output=result, error=error)


def _read_field(document: JsonValue, name: str) -> JsonValue:
    return document.get(name) if isinstance(document, dict) else None


DIALECT = Dialect("google_adk", ("gcp.vertex.agent",), (_OWN,), read_span)
