"""Conversations in the form of the GenAI conventions, each message written once.

A framework's module turns its own messages into `Message`s here; `History` finds how many of them an earlier
call of the same run already recorded, so that a run's bytes grow with its new messages only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.trace import Span

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.texts import elements, text_of
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours

_REMEMBERED: Final = 4
"""Calls to compare with: action steps and planning steps of one run have a history each."""
_MAX_READ: Final = 2_048
"""Messages of a run that are remembered as read."""
REQUEST_PARAMETERS: Final = {
    "temperature": genai.REQUEST_TEMPERATURE,
    "max_tokens": genai.REQUEST_MAX_TOKENS,
    "top_p": genai.REQUEST_TOP_P,
    "seed": genai.REQUEST_SEED,
}
"""Parameters of a model's call that are recorded, by the name that frameworks give them."""
_FINISH_REASONS: Final = {
    **dict.fromkeys(("tool_calls", "function_call", "tool_use"), "tool_call"),
    **dict.fromkeys(("max_tokens", "MAX_TOKENS"), "length"),
    **dict.fromkeys(("end_turn", "STOP"), "stop"),
}
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
    """Return a part that is text."""
    return {"type": "text", "content": text}


def tool_call_part(name: str, arguments: object, call_id: str | None) -> dict[str, Any]:
    """Return a part in which the model calls a tool."""
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def tool_response_part(response: object, call_id: str | None) -> dict[str, Any]:
    """Return a part that answers a tool call."""
    return {"type": "tool_call_response", "id": call_id, "response": response}


def text_in(document: Mapping[str, Any]) -> str:
    """Return a message's text; of a tool's answer, its result as text."""
    parts = document["parts"]
    if len(parts) == 1 and parts[0]["type"] == "text":
        text = parts[0]["content"]
        return text if type(text) is str else text_of(text)
    said = [part.get("content", part.get("response")) for part in parts if part["type"] in _SAYING]
    return "\n".join([*map(text_of, said)])


class History:
    """What the model calls of one run were given, so that the next one is recorded as a difference."""

    def __init__(self) -> None:
        self._calls: tuple[tuple[Span, list[Hashable]], ...] = ()
        self._read: dict[int, tuple[object, object, Message]] = {}

    def known(self, originals: Sequence[Any], read: Callable[[Any], Message]) -> list[Message]:
        """Return messages read by `read`, each read once while it holds the same content.

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

    def find_new(self, span: Span, keys: list[Hashable]) -> tuple[int, Span | None]:
        """Return how many leading messages an earlier call was given too, and its span.

        The list of keys is kept.
        """
        omitted: int = 0
        base: Span | None = None
        # No lock, which a fork could leave held: of two calls at once one may be forgotten, no more.
        calls = self._calls
        for earlier, known in reversed(calls):
            count = len(known)  # before they are compared: another thread's answer may be added meanwhile
            whole = keys[:count] == known
            common = count if whole else _common(known, keys)
            if common > omitted:
                omitted, base = common, earlier
            if whole:
                break  # that call's whole input: an earlier one has no more to give
        self._calls = (*calls[-_REMEMBERED + 1 :], (span, keys))
        return omitted, base

    def add_answers(self, span: Span, keys: Sequence[Hashable]) -> None:
        """Add a call's answers, which are on its span, to what the next call's input leaves out."""
        for each, known in self._calls:
            if each is span:
                known.extend(keys)


def record_input(content: Content, new: list[dict[str, Any]], omitted: int, base: Span | None) -> None:
    """Put the documents of the new messages onto the span, how many it leaves out, and where those stand."""
    if not content.visible:
        return
    content.messages(genai.INPUT_MESSAGES, new)
    if new and new[-1]["role"] == "tool":
        content.beginning(text_in(new[-1]))  # the tool's own span shows it whole
    elif new:
        content.input(text_in(new[-1]))
    if base is not None:
        content.attributes[ours.MESSAGES_OMITTED] = omitted
        content.attributes[ours.MESSAGES_BASE] = format(base.get_span_context().span_id, "016x")


def record_usage(content: Content, given: object, written: object) -> None:
    """Put the tokens of a call onto its span, those given and those written, where they are counts."""
    if type(given) is int:
        content.attributes[genai.USAGE_INPUT_TOKENS] = given
        content.attributes[openinference.LLM_TOKEN_COUNT_PROMPT] = given
    if type(written) is int:
        content.attributes[genai.USAGE_OUTPUT_TOKENS] = written
        content.attributes[openinference.LLM_TOKEN_COUNT_COMPLETION] = written


def name_finish(reason: str | None, tool_calls: object) -> str:
    """Return why a model stopped in the words of the conventions, by its calls where it does not say."""
    if reason is not None:
        return _FINISH_REASONS.get(reason, reason)
    return "tool_call" if elements(tool_calls) else "stop"


def record_agent(content: Content, name: str | None) -> None:
    """Put an agent's name onto its span."""
    content.fact(genai.AGENT_NAME, name)
    content.fact(openinference.AGENT_NAME, name)


def record_output(content: Content, document: dict[str, Any], finish_reason: str) -> None:
    """Put the model's answer onto the span."""
    content.messages(genai.OUTPUT_MESSAGES, [{**document, "finish_reason": finish_reason}])
    content.attributes[genai.RESPONSE_FINISH_REASONS] = (finish_reason,)
    # An answer that only calls tools shows them: a backend would show nothing.
    content.output(text_in(document) or document["parts"])


def _common(known: Sequence[Hashable], now: Sequence[Hashable]) -> int:
    count = 0
    for one, other in zip(known, now, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count
