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
from spanproof.trace.dialects.decode import NotDecoded, decode_document, parse_json, to_payload
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.frameworks import build_call, read_arguments
from spanproof.trace.dialects.genai import OPERATIONS, find_last_text, read_conversation
from spanproof.trace.dialects.openinference import find_usage, parse_kind
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span of our instrumentors."""
    kind = parse_kind(raw.find_text(oi.SPAN_KIND))
    if kind is SpanKind.OTHER:
        kind = OPERATIONS.get(raw.find_text(genai.OPERATION_NAME) or "", SpanKind.OTHER)
    inputs, outputs = read_conversation(raw)
    arguments = _find_payload(raw, oi.INPUT_VALUE, oi.INPUT_MIME_TYPE)
    result = _find_payload(raw, oi.OUTPUT_VALUE, oi.OUTPUT_MIME_TYPE)
    if kind is SpanKind.TOOL:
        arguments = arguments or to_payload(raw.get_first(genai.TOOL_CALL_ARGUMENTS))
        result = result or to_payload(raw.get_first(genai.TOOL_CALL_RESULT))
    clipped = raw.attributes.get(ours.CONTENT_TRUNCATED)
    code = _find_code(raw)
    observation = _find_observation(raw, kind, result if code is not None else None)
    return Reading(
        kind,
        arguments or _find_outer_text(kind, inputs, "user"),
        result or _find_outer_text(kind, outputs, "assistant"),
        inputs,
        outputs,
        tool=_find_tool(raw, kind),
        code=code,
        observation=observation,
        step=_find_step(raw),
        usage=_find_usage(raw),
        model=raw.find_text(genai.RESPONSE_MODEL, genai.REQUEST_MODEL, oi.LLM_MODEL_NAME),
        agent=raw.find_text(genai.AGENT_NAME, oi.AGENT_NAME),
        error=_find_chained_error(raw),
        truncated=bool(clipped) and isinstance(clipped, list | str | bool),
        hidden=raw.attributes.get(ours.CONTENT_HIDDEN) is True,
        environment=_find_environment(raw),
    )


def add_code(raw: RawSpan, reading: Reading) -> Reading:
    """Return another dialect's reading with code and environment where the span has them in our names."""
    if not any(key.startswith(_ADDED) for key in raw.attributes):
        return reading
    return replace(
        reading,
        code=reading.code or _find_code(raw),
        environment=reading.environment or _find_environment(raw),
    )


def _find_payload(raw: RawSpan, name: str, mime_name: str) -> Payload | None:
    """Return a value of a span; what our instrumentors wrote is text where they name no type."""
    own = raw.scope.startswith(ours.SCOPE_PREFIX)
    return to_payload(raw.get_first(name), raw.find_text(mime_name) or (oi.MIME_TEXT if own else None))


def _find_observation(raw: RawSpan, kind: SpanKind, of_code: Payload | None) -> str | None:
    """Return what the agent was shown; of a tool that ran code, that is its result."""
    shown = raw.find_text(ours.EXECUTION_OBSERVATION)
    if shown is None and kind is SpanKind.TOOL and of_code is not None:
        return of_code.text
    return shown


def _find_tool(raw: RawSpan, kind: SpanKind) -> ToolCall | None:
    if kind is not SpanKind.TOOL:
        return None
    return build_call(raw, raw.find_text(genai.TOOL_NAME, oi.TOOL_NAME), _read_arguments(raw))


def _find_outer_text(kind: SpanKind, spoken: tuple[Message, ...], role: str) -> Payload | None:
    if kind is not SpanKind.LLM:
        return find_last_text(spoken, role)
    return None


def _read_arguments(raw: RawSpan) -> JsonValue:
    named = read_arguments(raw.get_first(genai.TOOL_CALL_ARGUMENTS, oi.INPUT_VALUE))
    positional = decode_document(raw.get_first(ours.TOOL_POSITIONAL))
    if not isinstance(positional, list) or not positional:
        return named
    if isinstance(named, dict) and named:
        return {"args": positional, "kwargs": named}
    return positional


def _find_source(raw: RawSpan) -> tuple[str, str] | None:
    """Return the code that ran and where it is written: on its own, or as an argument of its tool."""
    source, argument = raw.find_text(ours.CODE_SOURCE), raw.find_text(ours.CODE_ARGUMENT)
    if source is not None:
        return source, ours.CODE_SOURCE
    arguments = decode_document(raw.get_first(genai.TOOL_CALL_ARGUMENTS))
    if argument is not None and isinstance(arguments, dict):
        code = arguments.get(argument)
    else:
        code = None
    if isinstance(code, str):
        return (code, f"{genai.TOOL_CALL_ARGUMENTS}.{argument}")
    return None


def _find_code(raw: RawSpan) -> ExecutedCode | None:
    found = _find_source(raw)
    if found is None:
        return None
    source, path = found
    return ExecutedCode(
        source=source,
        path=path,
        language=raw.find_text(ours.CODE_LANGUAGE),
        logs=_find_optional_text(raw, ours.EXECUTION_LOGS),
        output=_find_output(raw),
        is_final=raw.attributes.get(ours.EXECUTION_IS_FINAL) is True,
        executor=Executor(
            type=raw.find_text(ours.EXECUTOR_TYPE),
            version=raw.find_text(ours.EXECUTOR_VERSION),
            image_name=raw.find_text(ours.EXECUTOR_IMAGE_NAME),
            image_digest=raw.find_text(ours.EXECUTOR_IMAGE_DIGEST),
        ),
    )


def _find_output(raw: RawSpan) -> Payload | None:
    """Return the value the code ended with: as JSON where it has that form, else its text."""
    value = raw.attributes.get(ours.EXECUTION_OUTPUT)
    mime_type = raw.find_text(ours.EXECUTION_OUTPUT_MIME_TYPE)
    if not isinstance(value, str) or mime_type is not None:
        return to_payload(value, mime_type)
    try:
        return Payload(value, parse_json(value), typed=True)
    except NotDecoded:
        return Payload(value, value, typed=True)


def _find_optional_text(raw: RawSpan, key: str) -> str | None:
    """Return a text that may be empty: code that printed nothing has empty logs, not unknown ones."""
    value = raw.attributes.get(key)
    return value if isinstance(value, str) else None


def _find_step(raw: RawSpan) -> StepInfo | None:
    number, kind = raw.find_integer(ours.STEP_NUMBER), raw.find_text(ours.STEP_KIND)
    if number is None and kind is None:
        return None
    return StepInfo(number, kind or "action")


def _find_usage(raw: RawSpan) -> Usage | None:
    return find_usage(
        raw.find_integer(genai.USAGE_INPUT_TOKENS, oi.LLM_TOKEN_COUNT_PROMPT),
        raw.find_integer(genai.USAGE_OUTPUT_TOKENS, oi.LLM_TOKEN_COUNT_COMPLETION),
    )


def _find_environment(raw: RawSpan) -> Environment | None:
    """Return what the agent's process ran on; None where the packages are missing or cut."""
    packages = decode_document(raw.get_first(ours.ENVIRONMENT_PACKAGES))
    if not isinstance(packages, dict):
        return None
    named = {name: version for name, version in packages.items() if isinstance(version, str)}
    return Environment(
        named,
        raw.find_text(ours.ENVIRONMENT_PYTHON),
        raw.find_text(ours.ENVIRONMENT_PLATFORM),
        raw.find_text(ours.ENVIRONMENT_IMAGE_NAME),
        raw.find_text(ours.ENVIRONMENT_IMAGE_DIGEST),
    )


def _find_chained_error(raw: RawSpan) -> SpanError | None:
    error = find_error(raw)
    chain = raw.attributes.get(ours.EXECUTION_ERROR_CHAIN)
    if error is None or not isinstance(chain, list):
        return error
    return replace(error, chain=tuple(name for name in chain if isinstance(name, str)))


_ADDED = ("spanproof.code.", "spanproof.environment.")

DIALECT = Dialect(
    "spanproof",
    (ours.SCOPE_PREFIX,),
    ("spanproof.code.", "spanproof.execution.", "spanproof.step.", "spanproof.run."),
    read_span,
)
