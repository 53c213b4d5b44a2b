"""The system prompt of a run, and the version that it has where the agent names none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from spanproof.trace import Span, digest

DERIVED_PREFIX: Final = "prompt-"
"""Of a version that was worked out from the text of the prompt."""

_SYSTEM_ROLES: Final = frozenset({"system", "developer"})
# Two of 1,000 versions of one agent share 32 bits with a chance of 1 in 8,600.
_DIGEST_CHARACTERS: Final = 8

# What frameworks and agents write anew into the same prompt at each run: ids, dates and times, counts.
_VOLATILE: Final = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{16,}\b|\d+"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b",
    re.IGNORECASE,
)


def find_system_prompt(calls: Iterable[Span]) -> str | None:
    """Return the system prompt of the first of these model calls that has one.

    Args:
        calls: LLM spans of one run, in order of time.
    """
    for call in calls:
        texts = [message.text for message in call.input_messages if message.role in _SYSTEM_ROLES]
        prompt = "\n".join(text for text in texts if text.strip())
        if prompt:
            return prompt
    return None


def build_prompt_version(prompt: str) -> str:
    """Return a version that prompts share which differ in ids, dates, numbers and white space alone."""
    text = " ".join(_VOLATILE.sub("#", prompt).split())
    return DERIVED_PREFIX + digest("prompt", text)[:_DIGEST_CHARACTERS]
