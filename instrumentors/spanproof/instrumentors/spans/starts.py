"""What a span begins with: its name, its kind in both vocabularies, and what is known of it by then."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.texts import well_formed
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
_NOTHING: Final[Mapping[str, Any]] = {}


class Start(NamedTuple):
    """What a span begins with; spans share it, so nobody may change its attributes."""

    name: str
    kind: SpanKind
    attributes: Mapping[str, AttributeValue]


def start_of(name: str, kind: str, facts: Mapping[str, AttributeValue] = _NOTHING) -> Start:
    """The start of a span of a kind; what is an operation of GenAI's has that before its name."""
    attributes: dict[str, AttributeValue] = {openinference.SPAN_KIND: kind}
    operation = _OPERATIONS.get(kind)
    if operation is not None:
        attributes[genai.OPERATION_NAME] = operation
        name = f"{operation} {name}"
    attributes.update(facts)
    return Start(well_formed(name), SpanKind.CLIENT if kind == LLM else SpanKind.INTERNAL, attributes)


@lru_cache(maxsize=256)
def model_start(name: str) -> Start:
    """The start of a call of a model."""
    written = well_formed(name)
    facts = {genai.REQUEST_MODEL: written, openinference.LLM_MODEL_NAME: written}
    return start_of(name, LLM, facts)


@lru_cache(maxsize=256)
def tool_start(name: str, tool_type: str = "function") -> Start:
    """The start of a call of a tool."""
    written = well_formed(name)
    facts = {genai.TOOL_NAME: written, openinference.TOOL_NAME: written, genai.TOOL_TYPE: tool_type}
    return start_of(name, TOOL, facts)
