"""Our own attributes, for what neither OTel GenAI nor OpenInference names.

Code execution has no merged convention (semantic-conventions-genai, November 2026); these stand in its place
and are written beside the standard ones, never instead of them.
"""

from __future__ import annotations

from typing import Final

SCOPE_PREFIX: Final = "spanproof."
"""Instrumentation scopes of ours are named `spanproof.instrumentors.<framework>`."""

# --- code, on the span within which it ran (a step, or a tool that takes code) ---
CODE_SOURCE: Final = "spanproof.code.source"
"""string: the code as it ran."""
CODE_LANGUAGE: Final = "spanproof.code.language"
"""string: `python`, `bash`, `sql`, …"""
CODE_SHA256: Final = "spanproof.code.sha256"
"""string: of the whole source in UTF-8, also where `spanproof.code.source` was clipped."""

# --- what came of it ---
EXECUTION_OBSERVATION: Final = "spanproof.execution.observation"
"""string: what the agent was shown."""
EXECUTION_LOGS: Final = "spanproof.execution.logs"
"""string: what the code printed."""
EXECUTION_OUTPUT: Final = "spanproof.execution.output"
"""string: the value the code ended with, as JSON where it has that form, else its text."""
EXECUTION_OUTPUT_MIME_TYPE: Final = "spanproof.execution.output.mime_type"
"""string: `application/json` or `text/plain`."""
EXECUTION_IS_FINAL: Final = "spanproof.execution.is_final"
"""boolean: the code ended the run."""
EXECUTION_DURATION: Final = "spanproof.execution.duration_s"
"""double: seconds between handing the code to the executor and its answer."""
EXECUTION_ERROR_CHAIN: Final = "spanproof.execution.error.chain"
"""string[]: class names from the framework's error to the one first raised."""
EXECUTOR_TYPE: Final = "spanproof.executor.type"
"""string: `local`, `docker`, `e2b`, …"""
EXECUTOR_VERSION: Final = "spanproof.executor.version"
"""string: of the interpreter or image that ran the code."""
EXECUTOR_IMPORTS: Final = "spanproof.executor.authorized_imports"
"""string[]: modules the executor let the code import."""
EXECUTOR_IMAGE_NAME: Final = "spanproof.executor.image.name"
EXECUTOR_IMAGE_DIGEST: Final = "spanproof.executor.image.digest"

# --- the inline guard ---
GUARD_VERDICT: Final = "spanproof.guard.verdict"
"""string: `allow`, `review`, `deny`: what the scan said before the code ran."""
GUARD_RULES: Final = "spanproof.guard.rules"
"""string[]: rules of the findings behind it."""
GUARD_EVENT: Final = "spanproof.guard.finding"
"""span event: a finding for which code was refused, or would have been by a guard that only observes."""
GUARD_BLOCKED: Final = "spanproof.guard.blocked"
"""boolean, on the event: the code did not run."""
GUARD_RULE: Final = "spanproof.guard.rule"
"""string, on the event: the rule's id."""
GUARD_SEVERITY: Final = "spanproof.guard.severity"
"""string, on the event: `low`, `medium`, `high`, `critical`."""
GUARD_LINE: Final = "spanproof.guard.line"
"""int, on the event: where in the code, from 1; `spanproof.guard.column` likewise."""
GUARD_COLUMN: Final = "spanproof.guard.column"
"""int, on the event."""

# --- the run and its steps ---
STEP_NUMBER: Final = "spanproof.step.number"
"""int: from 1."""
STEP_KIND: Final = "spanproof.step.kind"
"""string: `action`, `planning`, `final_answer`."""
RUN_ENDING: Final = "spanproof.run.ending"
"""string: `answered`, `max_steps`, `failed`; on the AGENT span."""
RUN_MAX_STEPS: Final = "spanproof.run.max_steps"
"""int: the limit the agent ran under."""
RUN_VARIABLES: Final = "spanproof.run.variables"
"""string: JSON object of the variables the caller put into the interpreter before the first step."""

# --- tools and messages ---
TOOL_POSITIONAL: Final = "spanproof.tool.call.positional"
"""string: JSON array of positional arguments that no parameter name could be given to."""
TOOL_RESULT_TYPE: Final = "spanproof.tool.call.result.type"
"""string: the result's Python type, `int`, `tuple`, `decimal.Decimal`; JSON keeps only some of them apart."""
MESSAGES_OMITTED: Final = "spanproof.messages.omitted"
"""int: how many leading input messages stand on earlier spans of the same run and are left out here."""

MESSAGES_BASE: Final = "spanproof.messages.base"
"""string: id of the LLM span whose whole input begins with the omitted messages."""

# --- content ---
CONTENT_TRUNCATED: Final = "spanproof.content.truncated"
"""string[]: names of the attributes that were clipped; each keeps head and tail around a mark."""
CONTENT_REDACTED: Final = "spanproof.content.redacted"
"""string[]: names of the attributes from which something was kept back; they count as clipped, too."""
CONTENT_LOSSY: Final = "spanproof.content.lossy"
"""string[]: names of the attributes in which an object that JSON cannot hold stands as text."""
CONTENT_HIDDEN: Final = "spanproof.content.hidden"
"""boolean: content capture is off."""

INSTRUMENTOR_ERROR_EVENT: Final = "spanproof.instrumentor.error"
"""span event: an error of the instrumentor was swallowed; `place` and `error.type` say which."""

# --- cohort, on every span of a run ---
COHORT_PREFIX: Final = "spanproof.cohort."
"""Followed by `project`, `task`, `prompt_version`, `fixture_set`, `release`."""

# --- what a user thought of a run, on a span of its own named `feedback` ---
FEEDBACK_KIND: Final = "spanproof.feedback.kind"
"""string: `thumbs_up`, `thumbs_down`, `rerun`, `revert`, `escalation`."""
FEEDBACK_TRACE_ID: Final = "spanproof.feedback.trace_id"
"""string: the trace it is about, 32 hexadecimal digits; the span itself begins another trace."""
FEEDBACK_SPAN_ID: Final = "spanproof.feedback.span_id"
"""string: the run's AGENT span, 16 hexadecimal digits, where it is known; the span links to it as well."""
FEEDBACK_COMMENT: Final = "spanproof.feedback.comment"
"""string: what the user said."""

# --- scores, on evaluation events and evaluator spans ---
SCORE_ID: Final = "spanproof.score.id"
SCORE_LAYER: Final = "spanproof.score.layer"
SCORE_OUTCOME: Final = "spanproof.score.outcome"
"""string: `scored`, `skipped`, `errored`."""
SCORE_REASON: Final = "spanproof.score.reason"
"""string: why it was skipped."""
EVALUATOR_NAME: Final = "spanproof.evaluator.name"
EVALUATOR_VERSION: Final = "spanproof.evaluator.version"
SNIPPET_ID: Final = "spanproof.snippet.id"
RUN_SPAN_ID: Final = "spanproof.run.span_id"
