"""Excerpts: what of a run's actions and outputs a judge is shown, within a bound.

In: texts in order, and the words that are looked for. Out: the same texts where they fit, else of each the
lines that share the rarest of those words, with what is left out marked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from spanproof.evaluators.judge.prompt import Part

MAX_CHARACTERS: Final = 24_000
"""Characters of evidence in one prompt, about 6,000 tokens; open sentences rest on few lines of it."""

_CHUNK: Final = 600
_WORD: Final = re.compile(r"[^\W_]+(?:[.,'’-]?[^\W_]+)*")
_GROUPING: Final = re.compile(r"(?<=\d),(?=\d{3})")


def list_words(text: str) -> frozenset[str]:
    """Return the words and numbers of a text in lower case, numbers without separators of thousands."""
    return frozenset(_WORD.findall(_GROUPING.sub("", text.lower())))


def select_excerpts(
    parts: Sequence[Part], wanted: Collection[str], max_characters: int = MAX_CHARACTERS
) -> tuple[Part, ...]:
    """Return the parts within a bound; what holds the most of the rarest wanted words is kept first.

    Args:
        parts: actions and outputs, in order.
        wanted: words as `list_words` gives them.
        max_characters: of all parts together.
    """
    if sum(len(part.text) for part in parts) <= max_characters:
        return tuple(parts)
    chunks = [(number, chunk) for number, part in enumerate(parts) for chunk in _split_lines(part.text)]
    words = [list_words(chunk) & frozenset(wanted) for _, chunk in chunks]
    frequency = Counter(word for found in words for word in found)

    def weigh(index: int) -> tuple[float, int]:
        # Later chunks first among equals: the last output counts where outputs changed.
        return sum(1 / frequency[word] for word in words[index]), index

    kept: set[int] = set()
    left = max_characters
    for index in sorted(range(len(chunks)), key=weigh, reverse=True):
        if len(chunks[index][1]) <= left:
            kept.add(index)
            left -= len(chunks[index][1])
    return tuple(_build_part(number, part, chunks, kept) for number, part in enumerate(parts))


def _split_lines(text: str) -> list[str]:
    """Return the text in pieces of whole lines; a line that is too long is cut."""
    pieces: list[str] = []
    current = ""
    for line in text.splitlines(keepends=True):
        if current and len(current) + len(line) > _CHUNK:
            pieces.append(current)
            current = ""
        while len(line) > _CHUNK:
            pieces.append(line[:_CHUNK])
            line = line[_CHUNK:]
        current += line
    return [*pieces, current] if current else pieces


def _build_part(number: int, part: Part, chunks: Sequence[tuple[int, str]], kept: Collection[int]) -> Part:
    text, left_out = "", 0
    for index, (owner, chunk) in enumerate(chunks):
        if owner != number:
            continue
        if index not in kept:
            left_out += len(chunk)
            continue
        text += f"[… {left_out} characters left out …]\n" if left_out else ""
        text, left_out = text + chunk, 0
    return Part(part.title, text + (f"[… {left_out} characters left out …]" if left_out else ""))
