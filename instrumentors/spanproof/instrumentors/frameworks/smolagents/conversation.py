"""smolagents' chat messages in the form of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from spanproof.instrumentors.content.texts import (
    as_text,
    get_attribute,
    get_member,
    is_a,
    list_elements,
    to_text,
)
from spanproof.instrumentors.frameworks.messages import (
    Message,
    build_text_part,
    build_tool_call_part,
    get_finish_reason,
)

_MODELS = "smolagents.models"
_ROLES = {"tool-call": "assistant", "tool-response": "tool"}


def find_key(message: Any) -> tuple[str, str] | None:
    """Return the role and text of a framework message that holds one text and nothing else, as most do."""
    if type(message).__module__ != _MODELS or message.tool_calls is not None:
        return None
    content = message.content
    if type(content) is list and len(content) == 1 and type(content[0]) is dict:
        content = content[0].get("text") if content[0].get("type") == "text" else None
    if type(content) is str and issubclass(type(message.role), str):
        return (message.role, content)
    return None


def read_message(message: Any) -> Message:
    """Return a `ChatMessage`, or the dictionary that older models pass, in the form of the conventions."""
    key = find_key(message)
    if key is not None:
        role, text = str.__str__(key[0]), key[1]
        return Message({"role": _ROLES.get(role, role), "parts": [build_text_part(text)]}, key)
    role = _get_field(message, "role")
    role = as_text(get_attribute(role, "value", role)) or "user"
    parts, keys = _read_content(_get_field(message, "content"))
    for call in list_elements(_get_field(message, "tool_calls")):
        function = _get_field(call, "function")
        name, arguments = to_text(_get_field(function, "name")), _get_field(function, "arguments")
        parts.append(build_tool_call_part(name, arguments, as_text(_get_field(call, "id"))))
        keys.append((name, to_text(arguments)))
    return Message({"role": _ROLES.get(role, role), "parts": parts}, (role, *keys))


def build_joined_message(pieces: Sequence[Any]) -> Any:
    """Return the message that the pieces of a stream add up to."""
    from smolagents.models import agglomerate_stream_deltas

    return agglomerate_stream_deltas(list(pieces))


def read_usage(answer: Any) -> tuple[Any, Any]:
    """Return input and output tokens, as the model reports them."""
    usage = get_attribute(answer, "token_usage")
    return get_attribute(usage, "input_tokens"), get_attribute(usage, "output_tokens")


def read_finish_reason(answer: Any) -> str:
    """Return why the model stopped, in the words of the conventions."""
    choices = list_elements(get_attribute(get_attribute(answer, "raw"), "choices"))
    reason = as_text(get_attribute(choices[0], "finish_reason")) if choices else None
    return get_finish_reason(reason, get_attribute(answer, "tool_calls"))


def _get_field(message: Any, name: str) -> Any:
    if is_a(message, dict):
        return get_member(message, name)
    return get_attribute(message, name)


def _read_content(content: Any) -> tuple[list[dict[str, Any]], list[Hashable]]:
    if content is None:
        return [], []
    read = [
        _read_element(element) for element in (list_elements(content) if is_a(content, list) else (content,))
    ]
    return [part for part, _ in read], [key for _, key in read]


def _read_element(element: Any) -> tuple[dict[str, Any], Hashable]:
    if not is_a(element, dict):
        text = to_text(element)
        return build_text_part(text), text
    kind = as_text(get_member(element, "type"))
    if kind in ("text", None):
        text = to_text(get_member(element, "text"))
        return build_text_part(text), text
    if kind == "image_url":
        uri = to_text(get_member(get_member(element, "image_url"), "url"))
        return {"type": "uri", "modality": "image", "uri": uri}, uri
    # Images are large and no evaluator reads them: only their presence is recorded.
    return {"type": "blob", "modality": kind}, ("blob", id(get_member(element, "image")))
