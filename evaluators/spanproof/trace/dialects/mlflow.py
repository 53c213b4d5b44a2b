"""MLflow: every attribute JSON-encoded, kinds as `mlflow.spanType`, content as inputs and outputs."""

from __future__ import annotations

from spanproof.trace import JsonValue, Payload, SpanKind, Usage
from spanproof.trace.dialects.decode import NotDecoded, as_text, json_value
from spanproof.trace.dialects.failures import error_of
from spanproof.trace.dialects.frameworks import call_of, state_messages, tool_arguments, tool_result
from spanproof.trace.dialects.messages import messages
from spanproof.trace.dialects.openinference import usage_of
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


def read(raw: RawSpan) -> Reading:
    """The content of a span written by MLflow."""
    kind = _KINDS.get(as_text(_value(raw, "mlflow.spanType")), SpanKind.OTHER)
    given, result = _payload(raw, "mlflow.spanInputs"), _payload(raw, "mlflow.spanOutputs")
    error = error_of(raw)
    if kind is SpanKind.TOOL:
        shown, failed = tool_result(result)
        arguments = tool_arguments(given.value) if given is not None else None
        return Reading(kind, given, shown, tool=call_of(raw, raw.name, arguments), error=error or failed)
    is_call = kind is SpanKind.LLM
    return Reading(
        kind,
        given,
        result,
        messages(given.value) if is_call and given is not None else state_messages(given),
        messages(result.value, "assistant")
        if is_call and result is not None
        else state_messages(result, "assistant"),
        usage=_usage(raw),
        model=_text(raw, "mlflow.llm.model") or _text(raw, "model"),
        agent=raw.name if kind is SpanKind.AGENT else None,
        error=error,
    )


def _value(raw: RawSpan, key: str) -> JsonValue:
    """An attribute without its JSON encoding; one that was never encoded as it is."""
    value = raw.first(key)
    if not isinstance(value, str):
        return None if value is None else as_text(str(value))
    try:
        return json_value(value)
    except NotDecoded:
        return value


def _payload(raw: RawSpan, key: str) -> Payload | None:
    if raw.first(key) is None:
        return None
    value = _value(raw, key)
    return Payload(as_text(value), value, typed=True)


def _text(raw: RawSpan, key: str) -> str | None:
    value = _value(raw, key)
    return value if isinstance(value, str) and value else None


def _usage(raw: RawSpan) -> Usage | None:
    counts = _value(raw, "mlflow.chat.tokenUsage")
    if not isinstance(counts, dict):
        return None
    prompt, completion = counts.get("input_tokens"), counts.get("output_tokens")
    return usage_of(
        prompt if isinstance(prompt, int) else None, completion if isinstance(completion, int) else None
    )


DIALECT = Dialect("mlflow", ("mlflow",), ("mlflow.span",), read)
