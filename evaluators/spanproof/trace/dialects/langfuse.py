"""Langfuse: `langfuse.observation.type`, input and output as JSON, failures as a level."""

from __future__ import annotations

from spanproof.trace import JsonValue, Message, SpanError, SpanKind, Usage
from spanproof.trace.dialects.decode import decode_document, to_payload
from spanproof.trace.dialects.failures import find_error, from_text
from spanproof.trace.dialects.frameworks import (
    build_call,
    read_arguments,
    read_graph_node,
    read_result,
    read_state_messages,
)
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.dialects.openinference import find_usage
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_PREFIX = "langfuse.observation."
_KINDS = {
    "agent": SpanKind.AGENT,
    "chain": SpanKind.CHAIN,
    "generation": SpanKind.LLM,
    "tool": SpanKind.TOOL,
    "retriever": SpanKind.RETRIEVER,
    "guardrail": SpanKind.GUARDRAIL,
    "evaluator": SpanKind.EVALUATOR,
}


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written by Langfuse's SDK."""
    kind = _KINDS.get((raw.find_text(_PREFIX + "type") or "").lower(), SpanKind.OTHER)
    argument_payload, result = (
        to_payload(raw.get_first(_PREFIX + "input")),
        to_payload(raw.get_first(_PREFIX + "output")),
    )
    error = find_error(raw) or _find_level_error(raw)
    if kind is SpanKind.TOOL:
        shown, failed = read_result(result)
        arguments = read_arguments(raw.get_first(_PREFIX + "input"))
        return Reading(
            kind, argument_payload, shown, tool=build_call(raw, None, arguments), error=error or failed
        )
    if kind is SpanKind.LLM:
        return Reading(
            kind,
            argument_payload,
            result,
            _list_without_definitions(decode_document(raw.get_first(_PREFIX + "input"))),
            read_messages(decode_document(raw.get_first(_PREFIX + "output")), "assistant"),
            usage=_find_usage(raw),
            model=raw.find_text(_PREFIX + "model.name"),
            error=error,
        )
    reading = Reading(
        kind,
        argument_payload,
        result,
        read_state_messages(argument_payload),
        read_state_messages(result, "assistant"),
        agent=raw.name if kind is SpanKind.AGENT else None,
        error=error,
    )
    return read_graph_node(raw, reading)


def _list_without_definitions(value: JsonValue) -> tuple[Message, ...]:
    """Return messages to the model without tool definitions, which Langfuse appends as `tool` messages."""
    if isinstance(value, list):
        value = [item for item in value if not _is_definition(item)]
    return read_messages(value)


def _is_definition(item: JsonValue) -> bool:
    content = item.get("content") if isinstance(item, dict) else None
    return isinstance(content, dict) and content.get("type") == "function" and "function" in content


def _find_usage(raw: RawSpan) -> Usage | None:
    counts = decode_document(raw.get_first(_PREFIX + "usage_details"))
    if not isinstance(counts, dict):
        return None
    prompt, completion = counts.get("input"), counts.get("output")
    return find_usage(
        prompt if isinstance(prompt, int) else None, completion if isinstance(completion, int) else None
    )


def _find_level_error(raw: RawSpan) -> SpanError | None:
    if raw.find_text(_PREFIX + "level") != "ERROR":
        return None
    return from_text(raw.find_text(_PREFIX + "status_message") or raw.status_message)


DIALECT = Dialect("langfuse", ("langfuse",), (_PREFIX,), read_span)
