"""Our own names, for what neither OTel GenAI nor OpenInference names.

Code execution has no merged convention (semantic-conventions-genai, November 2026); these stand in its place
and are written beside the standard ones, never instead of them.
"""

from __future__ import annotations

from typing import Final

SCOPE_PREFIX: Final = "spanproof."
"""Instrumentation scopes of ours are named `spanproof.instrumentors.<framework>`."""

# --- code, on the span within which it ran (a step, or a tool that takes code) ---
CODE_SOURCE: Final = "spanproof.code.source"
CODE_ARGUMENT: Final = "spanproof.code.argument"
CODE_LANGUAGE: Final = "spanproof.code.language"
CODE_SHA256: Final = "spanproof.code.sha256"

# --- the result of running it ---
EXECUTION_OBSERVATION: Final = "spanproof.execution.observation"
EXECUTION_LOGS: Final = "spanproof.execution.logs"
EXECUTION_OUTPUT: Final = "spanproof.execution.output"
EXECUTION_OUTPUT_MIME_TYPE: Final = "spanproof.execution.output.mime_type"
EXECUTION_IS_FINAL: Final = "spanproof.execution.is_final"
EXECUTION_DURATION: Final = "spanproof.execution.duration_s"
EXECUTION_ERROR_CHAIN: Final = "spanproof.execution.error.chain"
EXECUTOR_TYPE: Final = "spanproof.executor.type"
EXECUTOR_VERSION: Final = "spanproof.executor.version"
EXECUTOR_IMPORTS: Final = "spanproof.executor.authorized_imports"
EXECUTOR_IMAGE_NAME: Final = "spanproof.executor.image.name"
EXECUTOR_IMAGE_DIGEST: Final = "spanproof.executor.image.digest"

# --- the inline guard ---
GUARD_VERDICT: Final = "spanproof.guard.verdict"
GUARD_RULES: Final = "spanproof.guard.rules"
GUARD_UNAVAILABLE: Final = "spanproof.guard.unavailable"

GUARD_EVENT: Final = "spanproof.guard.finding"
"""Span event: a finding for which code was refused, or would have been by a guard that only observes."""
GUARD_BLOCKED: Final = "spanproof.guard.blocked"
GUARD_RULE: Final = "spanproof.guard.rule"
GUARD_SEVERITY: Final = "spanproof.guard.severity"
GUARD_LINE: Final = "spanproof.guard.line"
GUARD_COLUMN: Final = "spanproof.guard.column"
GUARD_BUDGET_LIMIT: Final = "spanproof.guard.budget.limit"
GUARD_BUDGET_RULE_PREFIX: Final = "budget."
"""How the rules of budgets begin: `budget.steps`."""

# --- the run and its steps ---
STEP_NUMBER: Final = "spanproof.step.number"
STEP_KIND: Final = "spanproof.step.kind"
STEP_INPUT_TOKENS: Final = "spanproof.step.input_tokens"
STEP_OUTPUT_TOKENS: Final = "spanproof.step.output_tokens"
RUN_ENDING: Final = "spanproof.run.ending"
RUN_MAX_STEPS: Final = "spanproof.run.max_steps"
RUN_VARIABLES: Final = "spanproof.run.variables"

# --- the agent's process, on the outermost span of its trace ---
ENVIRONMENT_PACKAGES: Final = "spanproof.environment.packages"
ENVIRONMENT_PYTHON: Final = "spanproof.environment.python"
ENVIRONMENT_PLATFORM: Final = "spanproof.environment.platform"

ENVIRONMENT_IMAGE_NAME: Final = "spanproof.environment.image.name"
ENVIRONMENT_IMAGE_DIGEST: Final = "spanproof.environment.image.digest"

# --- tools and messages ---
TOOL_POSITIONAL: Final = "spanproof.tool.call.positional"
TOOL_RESULT_TYPE: Final = "spanproof.tool.call.result.type"
MESSAGES_OMITTED: Final = "spanproof.messages.omitted"
MESSAGES_BASE: Final = "spanproof.messages.base"

# --- content ---
CONTENT_TRUNCATED: Final = "spanproof.content.truncated"
CONTENT_REDACTED: Final = "spanproof.content.redacted"
CONTENT_LOSSY: Final = "spanproof.content.lossy"
CONTENT_HIDDEN: Final = "spanproof.content.hidden"

INSTRUMENTOR_ERROR_EVENT: Final = "spanproof.instrumentor.error"
"""Span event: an error of the instrumentor was swallowed; it carries `error.type`, too."""
INSTRUMENTOR_ERROR_PLACE: Final = "spanproof.instrumentor.place"

# --- cohort, on every span of a run ---
COHORT_PREFIX: Final = "spanproof.cohort."
COHORT_PROJECT: Final = "spanproof.cohort.project"
COHORT_TASK: Final = "spanproof.cohort.task"
COHORT_PROMPT_VERSION: Final = "spanproof.cohort.prompt_version"
COHORT_FIXTURE_SET: Final = "spanproof.cohort.fixture_set"
COHORT_RELEASE: Final = "spanproof.cohort.release"

EVAL_TAGS: Final = "spanproof.eval.tags"

# --- what a user thought of a run, on a span of its own named `feedback` ---
FEEDBACK_KIND: Final = "spanproof.feedback.kind"
FEEDBACK_TRACE_ID: Final = "spanproof.feedback.trace_id"
FEEDBACK_SPAN_ID: Final = "spanproof.feedback.span_id"
FEEDBACK_COMMENT: Final = "spanproof.feedback.comment"

# --- scores, on evaluation events and evaluator spans ---
SCORE_ID: Final = "spanproof.score.id"
SCORE_LAYER: Final = "spanproof.score.layer"
SCORE_OUTCOME: Final = "spanproof.score.outcome"
SCORE_REASON: Final = "spanproof.score.reason"
SCORE_CAUSE: Final = "spanproof.score.cause"
SCORE_CAUSE_DETAIL: Final = "spanproof.score.cause.detail"
SCORE_UNIT: Final = "spanproof.score.unit"
SCORE_NORMALISED: Final = "spanproof.score.normalised"
EVALUATOR_NAME: Final = "spanproof.evaluator.name"
EVALUATOR_VERSION: Final = "spanproof.evaluator.version"
SNIPPET_ID: Final = "spanproof.snippet.id"
RUN_SPAN_ID: Final = "spanproof.run.span_id"

# --- the collector's own work, on the first span of its own traces ---
COLLECTOR_TRACE_ID: Final = "spanproof.collector.trace_id"
COLLECTOR_COMPLETE: Final = "spanproof.collector.complete"
COLLECTOR_GENERATION: Final = "spanproof.collector.generation"
COLLECTOR_ATTEMPTS: Final = "spanproof.collector.attempts"
COLLECTOR_SPANS: Final = "spanproof.collector.spans"
COLLECTOR_SCORES: Final = "spanproof.collector.scores"
