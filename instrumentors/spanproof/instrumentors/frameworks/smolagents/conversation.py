"""smolagents' chat messages in the form of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from spanproof.instrumentors.content.texts import (
    attribute,
    elements,
    is_a,
    member,
    text_of,
    text_or_none,
)
from spanproof.instrumentors.frameworks.messages import Message, name_finish, text_part, tool_call_part

_MODELS = "smolagents.models"
_ROLES = {"tool-call": "assistant", "tool-response": "tool"}


def key_of(message: Any) -> tuple[str, str] | None:
    """Return the role and text of a framework message that holds one text and nothing else, as most do."""
    if type(message).__module__ != _MODELS or message.tool_calls is not None:
        return None
    content = message.content
    if type(content) is list and len(content) == 1 and type(content[0]) is dict:
        content = content[0].get("text") if content[0].get("type") == "text" else None
    return (message.role, content) if type(content) is str and issubclass(type(message.role), str) else None


def read_message(message: Any) -> Message:
    """Return a `ChatMessage`, or the dictionary that older models pass, in the form of the conventions."""
    key = key_of(message)
    if key is not None:
        role, text = str.__str__(key[0]), key[1]
        return Message({"role": _ROLES.get(role, role), "parts": [text_part(text)]}, key)
    role = _field(message, "role")
    role = text_or_none(attribute(role, "value", role)) or "user"
    parts, keys = _content(_field(message, "content"))
    for call in elements(_field(message, "tool_calls")):
        function = _field(call, "function")
        name, arguments = text_of(_field(function, "name")), _field(function, "arguments")
        parts.append(tool_call_part(name, arguments, text_or_none(_field(call, "id"))))
        keys.append((name, text_of(arguments)))
    return Message({"role": _ROLES.get(role, role), "parts": parts}, (role, *keys))


def join_pieces(pieces: Sequence[Any]) -> Any:
    """Return the message that the pieces of a stream add up to."""
    from smolagents.models import agglomerate_stream_deltas

    return agglomerate_stream_deltas(list(pieces))


def usage_of(answer: Any) -> tuple[Any, Any]:
    """Return input and output tokens, as the model reports them."""
    usage = attribute(answer, "token_usage")
    return attribute(usage, "input_tokens"), attribute(usage, "output_tokens")


def finish_reason_of(answer: Any) -> str:
    """Return why the model stopped, in the words of the conventions."""
    choices = elements(attribute(attribute(answer, "raw"), "choices"))
    reason = text_or_none(attribute(choices[0], "finish_reason")) if choices else None
    return name_finish(reason, attribute(answer, "tool_calls"))


def _field(message: Any, name: str) -> Any:
    return member(message, name) if is_a(message, dict) else attribute(message, name)


def _content(content: Any) -> tuple[list[dict[str, Any]], list[Hashable]]:
    if content is None:
        return [], []
    read = [_element(each) for each in (elements(content) if is_a(content, list) else (content,))]
    return [part for part, _ in read], [key for _, key in read]


def _element(element: Any) -> tuple[dict[str, Any], Hashable]:
    if not is_a(element, dict):
        text = text_of(element)
        return text_part(text), text
    kind = text_or_none(member(element, "type"))
    if kind in ("text", None):
        text = text_of(member(element, "text"))
        return text_part(text), text
    if kind == "image_url":
        uri = text_of(member(member(element, "image_url"), "url"))
        return {"type": "uri", "modality": "image", "uri": uri}, uri
    # Images are large and no evaluator reads them: only their presence is recorded.
    return {"type": "blob", "modality": kind}, ("blob", id(member(element, "image")))
