"""Names of OTel GenAI (semantic-conventions-genai, November 2026) and OpenTelemetry that we read or write."""

from __future__ import annotations

from functools import partial
from typing import Final

from spanproof.semconv.definition import GENAI, OTEL, define

_genai = partial(define, status="development", source=GENAI)
_result = partial(_genai, place="event")
_exception = partial(define, status="stable", source=OTEL, place="event")

OPERATION_NAME: Final = _genai(
    "gen_ai.operation.name", "string", "invoke_agent", "what the span does; see the operations"
)
OPERATION_CHAT: Final = "chat"
OPERATION_INVOKE_AGENT: Final = "invoke_agent"
OPERATION_EXECUTE_TOOL: Final = "execute_tool"
OPERATION_PLAN: Final = "plan"

# --- models ---
REQUEST_MODEL: Final = _genai("gen_ai.request.model", "string", "qwen-3-coder", "the model that is called")
REQUEST_TEMPERATURE: Final = _genai("gen_ai.request.temperature", "double", "0.2", "as requested")
REQUEST_MAX_TOKENS: Final = _genai("gen_ai.request.max_tokens", "int", "4096", "as requested")
REQUEST_TOP_P: Final = _genai("gen_ai.request.top_p", "double", "0.9", "as requested")
REQUEST_SEED: Final = _genai("gen_ai.request.seed", "int", "7", "as requested")
REQUEST_STOP_SEQUENCES: Final = _genai(
    "gen_ai.request.stop_sequences", "string[]", "Observation:, Calling tools:",
    "as requested; on a run's later calls only where it differs from the call before",
)  # fmt: skip
RESPONSE_MODEL: Final = _genai(
    "gen_ai.response.model", "string", "qwen-3-coder-0611", "the model that answered"
)
RESPONSE_FINISH_REASONS: Final = _genai(
    "gen_ai.response.finish_reasons", "string[]", "tool_call", "why it stopped, one per choice"
)
INPUT_MESSAGES: Final = _genai(
    "gen_ai.input.messages", "string", '[{"role":"user","parts":[{"type":"text","content":"How much?"}]}]',
    "JSON array of the messages; those on earlier spans left out",
)  # fmt: skip
OUTPUT_MESSAGES: Final = _genai(
    "gen_ai.output.messages", "string",
    '[{"role":"assistant","parts":[{"type":"text","content":"$45."}],"finish_reason":"stop"}]',
    "JSON array with the answer",
)  # fmt: skip
USAGE_INPUT_TOKENS: Final = _genai("gen_ai.usage.input_tokens", "int", "911", "tokens of the input")
USAGE_OUTPUT_TOKENS: Final = _genai("gen_ai.usage.output_tokens", "int", "154", "tokens of the answer")

# --- agents and tools ---
AGENT_NAME: Final = _genai("gen_ai.agent.name", "string", "clerk", "the agent's own name, else its class's")
AGENT_DESCRIPTION: Final = _genai("gen_ai.agent.description", "string", "Knows orders.", "as it was given")
TOOL_DEFINITIONS: Final = _genai(
    "gen_ai.tool.definitions", "string", '[{"type":"function","name":"cents_of"}]',
    "JSON array of the tools the agent may use: type, name, description, parameters",
)  # fmt: skip
TOOL_NAME: Final = _genai("gen_ai.tool.name", "string", "cents_of", "the tool that is called")
TOOL_TYPE: Final = _genai(
    "gen_ai.tool.type", "string", "function", "`function`, `extension` (MCP), or `agent` for a managed agent"
)
TOOL_CALL_ID: Final = _genai("gen_ai.tool.call.id", "string", "call_1", "the id the model gave the call")
TOOL_CALL_ARGUMENTS: Final = _genai(
    "gen_ai.tool.call.arguments", "string", '{"order_id":"A-17"}', "JSON object, by parameter name"
)
TOOL_CALL_RESULT: Final = _genai(
    "gen_ai.tool.call.result", "string", "4500", 'JSON with its true type: `"42"` is text, `42` a number'
)

# --- failures ---
ERROR_TYPE: Final = define(
    "error.type", "string", "ZeroDivisionError",
    "class of the exception that was raised, not of the framework's wrapper", status="stable", source=OTEL,
)  # fmt: skip
EXCEPTION_TYPE: Final = _exception("exception.type", "string", "ZeroDivisionError", "as `error.type`")
EXCEPTION_MESSAGE: Final = _exception("exception.message", "string", "division by zero", "its message")
EXCEPTION_STACKTRACE: Final = _exception(
    "exception.stacktrace", "string", "Traceback (most recent call last): …", "where it was raised, if known"
)

# --- scores ---
EVALUATION_RESULT_EVENT: Final = "gen_ai.evaluation.result"
EVALUATION_NAME: Final = _result(
    "gen_ai.evaluation.name", "string", "spanproof.correctness", "what was judged"
)
EVALUATION_SCORE_VALUE: Final = _result(
    "gen_ai.evaluation.score.value",
    "double",
    "0.5",
    "0 to 1, of a metric its raw value; none where it was skipped or errored",
)
EVALUATION_SCORE_LABEL: Final = _result("gen_ai.evaluation.score.label", "string", "fail", "the verdict")
EVALUATION_EXPLANATION: Final = _result("gen_ai.evaluation.explanation", "string", "2 of 4 tests pass", "why")
