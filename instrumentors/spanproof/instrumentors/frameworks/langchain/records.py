"""What LangChain's callbacks are given, as attributes: names, messages, tool calls, answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import Token
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from opentelemetry.context import Context

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.code_tools import record_call
from spanproof.instrumentors.content.messages import (
    REQUEST_PARAMETERS,
    History,
    make_message,
    record_input,
    record_output,
    record_usage,
)
from spanproof.instrumentors.content.texts import (
    attribute,
    elements,
    is_a,
    items,
    member,
    number_or_none,
    text_of,
    text_or_none,
)
from spanproof.instrumentors.frameworks.langchain import conversation
from spanproof.instrumentors.spans.span_start import AGENT
from spanproof.instrumentors.spans.tracing import OpenSpan
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours


class RunRecord(OpenSpan):
    """A LangChain run that has begun, and its span.

    Attributes:
        name: as LangChain shows it.
        kind: of the span; a CHAIN becomes an AGENT when it turns out to be a graph.
        history: what the model calls of the whole run were given.
        parent: the run it belongs to.
        graph: it is known to be a graph.
        suspended: an interrupt left it waiting for an answer.
        inputs: what a chain was given, for when it turns out to be a graph.
        token: of a tool's attached context.
    """

    name = kind = ""
    history: History
    parent: RunRecord | None = None
    graph = suspended = False
    inputs: Any = None
    token: Token[Context] | None = None


_HANDLED_FAILURE = "tool_error"
"""`error.type` of a tool whose exception was made into its answer; LangChain does not say which it was."""


def run_name(serialized: Mapping[str, Any] | None, given: Mapping[str, Any], default: str) -> str:
    """Return a run's name as LangChain shows it."""
    found = text_or_none(given.get("name")) or text_or_none(member(serialized, "name"))
    if found is not None:
        return found
    path = elements(member(serialized, "id"))
    return (text_or_none(path[-1]) if path else None) or default


def model_name(serialized: Mapping[str, Any] | None, given: Mapping[str, Any]) -> str:
    """Return the name of the model that is called, its class's where it has none."""
    parameters, metadata = given.get("invocation_params"), given.get("metadata")
    for holder, key in ((parameters, "model"), (parameters, "model_name"), (metadata, "ls_model_name")):
        found = text_or_none(member(holder, key))
        if found is not None:
            return found
    return run_name(serialized, {}, "model")


def describe_chain_input(content: Content, inputs: Any, *, agent: bool) -> None:
    """Record a runnable's input; of an agent's conversation, the last user message."""
    if not content.visible:
        return
    said = conversation.last_of(inputs, "user") if agent else None
    if said is not None:
        content.input(said.text)
        content.json(genai.INPUT_MESSAGES, [said.document])
    else:
        state, omitted = conversation.newest(inputs)
        content.input(conversation.plain(state))
        content.fact(ours.MESSAGES_OMITTED, omitted or None)


def describe_chain_output(record: RunRecord, outputs: Any) -> None:
    """Record a runnable's result; of an agent's conversation, its last answer."""
    agent = record.kind == AGENT
    said = conversation.answer_in(outputs) if agent else None
    calls_tools = said is not None and said.calls_tools
    if agent and not record.suspended and not calls_tools:
        record.fact(ours.RUN_ENDING, "answered")
    if not record.visible:
        return
    if said is not None:
        record.output(said.text or said.parts)
        ended = {**said.document, "finish_reason": "tool_call" if calls_tools else "stop"}
        record.json(genai.OUTPUT_MESSAGES, [ended])
    else:
        record.output(conversation.plain(outputs if not agent else conversation.newest(outputs)[0]))


def describe_call(record: RunRecord, given: Mapping[str, Any], messages: Sequence[Any]) -> None:
    """Record what a model is given: messages, or prompts as texts."""
    for name, value in items(given.get("invocation_params")):
        if type(name) is str and name in REQUEST_PARAMETERS:
            record.fact(REQUEST_PARAMETERS[name], number_or_none(value))
    if record.visible:
        record_input(record, messages, conversation.key_of, conversation.read_message, record.history)


def describe_answer(record: RunRecord, response: Any) -> None:
    """Record a model's answer: the first generation, its tokens and model name."""
    batches = elements(attribute(response, "generations"))
    generations = elements(batches[0]) if batches else []
    if not generations:
        return
    message = attribute(generations[0], "message")
    fields = conversation.fields_of(message)
    record_usage(record, *conversation.usage_of(fields, response))
    record.fact(genai.RESPONSE_MODEL, text_or_none(member(fields.get("response_metadata"), "model_name")))
    if not record.visible:
        return
    if message is None:
        answer = make_message("assistant", text_of(attribute(generations[0], "text", "")))
    else:
        answer = conversation.read_message(message)
    record_output(record, answer, conversation.finish_reason(fields), record.history)


def describe_tool_call(content: Content, name: str, input_str: Any, given: Mapping[str, Any]) -> None:
    """Record a tool call's id and arguments."""
    content.fact(genai.TOOL_CALL_ID, text_or_none(given.get("tool_call_id")))
    arguments = _arguments(given.get("inputs"), input_str)
    if content.visible:
        arguments = {key: conversation.plain(value) for key, value in arguments.items()}
    record_call(content, name, arguments)


def describe_tool_result(record: RunRecord, output: Any) -> None:
    """Record a tool's result."""
    result = output
    if is_a(output, BaseMessage):
        result = attribute(output, "content", output)
    if is_a(output, ToolMessage):
        if genai.TOOL_CALL_ID not in record.attributes:  # langchain-core 1.0 did not give it at the start
            record.fact(genai.TOOL_CALL_ID, text_or_none(output.tool_call_id))
        if output.status == "error":
            record.fail_untyped(text_of(output.content), _HANDLED_FAILURE)
    record.result_type(result)
    if record.visible:
        record.output_json(genai.TOOL_CALL_RESULT, conversation.plain(result))


def describe_documents(record: RunRecord, documents: Sequence[Any]) -> None:
    """Record the documents that a retriever found."""
    record.output([text_of(attribute(each, "page_content", each)) for each in elements(documents)])


def _arguments(inputs: Any, input_str: Any) -> Mapping[str, Any]:
    """Return arguments by name; a single nameless one is called `input`."""
    if is_a(inputs, dict):
        return dict(items(inputs))
    try:
        decoded = json.loads(input_str)
    except (TypeError, ValueError, RecursionError):
        decoded = None
    return decoded if type(decoded) is dict else {"input": input_str}
