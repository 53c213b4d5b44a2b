"""Hostile text made printable: what no form of output can hold, or what would disguise code, is replaced."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile(
    "[^\t\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010fffd]"
    "|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


def format_printable(text: str) -> str:
    """Return the text with controls, surrogates and bidirectional or zero-width characters as U+FFFD.

    Every end of a line becomes a newline.
    """
    return _UNPRINTABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def format_count(number: int, noun: str) -> str:
    """Return `1 case`, `2 cases`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun}s"


def format_shortened(text: str, limit: int) -> str:
    """Return at most so many characters of a text, with `…` where it was longer."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1]}…"
