"""Directions that an answer gives a change whose two values it states: "rose from 10 to 12"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise

from spanproof.evaluators.layers.groundedness.claims.frames import AnswerFrames, Frame
from spanproof.evaluators.layers.groundedness.values.model import is_year

_FROM = re.compile(r"\bfrom\s+[$€£]?\Z", re.IGNORECASE)
_TO = re.compile(r"\A[^.;\n]{0,40}?\bto\s+[$€£]?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction with the values it is about.

    Attributes:
        start, end: the characters of its word.
        fits: whether the values go that way.
    """

    start: int
    end: int
    fits: bool
    first: Frame
    last: Frame


@lru_cache(maxsize=1)
def _signs() -> dict[str, int]:
    package = f"{__package__.rpartition('.')[0]}.claims"
    lines = (resources.files(package) / "directions.txt").read_text(encoding="utf-8").splitlines()
    up, down = (line.split() for line in lines if not line.startswith("#"))
    return dict.fromkeys(up, 1) | dict.fromkeys(down, -1)


def find_directions(read: AnswerFrames) -> Iterator[Direction]:
    """Yield each direction before "from A to B" in its sentence, where the two values differ."""
    answer = read.answer
    for first, last in pairwise(read.frames):
        start, value = first.mention.start, first.mention.value
        low, _ = read.sentence_at(first.line, start)
        if not _FROM.search(answer[max(low, start - 8) : start]) or not _TO.match(
            answer[first.mention.end : last.mention.start]
        ):
            continue
        if value.kind is not last.mention.value.kind or value.number == last.mention.value.number:
            continue
        if is_year(value) and is_year(last.mention.value):
            continue
        words = [
            match for match in re.finditer(r"[a-z]+", answer[low:start].lower()) if match.group() in _signs()
        ]
        # "The increase / (decrease)" names both ways.
        if words and len({_signs()[word.group()] for word in words}) == 1:
            word = words[-1]
            rises = last.mention.value.number > value.number
            yield Direction(
                low + word.start(), low + word.end(), (_signs()[word.group()] > 0) == rises, first, last
            )
