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
from spanproof.reading.records import Fact
from spanproof.reading.source_sentences import (
    FEWEST_WORDS,
    SourceSentence,
    iter_source_sentences,
    list_content,
    list_digits,
)
from spanproof.reading.statements import list_content_forms, may_say_more
from spanproof.reading.values import NUMERIC
from spanproof.reading.words import STOP

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
        words = list_content_forms(reading.words)
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
        words = list_content_forms(reading.words, stated.words)
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
        kinds = NUMERIC if kind in NUMERIC else (kind,)
        values = [
            fact
            for kind in kinds
            for fact in self._world.base.by_kind[kind]
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
        texts = [text for text in world.base.texts[: world.outputs] if list_content(text)]
        if not texts or len(texts[-1]) > _LONGEST_PRINTED:
            return None
        text = texts[-1]
        source = max(at for at in range(world.outputs) if world.base.texts[at] == text)
        facts = [fact for fact in world.base.facts if fact.source == source]
        words = [word for reading in readings for word in reading.words]
        if may_say_more(words, facts):
            return None
        stated = {word.form for word in words if word.text[:1].isalpha() and word.form not in STOP}
        printed = list_content(text)
        names = frozenset[str]().union(*(fact.words for fact in facts))
        added = stated - printed - task_words - load_words("carrier")
        left_out = printed - names - stated - task_words
        repeated = stated & (printed - task_words)
        if added or left_out or not repeated:
            return None
        return ClaimEvidence(source, " ".join(text.split()), end=len(text), value=text)

    @cached_property
    def _sentences(self) -> list[SourceSentence]:
        texts = self._world.base.texts[: self._world.outputs]
        return [
            sentence for source, text in enumerate(texts) for sentence in iter_source_sentences(source, text)
        ]
