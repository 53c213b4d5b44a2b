"""OpenInference: kinds as `openinference.span.kind`, content as `input.value` and flattened messages.

Also reads smolagents' steps in it: they are CHAIN spans named `Step N` whose output is the observation.
"""

from __future__ import annotations

import re
from dataclasses import replace

from spanproof.semconv import openinference as oi
from spanproof.trace import Payload, SpanKind, Usage
from spanproof.trace.dialects.decode import is_cut, to_payload
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.flattened import read_flattened_messages
from spanproof.trace.dialects.frameworks import (
    build_call,
    find_smolagents_step,
    find_smolagents_task,
    read_arguments,
    read_graph_node,
    read_result,
    read_state_messages,
    read_workflow,
    select_call_messages,
)
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading
from spanproof.trace.dialects.wrapped import read_unwrapped

_KINDS = {
    "AGENT": SpanKind.AGENT,
    "CHAIN": SpanKind.CHAIN,
    "LLM": SpanKind.LLM,
    "TOOL": SpanKind.TOOL,
    "RETRIEVER": SpanKind.RETRIEVER,
    "RERANKER": SpanKind.RETRIEVER,
    "GUARDRAIL": SpanKind.GUARDRAIL,
    "EVALUATOR": SpanKind.EVALUATOR,
}
# What is printed of a stream that the producer could not read: no output.
_STREAM = re.compile(r"<(?:async_)?generator object \S+ at 0x[0-9a-f]+>")

# What OpenInference writes in place of content it was set to hide.
_REDACTED = "__REDACTED__"


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written after OpenInference."""
    kind = parse_kind(raw.find_text(oi.SPAN_KIND))
    arguments = to_payload(raw.get_first(oi.INPUT_VALUE), raw.find_text(oi.INPUT_MIME_TYPE))
    result = to_payload(raw.get_first(oi.OUTPUT_VALUE), raw.find_text(oi.OUTPUT_MIME_TYPE))
    reading = read_content(raw, kind, arguments, result, "llm.input_messages", "llm.output_messages")
    prompt, completion = (
        raw.find_integer(oi.LLM_TOKEN_COUNT_PROMPT),
        raw.find_integer(oi.LLM_TOKEN_COUNT_COMPLETION),
    )
    return with_facts(raw, reading, find_usage(prompt, completion), raw.find_text(oi.LLM_MODEL_NAME))


def parse_kind(name: str | None) -> SpanKind:
    """Return the kind by OpenInference's name for it."""
    return _KINDS.get((name or "").upper(), SpanKind.OTHER)


def find_usage(prompt: int | None, completion: int | None) -> Usage | None:
    """Return the usage from two counts, None where neither is there."""
    if prompt is None and completion is None:
        return None
    return Usage(prompt or 0, completion or 0)


def read_content(
    raw: RawSpan,
    kind: SpanKind,
    argument_payload: Payload | None,
    result: Payload | None,
    input_prefix: str,
    output_prefix: str,
) -> Reading:
    """Return the content of a span with values and flattened messages, which traceAI names otherwise."""
    error = find_error(raw)
    if result is not None and _STREAM.fullmatch(result.text):
        result = None
    if kind is SpanKind.LLM:
        inputs = read_flattened_messages(raw.attributes, input_prefix, "user")
        outputs = read_flattened_messages(raw.attributes, output_prefix, "assistant")
        return Reading(
            kind,
            argument_payload,
            result,
            input_messages=select_call_messages(inputs, argument_payload, "user"),
            output_messages=select_call_messages(outputs, result, "assistant"),
            error=error,
        )
    if kind is SpanKind.TOOL:
        value, failed = read_result(result)
        name = raw.find_text(oi.TOOL_NAME, "gen_ai.tool.name")
        if argument_payload is not None:
            arguments = read_arguments(argument_payload.value)
        else:
            arguments = None
        return Reading(
            kind, argument_payload, value, tool=build_call(raw, name, arguments), error=error or failed
        )
    if kind is SpanKind.AGENT and argument_payload is not None:
        task = find_smolagents_task(argument_payload.value)
    else:
        task = None
    if kind is SpanKind.CHAIN and "smolagents" in raw.scope:
        step = find_smolagents_step(raw.name)
    else:
        step = None
    return Reading(
        kind,
        Payload(task, task, typed=True) if task is not None else argument_payload,
        result,
        input_messages=read_state_messages(argument_payload),
        output_messages=read_state_messages(result, "assistant"),
        observation=result.text if step is not None and result is not None else None,
        step=step,
        error=error,
    )


def with_facts(raw: RawSpan, reading: Reading, usage: Usage | None, model: str | None) -> Reading:
    """Return the reading with usage, model, agent, marks of hiding and clipping, and the kind put right."""
    agent = raw.find_text(oi.AGENT_NAME, "gen_ai.agent.name", "graph.node.id")
    if agent is None and reading.kind is SpanKind.AGENT:
        agent = raw.name.removesuffix(".run")
    values = [reading.input, reading.output]
    hidden = any(value is not None and value.text == _REDACTED for value in values)
    truncated = any(
        is_cut(raw.find_text(value) or "", raw.find_text(mime))
        for value, mime in ((oi.INPUT_VALUE, oi.INPUT_MIME_TYPE), (oi.OUTPUT_VALUE, oi.OUTPUT_MIME_TYPE))
    )
    reading = replace(
        reading,
        usage=usage,
        model=model,
        agent=agent,
        truncated=truncated,
        hidden=hidden or _has_hidden_messages(reading),
    )
    return read_unwrapped(raw, read_workflow(raw, read_graph_node(raw, reading)))


def _has_hidden_messages(reading: Reading) -> bool:
    shown = (*reading.input_messages, *reading.output_messages)
    return any(message.text == _REDACTED for message in shown)


# The packages of PyPI, and those of npm.
_SCOPES = ("openinference.", "@arizeai/openinference-")
DIALECT = Dialect("openinference", _SCOPES, (oi.SPAN_KIND,), read_span)
