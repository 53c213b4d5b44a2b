"""Words by what they mean to a reader of an answer: carriers, operations, negations, superlatives, states.

In: `lexicon.txt`, `relations.txt`, `states.txt`. Out: sets of words, by class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from spanproof.reading.sentences import Word
from spanproof.reading.words import get_base_form, list_base_forms

_PACKAGE: Final = __package__
_OPERATIONS: Final = ("sum", "mean", "difference", "share", "multiple", "up", "down")


def _read_lines(name: str) -> list[list[str]]:
    text = (resources.files(_PACKAGE) / name).read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


@cache
def load_words(kind: str) -> frozenset[str]:
    """Return the words of a class, as they are written and in their base form."""
    found = {word for first, *words in _read_lines("lexicon.txt") if first == kind for word in words}
    return frozenset(found | {get_base_form(word) for word in found})


@cache
def load_texts(kind: str) -> frozenset[str]:
    """Return the words of a class, only as they are written."""
    return frozenset(word for first, *words in _read_lines("lexicon.txt") if first == kind for word in words)


def is_of(word: Word, kind: str) -> bool:
    """Return whether a word is of a class."""
    return kind in _list_classes(word.lemma, word.text, word.form)


def list_cues(words: Sequence[Word]) -> frozenset[str]:
    """Return the operations that words name."""
    return frozenset(kind for kind in _OPERATIONS if any(is_of(word, kind) for word in words))


def is_among(word: Word, forms: frozenset[str]) -> bool:
    """Return whether a word, its lemma or all of its parts are among some words."""
    parts = list_base_forms(word.text)
    is_in_parts = bool(parts) and parts <= forms
    return is_in_parts or not forms.isdisjoint((word.form, get_base_form(word.lemma)))


def names_mean(forms: frozenset[str]) -> bool:
    """Return whether a field is that of a mean: `avg_minutes`, of which a value is "on average"."""
    return any(get_base_form(name) in forms for name in load_words("mean"))


def names_field(word: Word, forms: frozenset[str]) -> bool:
    """Return whether a word is among the words of a field, or says "mean" of the field of one."""
    return is_among(word, forms) or (is_of(word, "mean") and names_mean(forms))


@lru_cache(maxsize=16384)
def _list_classes(lemma: str, text: str, form: str) -> frozenset[str]:
    """Return the classes of a word by its lemma, its text and its base form."""
    classes = _load_classes()
    nothing: frozenset[str] = frozenset()
    return classes.get(lemma, nothing) | classes.get(text.lower(), nothing) | classes.get(form, nothing)


@cache
def _load_classes() -> dict[str, frozenset[str]]:
    """Return the classes of each word of the lexicon."""
    found: dict[str, set[str]] = defaultdict(set)
    for kind in {first for first, *_ in _read_lines("lexicon.txt")}:
        for word in load_words(kind):
            found[word].add(kind)
    return {word: frozenset(kinds) for word, kinds in found.items()}


@cache
def load_doings() -> dict[str, frozenset[str]]:
    """Return the verbs of doings that leave a trace, each with the words that a call or code for it has."""
    lines = (words for first, *words in _read_lines("lexicon.txt") if first == "doing")
    return {verb: list_base_forms(" ".join(alike)) for verb, *alike in lines}


@dataclass(frozen=True, slots=True)
class Degree:
    """What a superlative or comparative compares: the greater (`sign` 1) or the lesser, in some fields."""

    sign: int
    fields: frozenset[str]


@cache
def load_degrees(kind: str) -> dict[str, Degree]:
    """Return the words of comparison of a kind (`superlative`, `comparative`)."""
    found = {}
    for first, *rest in _read_lines("relations.txt"):
        if first == kind:
            word, sign, *fields = rest
            found[word.replace("_", " ")] = Degree(
                1 if sign == "+" else -1, frozenset[str]().union(*map(list_base_forms, fields))
            )
    return found


@dataclass(frozen=True, slots=True)
class States:
    """States that exclude each other.

    Attributes:
        classes: by state, the numbers of the sets that it is in.
        usual: by each of its words, the state's usual name.
    """

    classes: dict[str, frozenset[int]]
    usual: dict[str, str]

    def are_exclusive(self, one: str, other: str) -> bool:
        """Return whether two states cannot both be."""
        classes = self.classes.get(one, frozenset()), self.classes.get(other, frozenset())
        return one != other and bool(classes[0] & classes[1])


@cache
def load_states() -> States:
    """Return the shipped states."""
    classes: dict[str, set[int]] = defaultdict(set)
    usual: dict[str, str] = {}
    for number, names in enumerate(_read_lines("states.txt")):
        if names[0] in ("@", "!"):
            continue
        for name in names:
            words = [synonym.replace("_", " ") for synonym in name.split("|")]
            first = usual.get(words[0], words[0])
            for word in words:
                usual.setdefault(word, first)
            classes[first].add(number)
    return States({name: frozenset(numbers) for name, numbers in classes.items()}, usual)
