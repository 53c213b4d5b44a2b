"""Google's Agent Development Kit: OTel GenAI, with content under names of its own in its first schema.

There a span `call_llm` holds request and response; the `generate_content` inside it holds counts alone.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.semconv import genai
from spanproof.trace import JsonValue, Payload, SpanError, SpanKind
from spanproof.trace.dialects.decode import as_text, decode_document, to_payload
from spanproof.trace.dialects.frameworks import unwrap_arguments
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


def read(raw: RawSpan) -> Reading:
    """Return the content of a span written by ADK, in either of its schemas."""
    kind = OPERATIONS.get(raw.text(genai.OPERATION_NAME) or "", _KINDS.get(raw.name, SpanKind.OTHER))
    if kind is SpanKind.TOOL and _MERGED in (raw.text(genai.TOOL_NAME) or ""):
        return Reading(SpanKind.CHAIN)
    reading = read_as(raw, kind)
    if kind is SpanKind.TOOL:
        return _read_call(raw, reading)
    if kind is SpanKind.LLM and not reading.input_messages:
        request, response = decode_document(raw.first(_REQUEST)), decode_document(raw.first(_RESPONSE))
        instructions = _read_field(_read_field(request, "config"), "system_instruction")
        return replace(
            reading,
            input_messages=(
                *read_messages(instructions, "system"),
                *read_messages(_read_field(request, "contents")),
            ),
            output_messages=read_messages(_read_field(response, "content"), "assistant"),
        )
    return reading


def _read_call(raw: RawSpan, reading: Reading) -> Reading:
    """Return the tool call; ADK puts a result that is no object into one, and an error into another."""
    given, tool = to_payload(raw.first(_ARGUMENTS)), reading.tool
    if tool is not None and tool.arguments is None and given is not None:
        tool = replace(tool, arguments=unwrap_arguments(given.value))
    result = reading.output or to_payload(raw.first(_RESULT))
    error = reading.error
    match result.value if result is not None else None:
        case {"result": value, **others} if not others:
            text = as_text(value)
            result = Payload(text, value, typed=True)
        case {"error": str(message), **others} if not others and error is not None:
            error = SpanError(error.type, message, error.chain)
    return replace(reading, tool=tool, input=reading.input or given, output=result, error=error)


def _read_field(document: JsonValue, name: str) -> JsonValue:
    return document.get(name) if isinstance(document, dict) else None


DIALECT = Dialect("google_adk", ("gcp.vertex.agent",), (_OWN,), read)
