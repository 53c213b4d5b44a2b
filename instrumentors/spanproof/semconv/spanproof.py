"""Our own names, for what neither OTel GenAI nor OpenInference names.

Code execution has no merged convention (semantic-conventions-genai, November 2026); these stand in its place
and are written beside the standard ones, never instead of them.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from spanproof.semconv.definition import define

SCOPE_PREFIX: Final = "spanproof."
"""Instrumentation scopes of ours are named `spanproof.instrumentors.<framework>`."""

# --- code, on the span within which it ran (a step, or a tool that takes code) ---
CODE_SOURCE: Final = define("spanproof.code.source", "string", "print(40 + 2)", "the code as it ran")
CODE_ARGUMENT: Final = define(
    "spanproof.code.argument", "string", "code",
    "instead of `spanproof.code.source`: which of `gen_ai.tool.call.arguments` is the code that ran",
)  # fmt: skip
CODE_LANGUAGE: Final = define(
    "spanproof.code.language", "string", "python", "`python`, `bash`, `sql`, `javascript`, …"
)
CODE_SHA256: Final = define(
    "spanproof.code.sha256", "string", "f2f1cee8…",
    "of the whole source in UTF-8, where that was clipped",
)  # fmt: skip

# --- the result of running it ---
EXECUTION_OBSERVATION: Final = define(
    "spanproof.execution.observation",
    "string",
    "Execution logs:\\n42\\n",
    "what the agent was shown; a tool's is its result",
)
EXECUTION_LOGS: Final = define("spanproof.execution.logs", "string", "42\\n", "what the code printed")
EXECUTION_OUTPUT: Final = define(
    "spanproof.execution.output", "string", "42", "the value it ended with, as its MIME type says"
)
EXECUTION_OUTPUT_MIME_TYPE: Final = define(
    "spanproof.execution.output.mime_type", "string", "application/json",
    "`application/json`, or `text/plain` for a string",
)  # fmt: skip
EXECUTION_IS_FINAL: Final = define(
    "spanproof.execution.is_final", "boolean", "true", "the step ended the run; none where it did not"
)
EXECUTION_DURATION: Final = define(
    "spanproof.execution.duration_s", "double", "0.0123",
    "seconds between handing the code to the executor and its answer",
)  # fmt: skip
EXECUTION_ERROR_CHAIN: Final = define(
    "spanproof.execution.error.chain", "string[]", "AgentExecutionError, InterpreterError, KeyError",
    "class names from the framework's error to the one first raised",
)  # fmt: skip
EXECUTOR_TYPE: Final = define(
    "spanproof.executor.type", "string", "docker", "`local`, `docker`, `e2b`, …, else the executor's class"
)
EXECUTOR_VERSION: Final = define(
    "spanproof.executor.version", "string", "python 3.11.7", "of the interpreter that ran the code"
)
EXECUTOR_IMPORTS: Final = define(
    "spanproof.executor.authorized_imports", "string[]", "math, re", "modules the code may import"
)
EXECUTOR_IMAGE_NAME: Final = define(
    "spanproof.executor.image.name", "string", "registry/agent:7", "of the container's image"
)
EXECUTOR_IMAGE_DIGEST: Final = define(
    "spanproof.executor.image.digest", "string", "sha256:9f86d0…", "of the container's image"
)

# --- the inline guard ---
GUARD_VERDICT: Final = define(
    "spanproof.guard.verdict", "string", "deny",
    "`allow`, `review` or `deny`: what the scan said before the code ran",
)  # fmt: skip
GUARD_RULES: Final = define(
    "spanproof.guard.rules", "string[]", "py.process.spawn", "rules of the findings behind it"
)
GUARD_UNAVAILABLE: Final = define(
    "spanproof.guard.unavailable", "string", "no answer within 3 s",
    "why the collector gave the guard no verdict",
)  # fmt: skip

GUARD_EVENT: Final = "spanproof.guard.finding"
"""Span event: a finding for which code was refused, or would have been by a guard that only observes."""
_finding = partial(define, place="event")
GUARD_BLOCKED: Final = _finding("spanproof.guard.blocked", "boolean", "true", "the code did not run")
GUARD_RULE: Final = _finding("spanproof.guard.rule", "string", "py.process.spawn", "the finding's rule")
GUARD_SEVERITY: Final = _finding(
    "spanproof.guard.severity", "string", "high", "`low`, `medium`, `high` or `critical`"
)
GUARD_LINE: Final = _finding("spanproof.guard.line", "int", "3", "where in the code, from 1")
GUARD_COLUMN: Final = _finding("spanproof.guard.column", "int", "5", "where in the line")

# --- the run and its steps ---
STEP_NUMBER: Final = define("spanproof.step.number", "int", "1", "from 1")
STEP_KIND: Final = define("spanproof.step.kind", "string", "action", "`action`, `planning`, `final_answer`")
STEP_INPUT_TOKENS: Final = define(
    "spanproof.step.input_tokens",
    "int",
    "911",
    "as the framework counts its step; not to be added to those of the calls within",
)
STEP_OUTPUT_TOKENS: Final = define("spanproof.step.output_tokens", "int", "154", "likewise")
RUN_ENDING: Final = define(
    "spanproof.run.ending",
    "string",
    "answered",
    "`answered`, `max_steps` or `failed`, none if its caller gave it up or another agent took over; on the"
    " AGENT span",
)
RUN_MAX_STEPS: Final = define("spanproof.run.max_steps", "int", "20", "the limit the agent ran under")
RUN_VARIABLES: Final = define(
    "spanproof.run.variables", "string", '{"rate":2.5}',
    "JSON object of what the caller put into the interpreter before the first step",
)  # fmt: skip

# --- the agent's process, on the outermost span of its trace ---
ENVIRONMENT_PACKAGES: Final = define(
    "spanproof.environment.packages", "string", '{"numpy":"2.3.4","pandas":"2.3.3"}',
    "JSON object of the packages that the process had imported by the span's end: distribution to version",
)  # fmt: skip
ENVIRONMENT_PYTHON: Final = define(
    "spanproof.environment.python", "string", "cpython 3.11.7", "the interpreter's implementation and version"
)
ENVIRONMENT_PLATFORM: Final = define(
    "spanproof.environment.platform", "string", "linux-x86_64", "as `sysconfig.get_platform()` names it"
)

ENVIRONMENT_IMAGE_NAME: Final = define(
    "spanproof.environment.image.name", "string", "registry/agent:7", "of the image that the process runs in"
)
ENVIRONMENT_IMAGE_DIGEST: Final = define(
    "spanproof.environment.image.digest", "string", "sha256:9f86d0…", "of the image that the process runs in"
)

# --- tools and messages ---
TOOL_POSITIONAL: Final = define(
    "spanproof.tool.call.positional", "string", "[1,2]",
    "JSON array of the arguments that no parameter name could be given to",
)  # fmt: skip
TOOL_RESULT_TYPE: Final = define(
    "spanproof.tool.call.result.type", "string", "decimal.Decimal",
    "the result's Python type, where it is none of JSON's",
)  # fmt: skip
MESSAGES_OMITTED: Final = define(
    "spanproof.messages.omitted", "int", "5",
    "how many leading input messages stand on earlier spans of the run and are left out here",
)  # fmt: skip
MESSAGES_BASE: Final = define(
    "spanproof.messages.base", "string", "00f067aa0ba902b7",
    "id of the LLM span whose whole input and answer begin with the omitted messages",
)  # fmt: skip

# --- content ---
CONTENT_TRUNCATED: Final = define(
    "spanproof.content.truncated", "string[]", "output.value",
    "names of the attributes that are not whole: clipped around a mark, or redacted",
)  # fmt: skip
CONTENT_REDACTED: Final = define(
    "spanproof.content.redacted", "string[]", "input.value",
    "names of the attributes from which something was kept back",
)  # fmt: skip
CONTENT_LOSSY: Final = define(
    "spanproof.content.lossy", "string[]", "output.value",
    "names of the attributes in which an object that JSON cannot hold is written as text",
)  # fmt: skip
CONTENT_HIDDEN: Final = define(
    "spanproof.content.hidden", "boolean", "true",
    "content capture is off; of the instrumentation scope, for all of its spans, or of another scope's span",
)  # fmt: skip

INSTRUMENTOR_ERROR_EVENT: Final = "spanproof.instrumentor.error"
"""Span event: an error of the instrumentor was swallowed; it carries `error.type`, too."""
INSTRUMENTOR_ERROR_PLACE: Final = define(
    "spanproof.instrumentor.place", "string", "smolagents.step.finish",
    "where the instrumentor's error was swallowed", place="event",
)  # fmt: skip

# --- cohort, on every span of a run ---
COHORT_PREFIX: Final = "spanproof.cohort."
_cohort = partial(define, type_="string")
COHORT_PROJECT: Final = _cohort(COHORT_PREFIX + "project", example="shop", brief="the project of its scores")
COHORT_TASK: Final = _cohort(COHORT_PREFIX + "task", example="refund", brief="the kind of task")
COHORT_PROMPT_VERSION: Final = _cohort(
    COHORT_PREFIX + "prompt_version", example="v7", brief="of the prompt the agent runs with"
)
COHORT_FIXTURE_SET: Final = _cohort(
    COHORT_PREFIX + "fixture_set", example="november", brief="the recorded data the run works on"
)
COHORT_RELEASE: Final = _cohort(COHORT_PREFIX + "release", example="2026.11", brief="of the application")

EVAL_TAGS: Final = define(
    "spanproof.eval.tags",
    "string[]",
    "polite, billing",
    "what the spans are to be judged for: evaluators choose by it",
)

# --- what a user thought of a run, on a span of its own named `feedback` ---
FEEDBACK_KIND: Final = define(
    "spanproof.feedback.kind", "string", "thumbs_down",
    "`thumbs_up`, `thumbs_down`, `rerun`, `revert`, `escalation`",
)  # fmt: skip
FEEDBACK_TRACE_ID: Final = define(
    "spanproof.feedback.trace_id", "string", "4bf92f3577b34da6a3ce929d0e0e4736",
    "the trace it is about; the span itself begins another one",
)  # fmt: skip
FEEDBACK_SPAN_ID: Final = define(
    "spanproof.feedback.span_id", "string", "00f067aa0ba902b7", "the run's AGENT span, where it is known"
)
FEEDBACK_COMMENT: Final = define(
    "spanproof.feedback.comment", "string", "the total is wrong", "what the user said; content"
)

# --- scores, on evaluation events and evaluator spans ---
_score = partial(define, type_="string", place="event")
SCORE_ID: Final = _score(
    "spanproof.score.id", example="9c1e…", brief="the same whenever the same thing is evaluated the same way"
)
SCORE_LAYER: Final = _score("spanproof.score.layer", example="execution", brief="one of the five layers")
SCORE_OUTCOME: Final = _score(
    "spanproof.score.outcome", example="scored", brief="`scored`, `skipped` or `errored`"
)
SCORE_REASON: Final = _score(
    "spanproof.score.reason", example="no snippet was executed", brief="why it was skipped"
)
SCORE_UNIT: Final = _score(
    "spanproof.score.unit", example="steps", brief="of a metric, what its value is counted in"
)
SCORE_NORMALISED: Final = _score(
    "spanproof.score.normalised", type_="double", example="0.59", brief="of a metric, its value from 0 to 1"
)
EVALUATOR_NAME: Final = _score("spanproof.evaluator.name", example="spanproof.execution", brief="who judged")
EVALUATOR_VERSION: Final = _score("spanproof.evaluator.version", example="3", brief="the evaluator's version")
SNIPPET_ID: Final = _score("spanproof.snippet.id", example="b5bb9d80…", brief="the snippet it is about")
RUN_SPAN_ID: Final = _score(
    "spanproof.run.span_id", example="00f067aa0ba902b7", brief="the run it belongs to"
)

# --- the collector's own work, on the first span of its own traces ---
COLLECTOR_TRACE_ID: Final = define(
    "spanproof.collector.trace_id", "string", "4bf92f3577b34da6a3ce929d0e0e4736",
    "the trace that was evaluated",
)  # fmt: skip
COLLECTOR_COMPLETE: Final = define(
    "spanproof.collector.complete", "string", "quiet",
    "why it was taken to be complete: `quiet`, `orphans`, `max_wait`, `memory`, `shutdown`",
)  # fmt: skip
COLLECTOR_GENERATION: Final = define(
    "spanproof.collector.generation", "int", "0", "how often it was evaluated before, with fewer spans"
)
COLLECTOR_ATTEMPTS: Final = define("spanproof.collector.attempts", "int", "1", "attempts that it took")
COLLECTOR_SPANS: Final = define("spanproof.collector.spans", "int", "13", "its spans")
COLLECTOR_SCORES: Final = define("spanproof.collector.scores", "int", "21", "its scores")
