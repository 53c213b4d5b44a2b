"""Claim frames: each value an answer states, with the words that name it and the records it is about.

In: an answer and the fact base. Out: frames. A number that counts list items, names a thing or belongs to an
identifier is no claim.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum

from spanproof.evaluators.layers.groundedness.claims.anchors import Anchor, find_anchors
from spanproof.evaluators.layers.groundedness.claims.outline import (
    OutlineLine,
    find_clause_breaks,
    read_outline,
)
from spanproof.reading.dates import with_relatives
from spanproof.reading.numbers import scan
from spanproof.reading.records import FactBase, Role
from spanproof.reading.values import (
    NUMERIC,
    Kind,
    Mention,
    Value,
    is_same_date,
    is_year,
)
from spanproof.reading.words import (
    STOP,
    base_form,
    find_synonym_groups,
    split_words,
)


class Bound(Enum):
    """What a claim says of its value: that it is this, or a side of it."""

    EXACT = 0
    ABOUT = 1
    MORE = 2
    LESS = 3


_ABOUT = re.compile(r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|close to|ca\.?)|[~≈])\s*(?:the\s+)?[$€£]?\Z", re.IGNORECASE)  # fmt: skip  # noqa: E501
_MORE = re.compile(r"(?:\b(?:over|more than|at least|above|greater than|exceed(?:s|ed|ing)?|no (?:less|fewer) than|minimum of|longer than|higher than|older than|after|since)|>=?|≥)\s*(?:the\s+)?[$€£]?\Z", re.IGNORECASE)  # fmt: skip  # noqa: E501
_LESS = re.compile(r"(?:\b(?:under|less than|fewer than|at most|below|up to|no more than|within|maximum of|shorter than|lower than|before|until)|<=?|≤)\s*(?:the\s+)?[$€£]?\Z", re.IGNORECASE)  # fmt: skip  # noqa: E501
# What a text that is no name has: `12.5, Ann: 7.25`.
_FIELD_VALUE = re.compile(r"[:=]\s*[-+$€£]?\d")

_NAMES = re.compile(
    r"(?:\b(?:step|option|table|figure|fig|section|chapter|part|item|task|phase|level|lesson|module|version|segment|leg|"
    r"question|example|result|page|row|line|no|number|note|flight|stop|day|week|round|game|match|tier|route|case|test|"
    r"scenario|method|solution|source|document|doc|turn|iteration|passenger|suite|apt|unit|room|gate|terminal|top|agent|"
    r"search result|order|ticket|choice|point|stage|run|trial|attempt|q|h|model|gpt|llama|python|windows|v)\.?\s*\#?)\Z",  # noqa: E501
    re.IGNORECASE,
)
SOFT = re.compile(
    r"\?\s*\Z|\b(?:would you like|you(?:['’]d| would) like|you (?:want|wish)(?: to)?|can only|once you|if you|you can|you may|you could|let me know|please|for example|e\.g\.|such as|could be|"  # noqa: E501
    r"may be|might|i can|we can|i will|i['’]ll|we will|would be|assuming|suppose|in order to|let['’]s)\b",
    re.IGNORECASE,
)
_COMPOUND = re.compile(r"[-‑](?:way|stop|day|hour|minute|bit|step|star|door|inch|class|year|month|digit)")
_BESIDE = 8
# An answer of so many words may leave out what the question names; how much the question's words then count.
_SHORT = 30
_QUESTION = 0.5
_NAMED = 0.25
_ENDS = re.compile(r"\b(?:end(?:s|ing)?\s+(?:in|with)|last\s+(?:four|4)(?:\s+digits)?:?)\s*\Z", re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:not|no(?! (?:longer|later|more|less|fewer)\b)|never|none|neither|without|cannot)\b|n['’]t\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Frame:
    """A value that an answer states.

    Attributes:
        near: base forms of the words about it, each with how close it is, from 0 to 1.
        label: base forms of the words that name it directly: its line's label, or its neighbours.
        anchors: the names of records about it, each with how close it is.
        soft: whether its sentence is a question, an offer or a supposition rather than a statement.
        years: the years that its sentence, or else what it is under, names.
        ends: whether it is stated as what something ends in: "the card ending in 6644".
    """

    mention: Mention
    text: str
    line: int
    near: dict[str, float]
    label: frozenset[str]
    anchors: list[tuple[Anchor, float]]
    bound: Bound = Bound.EXACT
    soft: bool = False
    negated: bool = False
    noun: str = ""
    years: frozenset[int] = frozenset()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """The question: base forms of its words, the names of records in it, and the years that it names."""

    words: frozenset[str] = frozenset()
    anchors: Sequence[Anchor] = ()
    years: frozenset[int] = frozenset()
    text: str = ""


@dataclass(slots=True)
class AnswerFrames:
    """What an answer holds: its outline, its anchors and its frames."""

    answer: str
    lines: list[OutlineLine]
    mentions: list[Mention]
    anchors: list[Anchor]
    frames: list[Frame] = field(default_factory=list)
    words: list[tuple[str, int, int]] = field(default_factory=list)
    word_starts: list[int] = field(default_factory=list)
    question: Question = field(default_factory=Question)

    def line_at(self, place: int) -> int:
        """Return the index of the line at a place."""
        return max(0, bisect_left(self.lines, place + 1, key=lambda line: line.start) - 1)

    def sentence_at(self, line: int, place: int) -> tuple[int, int]:
        """Return the places of the sentence of a line at a place."""
        for low, high in self.lines[line].sentences:
            if place < high:
                return low, high
        return self.lines[line].sentences[-1]


def read_frames(
    answer: str, base: FactBase, today: date | None = None, question: str = "", limit: int = 150
) -> AnswerFrames:
    """Return the frames of an answer.

    Args:
        answer: the answer.
        base: what its sources hold.
        today: what "tomorrow" counts from.
        question: the last question: a short answer leaves out what the question names.
        limit: so many values are read.
    """
    mentions = (
        with_relatives(answer, scan(answer), today, [fact.value for fact in base.by_kind[Kind.DATE]])
        if today is not None
        else scan(answer)
    )
    read = AnswerFrames(answer, read_outline(answer), mentions, find_anchors(answer, mentions, base))
    amounts = [
        each
        for each in mentions
        if each.value.kind in NUMERIC and not is_year(each.value) and not each.spelled
    ]
    starts = [each.start for each in amounts]
    # The digits and the unit of another amount name nothing.
    read.words = [
        (base_form(word), start, end)
        for word, start, end in split_words(answer.replace("_", " "))
        if not ((at := bisect_right(starts, start)) and start < amounts[at - 1].end)
    ]
    read.word_starts = [start for _, start, _ in read.words]
    if question and len(read.words) <= _SHORT:
        read.question = _read_question(question, base)
    for mention in mentions:
        stated = is_claim(mention, read, base.field_words) and not _selects(mention, base)
        if stated and len(read.frames) < limit:
            read.frames.append(build_frame(mention.start, mention.end, read, mention))
    return read


def _read_question(question: str, base: FactBase) -> Question:
    mentions = scan(question)
    words = frozenset(base_form(word) for word, _, _ in split_words(question.replace("_", " "))) - STOP
    years = frozenset(year for mention in mentions for year in _extract_year(mention.value))
    return Question(words, find_anchors(question, mentions, base), years, question)


def is_claim(mention: Mention, read: AnswerFrames, field_words: frozenset[str] = frozenset()) -> bool:
    """Return whether a value is stated rather than a counter, a name or a part of one.

    An identifier that is a word of a field's name names the field: "Q2 revenue" of `revenue_q2`.
    """
    answer, value = read.answer, mention.value
    line = read.lines[read.line_at(mention.start)]
    before = answer[line.start : mention.start]
    if mention.start < line.begin:
        return False
    if value.kind is Kind.ID and value.text in field_words:
        return False
    number, unit = f"{value.amount:g}", answer[mention.start : mention.end].lstrip("0123456789.,- ").lower()
    window = value.kind is Kind.QUANTITY and value.unit == "time"
    # "The last 24 hours" is what `chg_24h` is about.
    if window and (
        f"{number}{unit[:1]}" in field_words or (number in field_words and field_words & {unit, unit + "s"})
    ):
        return False
    for anchor in read.anchors:
        within = anchor.kind is Kind.TEXT and anchor.start <= mention.start and mention.end <= anchor.end
        if within and not _FIELD_VALUE.search(answer, anchor.start, anchor.end):
            return False
    small = value.kind is Kind.NUMBER and abs(value.number) < 100 and value.step in (0.0, 1.0)
    if small and not mention.spelled and _NAMES.search(before):
        return False
    if mention.spelled:
        if answer[mention.start : mention.end].lower() in ("both", "single", "once"):
            return False
        if value.number in (0.5, 1.0, 100.0) and value.kind is Kind.NUMBER:
            return False
        if re.search(r"\b(?:these|those|the|all|any|every)\s\Z", before, re.IGNORECASE) and value.number == 2:
            return False
    after = answer[mention.end : mention.end + 8]
    if value.kind is Kind.NUMBER and re.match(r"(?:st|nd|rd|th)\b", after):
        return False
    return not (small and _COMPOUND.match(after))


def _selects(mention: Mention, base: FactBase) -> bool:
    """Whether a year or a date says which column or row is meant."""
    if is_year(mention.value):
        return base.names_year(int(mention.value.number))
    return mention.value.kind is Kind.DATE and any(
        fact.role in (Role.HEADER, Role.KEY) and is_same_date(mention.value, fact.value)
        for fact in base.by_kind[Kind.DATE]
    )


def _find_years(start: int, end: int, read: AnswerFrames, index: int) -> frozenset[int]:
    line = read.lines[index]
    low, high = read.sentence_at(index, start)
    places = [(low, high), *((read.lines[parent].begin, read.lines[parent].end) for parent in line.parents)]
    for low, high in places:
        years = {
            year
            for each in read.mentions
            if low <= each.start < high and not (each.start < end and each.end > start)
            for year in _extract_year(each.value)
        }
        if years:
            return frozenset(years)
    return read.question.years


def _extract_year(value: Value) -> tuple[int, ...]:
    if value.kind is Kind.DATE and value.date is not None and value.date[0] is not None:
        return (value.date[0],)
    return (int(value.number),) if is_year(value) else ()


def build_frame(start: int, end: int, read: AnswerFrames, mention: Mention) -> Frame:
    """Return the frame of what an answer states at a place."""
    answer = read.answer
    index = read.line_at(start)
    line = read.lines[index]
    low, high = read.sentence_at(index, start)
    near, label = _weigh_words(start, end, read, index)
    anchors = _weigh_anchors(start, end, read, index)
    before = answer[max(line.start, start - 30) : start]
    bound = Bound.EXACT
    if mention.value.kind in NUMERIC:
        for pattern, found in ((_ABOUT, Bound.ABOUT), (_MORE, Bound.MORE), (_LESS, Bound.LESS)):
            if pattern.search(before):
                bound = found
    sentence = answer[low:high]
    noun = next((word for word, at, _ in read.words[bisect_left(read.word_starts, end) :][:3] if at < end + 25 and word not in STOP and not word.isdigit() and "\n" not in answer[end:at]), "")  # fmt: skip  # noqa: E501
    return Frame(
        mention, answer[start:end], index, near, label, anchors, bound,
        bool(SOFT.search(sentence)), bool(_NOT.search(answer[low:start][-60:])), noun,
        _find_years(start, end, read, index), bool(_ENDS.search(before)),
    )  # fmt: skip


def _weigh_words(
    start: int, end: int, read: AnswerFrames, index: int
) -> tuple[dict[str, float], frozenset[str]]:
    line = read.lines[index]
    low, high = read.sentence_at(index, start)
    breaks = find_clause_breaks(read.answer, low, high)
    near: dict[str, float] = {}
    label: set[str] = set()
    first = bisect_left(read.word_starts, line.begin)
    last = bisect_left(read.word_starts, line.end)
    here = bisect_left(read.word_starts, start)
    colon = read.answer.rfind(":", low, start)
    labelled = colon >= 0 and start - colon <= 4
    for position in range(first, last):
        word, at, until = read.words[position]
        if (at < end and until > start) or word in STOP:
            continue
        between = (until, start) if until <= start else (end, at)
        crossed = sum(between[0] <= place < between[1] for place in breaks)
        away = abs(position - here)
        weight = 0.93**away * (1.0 if not crossed else 0.55 if crossed == 1 else 0.4)
        if not low <= at < high:
            weight *= 0.35
        if labelled and colon - 50 <= at < colon and not crossed:
            weight = 1.0
            label.add(word)
        elif not labelled and not crossed and low <= at < high and away <= 5:
            label.add(word)
        near[word] = max(near.get(word, 0.0), weight)
    for rank, parent in enumerate(line.parents[:4]):
        _add_words(near, read, read.lines[parent].begin, read.lines[parent].end, 0.45 * 0.8**rank)
    for beside in _find_sibling_lines(read, index):
        _add_words(near, read, read.lines[beside].begin, read.lines[beside].end, 0.35)
    if line.cells and line.header is not None:
        column = next((place for place, (a, b) in enumerate(line.cells) if a <= start < b), None)
        header = read.lines[line.header].cells
        if column is not None and column < len(header):
            label = set(_add_words(near, read, *header[column], 1.0))
    for word in read.question.words:
        near[word] = max(near.get(word, 0.0), _QUESTION)
    if not label:
        label = set(read.question.words)
    for word, weight in list(near.items()):
        for group in find_synonym_groups(word):
            near[group] = max(near.get(group, 0.0), 0.75 * weight)
    return near, frozenset(label)


def _find_sibling_lines(read: AnswerFrames, index: int) -> list[int]:
    """Return the lines that stand under the same line as one, and near by."""
    parents = read.lines[index].parents[:1]
    places = range(max(0, index - _BESIDE), min(len(read.lines), index + _BESIDE + 1))
    return [at for at in places if parents and at != index and read.lines[at].parents[:1] == parents]


def _add_words(near: dict[str, float], read: AnswerFrames, low: int, high: int, weight: float) -> list[str]:
    added = []
    for word, at, _ in read.words[bisect_left(read.word_starts, low) : bisect_left(read.word_starts, high)]:
        if word not in STOP:
            near[word] = max(near.get(word, 0.0), weight)
            added.append(word)
        del at
    return added


def _weigh_anchors(start: int, end: int, read: AnswerFrames, index: int) -> list[tuple[Anchor, float]]:
    line = read.lines[index]
    low, high = read.sentence_at(index, start)
    breaks = find_clause_breaks(read.answer, low, high)
    parents = {parent: rank for rank, parent in enumerate(line.parents)}
    beside = frozenset(_find_sibling_lines(read, index))
    # A line with a name of its own is about that: the lines beside it are other items of the list.
    named = any(
        each.kind in (Kind.ID, Kind.TEXT) and line.start <= each.start < line.end and each.strength >= _NAMED
        for each in read.anchors
        if not (each.start < end and each.end > start)
    )
    found = []
    for anchor in read.anchors:
        if anchor.start < end and anchor.end > start:
            continue
        if low <= anchor.start < high:
            between = (anchor.end, start) if anchor.end <= start else (end, anchor.start)
            crossed = sum(between[0] <= place < between[1] for place in breaks)
            weight = max(0.45, 1.0 - 0.12 * crossed) * (1.0 if anchor.end <= start else 0.8)
        elif line.start <= anchor.start < line.end:
            weight = 0.5
        else:
            at = read.line_at(anchor.start)
            if at in parents:
                weight = 0.7 * 0.85 ** parents[at]
            elif at in beside:
                weight = 0.1 if named else 0.55
            elif at == index - 1:
                weight = 0.3
            else:
                weight = 0.06
        found.append((anchor, weight))
    found += [(anchor, _QUESTION) for anchor in read.question.anchors]
    return found
