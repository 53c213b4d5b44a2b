"""Conversations in the form of the GenAI conventions, each message written once.

A framework's module turns its own messages into `Message`s here; `History` finds how many of them an earlier
call of the same run already recorded, so that a run's bytes grow with its new messages only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.trace import Span

from spanproof.instrumentors.content import Content
from spanproof.instrumentors.texts import text_of
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_REMEMBERED: Final = 4
"""Calls to compare with: action steps and planning steps of one run have a history each."""
_MAX_READ: Final = 2_048
"""Messages of a run that are remembered as read."""
_SAYING: Final = {"text", "tool_call_response"}
"""Parts that a backend shows as text."""


@dataclass(slots=True)
class Message:
    """One message.

    Attributes:
        document: as it is written to a span: `role`, `parts`, and the speaker's `name` where there is one.
        key: equal for equal messages.
    """

    document: dict[str, Any]
    key: Hashable


def text_part(text: str) -> dict[str, Any]:
    """A part that is text."""
    return {"type": "text", "content": text}


def tool_call_part(name: str, arguments: object, call_id: str | None) -> dict[str, Any]:
    """A part in which the model asks for a tool."""
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def tool_response_part(response: object, call_id: str | None) -> dict[str, Any]:
    """A part that answers a tool call."""
    return {"type": "tool_call_response", "id": call_id, "response": response}


def text_in(message: Message) -> str:
    """What a message says; a tool's answer as text."""
    parts = message.document["parts"]
    if len(parts) == 1 and parts[0]["type"] == "text":
        text = parts[0]["content"]
        return text if type(text) is str else text_of(text)
    said = [part.get("content", part.get("response")) for part in parts if part["type"] in _SAYING]
    return "\n".join([*map(text_of, said)])


@dataclass(slots=True)
class Omitted:
    """How many leading messages stand on earlier spans, and on which."""

    count: int = 0
    base: Span | None = None


class History:
    """What the model calls of one run were given, so that the next one is recorded as a difference."""

    def __init__(self) -> None:
        self._calls: tuple[tuple[Span, tuple[Hashable, ...]], ...] = ()
        self._read: dict[int, tuple[object, object, Message]] = {}

    def known(self, originals: Sequence[Any], read: Callable[[Any], Message]) -> list[Message]:
        """What `read` makes of a framework's messages, each read once while it holds the same content.

        Every call's messages are all looked at, so this is one loop.
        """
        found: list[Message] = []
        for original in originals:
            try:
                content = original.content
            except KeyboardInterrupt:
                raise
            except BaseException:  # noqa: BLE001 - no message, or one that refuses: `read` knows what to do
                content = original
            entry = self._read.get(id(original))
            if entry is None or entry[0] is not original or entry[1] is not content:
                if len(self._read) >= _MAX_READ:
                    self._read.clear()
                # Holding the original as well keeps its id from being given to another object.
                entry = self._read[id(original)] = (original, content, read(original))
            found.append(entry[2])
        return found

    def new(self, span: Span, keys: Sequence[Hashable]) -> Omitted:
        """How many leading messages an earlier call was given too, and the span of that call."""
        now = tuple(keys)
        omitted: int = 0
        base: Span | None = None
        # No lock, which a fork could leave held: of two calls at once one may be forgotten, no more.
        calls = self._calls
        for earlier, known in reversed(calls):
            common = _common(known, now)
            if common > omitted:
                omitted, base = common, earlier
            if common == len(known):
                break  # that call's whole input: an earlier one has no more to give
        self._calls = (*calls[-_REMEMBERED + 1 :], (span, now))
        return Omitted(omitted, base)

    def answered(self, span: Span, keys: Sequence[Hashable]) -> None:
        """The call's answers stand on its span: as the next call's input they are not told again."""
        calls = self._calls
        if calls and calls[-1][0] is span:  # as it is unless calls overlap
            self._calls = (*calls[:-1], (span, (*calls[-1][1], *keys)))
        else:
            self._calls = tuple((each, (*known, *keys) if each is span else known) for each, known in calls)


def record_input(content: Content, new: Sequence[Message], omitted: Omitted) -> None:
    """Put the new messages onto the span, and how many it leaves out."""
    if not content.visible:
        return
    content.messages(genai.INPUT_MESSAGES, [message.document for message in new])
    if new and new[-1].document["role"] == "tool":
        content.beginning(text_in(new[-1]))  # the tool's own span shows it whole
    elif new:
        content.input(text_in(new[-1]))
    if omitted.base is not None:
        content.attributes[ours.MESSAGES_OMITTED] = omitted.count
        content.attributes[ours.MESSAGES_BASE] = format(omitted.base.get_span_context().span_id, "016x")


def record_output(content: Content, message: Message, finish_reason: str) -> None:
    """Put the model's answer onto the span."""
    content.messages(genai.OUTPUT_MESSAGES, [{**message.document, "finish_reason": finish_reason}])
    content.attributes[genai.RESPONSE_FINISH_REASONS] = (finish_reason,)
    # An answer that only asks for tools shows which: a backend would show nothing.
    content.output(text_in(message) or message.document["parts"])


def _common(known: tuple[Hashable, ...], now: tuple[Hashable, ...]) -> int:
    count = min(len(known), len(now))
    if known[:count] == now[:count]:
        return count
    count = 0
    for one, other in zip(known, now, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count
