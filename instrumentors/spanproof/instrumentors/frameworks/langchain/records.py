"""What LangChain's callbacks are given, as attributes: names, messages, tool calls, answers."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.code_tools import record_call
from spanproof.instrumentors.content.texts import (
    as_number,
    as_text,
    get_attribute,
    get_member,
    is_a,
    iter_items,
    list_elements,
    to_text,
)
from spanproof.instrumentors.frameworks.messages import (
    REQUEST_PARAMETERS,
    History,
    Message,
    build_message,
    build_tool_response_part,
    get_finish_reason,
    record_input,
    record_output,
    record_usage,
)
from spanproof.instrumentors.spans.span_start import AGENT
from spanproof.instrumentors.spans.tracing import OpenSpan
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "function": "tool"}
_MAX_MEMBERS = 20_000  # Members of a state, in all, among which messages are looked for
_MAX_DEPTH = 32


def build_key(message: Any) -> Hashable:
    """Return what is equal for equal messages, without reading them whole."""
    fields = get_fields(message)
    # Of most messages, which are a text: every call looks at all that came before.
    kind, own_id, content, called = map(fields.get, ("type", "id", "content", "tool_calls"))
    has_no_calls = called is None or (type(called) is list and not called)
    if type(kind) is str and type(content) is str and has_no_calls:
        return _ROLES.get(kind, kind), own_id if type(own_id) is str else None, content
    calls = [
        (as_text(get_member(call, "name")), as_text(get_member(call, "id"))) for call in _get_calls(fields)
    ]
    return _get_role(fields), as_text(fields.get("id")), _get_text(fields.get("content", message)), *calls


def read_message(message: Any) -> Message:
    """Return a `BaseMessage` with its text and tool calls."""
    fields = get_fields(message)
    role, content = _get_role(fields), fields.get("content", message)
    calls = [
        (
            to_text(get_member(call, "name")),
            to_plain(get_member(call, "args")),
            as_text(get_member(call, "id")),
        )
        for call in _get_calls(fields)
    ]
    read = build_message(
        role, "" if role == "tool" else _get_text(content), calls, as_text(fields.get("name"))
    )
    if role == "tool":
        answered = as_text(fields.get("tool_call_id"))
        read.parts.insert(0, build_tool_response_part(to_plain(content), answered))
    return Message(read.document, build_key(message))


def get_fields(message: Any) -> Mapping[str, Any]:
    """Return a message's fields by name; to ask pydantic for one that is not there would be slow."""
    fields = get_attribute(message, "__dict__")
    return fields if type(fields) is dict else {}


def _get_role(fields: Mapping[str, Any]) -> str:
    kind = as_text(fields.get("type")) or "user"
    return _ROLES.get(kind, kind)


def _get_calls(fields: Mapping[str, Any]) -> list[Any]:
    return list_elements(fields.get("tool_calls"))


def find_last(value: Any, role: str) -> Message | None:
    """Return the last message of a role in a graph's state, where that is a conversation."""
    for message in reversed(_list_messages(value)):
        found = read_message(message) if is_a(message, BaseMessage) else _from_plain(message)
        if found is not None and found.document["role"] == role and found.parts:
            return found
    return None


def find_answer(value: Any) -> Message | None:
    """Return a graph's answer: the last message, also of a tool that answers directly.

    It may call tools: then the graph has stopped before them.
    """
    messages = _list_messages(value)
    if messages and as_text(get_attribute(messages[-1], "type")) == "tool":
        return read_message(messages[-1])
    return find_last(value, "assistant")


def _list_messages(state: Any) -> list[Any]:
    return list_elements(
        get_member(state, "messages") if is_a(state, dict) else get_attribute(state, "messages")
    )


def select_newest(state: Any) -> tuple[Any, int]:
    """Return a graph's state with its last message only, and how many are left out.

    Every node is given the whole conversation: written out each time, a run would grow with its square.
    """
    if type(state) is not dict or not is_a(state.get("messages"), list):
        return state, 0
    messages = list_elements(state["messages"])
    return {**state, "messages": messages[-1:]}, max(len(messages) - 1, 0)


def to_plain(value: Any, room: list[int] | None = None, depth: int = 0) -> Any:
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
        return {key: to_plain(item, left, depth + 1) for key, item in value.items()}
    return [to_plain(item, left, depth + 1) for item in value]


def read_usage(fields: Mapping[str, Any], response: Any) -> tuple[Any, Any]:
    """Return input and output tokens as reported by the answer's fields, or else its response."""
    usage = fields.get("usage_metadata")
    if is_a(usage, dict):
        return get_member(usage, "input_tokens"), get_member(usage, "output_tokens")
    old = get_member(get_attribute(response, "llm_output"), "token_usage")
    return get_member(old, "prompt_tokens"), get_member(old, "completion_tokens")


def read_finish_reason(fields: Mapping[str, Any]) -> str:
    """Return why the model stopped, in the words of the conventions."""
    metadata = fields.get("response_metadata")
    reason = as_text(get_member(metadata, "finish_reason")) or as_text(get_member(metadata, "stop_reason"))
    return get_finish_reason(reason, fields.get("tool_calls"))


def _get_text(content: Any) -> str:
    if type(content) is str or not is_a(content, list):
        return to_text(content)
    texts: list[str | None] = []
    for element in list_elements(content):
        if is_a(element, str):
            texts.append(to_text(element))
        elif as_text(get_member(element, "type")) in ("text", None):
            texts.append(as_text(get_member(element, "text")))
    return "\n".join(text for text in texts if text)


def _from_plain(value: Any) -> Message | None:
    """Return a message given as `("user", text)` or `{"role": …, "content": …}`."""
    pair = list_elements(value)
    members = pair if len(pair) == 2 else [get_member(value, "role"), get_member(value, "content")]
    role, content = (as_text(item) for item in members)
    if role is None or content is None:
        return None
    return build_message(_ROLES.get(role, role), content)


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


# `error.type` of a tool whose exception was made into its answer; LangChain does not say which it was.
_HANDLED_FAILURE = "tool_error"


def get_run_name(serialized: Mapping[str, Any] | None, options: Mapping[str, Any], default: str) -> str:
    """Return a run's name as LangChain shows it."""
    found = as_text(options.get("name")) or as_text(get_member(serialized, "name"))
    if found is not None:
        return found
    path = list_elements(get_member(serialized, "id"))
    return (as_text(path[-1]) if path else None) or default


def get_model_name(serialized: Mapping[str, Any] | None, options: Mapping[str, Any]) -> str:
    """Return the name of the model that is called, its class's where it has none."""
    parameters, metadata = options.get("invocation_params"), options.get("metadata")
    for holder, key in ((parameters, "model"), (parameters, "model_name"), (metadata, "ls_model_name")):
        found = as_text(get_member(holder, key))
        if found is not None:
            return found
    return get_run_name(serialized, {}, "model")


def record_chain_input(content: Content, inputs: Any, *, agent: bool) -> None:
    """Record a runnable's input; of an agent's conversation, the last user message."""
    if not content.visible:
        return
    question = find_last(inputs, "user") if agent else None
    if question is not None:
        content.input(question.text)
        content.json(genai.INPUT_MESSAGES, [question.document])
    else:
        state, omitted = select_newest(inputs)
        content.input(to_plain(state))
        content.fact(ours.MESSAGES_OMITTED, omitted or None)


def record_chain_output(record: RunRecord, outputs: Any) -> None:
    """Record a runnable's result; of an agent's conversation, its last answer."""
    agent = record.kind == AGENT
    answer = find_answer(outputs) if agent else None
    calls_tools = answer is not None and answer.calls_tools
    if agent and not record.suspended and not calls_tools:
        record.fact(ours.RUN_ENDING, "answered")
    if not record.visible:
        return
    if answer is not None:
        record.output(answer.text or answer.parts)
        ended = {**answer.document, "finish_reason": "tool_call" if calls_tools else "stop"}
        record.json(genai.OUTPUT_MESSAGES, [ended])
    else:
        record.output(to_plain(outputs if not agent else select_newest(outputs)[0]))


def record_model_call(record: RunRecord, options: Mapping[str, Any], messages: Sequence[Any]) -> None:
    """Record what a model is given: messages, or prompts as texts."""
    for name, value in iter_items(options.get("invocation_params")):
        if type(name) is str and name in REQUEST_PARAMETERS:
            record.fact(REQUEST_PARAMETERS[name], as_number(value))
    if record.visible:
        record_input(record, messages, build_key, read_message, record.history)


def record_answer(record: RunRecord, response: Any) -> None:
    """Record a model's answer: the first generation, its tokens and model name."""
    batches = list_elements(get_attribute(response, "generations"))
    generations = list_elements(batches[0]) if batches else []
    if not generations:
        return
    message = get_attribute(generations[0], "message")
    fields = get_fields(message)
    record_usage(record, *read_usage(fields, response))
    record.fact(genai.RESPONSE_MODEL, as_text(get_member(fields.get("response_metadata"), "model_name")))
    if not record.visible:
        return
    if message is None:
        answer = build_message("assistant", to_text(get_attribute(generations[0], "text", "")))
    else:
        answer = read_message(message)
    record_output(record, answer, read_finish_reason(fields), record.history)


def record_tool_call(content: Content, name: str, input_str: Any, options: Mapping[str, Any]) -> None:
    """Record a tool call's id and arguments."""
    content.fact(genai.TOOL_CALL_ID, as_text(options.get("tool_call_id")))
    arguments = _read_arguments(options.get("inputs"), input_str)
    if content.visible:
        arguments = {key: to_plain(value) for key, value in arguments.items()}
    record_call(content, name, arguments)


def record_tool_result(record: RunRecord, output: Any) -> None:
    """Record a tool's result."""
    result = output
    if is_a(output, BaseMessage):
        result = get_attribute(output, "content", output)
    if is_a(output, ToolMessage):
        if genai.TOOL_CALL_ID not in record.attributes:  # langchain-core 1.0 did not give it at the start
            record.fact(genai.TOOL_CALL_ID, as_text(output.tool_call_id))
        if output.status == "error":
            record.fail_untyped(to_text(output.content), _HANDLED_FAILURE)
    record.result_type(result)
    if record.visible:
        record.output_json(genai.TOOL_CALL_RESULT, to_plain(result))


def record_documents(record: RunRecord, documents: Sequence[Any]) -> None:
    """Record the documents that a retriever found."""
    record.output(
        [to_text(get_attribute(element, "page_content", element)) for element in list_elements(documents)]
    )


def _read_arguments(inputs: Any, input_str: Any) -> Mapping[str, Any]:
    """Return arguments by name; a single nameless one is called `input`."""
    if is_a(inputs, dict):
        return dict(iter_items(inputs))
    try:
        decoded = json.loads(input_str)
    except (TypeError, ValueError, RecursionError):
        decoded = None
    if type(decoded) is dict:
        return decoded
    return {"input": input_str}
