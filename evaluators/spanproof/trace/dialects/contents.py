"""Content that frameworks hand to whichever producer records them: it reads the same in every dialect.

In: a span as received and what its dialect read. Out: the reading, with ADK's events taken apart, documents
of retrievers as their output, and a span that gave a tool's message as the tool call it is.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.trace import SpanKind
from spanproof.trace.dialects.adk_events import find_event_text, find_response
from spanproof.trace.dialects.frameworks import build_call, find_tool_message, read_arguments, read_result
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Reading
from spanproof.trace.dialects.retrieved import with_documents

_UNDECIDED = frozenset({SpanKind.OTHER, SpanKind.CHAIN})
_SPEAKING = frozenset({SpanKind.AGENT, SpanKind.CHAIN, SpanKind.OTHER})


def read_contents(raw: RawSpan, reading: Reading) -> Reading:
    """Return the reading without what frameworks wrap their content in."""
    reading = _with_tool_message(raw, reading)
    if reading.kind is SpanKind.TOOL:
        response = find_response(reading.output)
        if response is None:
            return reading
        return replace(reading, output=response)
    if reading.kind in _SPEAKING:
        question, answer = find_event_text(reading.input), find_event_text(reading.output)
        if question is not None:
            reading = replace(reading, input=question.payload)
        if answer is not None:
            reading = replace(reading, output=answer.payload)
    return with_documents(raw, reading)


def _with_tool_message(raw: RawSpan, reading: Reading) -> Reading:
    """Return a span of no kind of its own that gave one tool's message as a tool call."""
    if reading.kind not in _UNDECIDED or reading.output is None or reading.code is not None:
        return reading
    message = find_tool_message(reading.output.value)
    if message is None:
        return reading
    result, failed = read_result(reading.output)
    named, answered = message.get("name"), message.get("tool_call_id")
    if reading.input is not None:
        arguments = read_arguments(reading.input.text)
    else:
        arguments = None
    call = build_call(raw, named if isinstance(named, str) else None, arguments)
    if isinstance(answered, str):
        call = replace(call, call_id=call.call_id or answered)
    return replace(
        reading,
        kind=SpanKind.TOOL,
        output=result,
        input_messages=(),
        output_messages=(),
        tool=call,
        error=reading.error or failed,
    )
