"""Which fact a stretch of the answer names.

In: the words of a segment and the facts. Out: whether one fact is named better than another. Naming is
decided pairwise, by the words in which two facts differ: a word both share says nothing about which is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from spanproof.evaluators.layers.groundedness.facts import Fact, Facts


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


def named_instead(rival: Fact, fact: Fact, words: Set[str]) -> bool:
    """Whether the words name `rival` and not `fact`.

    They must hold something that sets the rival apart and nothing that sets the fact apart.
    """
    ours, theirs = fact.words, rival.words
    return not (theirs - ours).isdisjoint(words) and (ours - theirs).isdisjoint(words)


def coverage(fact: Fact, words: Set[str]) -> float:
    """The share of the fact's own key that the words hold; 0 for a fact without a key."""
    return sum(word in words for word in fact.key) / len(fact.key) if fact.key else 0.0


def best_named(facts: Iterable[Fact], words: Set[str]) -> list[Fact]:
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
