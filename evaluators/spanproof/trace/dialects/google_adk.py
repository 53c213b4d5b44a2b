"""Google's Agent Development Kit: OTel GenAI, with content under names of its own in its first schema.

There a span `call_llm` holds request and response; the `generate_content` inside it holds counts alone.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.semconv import genai
from spanproof.trace import JsonValue, Payload, SpanError, SpanKind
from spanproof.trace.dialects.decode import as_text, decoded, payload
from spanproof.trace.dialects.frameworks import tool_arguments
from spanproof.trace.dialects.genai import OPERATIONS, read_as
from spanproof.trace.dialects.messages import messages
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_OWN = "gcp.vertex.agent."
_REQUEST, _RESPONSE = f"{_OWN}llm_request", f"{_OWN}llm_response"
_ARGUMENTS, _RESULT = f"{_OWN}tool_call_args", f"{_OWN}tool_response"
_KINDS = {"call_llm": SpanKind.LLM, "invocation": SpanKind.CHAIN}
_MERGED = "(merged tools)"
"""The name of a span that sums up calls made side by side, each of which has its own."""


def read(raw: RawSpan) -> Reading:
    """The content of a span written by ADK, in either of its schemas."""
    kind = OPERATIONS.get(raw.text(genai.OPERATION_NAME) or "", _KINDS.get(raw.name, SpanKind.OTHER))
    if kind is SpanKind.TOOL and _MERGED in (raw.text(genai.TOOL_NAME) or ""):
        return Reading(SpanKind.CHAIN)
    reading = read_as(raw, kind)
    if kind is SpanKind.TOOL:
        return _call(raw, reading)
    if kind is SpanKind.LLM and not reading.input_messages:
        request, response = decoded(raw.first(_REQUEST)), decoded(raw.first(_RESPONSE))
        instructions = _field(_field(request, "config"), "system_instruction")
        return replace(
            reading,
            input_messages=(*messages(instructions, "system"), *messages(_field(request, "contents"))),
            output_messages=messages(_field(response, "content"), "assistant"),
        )
    return reading


def _call(raw: RawSpan, reading: Reading) -> Reading:
    """The tool call; ADK puts a result that is no object into one, and an error into another."""
    given, tool = payload(raw.first(_ARGUMENTS)), reading.tool
    if tool is not None and tool.arguments is None and given is not None:
        tool = replace(tool, arguments=tool_arguments(given.value))
    result = reading.output or payload(raw.first(_RESULT))
    error = reading.error
    match result.value if result is not None else None:
        case {"result": value, **others} if not others:
            text = as_text(value)
            result = Payload(text, value, typed=True)
        case {"error": str(message), **others} if not others and error is not None:
            error = SpanError(error.type, message, error.chain)
    return replace(reading, tool=tool, input=reading.input or given, output=result, error=error)


def _field(document: JsonValue, name: str) -> JsonValue:
    return document.get(name) if isinstance(document, dict) else None


DIALECT = Dialect("google_adk", ("gcp.vertex.agent",), (_OWN,), read)
