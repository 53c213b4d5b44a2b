"""Vercel AI SDK: `ai.operationId`, an outer span per call of the SDK, an inner one per call of the model.

The outer span repeats prompt, answer and usage of the inner ones: it is the agent, they are the calls.
"""

from __future__ import annotations

from spanproof.semconv import genai
from spanproof.trace import JsonValue, Message, SpanKind, ToolCall, Usage
from spanproof.trace.dialects.decode import decode_document, to_payload
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.frameworks import read_arguments, read_result
from spanproof.trace.dialects.genai import find_last_text
from spanproof.trace.dialects.messages import decode_call, read_messages
from spanproof.trace.dialects.openinference import find_usage
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_AGENTS = ("ai.generateText", "ai.streamText")
_MODEL_CALLS = (".doGenerate", ".doStream")


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written by the Vercel AI SDK."""
    operation = (raw.find_text("ai.operationId", "operation.name") or raw.name).partition(" ")[0]
    if operation == "ai.toolCall":
        return _read_tool(raw)
    inputs, outputs = _read_inputs(raw), _read_outputs(raw)
    model = raw.find_text(genai.RESPONSE_MODEL, "ai.response.model", "ai.model.id", genai.REQUEST_MODEL)
    if operation.endswith(_MODEL_CALLS):
        return Reading(
            SpanKind.LLM,
            to_payload(raw.get_first("ai.prompt.messages", "ai.prompt")),
            to_payload(raw.get_first("ai.response.text", "ai.response.object")),
            inputs,
            outputs,
            usage=_find_usage(raw),
            model=model,
            error=find_error(raw),
        )
    if operation in _AGENTS:
        kind = SpanKind.AGENT
    elif inputs or outputs:
        kind = SpanKind.CHAIN
    else:
        kind = SpanKind.OTHER
    return Reading(
        kind,
        find_last_text(inputs, "user") or to_payload(raw.get_first("ai.prompt")),
        to_payload(raw.get_first("ai.response.object"), "application/json")
        or to_payload(raw.get_first("ai.response.text")),
        inputs,
        outputs,
        model=model,
        agent=raw.find_text("ai.telemetry.functionId", "resource.name"),
        error=find_error(raw),
    )


def _read_inputs(raw: RawSpan) -> tuple[Message, ...]:
    inner = read_messages(decode_document(raw.get_first("ai.prompt.messages")))
    if inner:
        return inner
    prompt = decode_document(raw.get_first("ai.prompt"))
    if not isinstance(prompt, dict):
        return read_messages(prompt)
    system = read_messages(prompt.get("system"), "system")
    return (*system, *read_messages(prompt.get("messages")), *read_messages(prompt.get("prompt")))


def _read_outputs(raw: RawSpan) -> tuple[Message, ...]:
    text = raw.find_text("ai.response.text", "ai.response.object", "ai.result.text") or ""
    calls = parse_calls(decode_document(raw.get_first("ai.response.toolCalls", "ai.result.toolCalls")))
    return (Message("assistant", text, calls),) if text or calls else ()


def parse_calls(value: JsonValue) -> tuple[ToolCall, ...]:
    """Return the calls in a list of the SDK's; nothing for any other document."""
    if not isinstance(value, list):
        return ()
    return tuple(_parse_call(call) for call in value if isinstance(call, dict))


def _parse_call(call: dict[str, JsonValue]) -> ToolCall:
    arguments = call.get("input", call.get("args"))
    return decode_call(call.get("toolName"), arguments, call.get("toolCallId"))


def _read_tool(raw: RawSpan) -> Reading:
    arguments = raw.get_first("ai.toolCall.args", "ai.toolCall.input")
    name = raw.find_text("ai.toolCall.name") or raw.name
    result, _ = read_result(to_payload(raw.get_first("ai.toolCall.result", "ai.toolCall.output")))
    return Reading(
        SpanKind.TOOL,
        to_payload(arguments),
        result,
        tool=ToolCall(name, read_arguments(arguments), raw.find_text("ai.toolCall.id")),
        error=find_error(raw),
    )


def _find_usage(raw: RawSpan) -> Usage | None:
    return find_usage(
        raw.find_integer(genai.USAGE_INPUT_TOKENS, "ai.usage.inputTokens", "ai.usage.promptTokens"),
        raw.find_integer(genai.USAGE_OUTPUT_TOKENS, "ai.usage.outputTokens", "ai.usage.completionTokens"),
    )


DIALECT = Dialect("vercel", (), ("ai.operationId", "ai.toolCall.", "ai.prompt", "ai.response."), read_span)
"""Recognised by attributes only: its scope is named `ai`, which is too general."""
