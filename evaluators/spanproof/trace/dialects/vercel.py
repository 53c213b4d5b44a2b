"""Vercel AI SDK: `ai.operationId`, an outer span per call of the SDK, an inner one per call of the model.

The outer span repeats prompt, answer and usage of the inner ones: it is the agent, they are the calls.
"""

from __future__ import annotations

from spanproof.semconv import genai
from spanproof.trace import JsonValue, Message, SpanKind, ToolCall, Usage
from spanproof.trace.dialects.decode import decode_document, to_payload
from spanproof.trace.dialects.failures import read_error
from spanproof.trace.dialects.frameworks import unwrap_arguments, unwrap_result
from spanproof.trace.dialects.genai import find_last_text
from spanproof.trace.dialects.messages import decode_call, read_messages
from spanproof.trace.dialects.openinference import make_usage
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_AGENTS = ("ai.generateText", "ai.streamText")
_MODEL_CALLS = (".doGenerate", ".doStream")


def read(raw: RawSpan) -> Reading:
    """Return the content of a span written by the Vercel AI SDK."""
    operation = (raw.text("ai.operationId", "operation.name") or raw.name).partition(" ")[0]
    if operation == "ai.toolCall":
        return _read_tool(raw)
    inputs, outputs = _read_inputs(raw), _read_outputs(raw)
    model = raw.text(genai.RESPONSE_MODEL, "ai.response.model", "ai.model.id", genai.REQUEST_MODEL)
    if operation.endswith(_MODEL_CALLS):
        return Reading(
            SpanKind.LLM,
            to_payload(raw.first("ai.prompt.messages", "ai.prompt")),
            to_payload(raw.first("ai.response.text", "ai.response.object")),
            inputs,
            outputs,
            usage=_read_usage(raw),
            model=model,
            error=read_error(raw),
        )
    kind = SpanKind.AGENT if operation in _AGENTS else SpanKind.CHAIN if inputs or outputs else SpanKind.OTHER
    return Reading(
        kind,
        find_last_text(inputs, "user") or to_payload(raw.first("ai.prompt")),
        to_payload(raw.first("ai.response.object"), "application/json")
        or to_payload(raw.first("ai.response.text")),
        inputs,
        outputs,
        model=model,
        agent=raw.text("ai.telemetry.functionId", "resource.name"),
        error=read_error(raw),
    )


def _read_inputs(raw: RawSpan) -> tuple[Message, ...]:
    inner = read_messages(decode_document(raw.first("ai.prompt.messages")))
    if inner:
        return inner
    prompt = decode_document(raw.first("ai.prompt"))
    if not isinstance(prompt, dict):
        return read_messages(prompt)
    system = read_messages(prompt.get("system"), "system")
    return (*system, *read_messages(prompt.get("messages")), *read_messages(prompt.get("prompt")))


def _read_outputs(raw: RawSpan) -> tuple[Message, ...]:
    text = raw.text("ai.response.text", "ai.response.object", "ai.result.text") or ""
    calls = parse_calls(decode_document(raw.first("ai.response.toolCalls", "ai.result.toolCalls")))
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
    given = raw.first("ai.toolCall.args", "ai.toolCall.input")
    name = raw.text("ai.toolCall.name") or raw.name
    result, _ = unwrap_result(to_payload(raw.first("ai.toolCall.result", "ai.toolCall.output")))
    return Reading(
        SpanKind.TOOL,
        to_payload(given),
        result,
        tool=ToolCall(name, unwrap_arguments(given), raw.text("ai.toolCall.id")),
        error=read_error(raw),
    )


def _read_usage(raw: RawSpan) -> Usage | None:
    return make_usage(
        raw.integer(genai.USAGE_INPUT_TOKENS, "ai.usage.inputTokens", "ai.usage.promptTokens"),
        raw.integer(genai.USAGE_OUTPUT_TOKENS, "ai.usage.outputTokens", "ai.usage.completionTokens"),
    )


DIALECT = Dialect("vercel", (), ("ai.operationId", "ai.toolCall.", "ai.prompt", "ai.response."), read)
"""Recognised by attributes only: its scope is named `ai`, which is too general."""
