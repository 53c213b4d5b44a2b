"""The name, kind and first attributes that a span is started with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.texts import format_encodable
from spanproof.semconv import genai, openinference

AGENT: Final = "AGENT"
CHAIN: Final = "CHAIN"
LLM: Final = "LLM"
TOOL: Final = "TOOL"
RETRIEVER: Final = "RETRIEVER"

_OPERATIONS: Final = {
    AGENT: genai.OPERATION_INVOKE_AGENT,
    LLM: genai.OPERATION_CHAT,
    TOOL: genai.OPERATION_EXECUTE_TOOL,
}


class SpanStart(NamedTuple):
    """What a span is started with; spans share it, so its attributes must not be changed."""

    name: str
    kind: SpanKind
    attributes: Mapping[str, AttributeValue]


def build_start(name: str, kind: str, facts: Mapping[str, AttributeValue] | None = None) -> SpanStart:
    """Return the start of a span; GenAI operations are prefixed to its name (`chat gpt-5`)."""
    attributes: dict[str, AttributeValue] = {openinference.SPAN_KIND: kind}
    operation = _OPERATIONS.get(kind)
    if operation is not None:
        attributes[genai.OPERATION_NAME] = operation
        name = f"{operation} {name}"
    attributes.update(facts or {})
    return SpanStart(
        format_encodable(name), SpanKind.CLIENT if kind == LLM else SpanKind.INTERNAL, attributes
    )


@lru_cache(maxsize=256)
def build_model_start(name: str) -> SpanStart:
    """Return the start of a model call's span."""
    written = format_encodable(name)
    facts = {genai.REQUEST_MODEL: written, openinference.LLM_MODEL_NAME: written}
    return build_start(name, LLM, facts)


@lru_cache(maxsize=256)
def build_tool_start(name: str, tool_type: str = "function") -> SpanStart:
    """Return the start of a tool call's span."""
    written = format_encodable(name)
    facts = {genai.TOOL_NAME: written, openinference.TOOL_NAME: written, genai.TOOL_TYPE: tool_type}
    return build_start(name, TOOL, facts)
