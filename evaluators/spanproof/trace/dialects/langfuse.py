"""Langfuse: `langfuse.observation.type`, input and output as JSON, failures as a level."""

from __future__ import annotations

from spanproof.trace import JsonValue, Message, SpanError, SpanKind, Usage
from spanproof.trace.dialects.decode import decoded, payload
from spanproof.trace.dialects.failures import error_of, from_text
from spanproof.trace.dialects.frameworks import (
    call_of,
    node_not_agent,
    state_messages,
    tool_arguments,
    tool_result,
)
from spanproof.trace.dialects.messages import messages
from spanproof.trace.dialects.openinference import usage_of
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


def read(raw: RawSpan) -> Reading:
    """The content of a span written by Langfuse's SDK."""
    kind = _KINDS.get((raw.text(_PREFIX + "type") or "").lower(), SpanKind.OTHER)
    given, result = payload(raw.first(_PREFIX + "input")), payload(raw.first(_PREFIX + "output"))
    error = error_of(raw) or _error(raw)
    if kind is SpanKind.TOOL:
        shown, failed = tool_result(result)
        arguments = tool_arguments(raw.first(_PREFIX + "input"))
        return Reading(kind, given, shown, tool=call_of(raw, None, arguments), error=error or failed)
    if kind is SpanKind.LLM:
        return Reading(
            kind,
            given,
            result,
            _without_definitions(decoded(raw.first(_PREFIX + "input"))),
            messages(decoded(raw.first(_PREFIX + "output")), "assistant"),
            usage=_usage(raw),
            model=raw.text(_PREFIX + "model.name"),
            error=error,
        )
    reading = Reading(
        kind,
        given,
        result,
        state_messages(given),
        state_messages(result, "assistant"),
        agent=raw.name if kind is SpanKind.AGENT else None,
        error=error,
    )
    return node_not_agent(raw, reading)


def _without_definitions(value: JsonValue) -> tuple[Message, ...]:
    """Messages to the model without the tool definitions that Langfuse appends as `tool` messages."""
    if isinstance(value, list):
        value = [item for item in value if not _is_definition(item)]
    return messages(value)


def _is_definition(item: JsonValue) -> bool:
    content = item.get("content") if isinstance(item, dict) else None
    return isinstance(content, dict) and content.get("type") == "function" and "function" in content


def _usage(raw: RawSpan) -> Usage | None:
    counts = decoded(raw.first(_PREFIX + "usage_details"))
    if not isinstance(counts, dict):
        return None
    prompt, completion = counts.get("input"), counts.get("output")
    return usage_of(
        prompt if isinstance(prompt, int) else None, completion if isinstance(completion, int) else None
    )


def _error(raw: RawSpan) -> SpanError | None:
    if raw.text(_PREFIX + "level") != "ERROR":
        return None
    return from_text(raw.text(_PREFIX + "status_message") or raw.status_message)


DIALECT = Dialect("langfuse", ("langfuse",), (_PREFIX,), read)
