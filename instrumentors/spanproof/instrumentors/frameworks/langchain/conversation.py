"""LangChain's messages in the form of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from spanproof.instrumentors.content.messages import (
    Message,
    name_finish,
    text_in,
    text_part,
    tool_call_part,
    tool_response_part,
)
from spanproof.instrumentors.content.texts import (
    attribute,
    elements,
    is_a,
    member,
    text_of,
    text_or_none,
)

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "function": "tool"}
_FIELDS = (
    "type",
    "content",
    "id",
    "name",
    "tool_call_id",
    "tool_calls",
    "usage_metadata",
    "response_metadata",
)
_NOTHING = object()
_MAX_MEMBERS = 20_000
"""Members of a state, in all, among which messages are looked for."""
_MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Said:
    """A message and its text."""

    message: Message
    text: str

    @property
    def calls_tools(self) -> bool:
        """Return whether it calls tools."""
        return any(part["type"] == "tool_call" for part in self.message.document["parts"])


def message_of(message: Any) -> Message:
    """Return a `BaseMessage` with its text, reasoning and tool calls."""
    given = fields_of(message)
    kind = text_or_none(given.get("type")) or "user"
    role = _ROLES.get(kind, kind)
    content = given.get("content", message)
    text = text_of(content) if type(content) is str else _text(content)
    keys: list[Hashable] = [role, text_or_none(given.get("id")), text]
    parts: list[dict[str, Any]] = []
    if role == "tool":
        parts.append(tool_response_part(plain(content), text_or_none(given.get("tool_call_id"))))
    elif text:
        parts.append(text_part(text))
    for call in elements(given.get("tool_calls")):
        name, call_id = text_of(member(call, "name")), text_or_none(member(call, "id"))
        parts.append(tool_call_part(name, plain(member(call, "args")), call_id))
        keys.append((name, call_id))
    document: dict[str, Any] = {"role": role, "parts": parts}
    speaker = text_or_none(given.get("name"))
    if speaker is not None:
        document["name"] = speaker
    return Message(document, tuple(keys))


def fields_of(message: Any) -> Mapping[str, Any]:
    """Return a message's fields by name.

    Of the framework's own classes nothing is to be feared, and to ask pydantic for what one of them has not
    takes longer than all the rest.
    """
    kind = type(message)
    if kind is AIMessage or kind is ToolMessage or kind is HumanMessage or kind is SystemMessage:
        fields: dict[str, Any] = message.__dict__
        return fields
    found = {name: attribute(message, name, _NOTHING) for name in _FIELDS}
    return {name: value for name, value in found.items() if value is not _NOTHING}


def last_of(value: Any, role: str) -> Said | None:
    """Return the last message of a role in a graph's state, where that is a conversation."""
    messages = member(value, "messages") if is_a(value, dict) else attribute(value, "messages")
    for each in reversed(elements(messages)):
        found = message_of(each) if is_a(each, BaseMessage) else _from_plain(each)
        if found is not None and found.document["role"] == role and found.document["parts"]:
            return Said(found, text_in(found.document))
    return None


def answer_in(value: Any) -> Said | None:
    """Return a graph's answer: the last message, also of a tool that answers directly.

    It may call tools: then the graph has stopped before them.
    """
    messages = elements(member(value, "messages") if is_a(value, dict) else attribute(value, "messages"))
    if messages and text_or_none(attribute(messages[-1], "type")) == "tool":
        last = message_of(messages[-1])
        return Said(last, text_in(last.document))
    return last_of(value, "assistant")


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
        return message_of(value).document
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
    if usage is not None and is_a(usage, dict):
        return member(usage, "input_tokens"), member(usage, "output_tokens")
    llm_output = attribute(response, "llm_output")
    old = None if llm_output is None else member(llm_output, "token_usage")
    if old is None:
        return None, None
    return member(old, "prompt_tokens"), member(old, "completion_tokens")


def finish_reason(fields: Mapping[str, Any]) -> str:
    """Return why the model stopped, in the words of the conventions."""
    metadata = fields.get("response_metadata")
    if type(metadata) is not dict or metadata:
        for name in ("finish_reason", "stop_reason"):
            reason = text_or_none(member(metadata, name))
            if reason is not None:
                return name_finish(reason, None)
    return name_finish(None, fields.get("tool_calls"))


def _text(content: Any) -> str:
    if not is_a(content, list):
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
    document = {"role": _ROLES.get(role, role), "parts": [text_part(content)]}
    return Message(document, (role, content))
