"""Conversations in the form of the GenAI conventions, each message written once.

A framework's module turns its own messages into `Message`s here; `History` finds how many of them an earlier
call of the same run already recorded, so that a run's bytes grow with its new messages only.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from spanproof.instrumentors.content import Content
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_REMEMBERED: Final = 4
"""Calls to compare with: action steps and planning steps of one run have a history each."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its parts as the conventions name them, and a key that is equal for equal messages."""

    role: str
    parts: list[dict[str, Any]] = field(hash=False)
    key: Hashable
    name: str | None = None

    def document(self) -> dict[str, Any]:
        """As it is written to the span."""
        written: dict[str, Any] = {"role": self.role, "parts": self.parts}
        if self.name:
            written["name"] = self.name
        return written


def text_part(text: str) -> dict[str, Any]:
    """A part that is text."""
    return {"type": "text", "content": text}


def tool_call_part(name: str, arguments: object, call_id: str | None) -> dict[str, Any]:
    """A part in which the model asks for a tool."""
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def tool_response_part(response: object, call_id: str | None) -> dict[str, Any]:
    """A part that answers a tool call."""
    return {"type": "tool_call_response", "id": call_id, "response": response}


@dataclass(frozen=True, slots=True)
class Omitted:
    """How many leading messages stand on earlier spans, and on which."""

    count: int = 0
    base: str | None = None


class History:
    """What the model calls of one run were given, so that the next one is recorded as a difference."""

    def __init__(self) -> None:
        self._calls: deque[tuple[str, tuple[Hashable, ...]]] = deque(maxlen=_REMEMBERED)
        self._lock = threading.Lock()

    def new(self, span_id: str, keys: Sequence[Hashable]) -> Omitted:
        """How many leading messages an earlier call was given too, and the span of that call."""
        now = tuple(keys)
        omitted, base = 0, None
        with self._lock:
            for earlier, known in reversed(self._calls):
                common = _common(known, now)
                if common > omitted:
                    omitted, base = common, earlier
                if common == len(known):
                    break  # that call's whole input: an earlier one has no more to give
            self._calls.append((span_id, now))
        return Omitted(omitted, base)


def record_input(content: Content, new: Sequence[Message], omitted: Omitted) -> None:
    """Put the new messages onto the span, and how many it leaves out."""
    if not content.visible:
        return
    content.messages(genai.INPUT_MESSAGES, [message.document() for message in new])
    if omitted.count:
        content.fact(ours.MESSAGES_OMITTED, omitted.count)
        content.fact(ours.MESSAGES_BASE, omitted.base)


def record_output(content: Content, message: Message, finish_reason: str) -> None:
    """Put the model's answer onto the span."""
    content.messages(genai.OUTPUT_MESSAGES, [{**message.document(), "finish_reason": finish_reason}])
    content.fact(genai.RESPONSE_FINISH_REASONS, [finish_reason])


def _common(known: tuple[Hashable, ...], now: tuple[Hashable, ...]) -> int:
    count = 0
    for one, other in zip(known, now, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count
