"""Where an answer says a state of something, and which states the outputs hold.

In: a match of a word for a state, and the `Binding`. Out: whether it is said of a thing, rather than counted,
intended, or the name of a key; and the facts whose value is a state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.status_words import StateWords
from spanproof.evaluators.layers.groundedness.language.words import words_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding

_SAID_OF = re.compile(
    r"(?:\b(?:is|are|was|were|been|be|being|remains?|currently|still|now|already|status|state|as|has|have|got|gets|became|looks|shows?|not|yet|never)|n['’]t|[(:=])\s*['\"*]*\s*(?:\w+ly\s+)?$",
    re.IGNORECASE,
)
IS = re.compile(r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?$", re.IGNORECASE)
NOT = re.compile(
    r"(?:\b(?:not|never|no longer|neither|nor|hardly)|n['’]t)\s+(?:yet\s+|be\s+|been\s+|being\s+"
    r"|currently\s+|\w+ly\s+)*$",
    re.IGNORECASE,
)
_VERBS = frozenset(["failed", "succeeded", "passed", "crashed", "expired", "completed", "finished"])
_OUTCOMES = frozenset(["success", "succeeded", "successful", "ok", "passed"])
"""Flags that say how something ended."""
_ASIDE = re.compile(r"\s+\(|;\s")
"""What follows a state: "active (running) since Monday"."""
LONGEST = 40
_WILL = re.compile(
    r"\b(?:will|would|can|could|may|might|should|to|once|if|when|until)\s+(?:it\s+is\s+|be\s+|soon\s+|then\s+)*$",
    re.IGNORECASE,
)
_NOT_ALL = re.compile(
    r"\bnot\s+(?:all|every|both)\b|\b(?:except|apart from|other than|aside from|all but)\b", re.IGNORECASE
)
"""What leaves some out, of whom the word is not said."""
NONE = re.compile(r"\b(?:no|none|neither|nothing|nobody|without)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|we)(?:['’]ve|\s+have|\s+was|\s+were)?(?:\s+\w+)?\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Status:
    """A fact whose value is a status."""

    fact: Fact
    family: int
    head: str


def statuses(binding: Binding) -> list[Status]:
    """The facts of the outputs whose value is a state."""
    found: list[Status] = []
    for fact in binding.facts.facts:
        if fact.flag is not None:
            found.extend(_flag(fact, binding.states))
        if fact.string is None:
            continue
        word = _ASIDE.split(fact.string, maxsplit=1)[0]
        if len(word) <= LONGEST:
            found.extend(Status(fact, family, head) for family, head in binding.states.meanings(word))
    return found


def _flag(fact: Fact, states: StateWords) -> Iterator[Status]:
    """`is_enabled: false` is the other member of its family, where the family has two."""
    name = fact.label.rpartition(".")[2].lower().removeprefix("is_").replace("_", " ")
    if name in _OUTCOMES:
        yield Status(fact, 0, "completed" if fact.flag else "failed")
        return
    for family, head in states.forms.get(name, ()):
        heads = states.families[family]
        if len(heads) == 2:
            yield Status(fact, family, head if fact.flag else heads[1 - heads.index(head)])


def is_said(match: re.Match[str], binding: Binding) -> bool:
    """Whether the word stands where something is said of a thing, and is not the name of a key."""
    text = binding.answer.text
    before = text[max(0, match.start() - 40) : match.start()]
    if _FIRST_PERSON.search(before) or _WILL.search(before):
        return False
    sentence = sentence_of(match, binding)
    if _NOT_ALL.search(binding.answer.text, sentence.start, sentence.end):
        return False
    if set(words_of(match[1])) & binding.key_words and not _is_a_verdict(match, binding):
        return False
    if match[1].lower() == "successfully":
        return True
    if _is_said_of_some(match, binding):
        return False
    if _SAID_OF.search(before) or not before.strip() or NOT.search(before):
        return True
    subject = words_of(before)[-1:]
    if binding.row_words.intersection(subject):
        return True
    if match[1].lower() in _VERBS and subject and not _counts_something(match, binding):
        return True
    after = words_of(text[match.end() : match.end() + 30])[:2]
    return bool(binding.vocabulary.intersection(after))


def _is_a_verdict(match: re.Match[str], binding: Binding) -> bool:
    """Whether a word that names numbers is said of the thing: "was approved" beside `approved_cents`."""
    words = set(words_of(match[1]))
    named = [fact for fact in binding.facts.facts if not fact.weak and not words.isdisjoint(fact.key)]
    if any(fact.number is None for fact in named):
        return False
    start, end = piece_of(match, binding)
    counted = (
        fact
        for place, facts in binding.bound.items()
        if start <= place < end
        for fact in facts
        if not words.isdisjoint(fact.key)
    )
    if next(counted, None) is not None:
        return False
    before = binding.answer.text[start : match.start()]
    if NONE.search(before):
        return False
    is_verb = match[1].lower() in _VERBS and not _counts_something(match, binding)
    return is_verb or IS.search(before) is not None


def _is_said_of_some(match: re.Match[str], binding: Binding) -> bool:
    """Whether the clause begins with how many it is said of: "13,320 words are done" of a job that is not."""
    start, _ = piece_of(match, binding)
    start = max(start, binding.answer.text.rfind(":", start, match.start()) + 1)
    lone = [fact for fact in binding.facts.facts if fact.string and fact.records >= 0]
    return not lone and any(
        start <= stated.what.start < match.start()
        and isinstance(stated.what, Quantity)
        and bool(stated.noun)
        and not binding.answer.text[start : stated.what.start].strip()
        for stated in binding.answer.stated
    )


def _counts_something(match: re.Match[str], binding: Binding) -> bool:
    """Whether a number in the clause says how many: "2 tests failed" counts, and says nothing of one."""
    sentence = sentence_of(match, binding)
    start, end = sentence.piece_at(match.start())
    text = binding.answer.text
    return any(
        start <= stated.what.start < min(end, match.start())
        and not (text[stated.what.end : match.start()].isspace() and text[start : stated.what.start].strip())
        for stated in binding.answer.stated
    )  # "pipeline 90412 succeeded" counts nothing


def sentence_of(match: re.Match[str], binding: Binding) -> Sentence:
    """The sentence a word stands in."""
    return next(each for each in binding.answer.sentences if each.start <= match.start() < each.end)


def piece_of(match: re.Match[str], binding: Binding) -> tuple[int, int]:
    """The stretch between separators that a word stands in."""
    return sentence_of(match, binding).piece_at(match.start())
