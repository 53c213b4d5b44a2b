"""Vercel AI SDK: `ai.operationId`, an outer span per call of the SDK, an inner one per call of the model.

The outer span repeats prompt, answer and usage of the inner ones: it is the agent, they are the calls.
"""

from __future__ import annotations

from spanproof.semconv import genai
from spanproof.trace import JsonValue, Message, SpanKind, ToolCall, Usage
from spanproof.trace.dialects.decode import decoded, payload
from spanproof.trace.dialects.failures import error_of
from spanproof.trace.dialects.frameworks import tool_arguments
from spanproof.trace.dialects.genai import text_payload
from spanproof.trace.dialects.messages import messages, tool_call
from spanproof.trace.dialects.openinference import usage_of
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_AGENTS = ("ai.generateText", "ai.streamText")
_MODEL_CALLS = (".doGenerate", ".doStream")


def read(raw: RawSpan) -> Reading:
    """The content of a span written by the Vercel AI SDK."""
    operation = (raw.text("ai.operationId", "operation.name") or raw.name).partition(" ")[0]
    if operation == "ai.toolCall":
        return _tool(raw)
    inputs, outputs = _inputs(raw), _outputs(raw)
    model = raw.text(genai.RESPONSE_MODEL, "ai.response.model", "ai.model.id", genai.REQUEST_MODEL)
    if operation.endswith(_MODEL_CALLS):
        return Reading(
            SpanKind.LLM,
            payload(raw.first("ai.prompt.messages", "ai.prompt")),
            payload(raw.first("ai.response.text", "ai.response.object")),
            inputs,
            outputs,
            usage=_usage(raw),
            model=model,
            error=error_of(raw),
        )
    kind = SpanKind.AGENT if operation in _AGENTS else SpanKind.CHAIN if inputs or outputs else SpanKind.OTHER
    return Reading(
        kind,
        text_payload(inputs, "user") or payload(raw.first("ai.prompt")),
        payload(raw.first("ai.response.object"), "application/json")
        or payload(raw.first("ai.response.text")),
        inputs,
        outputs,
        model=model,
        agent=raw.text("ai.telemetry.functionId", "resource.name"),
        error=error_of(raw),
    )


def _inputs(raw: RawSpan) -> tuple[Message, ...]:
    inner = messages(decoded(raw.first("ai.prompt.messages")))
    if inner:
        return inner
    prompt = decoded(raw.first("ai.prompt"))
    if not isinstance(prompt, dict):
        return messages(prompt)
    system = messages(prompt.get("system"), "system")
    return (*system, *messages(prompt.get("messages")), *messages(prompt.get("prompt")))


def _outputs(raw: RawSpan) -> tuple[Message, ...]:
    text = raw.text("ai.response.text", "ai.response.object", "ai.result.text") or ""
    calls = decoded(raw.first("ai.response.toolCalls", "ai.result.toolCalls"))
    calls = tuple(_call(call) for call in calls if isinstance(call, dict)) if isinstance(calls, list) else ()
    return (Message("assistant", text, calls),) if text or calls else ()


def _call(call: dict[str, JsonValue]) -> ToolCall:
    arguments = call.get("input", call.get("args"))
    return tool_call(call.get("toolName"), arguments, call.get("toolCallId"))


def _tool(raw: RawSpan) -> Reading:
    given = raw.first("ai.toolCall.args", "ai.toolCall.input")
    name = raw.text("ai.toolCall.name") or raw.name
    return Reading(
        SpanKind.TOOL,
        payload(given),
        payload(raw.first("ai.toolCall.result", "ai.toolCall.output")),
        tool=ToolCall(name, tool_arguments(given), raw.text("ai.toolCall.id")),
        error=error_of(raw),
    )


def _usage(raw: RawSpan) -> Usage | None:
    return usage_of(
        raw.integer(genai.USAGE_INPUT_TOKENS, "ai.usage.inputTokens", "ai.usage.promptTokens"),
        raw.integer(genai.USAGE_OUTPUT_TOKENS, "ai.usage.outputTokens", "ai.usage.completionTokens"),
    )


DIALECT = Dialect("vercel", (), ("ai.operationId", "ai.toolCall.", "ai.prompt", "ai.response."), read)
"""Recognised by attributes only: its scope is named `ai`, which is too general."""
