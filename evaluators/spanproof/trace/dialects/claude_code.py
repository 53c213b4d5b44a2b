"""Claude Code's own spans: an interaction is the agent, with its model requests and tools below it.

Content is on the spans only where the user switched it on: `user_prompt`, `full_command`, `file_path`, and
the event `tool.output`. A tool's outcome is on the span `claude_code.tool.execution` below it. The model's
own words are not recorded, so that a model request without content is none whose content was kept back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from spanproof.trace import JsonValue, Payload, Span, SpanError, SpanKind, ToolCall
from spanproof.trace.dialects.decode import as_text, decode_document, to_payload
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.openinference import find_usage
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

PREFIX: Final = "claude_code."
EXECUTION: Final = f"{PREFIX}tool.execution"
"""Name of the span that holds how a tool call ended."""

_REDACTED: Final = "<REDACTED>"
# What a tool was given, by the name that Claude Code has for it in a span to that of the tool's argument.
_ARGUMENTS: Final = {
    "full_command": "command",
    "bash_command": "command",
    "file_path": "file_path",
    "skill_name": "skill",
    "subagent_type": "subagent_type",
}
_WHOLE_INPUT: Final = ("tool_input", "tool_parameters")
_OUTPUTS: Final = ("output", "content", "result", "diff")


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written by Claude Code."""
    kind = (raw.find_text("span.type") or raw.name.removeprefix(PREFIX)).removeprefix(PREFIX)
    if kind == "interaction":
        return _read_interaction(raw)
    if kind == "llm_request":
        return _read_request(raw)
    if kind == "tool":
        return _read_tool(raw)
    if kind == "tool.execution":
        return Reading(SpanKind.OTHER, error=_find_failure(raw))
    return Reading(SpanKind.OTHER, error=find_error(raw))


def _read_interaction(raw: RawSpan) -> Reading:
    prompt = raw.find_text("user_prompt")
    hidden = prompt == _REDACTED
    if prompt is None or hidden:
        question = None
    else:
        question = Payload(prompt, prompt, typed=True)
    answer = to_payload(raw.get_first("response", "assistant_response", "gen_ai.output.text"))
    return Reading(
        SpanKind.AGENT, question, answer, agent="claude-code", hidden=hidden, error=find_error(raw)
    )


def _read_request(raw: RawSpan) -> Reading:
    return Reading(
        SpanKind.LLM,
        to_payload(raw.get_first("prompt", "request")),
        to_payload(raw.get_first("response.text", "completion", "response.model_output")),
        usage=find_usage(raw.find_integer("input_tokens"), raw.find_integer("output_tokens")),
        model=raw.find_text("gen_ai.request.model", "model"),
        error=_find_failure(raw),
        unrecorded=True,
    )


def _read_tool(raw: RawSpan) -> Reading:
    arguments = _read_arguments(raw)
    output = next(
        (found for event in raw.events if (found := _find_output(event.attributes)) is not None), None
    )
    name = raw.find_text("tool_name", "gen_ai.tool.name") or raw.name.removeprefix(PREFIX)
    if arguments:
        arguments_payload = Payload(as_text(arguments), arguments, typed=True)
    else:
        arguments_payload = None
    return Reading(
        SpanKind.TOOL,
        arguments_payload,
        output or to_payload(raw.get_first("tool.output", "output")),
        tool=ToolCall(name, arguments or None, raw.find_text("tool_use_id", "gen_ai.tool.call.id")),
        error=_find_failure(raw),
    )


def _read_arguments(raw: RawSpan) -> dict[str, JsonValue]:
    """Return the arguments: the whole of them where recorded, else those that have an attribute."""
    held = [raw.attributes, *(event.attributes for event in raw.events)]
    for attributes in held:
        for name in _WHOLE_INPUT:
            whole = decode_document(attributes.get(name))
            if isinstance(whole, dict) and whole:
                return whole
    found: dict[str, JsonValue] = {}
    for attributes in held:
        for name, argument in _ARGUMENTS.items():
            value = attributes.get(name)
            if isinstance(value, str) and value and value != _REDACTED:
                found.setdefault(argument, value)
    return found


def _find_output(attributes: object) -> Payload | None:
    held = attributes if isinstance(attributes, dict) else {}
    value = next((held[name] for name in _OUTPUTS if held.get(name) not in (None, "", _REDACTED)), None)
    return to_payload(value)


def _find_failure(raw: RawSpan) -> SpanError | None:
    """Return the error that the span's own attributes report, else that of its status or events."""
    reported = raw.find_text("error", "error_message", "error.message")
    if raw.attributes.get("success") is False or reported is not None:
        return SpanError(raw.find_text("error.type", "error_type"), reported or raw.status_message)
    return find_error(raw)


def with_executions(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with each tool call's outcome on the call, from the span below it that has it."""
    calls = {(span.trace_id, span.span_id): span for span in spans if _is_call(span)}
    outcomes = {
        (span.trace_id, span.parent_id or ""): span for span in spans if span.name == EXECUTION and span.error
    }
    failed = {
        key: replace(call, error=call.error or outcomes[key].error)
        for key, call in calls.items()
        if key in outcomes
    }
    if failed:
        return [failed.get((span.trace_id, span.span_id), span) for span in spans]
    return list(spans)


def _is_call(span: Span) -> bool:
    return span.dialect == "claude_code" and span.kind is SpanKind.TOOL


DIALECT = Dialect(
    "claude_code",
    ("com.anthropic.claude_code",),
    ("interaction.sequence", "llm_request.context", "full_command", "tool.blocked_on_user"),
    read_span,
)
