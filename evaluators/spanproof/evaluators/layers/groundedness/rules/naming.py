"""Which fact a stretch of the answer names.

In: the words of a segment and the facts. Out: whether one fact is named better than another. Naming is
decided pairwise, by the words in which two facts differ: a word both share says nothing about which is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache

from spanproof.evaluators.layers.groundedness.language.quantities import quantities_in
from spanproof.evaluators.layers.groundedness.language.words import words_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts

_NOUN = re.compile(r"\s+[a-z][a-z-]+(?:\s+[a-z][a-z-]+)?")


def vocabulary(facts: Facts) -> frozenset[str]:
    """Every word by which some fact is named, prose left out."""
    words: set[str] = set()
    for fact in facts.facts:
        if not fact.weak:
            words.update(fact.key, fact.scope)
    return frozenset(words)


def row_words(facts: Facts) -> frozenset[str]:
    """Words by which rows of tables are known."""
    words: set[str] = set()
    for fact in facts.facts:
        if fact.records >= 0:
            words |= fact.scope
    return frozenset(words)


def named_instead(rival: Fact, fact: Fact, words: AbstractSet[str]) -> bool:
    """Whether the words name `rival` and not `fact`.

    They must hold what sets the rival apart (its row, or most of its key) and nothing that sets the fact
    apart.
    """
    ours, theirs = fact.words, rival.words
    if theirs.isdisjoint(words) or not (ours - theirs).isdisjoint(words):
        return False
    if not (rival.scope - ours).isdisjoint(words):
        return True
    elsewhere = rival.records == fact.records >= 0 and rival.row != fact.row and rival.key != fact.key
    if elsewhere and not rival.scope <= fact.scope:
        return False  # another column of another row, which nothing names
    telling = set(rival.key) - ours
    return 2 * len(telling & words) > len(telling)


_MOST_LINES_APART = 100
"""Lines of prose between two values that are still held against each other: long logs end in time."""


def told_instead(rival: Fact, fact: Fact, words: AbstractSet[str]) -> bool:
    """The same for a fact found in prose: by the words of the clauses the two stand in."""
    if rival.weak and abs(rival.line - fact.line) > _MOST_LINES_APART:
        return False
    theirs = rival.clause if rival.weak else rival.words
    if not fact.clause or theirs.isdisjoint(words) or not (fact.clause - theirs).isdisjoint(words):
        return False
    # The words tell which is meant only of what is told alike: in one line, or with a word in common.
    alike = not rival.weak or rival.line == fact.line or not theirs.isdisjoint(fact.clause)
    return alike and not (theirs - fact.clause).isdisjoint(words)


def spoken_of(facts: Iterable[Fact], words: AbstractSet[str]) -> list[Fact]:
    """The facts that share most of these words, of those words that tell the facts apart."""
    named = [(fact.clause if fact.weak else fact.words, fact) for fact in facts]
    if not named:
        return []
    telling = words - frozenset.intersection(*(each for each, _ in named))
    most = max(len(each & telling) for each, _ in named)
    return [fact for each, fact in named if len(each & telling) == most] if most else []


@lru_cache(maxsize=4096)
def _noun_behind(text: str, number: float) -> tuple[str, ...]:
    place = next((each for each in quantities_in(text) if each.value == number), None)
    found = None if place is None else _NOUN.match(text, place.end)
    return () if found is None else tuple(words_of(found.group()))


def noun_told(fact: Fact) -> tuple[str, ...]:
    """Of a value found in prose, the words right behind it: what it counts."""
    return _noun_behind(fact.text, fact.number or 0.0) if fact.weak else ()


def coverage(fact: Fact, words: AbstractSet[str]) -> float:
    """The share of the fact's own key that the words hold; 0 for a fact without a key."""
    return sum(word in words for word in fact.key) / len(fact.key) if fact.key else 0.0


def best_named(facts: Iterable[Fact], words: AbstractSet[str]) -> list[Fact]:
    """The facts that share most words with these, none where no word is shared."""
    best: list[Fact] = []
    top = 0.0
    for fact in facts:
        shared = len(fact.words & words)
        if not shared:
            continue
        score = shared + coverage(fact, words)
        if score > top:
            best, top = [fact], score
        elif score == top:
            best.append(fact)
    return best
