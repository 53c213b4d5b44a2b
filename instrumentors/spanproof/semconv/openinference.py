"""Names of OpenInference that we read or write."""

from __future__ import annotations

from functools import partial
from typing import Final

from spanproof.semconv.definition import OPENINFERENCE, define

_define = partial(define, status="OpenInference", source=OPENINFERENCE)

SPAN_KIND: Final = _define(
    "openinference.span.kind", "string", "AGENT",
    "`AGENT`, `CHAIN`, `LLM`, `TOOL`, `RETRIEVER`, `GUARDRAIL`, `EVALUATOR` or `UNKNOWN`",
)  # fmt: skip
PROJECT_NAME: Final = _define(
    "openinference.project.name", "string", "shop", "the project of `register(project=…)`", place="resource"
)
INPUT_VALUE: Final = _define("input.value", "string", "How much was refunded?", "what went in")
INPUT_MIME_TYPE: Final = _define(
    "input.mime_type", "string", "application/json", "`application/json`; none for a text"
)
OUTPUT_VALUE: Final = _define("output.value", "string", "$45.00", "what came out")
OUTPUT_MIME_TYPE: Final = _define(
    "output.mime_type", "string", "application/json", "`application/json`; none for a text"
)
AGENT_NAME: Final = _define("agent.name", "string", "clerk", "as `gen_ai.agent.name`")
TOOL_NAME: Final = _define("tool.name", "string", "cents_of", "as `gen_ai.tool.name`")
LLM_MODEL_NAME: Final = _define("llm.model_name", "string", "qwen-3-coder", "as `gen_ai.request.model`")
LLM_TOKEN_COUNT_PROMPT: Final = _define("llm.token_count.prompt", "int", "911", "tokens of the input")
LLM_TOKEN_COUNT_COMPLETION: Final = _define(
    "llm.token_count.completion", "int", "154", "tokens of the answer"
)

MIME_JSON: Final = "application/json"
MIME_TEXT: Final = "text/plain"
