"""What an answer says was not done, and the things that a task names one by one.

In: a sentence, an answer or a task, and the names and verbs of what was to be done. Out: whether it says that
this was not done, or the groups of names in it that are written alike.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from spanproof.reading.answer_words import reports_failure
from spanproof.reading.doings import load_lexicon

_SENTENCE = re.compile(r"[^.!?。！？\n;]+")
# Words by which a sentence says of what it names that it was not done.
_DENIES = re.compile(
    r"\b(?:not|none|never|neither|nor|except|unless|excluding|pending|remain\w*|still|skipped|outstanding|unsuccessful\w*|fail\w*"
    r"|rejected|declined|refused|denied|cannot|only|bounced|unable|nicht|kein\w*|pas|aucun\w*)\b"
    r"|n['’]t\b|(?:未|没有|无法|失败|ませんでした|できません)",
    re.IGNORECASE,
)
# Verbs by which any doing succeeds: `the reminder did not go out`.
_SUCCEEDS = re.compile(
    r"\b(?:(?:go|gone|get|come|make it|put) through|(?:go|gone|get|come) out|work(?:ed)?|happen(?:ed)?)\b",
    re.I,
)
_IDENTIFIER = re.compile(r"[\w.+-]+@[\w.-]+\w|\b(?=[\w-]*\d)[A-Za-z\d][\w-]*\b")
_LISTED_NAMES = re.compile(r"\b[A-Z]\w+(?:(?:, (?:and )?| and )[A-Z]\w+)+")


def names_value(text: str, value: str) -> bool:
    """Whether a text names a value, as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-]|\.\d)", text, re.IGNORECASE) is not None


def denies_doing(sentence: str) -> bool:
    """Whether a sentence says of what it names that it was not done."""
    return _DENIES.search(sentence) is not None


def reports_undone(
    answer: str, task: str, names: Collection[str], other_names: Collection[str], verbs: Collection[str]
) -> bool:
    """Whether an answer says of a thing that it was not done, or of no thing in particular.

    Args:
        answer: as given.
        task: whose words are its matter, and report nothing.
        names: the values that name the thing.
        other_names: those that name the things that were done.
        verbs: of the doing.
    """
    for sentence in _SENTENCE.findall(answer):
        denies = denies_doing(sentence)
        if denies and any(names_value(sentence, name) for name in names):
            return True
        if reports_failure(sentence, task) or (denies and _is_about_doing(sentence, verbs)):
            names_other = any(names_value(sentence, name) for name in other_names)
            if not (names_other and names):
                return True
    return False


def _is_about_doing(sentence: str, verbs: Collection[str]) -> bool:
    """Whether a sentence holds a word for a doing, in any form of the lexicon, or one of another language."""
    if _SUCCEEDS.search(sentence):
        return True
    lexicon = load_lexicon()
    words = re.findall(r"[a-z]+", sentence.casefold())
    said_verbs = [lexicon.participles.get(word, word) for word in words]
    is_english = any(verb in lexicon.verbs and lexicon.are_related(verb, verbs) for verb in said_verbs)
    return is_english or any(forms.denied.search(sentence) for forms in lexicon.languages.values())


def list_named_groups(task: str) -> list[tuple[str, ...]]:
    """Return the names in a task that are written alike: identifiers of one form, and names in a list."""
    groups: dict[str, dict[str, None]] = {}
    for name in _IDENTIFIER.findall(task):
        if "@" in name:
            form = "address"
        else:
            form = re.sub(r"[A-Za-z]+", "A", re.sub(r"\d+", "9", name))
        if form != "9":
            groups.setdefault(form, {})[name.casefold()] = None
    lists = [re.findall(r"[A-Z]\w+", found[0]) for found in _LISTED_NAMES.finditer(task)]
    return [*map(tuple, groups.values()), *(tuple(name.casefold() for name in names) for names in lists)]
