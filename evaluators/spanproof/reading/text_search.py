"""Search in texts and in the texts of facts for a word, without an index of all their words.

The base form of a word is its beginning but for the last letter (`words.get_base_form`), so that a word is
where that beginning is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from spanproof.reading.numerals import normalise_text
from spanproof.reading.records import Fact
from spanproof.reading.words import list_base_forms

# Characters beside a number up to which its own clause reaches.
_BESIDE: Final = 60
_BEFORE: Final = re.compile(r"[^\d,;.()\n]*\Z")
_BEHIND: Final = re.compile(r"[^\d,;.()\n]*")


class FactIndex:
    """Finds the facts whose text may have a word."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = facts
        self._text = "\n".join(fact.value.text for fact in facts)
        self._ends = list(accumulate(len(fact.value.text) + 1 for fact in facts))

    def iter_with(self, form: str) -> Iterator[Fact]:
        """Yield the facts that may have a word, given in its base form, in order."""
        part = form[:-1] or form
        at = self._text.find(part)
        while at >= 0:
            index = bisect_right(self._ends, at)
            yield self._facts[index]
            at = self._text.find(part, self._ends[index])


def has_word(texts: Sequence[str], form: str) -> bool:
    """Return whether a text has a word, given in its base form."""
    return bool(form) and any(
        form in list_base_forms(run) for text in texts for run in _iter_runs(text, form)
    )


def _iter_runs(text: str, form: str) -> Iterator[str]:
    """Yield the runs of letters and digits of a text that have the beginning of a word."""
    beginning, folded = form[:-1] or form, normalise_text(text)
    at = folded.find(beginning)
    while at >= 0:
        low, high = at, at + len(beginning)
        while low and _is_of_run(text[low - 1]):
            low -= 1
        while high < len(text) and _is_of_run(text[high]):
            high += 1
        yield text[low:high]
        at = folded.find(beginning, high)


def _is_of_run(character: str) -> bool:
    return character.isalnum() or character in "_'’"


def read_words_beside(text: str, start: int, end: int) -> frozenset[str]:
    """Return the words right behind a number in its clause, or else those right before it."""
    before = _BEFORE.search(text[max(0, start - _BESIDE) : start])
    following = _BEHIND.match(text[end : end + _BESIDE])
    own = following.group() if following is not None else ""
    if not own.strip() and before is not None:
        own = before.group()
    return list_base_forms(own)
