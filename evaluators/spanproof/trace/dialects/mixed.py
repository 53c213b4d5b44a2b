"""Content that a span holds under another convention than its kind: one gives the kind, one the content.

In: a span as received and what its own dialect read. Out: the reading, with what it lacks filled from OTel
GenAI's messages and events, its older prompt and completion, and OpenInference's values. What the span's own
dialect read stays.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.semconv.genai import TOOL_CALL_ARGUMENTS, TOOL_CALL_RESULT
from spanproof.semconv.openinference import INPUT_MIME_TYPE, INPUT_VALUE, OUTPUT_MIME_TYPE, OUTPUT_VALUE
from spanproof.trace import AttributeValue, Message, Payload, SpanKind
from spanproof.trace.dialects import genai, langfuse
from spanproof.trace.dialects.decode import decode_document, to_payload
from spanproof.trace.dialects.flattened import read_flattened_messages
from spanproof.trace.dialects.frameworks import read_arguments, read_result, select_call_messages
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Reading

_SYSTEM = "gen_ai.system_instructions"
# Of the agent's span in Strands 1.0, whose model calls do not have it.
_STRANDS_SYSTEM = "system_prompt"
_TEXTS = {
    "user": ("gen_ai.prompt", "gen_ai.task.input"),
    "assistant": ("gen_ai.completion", "gen_ai.task.output"),
}
# What Langfuse's own attributes may say where the span's dialect says nothing.
_LANGFUSE_FIELDS = ("input", "output", "output_messages", "usage", "model", "error")
_DIALECTS = frozenset({"otel_genai", "openinference", "pydantic_ai", "google_adk", "generic"})


def read_with_others(raw: RawSpan, reading: Reading, dialect: str) -> Reading:
    """Return the reading with what other conventions hold of this span and its own dialect does not."""
    if dialect != langfuse.DIALECT.name and langfuse.DIALECT.owns_attributes(raw):
        reading = _read_with_langfuse(raw, reading, dialect)
    if dialect not in _DIALECTS or reading.hidden:
        return reading
    value, result = _get_values(raw, reading, dialect)
    if reading.kind is SpanKind.TOOL:
        return _read_call(raw, reading, value, result)
    sent, received = _get_messages(raw, reading)
    if reading.kind is SpanKind.LLM:
        sent = sent or select_call_messages((), value, "user")
        received = received or select_call_messages((), result, "assistant")
    elif reading.kind is not SpanKind.OTHER:
        value = value or genai.find_last_text(sent, "user")
        result = result or genai.find_last_text(received, "assistant")
    sent = _with_instructions(raw, sent)
    return replace(reading, input=value, output=result, input_messages=sent, output_messages=received)


def _get_values(raw: RawSpan, reading: Reading, dialect: str) -> tuple[Payload | None, Payload | None]:
    """Return input and output, of OpenInference's values where the span's own dialect read none."""
    if dialect == "openinference":  # what it did not take of its values is none
        return reading.input, reading.output
    return (
        reading.input or to_payload(*_read_value(raw, INPUT_VALUE, INPUT_MIME_TYPE)),
        reading.output or to_payload(*_read_value(raw, OUTPUT_VALUE, OUTPUT_MIME_TYPE)),
    )


def _get_messages(raw: RawSpan, reading: Reading) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Return the messages to and from the model, of GenAI's conventions where none were read."""
    sent, received = reading.input_messages, reading.output_messages
    if sent and received:
        return sent, received
    sent_there, received_there = genai.read_conversation(raw)
    sent = sent or sent_there or _read_older_messages(raw, "user")
    received = received or received_there or _read_older_messages(raw, "assistant")
    return sent, received


def _read_with_langfuse(raw: RawSpan, reading: Reading, dialect: str) -> Reading:
    """Return the reading with what Langfuse says of it: all of that where the producer names no kind."""
    held = langfuse.read_span(raw)
    if reading.kind is SpanKind.OTHER:
        agent = reading.agent if held.kind is SpanKind.AGENT else None
        return replace(held, agent=agent or held.agent, model=reading.model or held.model)
    if dialect == "openinference":  # what it did not take of its values is none
        return replace(reading, usage=reading.usage or held.usage, model=reading.model or held.model)
    filled = {name: getattr(held, name) for name in _LANGFUSE_FIELDS if not getattr(reading, name)}
    return replace(reading, **filled)


def _read_call(raw: RawSpan, reading: Reading, arguments: Payload | None, result: Payload | None) -> Reading:
    """Return the call with arguments and result; a result that a tool reports as failed is its error."""
    tool, failed = reading.tool, None
    arguments = arguments or to_payload(raw.get_first(TOOL_CALL_ARGUMENTS))
    if tool is not None and tool.arguments is None and arguments is not None:
        tool = replace(tool, arguments=read_arguments(arguments.value))
    if reading.output is None:
        result, failed = read_result(result or to_payload(raw.get_first(TOOL_CALL_RESULT)))
    return replace(reading, tool=tool, input=arguments, output=result, error=reading.error or failed)


def _read_value(raw: RawSpan, value: str, mime_type: str) -> tuple[AttributeValue, str | None]:
    return raw.get_first(value), raw.find_text(mime_type)


def _read_older_messages(raw: RawSpan, role: str) -> tuple[Message, ...]:
    """Return messages in GenAI's older forms: flattened, as one attribute, or as attributes of an event."""
    name = "gen_ai.prompt" if role == "user" else "gen_ai.completion"
    found = read_flattened_messages(raw.attributes, name, role)
    if found:
        return found
    held = [raw.attributes, *(event.attributes for event in raw.events)]
    value = next((item[key] for item in held for key in _TEXTS[role] if key in item), None)
    if value is not None:
        return read_messages(decode_document(value), role)
    return ()


def _with_instructions(raw: RawSpan, sent: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages behind the system's instructions, which GenAI keeps apart."""
    value = genai.get_value(raw, _SYSTEM) or raw.get_first(_STRANDS_SYSTEM)
    if value is None or any(message.role == "system" for message in sent):
        return sent
    messages = read_messages(decode_document(value), "system")
    text = "\n".join(message.text for message in messages if message.text)
    if text:
        return (Message("system", text), *sent)
    return sent


__all__ = ["read_with_others"]
