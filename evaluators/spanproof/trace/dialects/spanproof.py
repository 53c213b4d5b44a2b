"""Our own dialect.

OpenInference's kinds and values, OTel GenAI's messages and tools, and `spanproof.*` for code.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.semconv import genai
from spanproof.semconv import openinference as oi
from spanproof.semconv import spanproof as ours
from spanproof.trace import (
    Environment,
    ExecutedCode,
    Executor,
    JsonValue,
    Message,
    Payload,
    SpanError,
    SpanKind,
    StepInfo,
    ToolCall,
    Usage,
)
from spanproof.trace.dialects.decode import NotDecoded, decoded, json_value, payload
from spanproof.trace.dialects.failures import error_of
from spanproof.trace.dialects.frameworks import call_of, tool_arguments
from spanproof.trace.dialects.genai import OPERATIONS, conversation, text_payload
from spanproof.trace.dialects.openinference import kind_of, usage_of
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading


def read(raw: RawSpan) -> Reading:
    """The content of a span of our instrumentors."""
    kind = kind_of(raw.text(oi.SPAN_KIND))
    if kind is SpanKind.OTHER:
        kind = OPERATIONS.get(raw.text(genai.OPERATION_NAME) or "", SpanKind.OTHER)
    inputs, outputs = conversation(raw)
    given = _shown(raw, oi.INPUT_VALUE, oi.INPUT_MIME_TYPE)
    result = _shown(raw, oi.OUTPUT_VALUE, oi.OUTPUT_MIME_TYPE)
    if kind is SpanKind.TOOL:
        given = given or payload(raw.first(genai.TOOL_CALL_ARGUMENTS))
        result = result or payload(raw.first(genai.TOOL_CALL_RESULT))
    clipped = raw.attributes.get(ours.CONTENT_TRUNCATED)
    code = _code(raw)
    return Reading(
        kind,
        given or _outer_text(kind, inputs, "user"),
        result or _outer_text(kind, outputs, "assistant"),
        inputs,
        outputs,
        tool=_tool(raw, kind),
        code=code,
        observation=_observation(raw, kind, result if code is not None else None),
        step=_step(raw),
        usage=_usage(raw),
        model=raw.text(genai.RESPONSE_MODEL, genai.REQUEST_MODEL, oi.LLM_MODEL_NAME),
        agent=raw.text(genai.AGENT_NAME, oi.AGENT_NAME),
        error=_error(raw),
        truncated=bool(clipped) and isinstance(clipped, list | str | bool),
        hidden=raw.attributes.get(ours.CONTENT_HIDDEN) is True,
        environment=_environment(raw),
    )


def add_code(raw: RawSpan, reading: Reading) -> Reading:
    """Return another dialect's reading with code and environment where the span has them in our names."""
    if not any(key.startswith(_ADDED) for key in raw.attributes):
        return reading
    return replace(
        reading,
        code=reading.code or _code(raw),
        environment=reading.environment or _environment(raw),
    )


def _shown(raw: RawSpan, name: str, mime_name: str) -> Payload | None:
    """A value of a span; what our instrumentors wrote is text where they name no type."""
    own = raw.scope.startswith(ours.SCOPE_PREFIX)
    return payload(raw.first(name), raw.text(mime_name) or (oi.MIME_TEXT if own else None))


def _observation(raw: RawSpan, kind: SpanKind, of_code: Payload | None) -> str | None:
    """What the agent was shown; of a tool that ran code, that is its result."""
    shown = raw.text(ours.EXECUTION_OBSERVATION)
    return of_code.text if shown is None and kind is SpanKind.TOOL and of_code is not None else shown


def _tool(raw: RawSpan, kind: SpanKind) -> ToolCall | None:
    if kind is not SpanKind.TOOL:
        return None
    return call_of(raw, raw.text(genai.TOOL_NAME, oi.TOOL_NAME), _arguments(raw))


def _outer_text(kind: SpanKind, spoken: tuple[Message, ...], role: str) -> Payload | None:
    return text_payload(spoken, role) if kind is not SpanKind.LLM else None


def _arguments(raw: RawSpan) -> JsonValue:
    named = tool_arguments(raw.first(genai.TOOL_CALL_ARGUMENTS, oi.INPUT_VALUE))
    positional = decoded(raw.first(ours.TOOL_POSITIONAL))
    if not isinstance(positional, list) or not positional:
        return named
    return {"args": positional, "kwargs": named} if isinstance(named, dict) and named else positional


def _source(raw: RawSpan) -> tuple[str, str] | None:
    """The code that ran and where it is written: on its own, or as an argument of the tool that ran it."""
    source, argument = raw.text(ours.CODE_SOURCE), raw.text(ours.CODE_ARGUMENT)
    if source is not None:
        return source, ours.CODE_SOURCE
    arguments = decoded(raw.first(genai.TOOL_CALL_ARGUMENTS))
    given = arguments.get(argument) if argument is not None and isinstance(arguments, dict) else None
    return (given, f"{genai.TOOL_CALL_ARGUMENTS}.{argument}") if isinstance(given, str) else None


def _code(raw: RawSpan) -> ExecutedCode | None:
    found = _source(raw)
    if found is None:
        return None
    source, path = found
    return ExecutedCode(
        source=source,
        path=path,
        language=raw.text(ours.CODE_LANGUAGE),
        logs=_optional_text(raw, ours.EXECUTION_LOGS),
        output=_output(raw),
        is_final=raw.attributes.get(ours.EXECUTION_IS_FINAL) is True,
        executor=Executor(
            type=raw.text(ours.EXECUTOR_TYPE),
            version=raw.text(ours.EXECUTOR_VERSION),
            image_name=raw.text(ours.EXECUTOR_IMAGE_NAME),
            image_digest=raw.text(ours.EXECUTOR_IMAGE_DIGEST),
        ),
    )


def _output(raw: RawSpan) -> Payload | None:
    """The value the code ended with: as JSON where it has that form, else its text."""
    value = raw.attributes.get(ours.EXECUTION_OUTPUT)
    mime_type = raw.text(ours.EXECUTION_OUTPUT_MIME_TYPE)
    if not isinstance(value, str) or mime_type is not None:
        return payload(value, mime_type)
    try:
        return Payload(value, json_value(value), typed=True)
    except NotDecoded:
        return Payload(value, value, typed=True)


def _optional_text(raw: RawSpan, key: str) -> str | None:
    """A text that may be empty: code that printed nothing has empty logs, not unknown ones."""
    value = raw.attributes.get(key)
    return value if isinstance(value, str) else None


def _step(raw: RawSpan) -> StepInfo | None:
    number, kind = raw.integer(ours.STEP_NUMBER), raw.text(ours.STEP_KIND)
    if number is None and kind is None:
        return None
    return StepInfo(number, kind or "action")


def _usage(raw: RawSpan) -> Usage | None:
    return usage_of(
        raw.integer(genai.USAGE_INPUT_TOKENS, oi.LLM_TOKEN_COUNT_PROMPT),
        raw.integer(genai.USAGE_OUTPUT_TOKENS, oi.LLM_TOKEN_COUNT_COMPLETION),
    )


def _environment(raw: RawSpan) -> Environment | None:
    """Return what the agent's process ran on; None where the packages are missing or cut."""
    packages = decoded(raw.first(ours.ENVIRONMENT_PACKAGES))
    if not isinstance(packages, dict):
        return None
    named = {name: version for name, version in packages.items() if isinstance(version, str)}
    return Environment(
        named,
        raw.text(ours.ENVIRONMENT_PYTHON),
        raw.text(ours.ENVIRONMENT_PLATFORM),
        raw.text(ours.ENVIRONMENT_IMAGE_NAME),
        raw.text(ours.ENVIRONMENT_IMAGE_DIGEST),
    )


def _error(raw: RawSpan) -> SpanError | None:
    error = error_of(raw)
    chain = raw.attributes.get(ours.EXECUTION_ERROR_CHAIN)
    if error is None or not isinstance(chain, list):
        return error
    return replace(error, chain=tuple(name for name in chain if isinstance(name, str)))


_ADDED = ("spanproof.code.", "spanproof.environment.")

DIALECT = Dialect(
    "spanproof",
    (ours.SCOPE_PREFIX,),
    ("spanproof.code.", "spanproof.execution.", "spanproof.step.", "spanproof.run."),
    read,
)
