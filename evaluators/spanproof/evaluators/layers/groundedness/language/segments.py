"""Sentences and segments: which stretch of a text belongs to which of its values.

In: prose, and where its values stand. Out: `Sentence`s with their pieces and segments. A segment is the
stretch between two separators (commas, "and", "from", "with", …); one without a value belongs to the next
that has one, so that "the mean with outliers is 5" stays whole. Answers and the prose of outputs are cut up
alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from spanproof.evaluators.layers.groundedness.language.words import words_of

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*]*\s+(?=[^a-z])|(?<=[a-z]{7}\.)\s+(?=[a-z])|;\s+|\n+")
"""Behind a word too long for a short form a sentence may begin with a lower-case name: "variance. sqft"."""
_SEPARATOR = re.compile(
    r"(?<!\d),\s+|,\s+(?=\D)|,(?=\s\d)|\s[—–-]\s|[()\[\]]"
    r"|\s(?=(?:and|but|while|whereas|with|over|from|to|across|versus|vs|than|or|plus|against|compared|at|out)\b)",
    re.IGNORECASE,
)
_AGAINST = re.compile(r"\b(?:while|whereas|but)\b", re.IGNORECASE)
_AGAINST_WORDS = ("while", "whereas", "but")
_CLAUSE = re.compile(
    r"\b(?:takes?|costs?|lasts?|earns?|sold|sells|weighs?|holds?|uses?|scored|runs?|plays?)\s+\w"
    r"|\b(?:one|another|none|nobody)\s+(?:has|is|was|did)\b",
    re.IGNORECASE,
)
"""A verb with its object: the piece says something of its own, and its words name no later number."""

MAX_SENTENCE_CHARS = 2_000
"""Nobody writes longer ones; rules look at whole sentences, for each value in them."""


@dataclass(slots=True)
class Sentence:
    """A sentence.

    Attributes:
        pieces: the stretches between separators, as `(start, end)` in the answer.
        segments: the same after joining those without a number to the next.
    """

    start: int
    end: int
    text: str
    words: tuple[str, ...]
    segments: list[tuple[int, int]] = field(default_factory=list)
    pieces: list[tuple[int, int]] = field(default_factory=list)
    _turns: list[tuple[int, int]] | None = None

    def clause_at(self, place: int) -> tuple[int, int]:
        """The part of the sentence around this place that "while" or "but" sets against another."""
        if self._turns is None:
            self._turns = [
                (self.start + match.start(), self.start + match.end()) for match in _turns(self.text)
            ]
        start, end = self.start, self.end
        for turn, behind in self._turns:
            if turn > place:
                end = turn
                break
            start = behind
        return start, end

    def piece_at(self, place: int) -> tuple[int, int]:
        """The piece that holds this place."""
        return next(
            ((start, end) for start, end in self.pieces if start <= place < end), (self.start, self.end)
        )


def _turns(text: str) -> Iterable[re.Match[str]]:
    lowered = text.lower()
    return _AGAINST.finditer(text) if any(word in lowered for word in _AGAINST_WORDS) else ()


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of a text; lines end one, and so does too great a length."""
    found: list[Sentence] = []
    start = 0
    bounds = [(match.start(), match.end()) for match in _SENTENCE_END.finditer(text)] + [
        (len(text), len(text))
    ]
    for end, following in bounds:
        for first, last in _bounded(text, start, end):
            piece = text[first:last]
            if piece.strip():
                found.append(Sentence(first, last, piece, tuple(words_of(piece))))
        start = following
    return found


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A stretch in parts of the greatest length, cut between words where there are any."""
    while end - start > MAX_SENTENCE_CHARS:
        cut = text.rfind(" ", start + 1, start + MAX_SENTENCE_CHARS) + 1 or start + MAX_SENTENCE_CHARS
        yield start, cut
        start = cut
    yield start, end


def cut_up(text: str, sentence: Sentence, values: list[tuple[int, int]]) -> None:
    """Fill in a sentence's pieces and segments, by the places of its values."""
    sentence.pieces = _pieces(text, sentence, values)
    sentence.segments = _segments(text, sentence, values)


def overlaps(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a stretch shares a place with one of these."""
    return any(begin < end and start < stop for begin, stop in taken)


def _pieces(text: str, sentence: Sentence, claims: list[tuple[int, int]]) -> list[tuple[int, int]]:
    inner = [
        match.end()
        for match in _SEPARATOR.finditer(text, sentence.start, sentence.end)
        if not overlaps(claims, match.start(), match.end())
    ]
    return [(start, end) for start, end in pairwise([sentence.start, *inner, sentence.end]) if end > start]


def _segments(text: str, sentence: Sentence, claims: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    open_start: int | None = None
    for start, end in sentence.pieces:
        begin = start if open_start is None else open_start
        if any(start <= claim < end for claim, _ in claims):
            joined.append((begin, end))
            open_start = None
        elif joined and open_start is None and text[start - 1] == "(":
            joined[-1] = (joined[-1][0], end)  # "12 km (one way)": an aside belongs to what stands before it
        elif _CLAUSE.search(text, start, end):
            open_start = None
        else:
            open_start = begin
    if open_start is None:
        return joined
    if not joined:
        return [(open_start, sentence.end)]
    joined[-1] = (joined[-1][0], sentence.end)
    return joined
