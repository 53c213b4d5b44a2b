"""Mastra: `mastra.span.type` for the kind, an agent over a generation, its steps, and their tool calls.

Version 1 has the content under `mastra.TYPE.input` and names tool calls after OTel GenAI; before, it is
under `input` and `output`. A step has the conversation, a call of the model in it the usage.
"""

from __future__ import annotations

import re

from spanproof.semconv import genai
from spanproof.trace import AttributeValue, JsonValue, Message, SpanKind
from spanproof.trace.dialects.decode import decode_document, to_payload
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.frameworks import build_call, read_arguments, read_result
from spanproof.trace.dialects.genai import find_last_text
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.dialects.openinference import find_usage
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading
from spanproof.trace.dialects.vercel import parse_calls

_TYPE = "mastra.span.type"
_KINDS = {
    "agent_run": SpanKind.AGENT,
    "model_inference": SpanKind.LLM,
    "model_step": SpanKind.CHAIN,
    "workflow_run": SpanKind.CHAIN,
    "workflow_step": SpanKind.CHAIN,
    "tool_call": SpanKind.TOOL,
    "mcp_tool_call": SpanKind.TOOL,
    "provider_tool_call": SpanKind.TOOL,
}
# What Mastra writes instead of content: of calls in a conversation, and of values too deep in a document.
_LEFT_OUT = re.compile(r"\[(?:tool|tool-result): [^\]]*\]|\[MaxDepth\]")


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written by Mastra's exporter for OpenTelemetry."""
    kind = _classify_span(raw)
    if kind is SpanKind.TOOL:
        return _read_tool(raw)
    inputs_value, made = _get_content(raw, "input"), _get_content(raw, "output")
    inputs, outputs = _read_inputs(inputs_value), _read_outputs(made)
    task = answer = None
    if kind is not SpanKind.LLM:
        task = find_last_text(inputs, "user") or to_payload(inputs_value)
        answer = find_last_text(outputs, "assistant") or to_payload(made)
    return Reading(
        kind,
        task,
        answer,
        inputs,
        outputs,
        usage=find_usage(
            raw.find_integer(genai.USAGE_INPUT_TOKENS), raw.find_integer(genai.USAGE_OUTPUT_TOKENS)
        ),
        model=raw.find_text(genai.RESPONSE_MODEL, genai.REQUEST_MODEL),
        agent=raw.find_text(genai.AGENT_NAME, "gen_ai.agent.id"),
        error=find_error(raw),
    )


def _classify_span(raw: RawSpan) -> SpanKind:
    """Return the kind; a generation is the call of the model where no span below it is, before version 1."""
    named = raw.find_text(_TYPE) or ""
    if named == "model_generation":
        if raw.find_integer(genai.USAGE_INPUT_TOKENS) is not None:
            return SpanKind.LLM
        return SpanKind.CHAIN
    return _KINDS.get(named, SpanKind.OTHER)


def _get_content(raw: RawSpan, side: str) -> AttributeValue:
    return raw.get_first(f"gen_ai.{side}.messages", f"mastra.{raw.find_text(_TYPE)}.{side}", side)


def _read_inputs(attribute: AttributeValue) -> tuple[Message, ...]:
    value = decode_document(attribute)
    if isinstance(value, dict) and isinstance(value.get("body"), dict):
        value = value["body"]  # the request as it went to the model
    if isinstance(value, dict) and "messages" not in value:
        return ()
    return tuple(_list_recorded(read_messages(value)))


def _list_recorded(conversation: tuple[Message, ...]) -> list[Message]:
    """Return the messages that are recorded, and of their calls those that are."""
    found: list[Message] = []
    for message in conversation:
        calls = tuple(call for call in message.tool_calls if not _LEFT_OUT.fullmatch(call.name))
        text = "" if _LEFT_OUT.fullmatch(message.text) else message.text
        if text or calls:
            found.append(Message(message.role, text, calls, message.tool_call_id))
    return found


def _read_outputs(made: AttributeValue) -> tuple[Message, ...]:
    value = decode_document(made)
    if not isinstance(value, dict):
        return read_messages(value, "assistant")
    text, calls = _get_text(value), parse_calls(value.get("toolCalls"))
    return (Message("assistant", text, calls),) if text or calls else ()


def _get_text(value: dict[str, JsonValue]) -> str:
    text = value.get("text")
    return text if isinstance(text, str) and "object" not in value else ""


def _read_tool(raw: RawSpan) -> Reading:
    arguments = raw.get_first(genai.TOOL_CALL_ARGUMENTS, "gen_ai.tool.input", "input")
    made = raw.get_first(genai.TOOL_CALL_RESULT, "gen_ai.tool.output", "output")
    result, failed = read_result(to_payload(made))
    return Reading(
        SpanKind.TOOL,
        to_payload(arguments),
        result,
        tool=build_call(raw, raw.find_text(genai.TOOL_NAME), read_arguments(arguments)),
        error=find_error(raw) or failed,
    )


DIALECT = Dialect("mastra", ("@mastra/otel",), (_TYPE,), read_span)
