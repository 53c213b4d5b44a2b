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
from spanproof.trace.dialects import genai
from spanproof.trace.dialects.decode import decoded, payload
from spanproof.trace.dialects.flattened import flattened_messages
from spanproof.trace.dialects.frameworks import call_messages, tool_arguments, tool_result
from spanproof.trace.dialects.messages import messages
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Reading

_SYSTEM = "gen_ai.system_instructions"
_TEXTS = {
    "user": ("gen_ai.prompt", "gen_ai.task.input"),
    "assistant": ("gen_ai.completion", "gen_ai.task.output"),
}
_DIALECTS = frozenset({"otel_genai", "openinference", "pydantic_ai", "google_adk", "generic"})


def fill_from_others(raw: RawSpan, reading: Reading, dialect: str) -> Reading:
    """The reading with what other conventions hold of this span and its own dialect does not."""
    if dialect not in _DIALECTS or reading.hidden:
        return reading
    own_values = dialect == "openinference"  # what it did not take of them is none
    given = (
        reading.input if own_values else reading.input or payload(*_value(raw, INPUT_VALUE, INPUT_MIME_TYPE))
    )
    result = reading.output
    if not own_values:
        result = result or payload(*_value(raw, OUTPUT_VALUE, OUTPUT_MIME_TYPE))
    if reading.kind is SpanKind.TOOL:
        return _filled_call(raw, reading, given, result)
    sent, said = reading.input_messages, reading.output_messages
    if not sent or not said:
        others = genai.conversation(raw)
        sent = sent or others[0] or _older(raw, "user")
        said = said or others[1] or _older(raw, "assistant")
    if reading.kind is SpanKind.LLM:
        sent = sent or call_messages((), given, "user")
        said = said or call_messages((), result, "assistant")
    elif reading.kind is not SpanKind.OTHER:
        given = given or genai.text_payload(sent, "user")
        result = result or genai.text_payload(said, "assistant")
    sent = _with_instructions(raw, sent)
    return replace(reading, input=given, output=result, input_messages=sent, output_messages=said)


def _filled_call(raw: RawSpan, reading: Reading, given: Payload | None, result: Payload | None) -> Reading:
    """The call with arguments and result; a result that a tool reports as failed is the call's error."""
    tool, failed = reading.tool, None
    given = given or payload(raw.first(TOOL_CALL_ARGUMENTS))
    if tool is not None and tool.arguments is None and given is not None:
        tool = replace(tool, arguments=tool_arguments(given.value))
    if reading.output is None:
        result, failed = tool_result(result or payload(raw.first(TOOL_CALL_RESULT)))
    return replace(reading, tool=tool, input=given, output=result, error=reading.error or failed)


def _value(raw: RawSpan, value: str, mime_type: str) -> tuple[AttributeValue, str | None]:
    return raw.first(value), raw.text(mime_type)


def _older(raw: RawSpan, role: str) -> tuple[Message, ...]:
    """Messages as GenAI had them before: flattened, as one attribute, or as attributes of an event."""
    name = "gen_ai.prompt" if role == "user" else "gen_ai.completion"
    found = flattened_messages(raw.attributes, name, role)
    if found:
        return found
    held = [raw.attributes, *(event.attributes for event in raw.events)]
    value = next((each[key] for each in held for key in _TEXTS[role] if key in each), None)
    return messages(decoded(value), role) if value is not None else ()


def _with_instructions(raw: RawSpan, sent: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages behind the system's instructions, which GenAI keeps apart."""
    value = genai.find_value(raw, _SYSTEM)
    if value is None or any(message.role == "system" for message in sent):
        return sent
    given = messages(decoded(value), "system")
    text = "\n".join(message.text for message in given if message.text)
    return (Message("system", text), *sent) if text else sent


__all__ = ["fill_from_others"]
