"""smolagents' chat messages in the form of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from spanproof.instrumentors.messages import Message, text_part, tool_call_part
from spanproof.instrumentors.reading import attribute, count_or_none, elements, is_a, member, text_or_none
from spanproof.instrumentors.texts import text_of

_ROLES = {"tool-call": "assistant", "tool-response": "tool"}
_FINISH_REASONS = {"tool_calls": "tool_call", "function_call": "tool_call", "max_tokens": "length"}


def message_of(message: Any) -> Message:
    """A `ChatMessage`, or the dictionary that older models pass."""
    easy = _easy(message)
    if easy is not None:
        role, text = easy
        return Message(_ROLES.get(role, role), [{"type": "text", "content": text}], easy)
    role = _field(message, "role")
    role = text_or_none(attribute(role, "value", role)) or "user"
    parts, keys = _content(_field(message, "content"))
    for call in elements(_field(message, "tool_calls")):
        function = _field(call, "function")
        name, arguments = text_of(_field(function, "name")), _field(function, "arguments")
        parts.append(tool_call_part(name, arguments, text_or_none(_field(call, "id"))))
        keys.append((name, text_of(arguments)))
    return Message(_ROLES.get(role, role), parts, (role, *keys))


def keys_of(messages: Sequence[Any]) -> list[Hashable]:
    """The messages' keys without the messages."""
    keys = _easy_keys(messages)
    return [message_of(each).key for each in messages] if keys is None else keys


def joined(pieces: Sequence[Any]) -> Any:
    """The message that the pieces of a stream add up to."""
    from smolagents.models import agglomerate_stream_deltas

    return agglomerate_stream_deltas(list(pieces))


def usage_of(answer: Any) -> tuple[int | None, int | None]:
    """Input and output tokens, None where the model does not tell."""
    usage = attribute(answer, "token_usage")
    if type(usage).__module__ == "smolagents.monitoring":  # two fields and no more
        return count_or_none(usage.input_tokens), count_or_none(usage.output_tokens)
    return count_or_none(attribute(usage, "input_tokens")), count_or_none(attribute(usage, "output_tokens"))


def ending_of(answer: Any) -> tuple[str | None, str]:
    """The model that the provider says has answered, and why it stopped, in the words of the conventions."""
    raw = attribute(answer, "raw")
    model = reason = None
    if raw is not None:
        model = text_or_none(attribute(raw, "model"))
        choices = elements(attribute(raw, "choices"))
        reason = text_or_none(attribute(choices[0], "finish_reason")) if choices else None
    if reason is not None:
        return model, _FINISH_REASONS.get(reason, reason)
    return model, "tool_call" if elements(attribute(answer, "tool_calls")) else "stop"


def _easy_keys(messages: Sequence[Any]) -> list[Hashable] | None:
    """The keys of messages that all are as `_easy` has them, None where one is not.

    Every call's messages are all looked at, so this is one loop: with a call for each it takes twice as long.
    """
    keys: list[Hashable] = []
    kind = role_kind = None
    for message in messages:
        if type(message) is not kind:
            if type(message).__module__ != "smolagents.models":
                return None
            kind = type(message)
        content, role = message.content, message.role
        if type(content) is not list or len(content) != 1 or message.tool_calls is not None:
            return None
        element = content[0]
        if type(element) is not dict or element.get("type") != "text":
            return None
        text = element.get("text")
        if type(text) is not str:
            return None
        if type(role) is not role_kind:  # the framework's enumeration, whose members equal their texts
            if type(role).__module__ != "smolagents.models":
                return None
            role_kind = type(role)
        keys.append((role, text))
    return keys


def _easy(message: Any) -> tuple[str, str] | None:
    """Role and text of a `ChatMessage` that holds nothing else, which most do."""
    if type(message).__module__ != "smolagents.models" or message.tool_calls is not None:
        return None
    content, role = message.content, message.role
    if type(content) is list and len(content) == 1 and type(content[0]) is dict:
        element = content[0]
        content = element.get("text") if element.get("type") == "text" else None
    if type(content) is not str:
        return None
    if type(role) is not str:
        if not issubclass(type(role), str):
            return None
        role = str.__str__(role)
    return role, content


def _field(message: Any, name: str) -> Any:
    return member(message, name) if is_a(message, dict) else attribute(message, name)


def _content(content: Any) -> tuple[list[dict[str, Any]], list[Hashable]]:
    if content is None:
        return [], []
    if not is_a(content, list):
        text = text_of(content)
        return [text_part(text)], [text]
    parts: list[dict[str, Any]] = []
    keys: list[Hashable] = []
    for element in elements(content):
        part, key = _element(element)
        parts.append(part)
        keys.append(key)
    return parts, keys


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
    # Images are large and no evaluator reads them: that one was there is what is told.
    return {"type": "blob", "modality": kind}, ("blob", id(member(element, "image")))
