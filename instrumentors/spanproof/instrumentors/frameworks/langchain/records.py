"""What LangChain's callbacks are given, as attributes: names, messages, tool calls, answers."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.code_tools import record_call
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
from spanproof.instrumentors.frameworks.messages import (
    REQUEST_PARAMETERS,
    History,
    Message,
    make_message,
    name_finish,
    record_input,
    record_output,
    record_usage,
    tool_response_part,
)
from spanproof.instrumentors.spans.span_start import AGENT
from spanproof.instrumentors.spans.tracing import OpenSpan
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "function": "tool"}
_MAX_MEMBERS = 20_000
"""Members of a state, in all, among which messages are looked for."""
_MAX_DEPTH = 32


def key_of(message: Any) -> Hashable:
    """Return what is equal for equal messages, without reading them whole."""
    fields = fields_of(message)
    # Of most messages, which are a text: every call looks at all that came before.
    kind, own_id, content, called = map(fields.get, ("type", "id", "content", "tool_calls"))
    if (
        type(kind) is str
        and type(content) is str
        and (called is None or (type(called) is list and not called))
    ):
        return _ROLES.get(kind, kind), own_id if type(own_id) is str else None, content
    calls = [
        (text_or_none(member(call, "name")), text_or_none(member(call, "id"))) for call in _calls_of(fields)
    ]
    return _role_of(fields), text_or_none(fields.get("id")), _text(fields.get("content", message)), *calls


def read_message(message: Any) -> Message:
    """Return a `BaseMessage` with its text and tool calls."""
    fields = fields_of(message)
    role, content = _role_of(fields), fields.get("content", message)
    calls = [
        (text_of(member(call, "name")), plain(member(call, "args")), text_or_none(member(call, "id")))
        for call in _calls_of(fields)
    ]
    read = make_message(
        role, "" if role == "tool" else _text(content), calls, text_or_none(fields.get("name"))
    )
    if role == "tool":
        answered = text_or_none(fields.get("tool_call_id"))
        read.parts.insert(0, tool_response_part(plain(content), answered))
    return Message(read.document, key_of(message))


def fields_of(message: Any) -> Mapping[str, Any]:
    """Return a message's fields by name; to ask pydantic for one that is not there would be slow."""
    fields = attribute(message, "__dict__")
    return fields if type(fields) is dict else {}


def _role_of(fields: Mapping[str, Any]) -> str:
    kind = text_or_none(fields.get("type")) or "user"
    return _ROLES.get(kind, kind)


def _calls_of(fields: Mapping[str, Any]) -> list[Any]:
    return elements(fields.get("tool_calls"))


def last_of(value: Any, role: str) -> Message | None:
    """Return the last message of a role in a graph's state, where that is a conversation."""
    for each in reversed(_messages_in(value)):
        found = read_message(each) if is_a(each, BaseMessage) else _from_plain(each)
        if found is not None and found.document["role"] == role and found.parts:
            return found
    return None


def answer_in(value: Any) -> Message | None:
    """Return a graph's answer: the last message, also of a tool that answers directly.

    It may call tools: then the graph has stopped before them.
    """
    messages = _messages_in(value)
    if messages and text_or_none(attribute(messages[-1], "type")) == "tool":
        return read_message(messages[-1])
    return last_of(value, "assistant")


def _messages_in(state: Any) -> list[Any]:
    return elements(member(state, "messages") if is_a(state, dict) else attribute(state, "messages"))


def newest(state: Any) -> tuple[Any, int]:
    """Return a graph's state with its last message only, and how many are left out.

    Every node is given the whole conversation: written out each time, a run would grow with its square.
    """
    if type(state) is not dict or not is_a(state.get("messages"), list):
        return state, 0
    messages = elements(state["messages"])
    return {**state, "messages": messages[-1:]}, max(len(messages) - 1, 0)


def plain(value: Any, room: list[int] | None = None, depth: int = 0) -> Any:
    """Return a state or result with its messages as role and parts only.

    What is too much or too deep for that stays as it is; it is cut when it is written.
    """
    kind = type(value)
    if issubclass(kind, BaseMessage):
        return read_message(value).document
    if kind is not dict and kind is not list and kind is not tuple:
        return value
    left = [_MAX_MEMBERS] if room is None else room
    left[0] -= len(value)
    if left[0] < 0 or depth > _MAX_DEPTH:
        return value
    if kind is dict:
        return {key: plain(item, left, depth + 1) for key, item in value.items()}
    return [plain(item, left, depth + 1) for item in value]


def usage_of(fields: Mapping[str, Any], response: Any) -> tuple[Any, Any]:
    """Return input and output tokens as reported by the answer's fields, or else its response."""
    usage = fields.get("usage_metadata")
    if is_a(usage, dict):
        return member(usage, "input_tokens"), member(usage, "output_tokens")
    old = member(attribute(response, "llm_output"), "token_usage")
    return member(old, "prompt_tokens"), member(old, "completion_tokens")


def finish_reason(fields: Mapping[str, Any]) -> str:
    """Return why the model stopped, in the words of the conventions."""
    metadata = fields.get("response_metadata")
    reason = text_or_none(member(metadata, "finish_reason")) or text_or_none(member(metadata, "stop_reason"))
    return name_finish(reason, fields.get("tool_calls"))


def _text(content: Any) -> str:
    if type(content) is str or not is_a(content, list):
        return text_of(content)
    texts: list[str | None] = []
    for each in elements(content):
        if is_a(each, str):
            texts.append(text_of(each))
        elif text_or_none(member(each, "type")) in ("text", None):
            texts.append(text_or_none(member(each, "text")))
    return "\n".join(text for text in texts if text)


def _from_plain(value: Any) -> Message | None:
    """Return a message given as `("user", text)` or `{"role": …, "content": …}`."""
    pair = elements(value)
    given = pair if len(pair) == 2 else [member(value, "role"), member(value, "content")]
    role, content = (text_or_none(each) for each in given)
    if role is None or content is None:
        return None
    return make_message(_ROLES.get(role, role), content)


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
    """

    name = kind = ""
    history: History
    parent: RunRecord | None = None
    graph = suspended = False
    inputs: Any = None


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
    said = last_of(inputs, "user") if agent else None
    if said is not None:
        content.input(said.text)
        content.json(genai.INPUT_MESSAGES, [said.document])
    else:
        state, omitted = newest(inputs)
        content.input(plain(state))
        content.fact(ours.MESSAGES_OMITTED, omitted or None)


def describe_chain_output(record: RunRecord, outputs: Any) -> None:
    """Record a runnable's result; of an agent's conversation, its last answer."""
    agent = record.kind == AGENT
    said = answer_in(outputs) if agent else None
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
        record.output(plain(outputs if not agent else newest(outputs)[0]))


def describe_call(record: RunRecord, given: Mapping[str, Any], messages: Sequence[Any]) -> None:
    """Record what a model is given: messages, or prompts as texts."""
    for name, value in items(given.get("invocation_params")):
        if type(name) is str and name in REQUEST_PARAMETERS:
            record.fact(REQUEST_PARAMETERS[name], number_or_none(value))
    if record.visible:
        record_input(record, messages, key_of, read_message, record.history)


def describe_answer(record: RunRecord, response: Any) -> None:
    """Record a model's answer: the first generation, its tokens and model name."""
    batches = elements(attribute(response, "generations"))
    generations = elements(batches[0]) if batches else []
    if not generations:
        return
    message = attribute(generations[0], "message")
    fields = fields_of(message)
    record_usage(record, *usage_of(fields, response))
    record.fact(genai.RESPONSE_MODEL, text_or_none(member(fields.get("response_metadata"), "model_name")))
    if not record.visible:
        return
    if message is None:
        answer = make_message("assistant", text_of(attribute(generations[0], "text", "")))
    else:
        answer = read_message(message)
    record_output(record, answer, finish_reason(fields), record.history)


def describe_tool_call(content: Content, name: str, input_str: Any, given: Mapping[str, Any]) -> None:
    """Record a tool call's id and arguments."""
    content.fact(genai.TOOL_CALL_ID, text_or_none(given.get("tool_call_id")))
    arguments = _arguments(given.get("inputs"), input_str)
    if content.visible:
        arguments = {key: plain(value) for key, value in arguments.items()}
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
        record.output_json(genai.TOOL_CALL_RESULT, plain(result))


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
