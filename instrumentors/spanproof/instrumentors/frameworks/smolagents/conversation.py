"""smolagents' chat messages in the form of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from opentelemetry.trace import Span

from spanproof.instrumentors.content.messages import History, Message, text_part, tool_call_part
from spanproof.instrumentors.content.reading import attribute, elements, is_a, member, text_or_none
from spanproof.instrumentors.content.texts import text_of

_MODELS = "smolagents.models"
_ROLES = {"tool-call": "assistant", "tool-response": "tool"}
_FINISH_REASONS = {"tool_calls": "tool_call", "function_call": "tool_call", "max_tokens": "length"}


def message_of(message: Any) -> Message:
    """A `ChatMessage`, or the dictionary that older models pass."""
    said = _said((message,))
    return _read(message) if said is None else Message(_saying(said[0]), said[0])


def new_messages(
    messages: Sequence[Any], history: History | None, span: Span
) -> tuple[list[dict[str, Any]], int, Span | None]:
    """Those of a span's call that stand on no earlier span of its run; how many do, and on which."""
    said = _said(messages)
    if said is not None:
        omitted, base = (0, None) if history is None else history.new(span, said)
        return [*map(_saying, said[omitted:])], omitted, base
    read = [*map(message_of, messages)]
    keys = [message.key for message in read]
    omitted, base = (0, None) if history is None else history.new(span, keys)
    return [message.document for message in read[omitted:]], omitted, base


def joined(pieces: Sequence[Any]) -> Any:
    """The message that the pieces of a stream add up to."""
    from smolagents.models import agglomerate_stream_deltas

    return agglomerate_stream_deltas(list(pieces))


def usage_of(answer: Any) -> tuple[int | None, int | None]:
    """Input and output tokens, None where the model does not tell."""
    usage = attribute(answer, "token_usage")
    if type(usage).__module__ == "smolagents.monitoring":  # two fields and no more
        given, written = usage.input_tokens, usage.output_tokens
    else:
        given, written = attribute(usage, "input_tokens"), attribute(usage, "output_tokens")
    return given if type(given) is int else None, written if type(written) is int else None


def finish_reason_of(answer: Any) -> str:
    """Why it stopped, in the words of the conventions."""
    choices = elements(attribute(attribute(answer, "raw"), "choices"))
    reason = text_or_none(attribute(choices[0], "finish_reason")) if choices else None
    if reason is not None:
        return _FINISH_REASONS.get(reason, reason)
    return "tool_call" if elements(attribute(answer, "tool_calls")) else "stop"


def _said(messages: Sequence[Any]) -> list[Hashable] | None:
    """Role and text of `ChatMessage`s that hold nothing else, which most do; None where one does.

    Every call's messages are all looked at, so this is one loop.
    """
    said: list[Hashable] = []
    kind = role_kind = None
    for message in messages:
        if type(message) is not kind:
            if type(message).__module__ != _MODELS:
                return None
            kind = type(message)
        content, role = message.content, message.role
        if type(content) is list and len(content) == 1:
            element = content[0]
            if type(element) is not dict or element.get("type") != "text":
                return None
            content = element.get("text")
        if type(content) is not str or message.tool_calls is not None:
            return None
        if type(role) is not role_kind:  # the framework's enumeration, whose members equal their texts
            role_kind = type(role)
            if role_kind is not str and not (issubclass(role_kind, str) and role_kind.__module__ == _MODELS):
                return None
        said.append((role, content))
    return said


def _saying(said: Any) -> dict[str, Any]:
    role, text = str.__str__(said[0]), said[1]
    return {"role": _ROLES.get(role, role), "parts": [{"type": "text", "content": text}]}


def _read(message: Any) -> Message:
    role = _field(message, "role")
    role = text_or_none(attribute(role, "value", role)) or "user"
    parts, keys = _content(_field(message, "content"))
    for call in elements(_field(message, "tool_calls")):
        function = _field(call, "function")
        name, arguments = text_of(_field(function, "name")), _field(function, "arguments")
        parts.append(tool_call_part(name, arguments, text_or_none(_field(call, "id"))))
        keys.append((name, text_of(arguments)))
    return Message({"role": _ROLES.get(role, role), "parts": parts}, (role, *keys))


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
