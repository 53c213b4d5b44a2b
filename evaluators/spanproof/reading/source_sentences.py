"""The sentences of prose in a source, with what a sentence that repeats one has to have.

In: the text of a source. Out: its sentences with their words, numbers and negations. Tables, code and
documents have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from spanproof.reading.lexicon import load_words
from spanproof.reading.words import base_form, base_forms_of, split_words

_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:[.!?](?!\s)[^.!?\n]*)*")
FEWEST_WORDS: Final = 4
"""Shorter sentences are too like others."""
_MOST_WORDS: Final = 60
_STRUCTURE: Final = re.compile(r"[{}\[\]|=\t]|\w: \w+,|\s{3}")
_MAX_CHARS: Final = 60_000
_NUMBER: Final = re.compile(r"\d[\d.,]*")
# What printing adds to the values of a table or a query.
_PRINTED_FILLER: Final = frozenset(("none", "null", "row", "object", "dtype", "answer", "result"))


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of a source: `text[start:end]`, its words in base form and in `order`, and its numbers."""

    source: int
    start: int
    end: int
    words: frozenset[str]
    order: tuple[str, ...]
    numbers: frozenset[str]
    negations: int

    def has_in_order(self, words: Sequence[str]) -> bool:
        """Return whether words are in this order: in another one subject and object may change places."""
        at = 0
        for word in words:
            try:
                at = self.order.index(word, at) + 1
            except ValueError:
                return False
        return True


def list_digits(text: str) -> frozenset[str]:
    """Return the numbers of a text as they are written."""
    return frozenset(number.rstrip(".,") for number in _NUMBER.findall(text))


def iter_source_sentences(source: int, text: str) -> Iterator[SourceSentence]:
    """Yield the sentences of prose of a source."""
    for match in _SENTENCE.finditer(text[:_MAX_CHARS]):
        if _STRUCTURE.search(match.group()):
            continue
        words = tuple(base_form(word) for word, _, _ in split_words(match.group()))
        if FEWEST_WORDS <= len(words) <= _MOST_WORDS:
            negations = sum(word in load_words("negation") for word in words)
            numbers = list_digits(match.group())
            yield SourceSentence(
                source, match.start(), match.end(), frozenset(words), words, numbers, negations
            )


def list_content(text: str) -> frozenset[str]:
    """Return the words of a printed text that say something."""
    return frozenset(word for word in base_forms_of(text) - _PRINTED_FILLER if not word.isdigit())
