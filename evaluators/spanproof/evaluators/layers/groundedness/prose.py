"""Sentences of prose that outputs hold, for answers that say the same in the same words.

In: the world. Out: for a reading, the source's sentence that has all of its words, its numbers and its
negations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from spanproof.evaluators.layers.groundedness.model import ClaimEvidence
from spanproof.evaluators.layers.groundedness.reader import Reading, Stated
from spanproof.evaluators.layers.groundedness.world import World
from spanproof.reading.lexicon import is_of, load_words
from spanproof.reading.records import Fact, Role, is_possible
from spanproof.reading.source_sentences import (
    FEWEST_WORDS,
    SourceSentence,
    iter_source_sentences,
    list_digits,
)
from spanproof.reading.values import NUMERIC
from spanproof.reading.words import STOP, base_forms_of

# A sentence with fewer words beside a value is too like others.
_FEWEST_WORDS_BESIDE: Final = 3
# So many before a value, all behind it, and each as it is written: another sentence has them by no chance.
_FEWEST_WORDS_REPEATED: Final = 2
_LONGEST_PRINTED: Final = 600


class ProseIndex:
    """The sentences of the outputs."""

    def __init__(self, world: World) -> None:
        self._world = world

    def find_sentence(self, reading: Reading) -> ClaimEvidence | None:
        """Return the source's sentence that states all that a passage states; None where there is none."""
        words = [
            word.form
            for word in reading.words
            if word.text[:1].isalnum() and word.form not in STOP and not is_of(word, "carrier")
        ]
        if len(words) < FEWEST_WORDS:
            return None
        negations = sum(is_of(word, "negation") for word in reading.words)
        numbers = list_digits(reading.text)
        content = frozenset(words)
        for sentence in self._sentences:
            has_all = content <= sentence.words and numbers <= sentence.numbers
            text = self._world.base.texts[sentence.source][sentence.start : sentence.end]
            has_all = has_all and all(stated.text.strip() in text for stated in reading.stated)
            if has_all and negations == sentence.negations and sentence.has_in_order(words):
                output = sentence.source if sentence.source < self._world.outputs else None
                return ClaimEvidence(output, text.strip(), start=sentence.start, end=sentence.end, value=text)
        return None

    def find_other_value(self, stated: Stated, reading: Reading) -> Fact | None:
        """Return the value that a sentence of the outputs has in place of the one that a passage states.

        It is the only one with the words of the passage: "is due on 14 April" where it is due on 14 March.
        """
        words = [
            word.form
            for at, word in enumerate(reading.words)
            if at not in stated.words
            and word.text[:1].isalnum()
            and word.form not in STOP
            and not is_of(word, "carrier")
        ]
        negations = sum(is_of(word, "negation") for word in reading.words)
        alike = [
            sentence
            for sentence in self._sentences
            if sentence.negations == negations and sentence.has_in_order(words)
        ]
        if len(words) < _FEWEST_WORDS_BESIDE or len(alike) != 1:
            return None
        (sentence,) = alike
        kind = stated.mention.value.kind
        values = [
            fact
            for each in (NUMERIC if kind in NUMERIC else (kind,))
            for fact in self._world.base.by_kind[each]
            if fact.source == sentence.source and sentence.start <= fact.start < sentence.end
        ]
        return values[0] if len(values) == 1 else None

    def find_repeated(self, stated: Stated, reading: Reading) -> Fact | None:
        """Return the amount that an output has instead of a stated one, where it repeats the passage."""
        before = reading.text[: stated.start].lstrip()
        after = reading.text[stated.end :].rstrip(" .") or "."
        if len(before.split()) < _FEWEST_WORDS_REPEATED:
            return None
        texts = self._world.base.texts
        found = [
            fact
            for fact in self._world.numeric
            if texts[fact.source].endswith(before, 0, fact.start)
            and texts[fact.source].startswith(after, fact.end)
        ]
        return found[0] if len({fact.value.number for fact in found}) == 1 else None

    def find_printed(self, readings: Sequence[Reading], task_words: frozenset[str]) -> ClaimEvidence | None:
        """Return the last output where an answer has only its words and those of the task: "Laptop"."""
        world = self._world
        texts = [text for text in world.base.texts[: world.outputs] if _list_content(text)]
        if not texts or len(texts[-1]) > _LONGEST_PRINTED:
            return None
        source = max(place for place in range(world.outputs) if world.base.texts[place] == texts[-1])
        words = [word for reading in readings for word in reading.words]
        if any(is_of(word, "negation") or is_of(word, "hedge") for word in words):
            return None
        said = {word.form for word in words if word.text[:1].isalpha() and word.form not in STOP}
        printed = _list_content(texts[-1])
        names = frozenset[str]().union(*(fact.words for fact in world.base.facts if fact.source == source))
        cells = [fact for fact in world.base.facts if fact.source == source and fact.role is Role.CELL]
        has_doing = any(word.part == "VERB" and not is_of(word, "carrier") for word in words)
        if (len(cells) > 1 and has_doing) or any(map(is_possible, cells)):
            return None  # whose doing it is of several things: "Tom sent it to Mia"
        extra = {
            word for word in said - printed if word not in task_words and word not in load_words("carrier")
        }
        if extra or not printed - names <= said | task_words or not said & printed - task_words:
            return None
        text = texts[-1]
        return ClaimEvidence(source, " ".join(text.split()), end=len(text), value=text)

    @cached_property
    def _sentences(self) -> list[SourceSentence]:
        texts = self._world.base.texts[: self._world.outputs]
        return [each for source, text in enumerate(texts) for each in iter_source_sentences(source, text)]


_PRINTED_FILLER: Final = frozenset(("none", "null", "row", "object", "dtype", "answer", "result"))


def _list_content(text: str) -> frozenset[str]:
    """Return the words of a text that say something."""
    return frozenset(word for word in base_forms_of(text) - _PRINTED_FILLER if not word.isdigit())
