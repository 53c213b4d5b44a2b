"""States that lines of prose or of a log tell, each of its own thing: "Proposal B: 26 yes, 30 no - rejected".

In: a state said in the answer, the words before it, and the `Binding`. Out: the line that those words name
and no other, with the state it tells, where at least two lines tell one state of the family each.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.status_words import Meanings, StateWords
from spanproof.evaluators.layers.groundedness.language.words import content_words, words_of
from spanproof.evaluators.layers.groundedness.rules.binding import Binding

_LEAST_LINES, _MOST_LINES = 2, 60
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class StateLine:
    """A line that tells one state of a family."""

    output: int
    text: str
    words: frozenset[str]
    meanings: Meanings


def line_named(subject: str, families: set[int], binding: Binding) -> StateLine | None:
    """The one line that the words before a state name."""
    said = frozenset(_names(subject))
    for index, text in enumerate(binding.facts.texts):
        lines = _lines(index, text, families, binding.states)
        if len(lines) < _LEAST_LINES:
            continue
        named = [line for line in lines if not said.isdisjoint(line.words)]
        shared = frozenset.intersection(*(line.words for line in lines))
        telling = said - shared
        own = [line for line in named if not telling.isdisjoint(line.words)]
        if len(own) == 1:
            return own[0]
    return None


def _lines(index: int, text: str, families: set[int], states: StateWords) -> list[StateLine]:
    rows = [row for row in text.splitlines() if row.strip()]
    if not _LEAST_LINES <= len(rows) <= _MOST_LINES or max(map(len, rows)) > _LONGEST:
        return []
    found: list[StateLine] = []
    for row in rows:
        told = [states.forms[match[1].lower()] for match in states.pattern.finditer(row)]
        told = [each for each in told if families.intersection(family for family, _ in each)]
        if len(told) == 1:
            found.append(StateLine(index, row.strip()[:120], frozenset(_names(row)), told[0]))
    return found


def _names(text: str) -> list[str]:
    """Content words, with single letters: "Proposal B"."""
    return [word for word in content_words(words_of(text)) if word.isalnum()]
