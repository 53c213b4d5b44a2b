"""Sets of names, written as a text of words: the long lists of the policy and the scanners stay readable."""

from __future__ import annotations


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())
