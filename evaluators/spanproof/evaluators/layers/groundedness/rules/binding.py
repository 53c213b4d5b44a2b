"""One answer against its facts: what every rule may look at, and what has been bound so far.

A `Binding` holds the answer, the facts, the task's own values and the words by which facts are named, so that
each rule is a function from a stated thing and a `Binding` to a `Claim`. Rules add the facts they bound to
`bound`, for the rules about directions that come after.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from spanproof.evaluators.layers.groundedness.language.answer import AnswerText, Stated, read_answer
from spanproof.evaluators.layers.groundedness.language.clock import TimeMention
from spanproof.evaluators.layers.groundedness.language.dates import DateMention, dates_in, day_of
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity, quantities_in
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.status_words import StateWords, state_words
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, content_words, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts
from spanproof.evaluators.layers.groundedness.rules.derive import Derived
from spanproof.evaluators.layers.groundedness.rules.known import Known

_MEASURES = canonical_set("mean median max min std q1 q3 count total")
"""Rows of a summary: "the median is 5; half of them lie between 3 and 8" speaks on of no median."""
_SHORT_ANSWER_WORDS = 3
_PLAIN_MEASURES = frozenset((None, Dimension.MONEY, Dimension.FRACTION))
"""What is told without a unit that a key could end in."""
_TODAY_WORDS = frozenset(("today", "now", "current"))
_AMOUNT = r"[-−–]?[$€£]?\d[\d,.]*\d?\s?%?"
_COMPARED = re.compile(
    rf"\b\w+\s+than\s+(?P<right>[^.,;:()]{{1,60}})[:,(]\s*(?P<one>{_AMOUNT})\s+(?:versus|vs\.?|against"
    rf"|compared (?:to|with))\s+(?P<other>{_AMOUNT})",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\d{1,4}\s?(?:[-–]\s?\d{1,4}|\+)")
"""What a row may go by: "18-34", "55+"."""
_AND_OVER = re.compile(r"\b(\d{1,4})\s+(?:and|or)\s+(?:over|older|above|more|up)\b", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s+$", re.IGNORECASE)
_AGAINST = re.compile(r"\s*(?:vs\b|versus\b|against\b|compared\b|than\b)", re.IGNORECASE)


@dataclass
class Binding(Known):
    """What the rules share about one answer.

    Attributes:
        states: words for states, the user's own among them.
        bound: facts a stated number was bound to, by its start in the answer.
        derived: derivations found, by the start of the number.
        measures: where numbers start by which the answer counts: "three cost more than 100".
    """

    answer: AnswerText
    task: str
    states: StateWords
    bound: dict[int, tuple[Fact, ...]] = field(default_factory=dict)
    derived: dict[int, Derived] = field(default_factory=dict)
    measures: set[int] = field(default_factory=set)

    def is_in_a_row_name(self, start: int, end: int) -> bool:
        """Whether a stretch of the answer belongs to a name in digits that a row goes by: "55+", "18-34"."""
        return any(begin <= start and start < stop for begin, stop in self._ranges_told)

    @cached_property
    def _ranges_told(self) -> list[tuple[int, int]]:
        names = {
            fact.string.strip()
            for fact in self.facts.facts
            if fact.records >= 0 and fact.string and _RANGE.fullmatch(fact.string.strip())
        }
        text = self.answer.text
        found = [(at.start(), at.end()) for name in names for at in re.finditer(re.escape(name), text)]
        over = {name[:-1] for name in names if name.endswith("+")}
        return found + [(at.start(), at.end()) for at in _AND_OVER.finditer(text) if at[1] in over]

    @cached_property
    def task_words(self) -> frozenset[str]:
        """Canonical words of the task."""
        return frozenset(words_of(self.task))

    @cached_property
    def _lowered(self) -> tuple[str, ...]:
        return (*(text.lower() for text in self.facts.texts), self.task.lower())

    def is_spoken_of(self, piece: str) -> bool:
        """Whether the outputs or the task use a word, or a piece of one, given in lower case."""
        return any(piece in text for text in self._lowered)

    @cached_property
    def task_quantities(self) -> list[Quantity]:
        """Numbers the task gives."""
        return list(quantities_in(self.task, spelled=True))

    @cached_property
    def task_dates(self) -> list[DateMention]:
        """Dates the task gives."""
        return list(dates_in(self.task))

    @cached_property
    def is_short(self) -> bool:
        """Whether the answer is a bare value, so that the task's words say what it is about."""
        words = [word for sentence in self.answer.sentences for word in content_words(sentence.words)]
        return (
            sum(not word[0].isdigit() for word in words) <= _SHORT_ANSWER_WORDS
            and len(self.answer.sentences) <= 1
        )

    def words_at(self, stated: Stated) -> frozenset[str]:
        """The words that name what is stated.

        Its segment's, those of the row last spoken of, and for a bare answer the task's.
        """
        words = self._respective(stated) or self._set_beside(stated) or stated.words
        words = words | self.day_spoken_of(stated) | self.time_spoken_of(stated)
        if isinstance(stated.what, DateMention) and stated.what.weekday is not None:
            return words  # "On Sunday" names its row itself
        if self.is_short:
            return words | self.task_words
        if self.row_words and words.isdisjoint(self.row_words) and not self.is_another(stated):
            words = words | self._row_spoken_of(stated)
        return words

    def is_day(self, mention: DateMention, fact: Fact) -> bool:
        """Whether a mention may be of the fact's day, as far as both are written and today is known."""
        if fact.day is None:
            return False
        if mention.relative is not None:
            return any(mention.relative.reaches(fact.day, today) for today in self.todays)
        if fact.yearless and mention.weekday is not None and not self.facts.todays:
            return False
        return mention.says(fact.day, yearless=fact.yearless)

    @cached_property
    def todays(self) -> Sequence[date]:
        """The day the outputs or the task call today; else those the run's clock allows."""
        for fact in self.dated:
            if fact.day is not None and not _TODAY_WORDS.isdisjoint(fact.key):
                return (fact.day,)
        given = [day for mention in self.task_dates if (day := day_of(mention)) is not None]
        if len(given) == 1 and not _TODAY_WORDS.isdisjoint(self.task_words):
            return (given[0],)
        return self.facts.todays

    def day_spoken_of(self, stated: Stated) -> frozenset[str]:
        """The day that the sentence dates a value with, as rows and clauses are known by it."""
        if isinstance(stated.what, DateMention) or not self.dated:
            return frozenset()
        beside = [
            other
            for other in self.answer.stated
            if isinstance(other.what, DateMention) and other.sentence == stated.sentence
        ]
        own = [other for other in beside if other.segment == stated.segment]
        before = [other for other in beside if other.segment < stated.segment]
        told = own[-1:] or before[-1:] or (beside if len(beside) == 1 else [])
        if not told or not isinstance(told[0].what, DateMention):
            return frozenset()
        days = {fact.day for fact in self.dated if self.is_day(told[0].what, fact)}
        return frozenset(str(day) for day in days) if len(days) == 1 else frozenset()

    def moments_in(self, sentence: Sentence) -> frozenset[str]:
        """The words of rows whose time of day the sentence tells: "at 3 pm" of `15:00`."""
        if not self.timed:
            return frozenset()
        told = [
            other.what
            for other in self.answer.stated
            if isinstance(other.what, TimeMention) and sentence.start <= other.what.start < sentence.end
        ]
        return frozenset(
            word
            for fact in self.timed
            if fact.string and any(mention.is_at(fact.clock, fact.offset) for mention in told)
            for word in words_of(fact.string)
        )

    def time_spoken_of(self, stated: Stated) -> frozenset[str]:
        """The time of day that dates a value, as rows are known by it, where the sentence tells only one."""
        if isinstance(stated.what, TimeMention) or not self.timed:
            return frozenset()
        sentence = self.answer.sentences[stated.sentence]
        told = [each for each in self.answer.stated if isinstance(each.what, TimeMention)]
        own = [each for each in told if (each.sentence, each.segment) == (stated.sentence, stated.segment)]
        alone = [each for each in told if each.sentence == stated.sentence]
        if not own and len(alone) != 1:
            return frozenset()
        return self.moments_in(sentence)

    def _respective(self, stated: Stated) -> frozenset[str]:
        """Each number with the name in its place: "the min and max are 4 and 19 respectively"."""
        sentence = self.answer.sentences[stated.sentence]
        if "respectively" not in sentence.text:
            return frozenset()
        values = [each for each in self.answer.stated if each.sentence == stated.sentence]
        before = words_of(self.answer.text[sentence.start : values[0].what.start])
        strong = [fact.words for fact in self.numbers if not fact.weak]
        telling = [
            word for word in dict.fromkeys(before) if 0 < sum(word in words for words in strong) < len(strong)
        ]
        if len(telling) != len(values):
            return frozenset()
        own = telling[next(place for place, each in enumerate(values) if each is stated)]
        return frozenset(word for word in before if word == own or word not in telling)

    def _set_beside(self, stated: Stated) -> frozenset[str]:
        """Each number with its side of a comparison: "A earned less than B: 18 versus 22"."""
        if "than" not in self.answer.said:
            return frozenset()
        sentence = self.answer.sentences[stated.sentence]
        start, end = sentence.clause_at(stated.what.start)
        match = _COMPARED.search(self.answer.text, start, end)
        if match is None or not match.start("one") <= stated.what.start < match.end("other"):
            return frozenset()
        if stated.what.start >= match.start("other"):
            return frozenset(words_of(match["right"]))
        return frozenset(words_of(self.answer.text[start : match.start()])) or frozenset(("",))

    def is_another(self, stated: Stated) -> bool:
        """Whether the number stands behind "vs", "against" or "from": then it is not of what is named."""
        start, _ = self.answer.sentences[stated.sentence].segments[stated.segment]
        text = self.answer.text
        return bool(_AGAINST.match(text, start) or _FROM.search(text[max(0, start) : stated.what.start]))

    def _row_spoken_of(self, stated: Stated) -> frozenset[str]:
        segment, sentence = stated.segment - 1, stated.sentence
        while sentence >= 0 and sentence >= stated.sentence - 1:
            while segment >= 0:
                found = self.row_words.intersection(self.answer.segment_words(sentence, segment)) - _MEASURES
                if found:
                    return found
                segment -= 1
            sentence -= 1
            segment = len(self.answer.sentences[sentence].segments) - 1 if sentence >= 0 else -1
        return frozenset()


def bind(answer: str, facts: Facts, task: str | None, synonyms: Mapping[str, Sequence[str]]) -> Binding:
    """Prepare an answer for the rules."""
    binding = Binding(facts, read_answer(answer), task or "", state_words(synonyms))
    _measure(binding)
    return binding


def _measure(binding: Binding) -> None:
    """Give values the unit that their key may name, where the answer tells something in such units.

    `finish_min` is told in minutes; beside a "minimum" or a `finish_max` it is none.
    """
    told = {stated.what.dimension for stated in binding.answer.stated if isinstance(stated.what, Quantity)}
    if told <= _PLAIN_MEASURES:
        return
    latent = [fact for fact in binding.facts.facts if fact.latent and fact.latent.dimension in told]
    if any("min" in fact.key for fact in latent):
        said = binding.task_words.union(*(sentence.words for sentence in binding.answer.sentences))
        keys = {fact.key for fact in binding.numbers if "max" in fact.key}
        latent = [
            fact
            for fact in latent
            if "min" not in fact.key or not ("min" in said or (*fact.key[:-1], "max") in keys)
        ]
    for fact in latent:
        fact.measure()


def claim(
    binding: Binding,
    start: int,
    end: int,
    kind: ClaimKind,
    verdict: Verdict,
    reason: str,
    evidence: ClaimEvidence | None = None,
) -> Claim:
    """A claim on this stretch of the answer."""
    return Claim(binding.answer.text[start:end], start, end, kind, verdict, reason, evidence)


def evidence_of(fact: Fact, derivation: str = "") -> ClaimEvidence:
    """A fact as evidence."""
    return ClaimEvidence(fact.output, fact.text, derivation)
