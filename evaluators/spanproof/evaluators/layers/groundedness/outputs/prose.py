"""Prose in outputs: its numbers, dates and times, each under the words of its own clause.

In: one line of prose. Out: weak facts. A value's `key` is what stands near it, for finding it; its `clause`
is what is said of it, for telling it from the others: the words of its segment, and of what its sentence is
about where the segment names nothing of its own.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from spanproof.evaluators.layers.groundedness.language.dates import (
    DateMention,
    TimeMention,
    dates_in,
    day_of,
    times_in,
    yearless_day,
)
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity, quantities_in
from spanproof.evaluators.layers.groundedness.language.segments import (
    Sentence,
    cut_up,
    overlaps,
    sentences_of,
)
from spanproof.evaluators.layers.groundedness.language.words import content_words, words_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts
from spanproof.evaluators.layers.groundedness.outputs.tree import add_value

_MAX_PROSE = 100_000
_MAX_STRINGS = 2_000
_MAX_STRING = 20_000
_MAX_NAMED = 40
_MAX_VALUES = 2_000
"""Values of one line whose clauses are told apart; those beyond have none."""
_NAME = re.compile(r"(?<=[\s(])[A-ZÀ-Þ][\w'’-]+")
_NEAR_BEFORE, _NEAR_AFTER = 60, 30


def read_prose(facts: Facts, output: int, line: str, key: tuple[str, ...] = ()) -> None:
    """Add the values of a line."""
    if len(line) > _MAX_PROSE:
        line, facts.cut = line[:_MAX_PROSE], True
    told: list[DateMention | TimeMention] = [*dates_in(line, prose=False), *times_in(line)]
    taken = [(mention.start, mention.end) for mention in told]
    quantities = [
        quantity
        for quantity in quantities_in(line)
        if not (taken and overlaps(taken, quantity.start, quantity.end))
    ]
    if not (told or quantities):
        return
    quantities = _with_asides(quantities, line)
    places = sorted(taken + [(quantity.start, quantity.end) for quantity in quantities])
    today = next(iter(facts.todays), None)
    named = frozenset(content_words(key))
    clauses = _clauses(line, places[:_MAX_VALUES], today)
    facts.lines += 1
    for mention in told:
        clause = clauses.get(mention.start, frozenset()) | named
        scope = frozenset(key)
        add_value(facts, output, mention.text, "", "", scope, weak=True, clause=clause, line=facts.lines)
    for quantity in quantities:
        found = _fact(output, line, quantity, key, clauses.get(quantity.start, frozenset()) | named)
        facts.facts.append(replace(found, line=facts.lines))


def read_strings(facts: Facts, output: int, first: int) -> None:
    """Read the sentences that the facts from `first` on hold as values: snippets, messages, descriptions."""
    for fact in facts.facts[first : first + _MAX_STRINGS]:
        text = fact.string
        if text is None or fact.number is not None or fact.day is not None or fact.clock is not None:
            continue
        if " " in text.strip() and any(character.isdigit() for character in text):
            for line in text[:_MAX_STRING].splitlines():
                read_prose(facts, output, line, tuple(sorted(fact.scope.union(fact.key)))[:_MAX_NAMED])


def _with_asides(quantities: list[Quantity], line: str) -> list[Quantity]:
    """A bare number in brackets behind an amount counts as the amount does: "SEK 388 million (421)"."""
    found: list[Quantity] = []
    for quantity in quantities:
        before = found[-1] if found else None
        if (
            before is not None
            and before.scaled
            and quantity.unit is None
            and not quantity.scaled
            and line[before.end : quantity.start].strip() == "("
            and line[quantity.end : quantity.end + 1] == ")"
        ):
            factor = before.ulp * 10**before.decimals
            value, ulp = quantity.value * factor, quantity.ulp * factor
            quantity = replace(quantity, value=value, ulp=ulp, unit=before.unit, scaled=True)
        found.append(quantity)
    return found


def _fact(output: int, line: str, quantity: Quantity, key: tuple[str, ...], clause: frozenset[str]) -> Fact:
    before = line[max(0, quantity.start - _NEAR_BEFORE) : quantity.start]
    near = f"{before} {line[quantity.end : quantity.end + _NEAR_AFTER]}"
    return Fact(
        output=output,
        label="",
        text=line[max(0, quantity.start - 40) : quantity.end + 40].strip(),
        key=tuple(words_of(near)) + key,
        number=quantity.value,
        unit=quantity.unit,
        weak=True,
        clause=clause,
    )


def _clauses(line: str, places: list[tuple[int, int]], today: date | None) -> dict[int, frozenset[str]]:
    """The words that tell each value from the others, by where it starts."""
    found: dict[int, frozenset[str]] = {}
    at = 0
    for sentence in sentences_of(line):
        inside: list[tuple[int, int]] = []
        while at < len(places) and places[at][0] < sentence.end:
            inside.append(places[at])
            at += 1
        if inside:
            cut_up(line, sentence, inside)
            found |= _of_sentence(line, sentence, inside, today)
    return found


def _of_sentence(
    line: str, sentence: Sentence, inside: list[tuple[int, int]], today: date | None
) -> dict[int, frozenset[str]]:
    found: dict[int, frozenset[str]] = {}
    subject = frozenset(_told(line[sentence.start : inside[0][1]], today))
    for start, end in sentence.segments:
        words = frozenset(_told(line[start:end], today))
        names_its_own = _NAME.search(line, start, end) is not None
        clause = words if start == sentence.start or names_its_own else words | subject
        found |= {place: clause for place, _ in inside if start <= place < end}
    return found


def _told(text: str, today: date | None) -> list[str]:
    """Content words, with the day of each date that is written out."""
    words = [word for word in content_words(words_of(text)) if not word.isdigit()]
    for mention in dates_in(text, prose=False):
        day = day_of(mention) or yearless_day(mention.text, today)
        if day is not None:
            words.append(str(day))
    return words
