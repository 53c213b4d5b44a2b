"""LangChain's messages in the form of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from spanproof.instrumentors.content.messages import Message, make_message, name_finish, tool_response_part
from spanproof.instrumentors.content.texts import (
    attribute,
    elements,
    is_a,
    member,
    text_of,
    text_or_none,
)

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "function": "tool"}
_MAX_MEMBERS = 20_000
"""Members of a state, in all, among which messages are looked for."""
_MAX_DEPTH = 32


def key_of(message: Any) -> Hashable:
    """Return what is equal for equal messages, without reading them whole."""
    fields = fields_of(message)
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
