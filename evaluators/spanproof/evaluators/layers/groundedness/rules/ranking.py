"""The rule for ranks: "Aarhus first, then Malmö", "Tampere came last", "Diallo won, ahead of Moreau".

In: the `Binding`. Out: a claim where a sentence puts named rows, or names of one line of prose, in an order
or one of them in a place, and a column it names gives their order. Which end is first depends on what is
measured: an order that holds from either end is right, one that holds from neither is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import (
    canonical,
    canonical_set,
    plain_set,
    words_of,
)
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.derive import measured_value

_IN_ORDER = re.compile(
    r"\b(?:followed by|first\b[^.;\n]{0,40}\bthen|ahead of|in that order|ranked)\b", re.IGNORECASE
)
_PLACE = re.compile(
    r"\b(?:(?:came|comes|finished|ranks?|ranked|is|was|in|placed|takes?|took)\s+(?:in\s+)?(?:the\s+)?"
    r"(?P<place>first|second|third|fourth|fifth|last)\b(?:\s+place)?(?=\s*(?:[,.;:!]|$|in\b|with\b|at\b|by\b|behind\b"
    r"|and\b|place\b))"
    r"|(?P<won>(?:leads?|led|tops?|topped|heads?|headed) the"
    r" (?:table|ranking|list|standings|leaderboard|league|field)|won|wins)\b"
    r"(?!\s+(?:by|as|\d|most|more|fewer|all|one|two|three|four|five|six|seven|eight|nine|ten|once|twice)\b))",
    re.IGNORECASE,
)
_CUES = plain_set(
    "followed first ahead order ranked second third fourth fifth last lead leads led top tops topped head"
    " heads headed won wins"
)
_PLACES = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
_LEAST_LEADS = canonical_set(
    "rank position place price cost time latency duration error errors loss distance age min ascending"
    " cheap fast"
)
_RANKS = canonical_set("rank position place standing")
_MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class _Row:
    """One of the things that are ranked: the words only it is known by, and its value."""

    names: frozenset[str]
    fact: Fact

    @property
    def value(self) -> float:
        return measured_value(self.fact)


def ranking_claims(binding: Binding) -> list[Claim]:
    """Every order and every place the answer states."""
    claims: list[Claim] = []
    if _CUES.isdisjoint(binding.answer.said):
        return claims
    for sentence in binding.answer.sentences[:MAX_CLAIMS]:
        order = _IN_ORDER.search(sentence.text)
        places = list(_PLACE.finditer(sentence.text))
        if order is None and not places:
            continue
        columns = list(_columns(sentence, binding))
        if not columns:
            continue
        if order is not None:
            claims.extend(_ordered(sentence, columns, binding))
        claims.extend(found for match in places if (found := _placed(match, sentence, columns, binding)))
    return claims


def _columns(sentence: Sentence, binding: Binding) -> Iterator[list[_Row]]:
    """The columns that may rank: those the sentence names, a lone one, the values of one line of prose."""
    said = frozenset(sentence.words)
    named: list[list[_Row]] = []
    every: list[list[_Row]] = []
    for records in binding.facts.records:
        for name, column in records.columns.items():
            numbers = [fact for fact in column if fact.number is not None and fact.day is None]
            if 2 <= len(numbers) <= _MOST_ROWS and len(numbers) == len(column):
                rows = _rows([(fact.words, fact) for fact in numbers])
                every.append(rows)
                if not said.isdisjoint(words_of(name) + list(numbers[0].key if records.rows >= 0 else ())):
                    named.append(rows)
    ranks = [rows for rows in every if not _RANKS.isdisjoint(rows[0].fact.key)]
    yield from ranks or named or (every if len(every) == 1 else [])
    lines: dict[tuple[int, object], list[Fact]] = {}
    for fact in binding.numbers:
        if fact.weak and fact.dimension is not None:
            lines.setdefault((fact.line, fact.dimension), []).append(fact)
    for facts in lines.values():
        if 2 <= len(facts) <= _MOST_ROWS:
            yield _rows([(fact.clause, fact) for fact in facts])


def _rows(facts: list[tuple[frozenset[str], Fact]]) -> list[_Row]:
    """Each with the words that none of the others has."""
    counted: dict[str, int] = {}
    for words, _ in facts:
        for word in words:
            counted[word] = counted.get(word, 0) + 1
    return [_Row(frozenset(word for word in words if counted[word] == 1), fact) for words, fact in facts]


def _told(sentence: Sentence, rows: list[_Row], start: int = 0, end: int | None = None) -> list[_Row]:
    """The rows a stretch of the sentence names, in order."""
    text = sentence.text[start:end]
    found: dict[int, _Row] = {}
    for match in re.finditer(r"[^\W_][\w'’-]*", text):
        words = {canonical(match.group()), *words_of(match.group())}
        row = next((row for row in rows if not row.names.isdisjoint(words)), None)
        if row is not None and row not in found.values():
            found[match.start()] = row
    return list(found.values())


def _ordered(sentence: Sentence, columns: list[list[_Row]], binding: Binding) -> list[Claim]:
    found: list[tuple[bool, Fact]] = []
    for rows in columns:
        told = _told(sentence, rows)
        values = [row.value for row in told]
        if len(told) < 2:
            continue
        falling = values == sorted(values, reverse=True) and values[0] == max(row.value for row in rows)
        rising = values == sorted(values) and values[0] == min(row.value for row in rows)
        right = (falling and not _is_rank(rows)) or (rising and _least_may_lead(sentence, rows))
        found.append((right, told[0].fact))
    return [_claim(sentence.start, sentence.end, found, binding)] if found else []


def _is_rank(rows: list[_Row]) -> bool:
    return not _RANKS.isdisjoint(rows[0].fact.key)


def _least_may_lead(sentence: Sentence, rows: list[_Row]) -> bool:
    """Whether the smallest value may come first: a time, a price, a rank, or where the words say so."""
    fact = rows[0].fact
    if fact.weak or fact.dimension is Dimension.TIME:
        return True
    return not _LEAST_LEADS.isdisjoint(fact.key) or not _LEAST_LEADS.isdisjoint(sentence.words)


def _placed(
    match: re.Match[str], sentence: Sentence, columns: list[list[_Row]], binding: Binding
) -> Claim | None:
    place = 1 if match["won"] else _PLACES[match["place"].lower()]
    found: list[tuple[bool, Fact]] = []
    for rows in columns:
        start = max((sentence.text.rfind(mark, 0, match.start()) for mark in (",", ";", " and ")), default=-1)
        told = _told(sentence, rows, start + 1, match.start())
        if len(told) != 1 or place > len(rows):
            continue
        ranked = sorted((row.value for row in rows), reverse=True)
        at = place - 1 if place > 0 else len(ranked) - 1
        rising = told[0].value == ranked[len(ranked) - 1 - at] and _least_may_lead(sentence, rows)
        right = rising or (told[0].value == ranked[at] and not _is_rank(rows))
        found.append((right, told[0].fact))
    start = sentence.start + match.start()
    return _claim(start, sentence.start + match.end(), found, binding) if found else None


def _claim(start: int, end: int, found: list[tuple[bool, Fact]], binding: Binding) -> Claim:
    """Right by some column is right; wrong is what no column bears out."""
    right = next((fact for is_right, fact in found if is_right), None)
    verdict = Verdict.GROUNDED if right else Verdict.CONTRADICTED
    reason = "the outputs give this order" if right else f"`{found[0][1].text}` does not stand there"
    return claim(
        binding, start, end, ClaimKind.SUPERLATIVE, verdict, reason, evidence_of(right or found[0][1])
    )
