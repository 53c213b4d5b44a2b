"""Names of records in an answer: identifiers, texts of cells, dates and years that rows are known by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from spanproof.reading.records import Fact, FactBase
from spanproof.reading.values import Kind, Mention, is_same_date
from spanproof.reading.words import STOP, base_form, split_words

MAX_ANCHORS = 400
_MAX_FACTS = 200
_MOST = 2000
# `pdf-render` of `pdf-render-5c8d6f7799-t9vhs`
_HYPHENATED = re.compile(r"(?<![\w-])[^\W\d]\w+(?:-\w+)+(?![\w-])")
_DAY = re.compile(r"(?:\b(?:the|and|or)|,)\s+(?P<day>[1-3]?\d)(?:st|nd|rd|th)\b")
_STRENGTH = {
    Kind.ID: 1.0,
    Kind.TEXT: 0.8,
    Kind.DATE: 0.45,
    Kind.NUMBER: 0.2,
    Kind.TIME: 0.3,
    Kind.MONEY: 0.25,
}


@dataclass(frozen=True, slots=True)
class Anchor:
    """A part of an answer that names cells of the base.

    Attributes:
        records: the records of those cells.
        strength: how specific the anchor is: an identifier of one record most, a word of many rows least.
    """

    start: int
    end: int
    kind: Kind
    facts: tuple[Fact, ...]
    records: frozenset[int]
    strength: float


def find_anchors(answer: str, mentions: list[Mention], base: FactBase) -> list[Anchor]:
    """Return the anchors of an answer, in order."""
    found = [*_find_text_anchors(answer, base), *_find_value_anchors(answer, mentions, base)]
    return sorted(found, key=lambda anchor: anchor.start)[:MAX_ANCHORS]


def _make_anchor(start: int, end: int, kind: Kind, facts: list[Fact], words: int = 1) -> Anchor:
    records = frozenset(fact.record for fact in facts[:_MAX_FACTS])
    strength = _STRENGTH.get(kind, 0.2) * (1.0 + 0.15 * min(words - 1, 3)) / max(1.0, len(records)) ** 0.5
    return Anchor(start, end, kind, tuple(facts[:_MAX_FACTS]), records, strength)


def _find_text_anchors(answer: str, base: FactBase) -> list[Anchor]:
    """Find texts of cells, the longest at each word."""
    words = [(base_form(word), start, end) for word, start, end in split_words(answer.replace("_", " "))]
    found: list[Anchor] = []
    at = 0
    while at < len(words):
        length, facts = _match_longest(words, at, base)
        if not facts and answer[words[at][1]].isupper() and words[at][0].isalpha():
            length, facts = 1, base.by_part.get(words[at][0], [])
        if facts and not (length == 1 and (words[at][0] in STOP or len(words[at][0]) < 2)):
            found.append(_make_anchor(words[at][1], words[at + length - 1][2], Kind.TEXT, facts, length))
            at += length
        else:
            at += 1
    return found


def _match_longest(words: list[tuple[str, int, int]], at: int, base: FactBase) -> tuple[int, list[Fact]]:
    length = 0
    facts: list[Fact] = []
    for tokens, fact in base.by_text.get(words[at][0], ())[:400]:
        size = len(tokens)
        if size < length or at + size > len(words):
            continue
        if all(words[at + offset][0] == token for offset, token in enumerate(tokens)):
            if size > length:
                length, facts = size, []
            facts.append(fact)
    return length, facts


def _find_value_anchors(answer: str, mentions: list[Mention], base: FactBase) -> list[Anchor]:
    found = []
    for mention in mentions:
        kind = mention.value.kind
        facts: list[Fact] = []
        if kind is Kind.ID:
            name = mention.value.text
            facts = [fact for _, fact in base.by_text.get(f"#{name}", ())]
            if not facts and name.isdigit():
                facts = [
                    fact for fact in base.by_kind[Kind.NUMBER][:3000] if fact.value.number == float(name)
                ]
        elif kind is Kind.DATE:
            facts = [
                fact for fact in base.by_kind[Kind.DATE][:2000] if is_same_date(mention.value, fact.value)
            ]
        elif kind is Kind.NUMBER and not mention.spelled:
            digits = answer[mention.start : mention.end]
            if len(digits) >= 4 and digits.isdigit():
                facts = [fact for _, fact in base.by_text.get(f"#{digits}", ())]
                kind = Kind.ID if facts else kind
            if not facts:
                facts = [
                    fact
                    for fact in base.by_kind[Kind.NUMBER][:3000]
                    if fact.value.number == mention.value.number
                ]
        if facts:
            found.append(_make_anchor(mention.start, mention.end, kind, facts))
    taken = {(each.start, each.end) for each in found}
    for match in islice(_HYPHENATED.finditer(answer), MAX_ANCHORS):
        names = {
            fact.value.text
            for fact in base.by_kind[Kind.ID][:_MOST]
            if fact.value.text.startswith(match.group().lower() + "-")
        }
        if len(names) == 1 and match.span() not in taken:
            facts = [fact for fact in base.by_kind[Kind.ID][:_MOST] if fact.value.text in names]
            found.append(_make_anchor(*match.span(), Kind.ID, facts))
    days = [fact for fact in base.by_kind[Kind.DATE][:2000] if fact.value.date and fact.value.date[2]]
    for match in islice(_DAY.finditer(answer), MAX_ANCHORS) if days else ():
        facts = [fact for fact in days if fact.value.date and fact.value.date[2] == int(match["day"])]
        if facts and not any(
            each.start <= match.start("day") < each.end for each in mentions if each.value.kind is Kind.DATE
        ):
            found.append(_make_anchor(*match.span("day"), Kind.DATE, facts))
    return found
