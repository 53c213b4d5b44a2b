"""Pydantic AI and Logfire: OTel GenAI with the run's messages on the agent span, old names included.

The agent span repeats the sum of its calls' usage; only the calls count.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.semconv import genai
from spanproof.trace import JsonValue, Message, SpanKind, Usage
from spanproof.trace.dialects.decode import decode_document, to_payload
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.frameworks import build_call, read_arguments, read_result
from spanproof.trace.dialects.genai import OPERATIONS, find_last_text, read_as
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.dialects.openinference import find_usage
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_ALL_MESSAGES = ("pydantic_ai.all_messages", "all_messages_events")
_ARGUMENTS = (genai.TOOL_CALL_ARGUMENTS, "tool_arguments")
_RESULT = (genai.TOOL_CALL_RESULT, "tool_response")

# What version 1.0 puts after the reason of a retry that it sends to the model. Its exception has no message.
_RETRY_REQUEST = "\n\nFix the errors and try again."


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written by Pydantic AI or by Logfire's own integrations."""
    kind = _classify_span(raw)
    if kind is SpanKind.TOOL:
        return _read_tool(raw)
    reading = read_as(raw, kind)
    if kind is SpanKind.AGENT:
        return _read_agent(raw, reading)
    if kind is SpanKind.LLM and not reading.output_messages:
        return _read_old_call(raw, reading)
    return reading


def _classify_span(raw: RawSpan) -> SpanKind:
    operation = raw.find_text(genai.OPERATION_NAME)
    if operation in OPERATIONS:
        return OPERATIONS[operation]
    is_run = raw.name == "agent run" or {"agent_name", "model_name"} <= raw.attributes.keys()
    if is_run or raw.get_first(*_ALL_MESSAGES, "final_result") is not None:
        return SpanKind.AGENT
    names_tool = raw.get_first("tool_arguments", "tool_response", genai.TOOL_NAME) is not None
    if names_tool or raw.name == "running tool":
        return SpanKind.TOOL
    if raw.get_first("request_data", "events") is not None:
        return SpanKind.LLM
    if raw.name.startswith("running "):
        return SpanKind.CHAIN
    return SpanKind.OTHER


def _read_agent(raw: RawSpan, reading: Reading) -> Reading:
    history = read_messages(decode_document(raw.get_first(*_ALL_MESSAGES)))
    return replace(
        reading,
        input=find_last_text(history, "user") or reading.input,
        output=to_payload(raw.get_first("final_result"))
        or find_last_text(history, "assistant")
        or reading.output,
        agent=raw.find_text(genai.AGENT_NAME, "agent_name"),
    )


def _read_old_call(raw: RawSpan, reading: Reading) -> Reading:
    """Return a call by its `events`, or by the bodies that Logfire's OpenAI integration keeps."""
    events = decode_document(raw.get_first("events"))
    request, response = (
        decode_document(raw.get_first("request_data")),
        decode_document(raw.get_first("response_data")),
    )
    if isinstance(events, list):
        inputs, outputs = _split_messages(events)
    else:
        inputs, outputs = read_messages(request), read_messages(response, "assistant")
    return replace(
        reading,
        input_messages=inputs,
        output_messages=outputs,
        usage=reading.usage or _find_body_usage(response),
        model=reading.model or _find_body_model(request),
    )


def _split_messages(events: list[JsonValue]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    choices = [event for event in events if isinstance(event, dict) and "message" in event]
    inputs = [event for event in events if event not in choices]
    return read_messages(inputs), read_messages(list(choices), "assistant")


def _find_body_usage(response: JsonValue) -> Usage | None:
    usage = response.get("usage") if isinstance(response, dict) else None
    if not isinstance(usage, dict):
        return None
    counts = [usage.get("prompt_tokens", usage.get("input_tokens"))]
    counts.append(usage.get("completion_tokens", usage.get("output_tokens")))
    prompt, completion = (count if isinstance(count, int) else None for count in counts)
    return find_usage(prompt, completion)


def _find_body_model(request: JsonValue) -> str | None:
    model = request.get("model") if isinstance(request, dict) else None
    return model if isinstance(model, str) else None


def _read_tool(raw: RawSpan) -> Reading:
    arguments = raw.get_first(*_ARGUMENTS)
    result, failed = read_result(to_payload(raw.get_first(*_RESULT)))
    error = find_error(raw) or failed
    if error is not None and not error.message and result is not None:
        error = replace(error, message=result.text.removesuffix(_RETRY_REQUEST))
    return Reading(
        SpanKind.TOOL,
        to_payload(arguments),
        result,
        tool=build_call(raw, raw.find_text(genai.TOOL_NAME, "tool_name"), read_arguments(arguments)),
        error=error,
    )


DIALECT = Dialect(
    "pydantic_ai",
    ("pydantic-ai", "pydantic_ai", "logfire"),
    ("pydantic_ai.", "all_messages_events", "logfire."),
    read_span,
)
