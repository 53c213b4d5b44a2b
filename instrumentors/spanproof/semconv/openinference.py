"""Attribute names of OpenInference that we read or write."""

from __future__ import annotations

from typing import Final

SPAN_KIND: Final = "openinference.span.kind"
INPUT_VALUE: Final = "input.value"
INPUT_MIME_TYPE: Final = "input.mime_type"
OUTPUT_VALUE: Final = "output.value"
OUTPUT_MIME_TYPE: Final = "output.mime_type"
TOOL_NAME: Final = "tool.name"
TOOL_PARAMETERS: Final = "tool.parameters"
LLM_MODEL_NAME: Final = "llm.model_name"
LLM_INPUT_MESSAGES: Final = "llm.input_messages"
LLM_OUTPUT_MESSAGES: Final = "llm.output_messages"
LLM_TOKEN_COUNT_PROMPT: Final = "llm.token_count.prompt"
LLM_TOKEN_COUNT_COMPLETION: Final = "llm.token_count.completion"
AGENT_NAME: Final = "agent.name"

MIME_JSON: Final = "application/json"
MIME_TEXT: Final = "text/plain"
