"""smolagents' chat messages in the form of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from spanproof.instrumentors.messages import Message, text_part, tool_call_part
from spanproof.instrumentors.serialise import text_of

_ROLES = {"tool-call": "assistant", "tool-response": "tool"}
_FINISH_REASONS = {"tool_calls": "tool_call", "function_call": "tool_call", "max_tokens": "length"}


def message_of(message: Any) -> Message:
    """A `ChatMessage`, or the dictionary that older models pass."""
    role = _field(message, "role")
    role = getattr(role, "value", role)
    role = role if isinstance(role, str) else "user"
    parts, keys = _content(_field(message, "content"))
    for call in _field(message, "tool_calls") or ():
        function = _field(call, "function")
        name, arguments = text_of(_field(function, "name")), _field(function, "arguments")
        call_id = _field(call, "id")
        parts.append(tool_call_part(name, arguments, call_id if isinstance(call_id, str) else None))
        keys.append((name, text_of(arguments)))
    return Message(_ROLES.get(role, role), parts, (role, *keys))


def text_in(message: Message) -> str:
    """The textual parts of a message."""
    return "\n".join(part["content"] for part in message.parts if part["type"] == "text")


def joined(pieces: Sequence[Any]) -> Any:
    """The message that the pieces of a stream add up to."""
    from smolagents.models import agglomerate_stream_deltas

    return agglomerate_stream_deltas(list(pieces))


def usage_of(answer: Any) -> tuple[int | None, int | None]:
    """Input and output tokens, None where the model does not tell."""
    usage = getattr(answer, "token_usage", None)
    counts = getattr(usage, "input_tokens", None), getattr(usage, "output_tokens", None)
    return (
        counts[0] if isinstance(counts[0], int) else None,
        counts[1] if isinstance(counts[1], int) else None,
    )


def response_model(answer: Any) -> str | None:
    """The model that the provider says has answered."""
    model = getattr(getattr(answer, "raw", None), "model", None)
    return model if isinstance(model, str) else None


def finish_reason(answer: Any) -> str:
    """Why the model stopped, in the words of the conventions."""
    choices = getattr(getattr(answer, "raw", None), "choices", None)
    if isinstance(choices, list) and choices:
        reason = getattr(choices[0], "finish_reason", None)
        if isinstance(reason, str):
            return _FINISH_REASONS.get(reason, reason)
    return "tool_call" if getattr(answer, "tool_calls", None) else "stop"


def _field(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, dict) else getattr(message, name, None)


def _content(content: Any) -> tuple[list[dict[str, Any]], list[Hashable]]:
    if content is None:
        return [], []
    if not isinstance(content, list):
        text = text_of(content)
        return [text_part(text)], [text]
    parts: list[dict[str, Any]] = []
    keys: list[Hashable] = []
    for element in content:
        part, key = _element(element)
        parts.append(part)
        keys.append(key)
    return parts, keys


def _element(element: Any) -> tuple[dict[str, Any], Hashable]:
    if not isinstance(element, dict):
        text = text_of(element)
        return text_part(text), text
    kind = element.get("type")
    if kind == "text":
        text = text_of(element.get("text"))
        return text_part(text), text
    if kind == "image_url":
        uri = text_of((element.get("image_url") or {}).get("url"))
        return {"type": "uri", "modality": "image", "uri": uri}, uri
    # Images are large and no evaluator reads them: that one was there is what is told.
    return {"type": "blob", "modality": text_of(kind)}, ("blob", id(element.get("image")))
