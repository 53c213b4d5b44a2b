"""OTel GenAI: `gen_ai.operation.name` for the kind, one JSON attribute per list of messages.

Content may stand on the span or on its events, depending on how capture was switched on.
"""

from __future__ import annotations

import re

from spanproof.semconv import genai
from spanproof.trace import AttributeValue, Event, JsonValue, Message, Payload, SpanError, SpanKind
from spanproof.trace.dialects.decode import as_text, decode_document, to_payload
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.frameworks import build_call, read_arguments, read_result
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.dialects.openinference import find_usage
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

# AG2 before version 1: `conversation` is the run of a chat, over the turns of its agents.
AG2_TYPE, AG2_CHAT = "ag2.span.type", "conversation"
OPERATIONS = {
    "chat": SpanKind.LLM,
    "generate_content": SpanKind.LLM,
    "text_completion": SpanKind.LLM,
    "invoke_agent": SpanKind.AGENT,
    "execute_tool": SpanKind.TOOL,
    "retrieval": SpanKind.RETRIEVER,
    "create_agent": SpanKind.CHAIN,
    "invoke_workflow": SpanKind.CHAIN,
    "plan": SpanKind.CHAIN,
    "chain": SpanKind.CHAIN,  # a run of LangSmith's
    "execute_task": SpanKind.CHAIN,
    "handoff": SpanKind.CHAIN,
    "execute_event_loop_cycle": SpanKind.CHAIN,  # a turn of Strands
    "guardrail": SpanKind.GUARDRAIL,
}
_WORDS = ("gen_ai.prompt", "gen_ai.completion", "gen_ai.choice", "gen_ai.user.message")
# Of Strands: the second name is that of its version 1.0.
_TOOL_STATUS = ("gen_ai.tool.status", "tool.status")
_REPORTED_ERROR = re.compile(r"Error: (?P<type>[A-Za-z_]\w*) - (?P<message>.*)", re.DOTALL)
_MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written after OTel GenAI."""
    return read_as(raw, _classify_span(raw))


def _classify_span(raw: RawSpan) -> SpanKind:
    """Return the kind by the operation; a span that names none is known by what only calls have."""
    if raw.find_text(AG2_TYPE) == AG2_CHAT:
        return SpanKind.AGENT
    operation = raw.find_text(genai.OPERATION_NAME)
    if operation is not None:
        return OPERATIONS.get(operation, SpanKind.OTHER)
    if raw.find_text(genai.TOOL_NAME) is not None:
        return SpanKind.TOOL
    names_model = raw.find_text(genai.REQUEST_MODEL) is not None
    if names_model and _has_words(raw):
        return SpanKind.LLM
    return SpanKind.OTHER


def _has_words(raw: RawSpan) -> bool:
    """Whether a span holds what a model was sent or answered, in any of the conventions' versions."""
    if get_value(raw, genai.INPUT_MESSAGES) is not None or get_value(raw, genai.OUTPUT_MESSAGES) is not None:
        return True
    names = (*raw.attributes, *(event.name for event in raw.events))
    return any(name.startswith(_WORDS) for name in names)


def read_as(raw: RawSpan, kind: SpanKind) -> Reading:
    """Return the content of a span whose kind another dialect has set."""
    inputs, outputs = read_conversation(raw)
    if kind is SpanKind.TOOL:
        arguments = raw.get_first(genai.TOOL_CALL_ARGUMENTS) or _get_arguments_in_events(raw)
        result, failed = read_result(
            to_payload(raw.get_first(genai.TOOL_CALL_RESULT) or _get_result_in_events(outputs))
        )
        if raw.find_text(*_TOOL_STATUS) == "error":
            failed = failed or _read_reported_error(result.text if result is not None else "")
        return Reading(
            kind,
            to_payload(arguments),
            result,
            tool=build_call(raw, raw.find_text(genai.TOOL_NAME), read_arguments(arguments)),
            agent=raw.find_text(genai.AGENT_NAME),
            error=find_error(raw) or failed,
        )
    if raw.find_text(AG2_TYPE) == AG2_CHAT:
        outputs = _select_reply(outputs)
    return Reading(
        kind,
        find_last_text(inputs, "user") if kind is not SpanKind.LLM else None,
        find_last_text(outputs, "assistant") if kind is not SpanKind.LLM else None,
        inputs,
        outputs,
        usage=find_usage(
            raw.find_integer(genai.USAGE_INPUT_TOKENS), raw.find_integer(genai.USAGE_OUTPUT_TOKENS)
        ),
        model=raw.find_text(genai.RESPONSE_MODEL, genai.REQUEST_MODEL),
        agent=raw.find_text(genai.AGENT_NAME),
        error=find_error(raw),
    )


def _select_reply(chat: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the last text of a chat as the answer: its roles are as one of the agents has them."""
    for message in reversed(chat):
        if message.text and message.role != "tool":
            return (Message("assistant", message.text),)
    return ()


def _read_reported_error(text: str) -> SpanError:
    """Return the error in the result of a tool of Strands whose span names no exception."""
    reported = _REPORTED_ERROR.fullmatch(text)
    if reported:
        return SpanError(reported["type"], reported["message"])
    return SpanError(None, text)


def read_conversation(raw: RawSpan) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Return the messages to and from the model, from the span or from its events."""
    inputs = read_messages(decode_document(get_value(raw, genai.INPUT_MESSAGES)), "user")
    outputs = read_messages(decode_document(get_value(raw, genai.OUTPUT_MESSAGES)), "assistant")
    if not inputs:
        inputs = tuple(
            message
            for event in raw.events
            if event.name in _MESSAGE_EVENTS
            for message in read_messages(_read_event_fields(event), _MESSAGE_EVENTS[event.name])
        )
    if not outputs:
        outputs = tuple(
            message
            for event in raw.events
            if event.name == "gen_ai.choice"
            for message in read_messages(_read_event_fields(event), "assistant")
        )
    return inputs, outputs


def _read_event_fields(event: Event) -> JsonValue:
    """Return the fields of a message in an event; lists of parts are decoded, texts stay as they are."""
    fields = {key: _decode_parts(value) for key, value in event.attributes.items()}
    if isinstance(fields.get("message"), str | list):
        fields["content"] = fields.pop("message")
    return fields


def _decode_parts(value: AttributeValue) -> JsonValue:
    parts = decode_document(value)
    has_parts = isinstance(parts, list) and bool(parts) and all(isinstance(part, dict) for part in parts)
    if isinstance(value, str) and not (has_parts or isinstance(parts, dict)):
        return value
    return parts


def _get_arguments_in_events(raw: RawSpan) -> AttributeValue:
    """Return a call's arguments from messages of its span: a request for it, or the bare arguments."""
    for message in read_conversation(raw)[0]:
        for call in message.tool_calls:
            return as_text(call.arguments)
    events = (event for event in raw.events if event.name == "gen_ai.tool.message")
    return next((event.attributes["content"] for event in events if "content" in event.attributes), None)


def _get_result_in_events(outputs: tuple[Message, ...]) -> AttributeValue:
    return next((message.text for message in reversed(outputs) if message.text), None)


def find_last_text(spoken: tuple[Message, ...], role: str) -> Payload | None:
    """Return the last text of this role as a payload: the task of an agent, or its answer."""
    for message in reversed(spoken):
        if message.role == role and message.text:
            return Payload(message.text, message.text)
    return None


def get_value(raw: RawSpan, key: str) -> AttributeValue:
    """Return the attribute from the span, else from the first of its events that has it."""
    value = raw.get_first(key)
    if value is not None:
        return value
    return next((event.attributes[key] for event in raw.events if key in event.attributes), None)


_SCOPES = (
    "opentelemetry.instrumentation.genai.",
    "opentelemetry.instrumentation.ag2",
    "strands.",
    "autogen",
    "mcp-python-sdk",
)

DIALECT = Dialect("otel_genai", _SCOPES, ("gen_ai.",), read_span)
