"""Names of OpenInference that we read or write."""

from __future__ import annotations

from typing import Final

SPAN_KIND: Final = "openinference.span.kind"
PROJECT_NAME: Final = "openinference.project.name"
INPUT_VALUE: Final = "input.value"
INPUT_MIME_TYPE: Final = "input.mime_type"
OUTPUT_VALUE: Final = "output.value"
OUTPUT_MIME_TYPE: Final = "output.mime_type"
AGENT_NAME: Final = "agent.name"
TOOL_NAME: Final = "tool.name"
LLM_MODEL_NAME: Final = "llm.model_name"
LLM_TOKEN_COUNT_PROMPT: Final = "llm.token_count.prompt"
LLM_TOKEN_COUNT_COMPLETION: Final = "llm.token_count.completion"
SESSION_ID: Final = "session.id"
USER_ID: Final = "user.id"
TAGS: Final = "tag.tags"

MIME_JSON: Final = "application/json"
MIME_TEXT: Final = "text/plain"
