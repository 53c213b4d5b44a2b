"""Words and their base forms: how names of fields and words of an answer are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources

from spanproof.reading.text_cache import cache_short_texts

_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ings", ""), ("ing", ""), ("edly", ""), ("ied", "y"), ("ed", ""), ("ers", "er"), ("es", ""), ("s", ""))  # fmt: skip  # noqa: E501
_ACRONYMS = re.compile(r"[A-Z]{2,}s")  # `SKUs`
STOP = frozenset(
    str.split(
        "a an the of in on at to for from by with and or as is are was were be been being it its this"
        " that these those has have had do does did will would can could may your you we i my our their"
        " his her he she they there which who what when where all any some each per than then so if but"
        " not no yes also just only here into out up over est utc please"
    )
)


@lru_cache(maxsize=65536)
def get_base_form(word: str) -> str:
    """Return a word without its ending: `departing`, `departed` and `departs` are `depart`."""
    if _ACRONYMS.fullmatch(word):
        word = word[:-1]
    word = word.lower()
    for quote in ("'s", "’s"):
        word = word.removesuffix(quote)
    if len(word) > 3 and word[-1].isascii():
        for ending, put in _ENDINGS:
            kept = ending == "s" and word[-2] in "su"
            if word.endswith(ending) and len(word) - len(ending) >= 3 and not kept:
                word = word[: -len(ending)] + put
                break
        doubled = word[-1] == word[-2] and word[-1] not in "sle"
        if len(word) > 4 and (doubled or word.endswith("e")):
            word = word[:-1]
    return word


@cache_short_texts(65536)
def split_name(name: str) -> tuple[str, ...]:
    """Return the words of a field's name: `scheduledArrival_time` is scheduled, arrival, time."""
    return tuple(match.group().lower() for match in _WORD.finditer(_CAMEL.sub(" ", name)))


@cache_short_texts(65536)
def list_base_forms(name: str) -> frozenset[str]:
    """Return the base forms of a name's words, without words that every name may have."""
    return frozenset(get_base_form(word) for word in split_name(name)) - STOP


def split_words(text: str) -> list[tuple[str, int, int]]:
    """Return the words of a text with their places."""
    return [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


@lru_cache(maxsize=1)
def _load_classes() -> dict[str, frozenset[str]]:
    text = (resources.files(__package__) / "synonyms.txt").read_text(encoding="utf-8")
    classes: dict[str, frozenset[str]] = {}
    for number, line in enumerate(text.splitlines()):
        if not line.startswith("#"):
            for word in line.split():
                classes[get_base_form(word)] = classes.get(get_base_form(word), frozenset()) | {f"~{number}"}
    return classes


def list_synonym_groups(word: str) -> frozenset[str]:
    """Return the groups of near-synonyms that a base form belongs to."""
    return _load_classes().get(word, frozenset())


def list_groups_of(forms: Iterable[str]) -> frozenset[str]:
    """Return the groups of near-synonyms of some words."""
    return frozenset(group for word in forms for group in list_synonym_groups(word))


def list_base_words(name: str) -> frozenset[str]:
    """Return the words of a field's name, as written and in base form."""
    words = split_name(name)
    return frozenset(words) | frozenset(map(get_base_form, words))
