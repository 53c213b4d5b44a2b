"""Events and responses of Google's Agent Development Kit, in any dialect.

ADK hands its instrumentors an event as a document: what the agent said is in `content.parts`, beside the
event's id, its author and counts. A tool's result comes as a function response. In: a decoded value. Out:
what was said or returned; None where the value is neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from spanproof.trace import JsonValue, Payload
from spanproof.trace.dialects.decode import as_text
from spanproof.trace.dialects.messages import read_messages

# Members of an event beside its content, in both of the spellings that pydantic writes.
_EVENT_MARKS: Final = frozenset(
    {
        "author",
        "invocation_id",
        "invocationId",
        "usage_metadata",
        "usageMetadata",
        "finish_reason",
        "finishReason",
        "long_running_tool_ids",
    }
)
_MESSAGE_NAMES: Final = ("new_message", "newMessage")
_RESPONSE_MEMBERS: Final = frozenset({"id", "name", "response", "will_continue", "scheduling", "parts"})


@dataclass(frozen=True, slots=True)
class EventText:
    """What an event says; `payload` is None where it says nothing, as with a request for a tool call."""

    payload: Payload | None


def find_event_text(payload: Payload | None) -> EventText | None:
    """Return the words of an event, of the last of several, or of the message that a run was given."""
    if payload is None:
        return None
    value = payload.value
    if isinstance(value, list) and value and all(_find_content(item) is not None for item in value):
        texts = [_read_text(item) for item in value]
        return EventText(_find_payload(texts[-1]))
    if _find_content(value) is None:
        return None
    return EventText(_find_payload(_read_text(value)))


def find_response(payload: Payload | None) -> Payload | None:
    """Return what a function response holds; None where the payload is none."""
    value = payload.value if payload is not None else None
    if not isinstance(value, dict) or not isinstance(value.get("response"), dict):
        return None
    if "name" not in value or not value.keys() <= _RESPONSE_MEMBERS:
        return None
    response: JsonValue = value["response"]
    if isinstance(response, dict) and len(response) == 1:
        ((name, only),) = response.items()
        response = only if name in ("result", "output") else response
    return Payload(as_text(response), response, typed=True)


def _find_content(value: JsonValue) -> dict[str, JsonValue] | None:
    """Return the content of an event or of a run's new message."""
    if not isinstance(value, dict):
        return None
    for name in _MESSAGE_NAMES:
        message = value.get(name)
        if isinstance(message, dict) and isinstance(message.get("parts"), list):
            return message
    content = value.get("content")
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        return content if not value.keys().isdisjoint(_EVENT_MARKS) else None
    only_content = value.keys() <= {"parts", "role"} and isinstance(value.get("parts"), list)
    return value if only_content else None


def _read_text(value: JsonValue) -> str:
    content = _find_content(value)
    messages = read_messages([content] if content is not None else [], "assistant")
    return "\n".join(message.text for message in messages if message.role != "tool" and message.text)


def _find_payload(text: str) -> Payload | None:
    return Payload(text, text, typed=True) if text.strip() else None
