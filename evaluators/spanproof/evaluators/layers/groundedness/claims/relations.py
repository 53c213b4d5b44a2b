"""Relations that an answer states: superlatives, comparisons, and directions of a change.

In: the frames of an answer. Out: relations: the word, which way it goes, the fields it may be about, and the
names of records around it. "At least 5", "one of the largest" and the like are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise

from spanproof.evaluators.layers.groundedness.claims.anchors import Anchor
from spanproof.evaluators.layers.groundedness.claims.frames import SOFT, AnswerFrames, Frame
from spanproof.evaluators.layers.groundedness.claims.outline import find_clause_breaks
from spanproof.evaluators.layers.groundedness.model import ClaimKind
from spanproof.reading.values import Kind, is_year
from spanproof.reading.words import STOP, base_form, split_words

_MAX_RELATIONS = 20
_PHRASE = 5
_UNLIKE = re.compile(
    r"(?:\b(?:second|third|fourth|fifth|next|one of(?: the)?|among(?: the)?|not(?: the)?|isn['’]t(?: the)?|two|three|four|five|\d+|"  # noqa: E501
    r"at|of|if|whether|which|what|find(?:ing)?|almost|nearly|probably|likely)\s+(?:the\s+)?)\Z",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom\s+[$€£]?\Z", re.IGNORECASE)
_TO = re.compile(r"\A[^.;\n]{0,40}?\bto\s+[$€£]?\Z", re.IGNORECASE)
_EACH = re.compile(r"\b(?:each|apiece|per)\b", re.IGNORECASE)
_SPARED = re.compile(r"\b(?:not|no|never|or|neither)\b|n['’]t\b|\d|\?", re.IGNORECASE)
# "Which city has": the sort of thing that the rows are.
_SORT = re.compile(r"\b(?:which|what)\s+\w+(?=\s+(?:has|have|had|is|was|are|were)\b)", re.IGNORECASE)
_WHICH_YEAR = re.compile(r"\b(?:which|what)\s+(?:\w+\s+)?year\b", re.IGNORECASE)
_IN_YEAR = re.compile(
    r"\b(?:in|during|year|fy)\s+(?:fiscal\s+)?(?:the\s+)?(?:year\s+)?(?:is\s+|was\s+)?\Z", re.IGNORECASE
)
_THE = re.compile(r"\b(?:the|has|have|had|with|its|their)\s+\Z", re.IGNORECASE)
_MOST_CAME = re.compile(
    r"most\s+(?:of\s+(?:the|all|these|our|its)\s+)?(?:[a-z-]+\s+)?(?P<noun>[a-z-]+)\s+"
    r"(?:c[ao]mes?|originate[sd]?|(?:are|were|is|was)(?:\s+[a-z]+)?)\s+(?:from|in|at|by|on)\s",
    re.IGNORECASE,
)
_OPENING = re.compile(r"\W*(?:in|for|on|by|at|among|with)\s[^,.;]{1,40},", re.IGNORECASE)
_QUALITY = re.compile(r"\s+[^\W\d]+[-‑][^\W\d]")  # "the most cost-efficient" has the most of no column
_BARE = frozenset(("most", "least", "latest", "maximum", "minimum"))
_PHRASE_END = re.compile(r"[.,;:()!?\n]|\b(?:is|are|was|were|has|have|had|at|with|by|in|on|among|than|and|but|for|of)\b", re.IGNORECASE)  # fmt: skip  # noqa: E501


@dataclass(frozen=True, slots=True)
class Relation:
    """A superlative or a comparison.

    Attributes:
        sign: 1 where the subject has more, -1 where it has less.
        fields: base forms of the fields that the word itself is about; empty where words beside it name one.
        phrase: base forms of the words right behind it.
        sentence: base forms of all words of its sentence; `clause` of those of its clause.
        subjects, objects: names of records before and after "than"; of a superlative all are subjects.
        of_question: whether the question states it, and the answer names who it is.
        shared: whether its sentence states another relation as well, or what one of something comes to.
    """

    kind: ClaimKind
    start: int
    end: int
    sign: int
    fields: frozenset[str]
    phrase: tuple[str, ...]
    sentence: frozenset[str]
    clause: frozenset[str]
    subjects: tuple[Anchor, ...]
    objects: tuple[Anchor, ...] = ()
    of_question: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True)
class PeriodRelation:
    """A superlative over years: "revenue was highest in 2019", or "2019" where the question is for a year.

    Attributes:
        sign: 1 where the year is said to have the most, -1 where the least.
        words: base forms of the words that may name what is compared.
    """

    start: int
    end: int
    sign: int
    year: int
    words: frozenset[str]


@lru_cache(maxsize=1)
def _load_lexicon() -> dict[str, tuple[ClaimKind, int, frozenset[str]]]:
    text = (resources.files(__package__) / "relations.txt").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        if line and line[0] != "#" and not line.startswith("direction"):
            form, word, sign, *fields = line.split()
            kind = ClaimKind.SUPERLATIVE if form == "superlative" else ClaimKind.COMPARISON
            found[word.replace("_", " ")] = (
                kind,
                1 if sign == "+" else -1,
                frozenset(map(base_form, fields)),
            )
    return found


@lru_cache(maxsize=1)
def _compile_lexicon_pattern() -> re.Pattern[str]:
    names = sorted(map(re.escape, _load_lexicon()), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(names)})\b", re.IGNORECASE)


def find_relations(read: AnswerFrames) -> list[Relation]:
    """Return the relations of an answer, in order."""
    found: list[Relation] = []
    for match in _compile_lexicon_pattern().finditer(read.answer):
        if len(found) == _MAX_RELATIONS:
            break
        kind, sign, fields = _load_lexicon()[match.group().lower()]
        low, high = read.sentence_at(read.line_at(match.start()), match.start())
        before = read.answer[low : match.start()]
        if not low <= match.start() < high or SOFT.search(read.answer[low:high]) or _UNLIKE.search(before):
            continue
        most = _MOST_CAME.match(read.answer, match.start(), high)
        bare = match.group().lower() in _BARE and kind is ClaimKind.SUPERLATIVE
        if bare and most is None and (not _THE.search(before) or _QUALITY.match(read.answer, match.end())):
            continue
        than = re.compile(r"\bthan\b", re.IGNORECASE).search(read.answer, match.end(), high)
        if (than is None) == (kind is ClaimKind.COMPARISON):
            continue
        ended = _PHRASE_END.search(read.answer, match.end(), high)
        phrase = _base_forms(read, match.end(), ended.start() if ended else high)[:_PHRASE]
        if most is not None:
            phrase = _base_forms(read, *most.span("noun"))
        subjects, objects = _find_subjects_and_objects(
            read, low, high, match.span(), than.end() if than else None
        )
        words = frozenset(_base_forms(read, low, high))
        said = {each.group().lower() for each in _compile_lexicon_pattern().finditer(read.answer, low, high)}
        shared = len(said) > 1 or _EACH.search(read.answer, low, high) is not None
        opening = _OPENING.match(read.answer, low, high)  # "In blitz, Ada is the highest"
        front = _base_forms(read, *opening.span()) if opening else ()
        clause = frozenset((*front, *_base_forms(read, *_locate_clause(read, low, high, match.start()))))
        found.append(
            Relation(
                kind, *match.span(), sign, fields, phrase, words, clause, subjects, objects, shared=shared
            )
        )
    return found or list(_find_question_relation(read))


def _find_question_relation(read: AnswerFrames) -> Iterator[Relation]:
    """Yield the superlative of a question whose answer is names alone: "Laptop"."""
    text, answer = read.question.text, read.answer
    said = [
        match
        for match in _compile_lexicon_pattern().finditer(text)
        if not _UNLIKE.search(text[: match.start()])
    ]
    names = tuple(each for each in read.anchors if each.kind in (Kind.TEXT, Kind.ID))
    if len(said) != 1 or not names or _SPARED.search(answer) or re.search(r"\d", text):
        return
    kind, sign, fields = _load_lexicon()[said[0].group().lower()]
    bare = said[0].group().lower() in _BARE and not _THE.search(text[: said[0].start()])
    others = [
        word
        for word, low, high in read.words
        if word not in STOP
        and word not in read.question.words
        and not any(each.start <= low and high <= each.end for each in names)
    ]
    if kind is ClaimKind.SUPERLATIVE and not bare and not others:
        behind = frozenset(base_form(word) for word, _, _ in split_words(said[0].group()))
        kept = _SORT.sub("", text.replace("_", " "))
        words = tuple(base_form(word) for word, _, _ in split_words(kept) if base_form(word) not in behind)
        place = names[0].start, names[-1].end
        said_of = frozenset(words)
        yield Relation(kind, *place, sign, fields, words, said_of, said_of, names, of_question=True)


def find_period_relations(read: AnswerFrames) -> Iterator[PeriodRelation]:
    """Yield the superlatives of sentences that state one year, and of a question for a year with a short answer."""  # noqa: E501
    years = [each for each in read.mentions if is_year(each.value)]
    for mention in years[:_MAX_RELATIONS]:
        low, high = read.sentence_at(read.line_at(mention.start), mention.start)
        alone = sum(low <= each.start < high for each in years) == 1
        question = read.question.text if len(years) == 1 and _WHICH_YEAR.search(read.question.text) else ""
        text = read.answer[low:high]
        said = [
            _load_lexicon()[match.group().lower()]
            for match in _compile_lexicon_pattern().finditer(question or text)
        ]
        superlative = [sign for kind, sign, _ in said if question or kind is ClaimKind.SUPERLATIVE]
        if not alone or len(superlative) != 1 or (not question and SOFT.search(text)):
            continue
        if not question and not _IN_YEAR.search(read.answer[low : mention.start]):
            continue
        words = frozenset(base_form(word) for word, _, _ in split_words((question or text).replace("_", " ")))
        yield PeriodRelation(
            mention.start, mention.end, superlative[0], int(mention.value.number), words - STOP
        )


def _base_forms(read: AnswerFrames, low: int, high: int) -> tuple[str, ...]:
    return tuple(base_form(word) for word, _, _ in split_words(read.answer[low:high].replace("_", " ")))


def _find_subjects_and_objects(
    read: AnswerFrames, low: int, high: int, word: tuple[int, int], than: int | None
) -> tuple[tuple[Anchor, ...], tuple[Anchor, ...]]:
    names = [
        anchor
        for anchor in read.anchors
        if anchor.kind in (Kind.TEXT, Kind.ID)
        and low <= anchor.start < high
        and not (anchor.start < word[1] and anchor.end > word[0])
    ]
    if than is None:
        return tuple(_select_clause_names(names, read, low, high, word[0])), ()
    stop = next((place for place in find_clause_breaks(read.answer, than, high) if place > than), high)
    return tuple(each for each in names if each.end <= word[0]), tuple(
        each for each in names if than <= each.start < stop
    )


def _select_clause_names(
    names: list[Anchor], read: AnswerFrames, low: int, high: int, place: int
) -> Iterator[Anchor]:
    """Yield the names in the clause of a place, or else all of its sentence."""
    start, stop = _locate_clause(read, low, high, place)
    yield from [each for each in names if start <= each.start < stop] or names


def _locate_clause(read: AnswerFrames, low: int, high: int, place: int) -> tuple[int, int]:
    """Return where the clause of a place begins and ends in its sentence."""
    breaks = [low, *find_clause_breaks(read.answer, low, high), high]
    return max(each for each in breaks if each <= place), min(each for each in breaks if each > place)


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction with the values it is about.

    Attributes:
        start, end: the characters of its word.
        fits: whether the values go that way.
    """

    start: int
    end: int
    fits: bool
    first: Frame
    last: Frame


@lru_cache(maxsize=1)
def _load_direction_signs() -> dict[str, int]:
    lines = (resources.files(__package__) / "relations.txt").read_text(encoding="utf-8").splitlines()
    said = [line.split()[1:] for line in lines if line.startswith("direction")]
    return {word: 1 if sign == "+" else -1 for sign, *words in said for word in words}


def find_way(frame: Frame, read: AnswerFrames) -> int:
    """Return which way the words before a value say that something went: 1 up, -1 down, 0 neither or both."""
    start = frame.mention.start
    low, _ = read.sentence_at(frame.line, start)
    low = max([low, *(each.end for each in read.mentions if each.end <= start)])
    ways = {
        _load_direction_signs()[word]
        for word in re.findall(r"[a-z]+", read.answer[low:start].lower())
        if word in _load_direction_signs()
    }
    return ways.pop() if len(ways) == 1 else 0


def find_directions(read: AnswerFrames) -> Iterator[Direction]:
    """Yield each direction before "from A to B" in its sentence, where the two values differ."""
    answer = read.answer
    for first, last in pairwise(read.frames):
        start, value = first.mention.start, first.mention.value
        low, _ = read.sentence_at(first.line, start)
        low = max([low, *find_clause_breaks(answer, low, start)])
        if not _FROM.search(answer[max(low, start - 8) : start]) or not _TO.match(
            answer[first.mention.end : last.mention.start]
        ):
            continue
        if value.kind is not last.mention.value.kind or value.number == last.mention.value.number:
            continue
        if is_year(value) and is_year(last.mention.value):
            continue
        words = [
            match
            for match in re.finditer(r"[a-z]+", answer[low:start].lower())
            if match.group() in _load_direction_signs()
        ]
        # "The increase / (decrease)" names both ways.
        if words and len({_load_direction_signs()[word.group()] for word in words}) == 1:
            word = words[-1]
            rises = last.mention.value.number > value.number
            yield Direction(
                low + word.start(),
                low + word.end(),
                (_load_direction_signs()[word.group()] > 0) == rises,
                first,
                last,
            )
