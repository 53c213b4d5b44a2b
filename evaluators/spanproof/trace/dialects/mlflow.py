"""MLflow: every attribute JSON-encoded, kinds as `mlflow.spanType`, content as inputs and outputs."""

from __future__ import annotations

from spanproof.trace import JsonValue, Message, Payload, SpanKind, Usage
from spanproof.trace.dialects.decode import NotDecoded, as_text, parse_json
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.frameworks import (
    build_call,
    read_arguments,
    read_result,
    read_state_messages,
)
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.dialects.openinference import find_usage
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_KINDS = {
    "AGENT": SpanKind.AGENT,
    "CHAIN": SpanKind.CHAIN,
    "WORKFLOW": SpanKind.CHAIN,
    "TASK": SpanKind.CHAIN,
    "LLM": SpanKind.LLM,
    "CHAT_MODEL": SpanKind.LLM,
    "TOOL": SpanKind.TOOL,
    "RETRIEVER": SpanKind.RETRIEVER,
    "RERANKER": SpanKind.RETRIEVER,
    "GUARDRAIL": SpanKind.GUARDRAIL,
    "EVALUATOR": SpanKind.EVALUATOR,
}


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written by MLflow."""
    kind = _KINDS.get(as_text(_decode_attribute(raw, "mlflow.spanType")), SpanKind.OTHER)
    argument_payload, result = (
        _find_payload(raw, "mlflow.spanInputs"),
        _find_payload(raw, "mlflow.spanOutputs"),
    )
    error = find_error(raw)
    if kind is SpanKind.TOOL:
        shown, failed = read_result(result)
        if argument_payload is not None:
            arguments = read_arguments(argument_payload.value)
        else:
            arguments = None
        return Reading(
            kind, argument_payload, shown, tool=build_call(raw, raw.name, arguments), error=error or failed
        )
    return Reading(
        kind,
        argument_payload,
        result,
        _read_messages(kind, argument_payload, "user"),
        _read_messages(kind, result, "assistant"),
        usage=_find_usage(raw),
        model=_find_text(raw, "mlflow.llm.model") or _find_text(raw, "model"),
        agent=raw.name if kind is SpanKind.AGENT else None,
        error=error,
    )


def _read_messages(kind: SpanKind, payload: Payload | None, role: str) -> tuple[Message, ...]:
    if kind is SpanKind.LLM and payload is not None:
        return read_messages(payload.value, role)
    return read_state_messages(payload, role)


def _decode_attribute(raw: RawSpan, key: str) -> JsonValue:
    """Return an attribute without its JSON encoding; one that was never encoded as it is."""
    value = raw.get_first(key)
    if not isinstance(value, str):
        return None if value is None else as_text(str(value))
    try:
        return parse_json(value)
    except NotDecoded:
        return value


def _find_payload(raw: RawSpan, key: str) -> Payload | None:
    if raw.get_first(key) is None:
        return None
    value = _decode_attribute(raw, key)
    return Payload(as_text(value), value, typed=True)


def _find_text(raw: RawSpan, key: str) -> str | None:
    value = _decode_attribute(raw, key)
    return value if isinstance(value, str) and value else None


def _find_usage(raw: RawSpan) -> Usage | None:
    counts = _decode_attribute(raw, "mlflow.chat.tokenUsage")
    if not isinstance(counts, dict):
        return None
    prompt, completion = counts.get("input_tokens"), counts.get("output_tokens")
    return find_usage(
        prompt if isinstance(prompt, int) else None, completion if isinstance(completion, int) else None
    )


DIALECT = Dialect("mlflow", ("mlflow",), ("mlflow.span",), read_span)
