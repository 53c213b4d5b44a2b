"""Traceloop (OpenLLMetry): `traceloop.span.kind`, entities as JSON, messages as OTel's or as old prompts.

Its workflow spans also say `invoke_agent`, below a span that already does: so its own kind comes first.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.semconv import genai
from spanproof.trace import Payload, SpanKind
from spanproof.trace.dialects.decode import decode_document, to_payload
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.flattened import read_flattened_messages
from spanproof.trace.dialects.frameworks import (
    build_call,
    read_arguments,
    read_result,
    read_state_messages,
)
from spanproof.trace.dialects.genai import OPERATIONS, read_as
from spanproof.trace.dialects.openinference import find_usage
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_KINDS = {
    "workflow": SpanKind.CHAIN,
    "agent": SpanKind.AGENT,
    "task": SpanKind.CHAIN,
    "tool": SpanKind.TOOL,
    "handoff": SpanKind.CHAIN,
    "guardrail": SpanKind.GUARDRAIL,
}
_INPUT, _OUTPUT = "traceloop.entity.input", "traceloop.entity.output"


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written by Traceloop's instrumentors."""
    kind = _KINDS.get(raw.find_text("traceloop.span.kind") or "") or _classify_span(raw)
    arguments, result = _find_entity(raw, _INPUT, "inputs"), _find_entity(raw, _OUTPUT, "outputs")
    if kind is SpanKind.TOOL:
        return _read_tool(raw, result)
    reading = read_as(raw, kind)
    if kind is SpanKind.LLM:
        return _with_old_prompts(raw, reading)
    reading = replace(reading, input=reading.input or arguments, output=reading.output or result)
    return replace(
        reading,
        input_messages=reading.input_messages or read_state_messages(arguments),
        output_messages=reading.output_messages or read_state_messages(result, "assistant"),
        agent=reading.agent or raw.find_text("traceloop.entity.name", "traceloop.workflow.name"),
    )


def _classify_span(raw: RawSpan) -> SpanKind:
    operation = raw.find_text(genai.OPERATION_NAME, "llm.request.type") or ""
    return OPERATIONS.get(operation, SpanKind.LLM if operation == "completion" else SpanKind.OTHER)


def _find_entity(raw: RawSpan, key: str, inner: str) -> Payload | None:
    """Return an entity's payload, out of the arguments of the callback that recorded it."""
    whole = to_payload(raw.get_first(key))
    if whole is not None and whole.text.startswith('"'):
        document = decode_document(
            whole.text
        )  # a function's own text, which it serialises as any other value
        if isinstance(document, str):
            return Payload(document, document, typed=True)
        return whole
    if whole is None or not isinstance(whole.value, dict) or inner not in whole.value:
        return whole
    value = whole.value[inner]
    if not isinstance(value, dict | list):
        return to_payload(value)
    return replace(whole, value=value)


def _read_tool(raw: RawSpan, result: Payload | None) -> Reading:
    arguments = raw.get_first(genai.TOOL_CALL_ARGUMENTS, _INPUT)
    shown, failed = read_result(to_payload(raw.get_first(genai.TOOL_CALL_RESULT)) or result)
    name = raw.find_text(genai.TOOL_NAME, "traceloop.entity.name")
    return Reading(
        SpanKind.TOOL,
        to_payload(arguments),
        shown,
        tool=build_call(raw, name, read_arguments(arguments)),
        error=find_error(raw) or failed,
    )


def _with_old_prompts(raw: RawSpan, reading: Reading) -> Reading:
    old = find_usage(
        raw.find_integer("gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"),
        raw.find_integer("gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"),
    )
    return replace(
        reading,
        input_messages=reading.input_messages
        or read_flattened_messages(raw.attributes, "gen_ai.prompt", "user"),
        output_messages=reading.output_messages
        or read_flattened_messages(raw.attributes, "gen_ai.completion", "assistant"),
        usage=reading.usage or old,
    )


DIALECT = Dialect(
    "traceloop",
    (
        "opentelemetry.instrumentation.langchain",
        "opentelemetry.instrumentation.openai_agents",
        "traceloop.",
    ),
    ("traceloop.", "llm.request.type", "gen_ai.prompt.", "gen_ai.completion."),
    read_span,
)
