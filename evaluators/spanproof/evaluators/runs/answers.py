"""What of a run's output is an answer to its user.

In: the output as its producer recorded it. Out: the answer; None for what answers nothing: no value, a number
that is none, a list of tool calls that were still to be made.
"""

from __future__ import annotations

from typing import Final

from spanproof.trace import JsonValue, Payload
from spanproof.trace.dialects.messages import is_bare_call, read_messages

# How Python, JSON and JavaScript print that there is nothing, or a number that is none.
_NOTHING: Final = frozenset({"None", "null", "nan", "NaN", "undefined"})


def find_answer(output: Payload | None) -> Payload | None:
    """Return the answer in a run's output, its words alone where it is a message or a list of its parts."""
    if output is None or output.value is None or output.text.strip() in _NOTHING:
        return None
    value = output.value
    if isinstance(value, str):
        if value.strip() in _NOTHING:
            return None
        if value == output.text:
            return output
        return Payload(value, value, typed=True)
    parts = _list_parts(value)
    if not parts:
        return output
    messages = [message for message in read_messages(parts, "assistant") if message.role == "assistant"]
    texts = [message.text for message in messages if message.text]
    if messages and messages[-1].tool_calls and not messages[-1].text:
        return None
    return Payload(texts[-1], texts[-1], typed=True) if texts else None


def _list_parts(value: JsonValue) -> list[JsonValue]:
    """Return the calls, or the messages, that an output is; empty for any other document."""
    items: list[JsonValue] = value if isinstance(value, list) else [value]
    if items and all(is_bare_call(item) for item in items):
        return items
    if items and all(_is_text_or_call(item) for item in items):
        return [{"role": "assistant", "content": items}]
    if items and all(_is_message(item) for item in items):
        return items
    return []


def _is_message(item: JsonValue) -> bool:
    is_spoken = isinstance(item, dict) and isinstance(item.get("role"), str)
    return (
        is_spoken
        and isinstance(item, dict)
        and not item.keys().isdisjoint({"content", "parts", "tool_calls"})
    )


def _is_text_or_call(item: JsonValue) -> bool:
    """Whether an item is a part of a message: words, or a request for a call."""
    if is_bare_call(item):
        return True
    kind = item.get("type") if isinstance(item, dict) else None
    return kind in ("text", "output_text", "reasoning", "thinking", "tool-call", "tool_call", "tool_use")
