"""LangChain's messages in the form of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from spanproof.instrumentors.messages import Message, text_part, tool_call_part, tool_response_part
from spanproof.instrumentors.serialise import text_of

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "function": "tool"}
_FINISH_REASONS = {
    "tool_calls": "tool_call",
    "function_call": "tool_call",
    "tool_use": "tool_call",
    "end_turn": "stop",
    "STOP": "stop",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
}


@dataclass(frozen=True, slots=True)
class Said:
    """A message and its text."""

    message: Message
    text: str


def message_of(message: Any) -> Message:
    """A `BaseMessage` with its text, reasoning and tool calls."""
    kind = getattr(message, "type", "user")
    role = _ROLES.get(kind, kind)
    content = getattr(message, "content", message)
    text = content if isinstance(content, str) else _text(content)
    keys: list[Hashable] = [role, getattr(message, "id", None), text]
    parts: list[dict[str, Any]] = []
    if role == "tool":
        call_id = getattr(message, "tool_call_id", None)
        parts.append(tool_response_part(plain(content), call_id))
    elif text:
        parts.append(text_part(text))
    for call in getattr(message, "tool_calls", None) or ():
        parts.append(tool_call_part(call.get("name"), plain(call.get("args")), call.get("id")))
        keys.append((call.get("name"), call.get("id")))
    name = getattr(message, "name", None)
    return Message(role, parts, tuple(keys), name if isinstance(name, str) else None)


def text_in(message: Message) -> str:
    """What a message says; a tool's answer as text."""
    said = (
        part.get("content", part.get("response")) for part in message.parts if part["type"] != "tool_call"
    )
    return "\n".join(text_of(each) for each in said)


def last_of(value: Any, role: str) -> Said | None:
    """The last message of a role in a graph's state, where that is a conversation."""
    messages = value.get("messages") if isinstance(value, dict) else getattr(value, "messages", None)
    if not isinstance(messages, list):
        return None
    for each in reversed(messages):
        found = message_of(each) if isinstance(each, BaseMessage) else _from_plain(each)
        if found is not None and found.role == role and found.parts:
            return Said(found, text_in(found))
    return None


def newest(state: Any) -> tuple[Any, int]:
    """A graph's state with the last message of its conversation only, and how many stand on earlier spans.

    Every node is given the whole conversation: written out each time, a run would grow with its square.
    """
    if type(state) is not dict or not isinstance(state.get("messages"), list):
        return state, 0
    messages = state["messages"]
    return {**state, "messages": messages[-1:]}, max(len(messages) - 1, 0)


def plain(value: Any) -> Any:
    """A state or result with its messages in short form: role and text, not LangChain's bookkeeping."""
    if isinstance(value, BaseMessage):
        return message_of(value).document()
    if type(value) is dict:
        return {key: plain(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return [plain(item) for item in value]
    return value


def usage_of(message: Any, llm_output: Any) -> tuple[int | None, int | None]:
    """Input and output tokens, None where the model does not tell."""
    usage = getattr(message, "usage_metadata", None)
    if isinstance(usage, dict):
        return _count(usage.get("input_tokens")), _count(usage.get("output_tokens"))
    old = llm_output.get("token_usage") if isinstance(llm_output, dict) else None
    if isinstance(old, dict):
        return _count(old.get("prompt_tokens")), _count(old.get("completion_tokens"))
    return None, None


def finish_reason(message: Any) -> str:
    """Why the model stopped, in the words of the conventions."""
    metadata = getattr(message, "response_metadata", None) or {}
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    if isinstance(reason, str) and reason:
        return _FINISH_REASONS.get(reason, reason)
    return "tool_call" if getattr(message, "tool_calls", None) else "stop"


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _text(content: Any) -> str:
    if not isinstance(content, list):
        return text_of(content)
    texts = [
        each if isinstance(each, str) else each.get("text")
        for each in content
        if isinstance(each, str) or (isinstance(each, dict) and each.get("type") in ("text", None))
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _from_plain(value: Any) -> Message | None:
    """A message given as `("user", text)` or `{"role": …, "content": …}`."""
    if isinstance(value, tuple) and len(value) == 2:
        role, content = value
    elif isinstance(value, dict):
        role, content = value.get("role"), value.get("content")
    else:
        return None
    if not isinstance(role, str) or not isinstance(content, str):
        return None
    return Message(_ROLES.get(role, role), [text_part(content)], (role, content))
