"""The answer as claims see it: sentences, segments, and the quantities, dates and times in them.

In: the answer's text. Out: an `AnswerText` whose segments say which words belong to which number. Numbers
that only count the answer's own lines, steps or citations are no claims.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.clock import TimeMention, times_in
from spanproof.evaluators.layers.groundedness.language.dates import DateMention, dates_in
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity, quantities_in
from spanproof.evaluators.layers.groundedness.language.segments import (
    Sentence,
    cut_up,
    overlaps,
    sentences_of,
)
from spanproof.evaluators.layers.groundedness.language.words import plain_set, said_in, words_of

MAX_ANSWER_CHARS = 20_000
MAX_CLAIMS = 200
"""Of one kind; an answer that states more is judged on its first ones."""

_VERB = re.compile(
    r"\b(?:is|are|was|were|costs?|has|have|had|earns?|earned|sold|sells|took|takes|makes?|made|gives?|gave|equals?"
    r"|totals?|totaled|totalled|comes?|came|amounts?|amounted|returned|returns|scored|weighs?|generated|produced"
    r"|brings?|brought|spent|got|gets)\b",
    re.IGNORECASE,
)
_STRUCTURAL_BEFORE = re.compile(
    r"(?:\b(?:steps?|options?|figures?|fig|tables?|sections?|sec|chapters?|pages?|lines?|parts?|notes?|phase|no|top|first|last|next|previous|appendix)\.?\s+|#|^\s*(?:[-*•]\s+)?\[|\[)$",
    re.IGNORECASE,
)
_STRUCTURES = plain_set(
    "step steps option options figure figures fig table tables section sections sec chapter chapters page"
    " pages line lines part parts note notes phase no top first last next previous appendix"
)
_NOUN_ENDS = re.compile(r"[,.;:()]|\s(?:an?|per|each)\s")
_LIST_MARK = re.compile(r"^\s*(?:\*\*)?\(?\d{1,3}[.)]\s", re.MULTILINE)
_IDENTIFIER = re.compile(
    r"(?:\b|(?=[+(]))(?=[^\s\d]{0,200}\d)(?:"  # each begins where a word does, with a digit before a space
    r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+(?![\w-])|(?<![\w.-])[A-Za-z]{2,}\d{2,}\w*(?![\w-])"
    r"|(?<![\w.,-])(?!\d{1,3}\.\d{3}\.\d{3}(?![\w.]))(?:v?\d+(?:\.\d+){2,}|v\d+\.\d+)(?![\w-]|\.\d|,\d)"
    r"|(?<![\w+])\+(?=(?:[ ()-]{0,2}\d){8})\d{1,3}(?:[ -]?\(?\d{1,5}\)?){2,6}(?![\w-])"
    r"|(?<![\w.,-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-])"
    r"|(?<![\w./-])[a-z][\w-]{0,40}/v?\d+(?:\.\d+)*(?![\w/-])"
    r"|(?<![\w./-])[a-z][\w./-]{0,80}:v?\d+(?:\.\d+)+(?![\w-])"
    r"|(?<![\w.,:/-])0\d{2,}(?![\w:/-]|[.,]\d)"
    r"|(?<![\w.-])(?=[0-9a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,40}(?![\w-]))"
)
"""Codes, dotted numbers, telephone numbers, numbers led by zeros: names, and compared as they are written."""


@dataclass(slots=True)
class Stated:
    """A quantity, date or time as the answer states it, with the words that belong to it.

    Attributes:
        words: canonical words of its own segment.
        noun: the words right behind it ("7 SKUs").
    """

    what: Quantity | DateMention | TimeMention
    sentence: int
    segment: int
    words: frozenset[str] = frozenset()
    noun: tuple[str, ...] = ()


@dataclass(slots=True)
class AnswerText:
    """The answer, cut up; `said` are its words as they stand there, in lower case."""

    text: str
    said: frozenset[str]
    sentences: list[Sentence]
    stated: list[Stated]
    identifiers: list[tuple[int, int, str]]

    def segment_words(self, sentence: int, segment: int) -> list[str]:
        """Canonical words of one segment."""
        start, end = self.sentences[sentence].segments[segment]
        return words_of(self.text[start:end])


def read_answer(text: str) -> AnswerText:
    """Cut an answer into sentences, segments and stated values."""
    text = text[:MAX_ANSWER_CHARS]
    dates = list(dates_in(text))
    times = list(times_in(text))
    taken = [(day.start, day.end) for day in dates] + [(time.start, time.end) for time in times]
    identifiers = [
        (match.start(), match.end(), match.group())
        for match in _IDENTIFIER.finditer(text)
        if not overlaps(taken, match.start(), match.end()) and not _is_quantity(match.group())
    ]
    taken += [(start, end) for start, end, _ in identifiers]
    taken += [(match.start(), match.end()) for match in _LIST_MARK.finditer(text)]
    said = said_in(text)
    structured = not _STRUCTURES.isdisjoint(said) or "#" in text or "[" in text
    values: list[Quantity | DateMention | TimeMention] = [*dates, *times]
    for quantity in quantities_in(text, spelled=True):
        if overlaps(taken, quantity.start, quantity.end):
            continue
        before = text[max(0, quantity.start - 16) : quantity.start]
        if structured and quantity.unit is None and _STRUCTURAL_BEFORE.search(before):
            continue
        values.append(quantity)
    values.sort(key=lambda value: value.start)
    del values[MAX_CLAIMS:]
    sentences = sentences_of(text)
    answer = AnswerText(text, said, sentences, [], identifiers)
    _place(answer, values)
    return answer


def _is_quantity(word: str) -> bool:
    found = list(quantities_in(word))
    return len(found) == 1 and found[0].start == 0 and found[0].end == len(word)


def _place(answer: AnswerText, values: list[Quantity | DateMention | TimeMention]) -> None:
    place = 0
    for number, sentence in enumerate(answer.sentences):
        inside = []
        while place < len(values) and values[place].start < sentence.end:
            inside.append(values[place])
            place += 1
        places = [(value.start, value.end) for value in inside]
        cut_up(answer.text, sentence, places)
        for at, value in enumerate(inside):
            segment = next(
                (
                    number
                    for number, (start, end) in enumerate(sentence.segments)
                    if start <= value.start < end
                ),
                len(sentence.segments) - 1,
            )
            begin, stop = sentence.segments[segment]
            if at + 1 < len(inside) and inside[at + 1].start < stop and isinstance(value, Quantity):
                stop = _verb_between(answer.text, value.end, inside[at + 1].start) or stop
            after = answer.text[value.end : min(value.end + 40, sentence.segments[segment][1])]
            noun = tuple(words_of(_NOUN_ENDS.split(after, maxsplit=1)[0])[:3])
            words = words_of(answer.text[begin : value.start]) + words_of(answer.text[value.end : stop])
            answer.stated.append(Stated(value, number, segment, frozenset(words), noun))


def _verb_between(text: str, start: int, end: int) -> int | None:
    """Where a verb parts the words between two values: "12 lamps cost $378" gives "cost" to the amount."""
    match = _VERB.search(text, start, end)
    return match.start() if match else None
