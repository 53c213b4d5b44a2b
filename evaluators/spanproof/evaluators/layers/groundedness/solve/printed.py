"""An answer in words alone, held against what the run printed last: "Laptop", "Oslo and Bergen".

In: an answer without values or states, and the sources. Out: what it says, where just that was printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.claims.frames import SOFT, AnswerFrames
from spanproof.evaluators.layers.groundedness.sources.model import Source, SourceKind
from spanproof.reading.records import Fact, FactBase, Role
from spanproof.reading.values import Kind, Value
from spanproof.reading.words import STOP, base_form, split_words

_MAX_CHARS = 600
_FILLER = ("none", "null", "dtype", "object", "rows", "row", "answer", "final", "result")
_IGNORED = STOP | frozenset(map(base_form, _FILLER))
_DENIED = re.compile(r"\b(?:not|no|never|none|neither|nor|without|except|cannot)\b|n['’]t\b", re.IGNORECASE)
_HEADED = re.compile(r"\A[^\n]*\n[-=+|\s]{3,}\n")


@dataclass(frozen=True, slots=True)
class Printed:
    """What an answer says in words, and the output that prints just that.

    Attributes:
        start, end: its characters in the answer.
    """

    start: int
    end: int
    fact: Fact


def find_printed(read: AnswerFrames, base: FactBase, sources: Sequence[Source]) -> Printed | None:
    """Return what an answer says where its words are those of the last output, neither more nor fewer.

    Words of the question and names of fields may be on either side.
    """
    answer = read.answer
    if len(answer) > _MAX_CHARS or _DENIED.search(answer) or SOFT.search(answer):
        return None
    said = [each for each in _extract_words(answer) if each[0] not in read.question.words]
    outputs = [place for place, source in enumerate(sources) if source.kind is SourceKind.OUTPUT]
    place = next((each for each in reversed(outputs) if _extract_words(base.texts[each])), None)
    if place is None or not said or len(base.texts[place]) > _MAX_CHARS:
        return None
    text = base.texts[place]
    headed = _HEADED.match(text)
    printed = _extract_words(text, headed.end() if headed else 0)
    names = frozenset(word for fact in base.facts if fact.source == place for word in fact.words)
    known = {word for word, _, _ in said}
    words = {word for word, _, _ in printed}
    if not known <= words or words - known - names - read.question.words:
        return None
    places = [each for each in printed if each[0] in known]
    start, end = min(low for _, low, _ in places), max(high for _, _, high in places)
    value = Value(Kind.TEXT, text=text[start:end])
    fact = Fact(value, place, 0, (), start, end, (start, end), Role.PROSE)
    return Printed(said[0][1], said[-1][2], fact)


def _extract_words(text: str, start: int = 0) -> list[tuple[str, int, int]]:
    """Return the words of a text that say something, in their base form, with their places."""
    return [
        (form, low, high)
        for word, low, high in split_words(text.replace("_", " "))
        if low >= start and (form := base_form(word)) not in _IGNORED and not form.isdigit()
    ]
