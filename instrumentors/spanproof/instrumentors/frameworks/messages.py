"""Conversations in the form of the GenAI conventions, each message written once.

A framework's module turns its own messages into `Message`s here; `History` finds how many of them an earlier
call of the same run already recorded, so that a run's bytes grow with its new messages only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from opentelemetry.trace import Span

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.texts import list_elements, to_text
from spanproof.instrumentors.spans.tracing import OpenSpan
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours

_T = TypeVar("_T")

# Calls to compare with: action steps and planning steps of one run have a history each.
_REMEMBERED: Final = 4
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
# Parts that a backend shows as text.
_SAYING: Final = {"text", "tool_call_response"}


@dataclass(slots=True)
class Message:
    """One message.

    Attributes:
        document: as it is written to a span: `role`, `parts`, and the speaker's `name` where there is one.
        key: equal for equal messages.
    """

    document: dict[str, Any]
    key: Hashable

    @property
    def text(self) -> str:
        """Return its text; of a tool's answer, the result as text."""
        texts = [part.get("content", part.get("response")) for part in self.parts if part["type"] in _SAYING]
        return "\n".join([*map(to_text, texts)])

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Return what it consists of."""
        parts: list[dict[str, Any]] = self.document["parts"]
        return parts

    @property
    def calls_tools(self) -> bool:
        """Return whether it calls tools."""
        return any(part["type"] == "tool_call" for part in self.parts)


def build_message(
    role: str, text: str, calls: Sequence[tuple[str, object, str | None]] = (), name: str | None = None
) -> Message:
    """Return a message of a text and calls of tools (name, arguments, id), and of the speaker's name."""
    parts = [build_text_part(text)] if text else []
    parts += [build_tool_call_part(*call) for call in calls]
    document: dict[str, Any] = {"role": role, "parts": parts}
    if name is not None:
        document["name"] = name
    return Message(document, (role, text, *((called, call_id) for called, _, call_id in calls)))


def build_text_part(text: str) -> dict[str, Any]:
    """Return a part that is text."""
    return {"type": "text", "content": text}


def build_tool_call_part(name: str, arguments: object, call_id: str | None) -> dict[str, Any]:
    """Return a part in which the model calls a tool."""
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def build_tool_response_part(response: object, call_id: str | None) -> dict[str, Any]:
    """Return a part that answers a tool call."""
    return {"type": "tool_call_response", "id": call_id, "response": response}


class History:
    """What the model calls of one run were given, so that the next one is recorded as a difference."""

    def __init__(self) -> None:
        self._calls: tuple[tuple[Span, list[Hashable]], ...] = ()

    def get_common_start(self, span: Span, keys: list[Hashable]) -> tuple[int, Span | None]:
        """Return how many leading messages an earlier call was given too, and its span.

        The list of keys is kept.
        """
        omitted: int = 0
        base: Span | None = None
        # No lock, which a fork could leave held: of two calls at once one may be forgotten, no more.
        calls = self._calls
        for earlier, earlier_keys in reversed(calls):
            count = len(
                earlier_keys
            )  # before they are compared: another thread's answer may be added meanwhile
            whole = keys[:count] == earlier_keys
            common = count if whole else _count_common(earlier_keys, keys)
            if common > omitted:
                omitted, base = common, earlier
            if whole:
                break  # that call's whole input: an earlier one has no more to give
        self._calls = (*calls[-_REMEMBERED + 1 :], (span, keys))
        return omitted, base

    def add_answers(self, span: Span, keys: Sequence[Hashable]) -> None:
        """Add a call's answers, which are on its span, to what the next call's input leaves out."""
        for earlier, earlier_keys in self._calls:
            if earlier is span:
                earlier_keys.extend(keys)


def record_input(
    content: OpenSpan,
    messages: Sequence[_T],
    key_of: Callable[[_T], Hashable | None],
    read: Callable[[_T], Message],
    history: History | None,
) -> None:
    """Put what a model is given onto its span: new messages, how many are left out, and where those are.

    Every call gets all earlier messages again, so `key_of` is cheap, and only new ones are `read`, with those
    of which it does not know the key.
    """
    omitted, base = 0, None
    if history is not None:
        keys = [key_of(item) or read(item).key for item in messages]
        omitted, base = history.get_common_start(content.span, keys)
    new = [read(item) for item in messages[omitted:]]
    _record_messages(content, genai.INPUT_MESSAGES, [item.document for item in new])
    if new and new[-1].document["role"] == "tool":
        content.beginning(new[-1].text)  # the tool's own span shows it whole
    elif new:
        content.input(new[-1].text)
    if base is not None:
        content.attributes[ours.MESSAGES_OMITTED] = omitted
        content.attributes[ours.MESSAGES_BASE] = format(base.get_span_context().span_id, "016x")


def record_usage(content: Content, read_tokens: object, written: object) -> None:
    """Put the tokens of a call onto its span, those given and those written, where they are counts."""
    if type(read_tokens) is int:
        content.attributes[genai.USAGE_INPUT_TOKENS] = read_tokens
        content.attributes[openinference.LLM_TOKEN_COUNT_PROMPT] = read_tokens
    if type(written) is int:
        content.attributes[genai.USAGE_OUTPUT_TOKENS] = written
        content.attributes[openinference.LLM_TOKEN_COUNT_COMPLETION] = written


def get_finish_reason(reason: str | None, tool_calls: object) -> str:
    """Return why a model stopped in the words of the conventions, by its calls where it does not say."""
    if reason is not None:
        return _FINISH_REASONS.get(reason, reason)
    return "tool_call" if list_elements(tool_calls) else "stop"


def record_agent(content: Content, name: str | None) -> None:
    """Put an agent's name onto its span."""
    content.fact(genai.AGENT_NAME, name)
    content.fact(openinference.AGENT_NAME, name)


def record_output(
    content: OpenSpan, answer: Message, finish_reason: str, history: History | None = None
) -> None:
    """Put the model's answer onto the span."""
    _record_messages(content, genai.OUTPUT_MESSAGES, [{**answer.document, "finish_reason": finish_reason}])
    content.attributes[genai.RESPONSE_FINISH_REASONS] = (finish_reason,)
    # An answer that only calls tools shows them: a backend would show nothing.
    content.output(answer.text or answer.parts)
    if history is not None:
        history.add_answers(content.span, [answer.key])


def _record_messages(content: OpenSpan, name: str, documents: list[dict[str, Any]]) -> None:
    # Only arguments and results are the host's values.
    plain = all(part["type"] == "text" for document in documents for part in document["parts"])
    content.json(name, documents, plain=plain)


def _count_common(earlier: Sequence[Hashable], now: Sequence[Hashable]) -> int:
    count = 0
    for one, other in zip(earlier, now, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count
