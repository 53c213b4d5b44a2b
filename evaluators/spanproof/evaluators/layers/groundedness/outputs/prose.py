"""Prose in outputs: its numbers, dates and times, each under the words of its own clause.

In: one line of prose. Out: weak facts. A value's `key` is what stands near it, for finding it; its `clause`
is what is said of it, for telling it from the others: the words of its segment, and of what its sentence is
about where the segment names nothing of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import partial

from spanproof.evaluators.layers.groundedness.language.clock import TimeMention, times_in
from spanproof.evaluators.layers.groundedness.language.dates import (
    DateMention,
    dates_in,
    day_of,
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

_MAX_PROSE = 100_000
_DIGIT = re.compile(r"\d")
_CLOCK = re.compile(r":\d\d|\d\s?[ap]\.?m", re.IGNORECASE)
_LEAST_SPACES = 2
"""A value of three words may be a sentence; "Item 17" is a name."""
_MAX_STRINGS = 2_000
_MAX_STRING = 20_000
_MAX_NAMED = 40
_MAX_VALUES = 300
_MAX_CLAUSED = 20_000
"""Values of a line, and its characters, whose clauses are told apart; those beyond have none."""
_NAME = re.compile(r"(?<=[\s(])[A-ZÀ-Þ][\w'’-]+")
_NEAR_BEFORE, _NEAR_AFTER = 60, 30


class _Line:
    """A line of prose: the clauses of its values are worked out when the first is asked for."""

    def __init__(
        self, text: str, places: list[tuple[int, int]], named: frozenset[str], today: date | None
    ) -> None:
        self._text, self._places, self._named, self._today = text, places, named, today
        self._clauses: dict[int, frozenset[str]] | None = None

    def clause_at(self, start: int) -> frozenset[str]:
        """The clause of the value that starts here."""
        if self._clauses is None:
            found = _clauses(self._text[:_MAX_CLAUSED], self._places[:_MAX_VALUES], self._today)
            self._clauses = {place: clause | self._named for place, clause in found.items()}
        return self._clauses.get(start, self._named)


def read_prose(facts: Facts, output: int, line: str, key: tuple[str, ...] = ()) -> None:
    """Add the values of a line."""
    if len(line) > _MAX_PROSE:
        line, facts.cut = line[:_MAX_PROSE], True
    if _DIGIT.search(line) is None:
        return
    told: list[DateMention | TimeMention] = [*dates_in(line, prose=False)]
    if _CLOCK.search(line):
        told += times_in(line)
    taken = [(mention.start, mention.end) for mention in told]
    quantities = _outside(taken, list(quantities_in(line)))
    if not (told or quantities):
        return
    quantities = _with_asides(quantities, line)
    places = sorted(taken + [(quantity.start, quantity.end) for quantity in quantities])
    named = frozenset(content_words(key)).union(key[-1:] if len(key) > 1 and len(key[-1]) == 1 else ())
    read = _Line(line, places, named, next(iter(facts.todays), None))  # "Proposal A": no article
    facts.lines += 1
    facts.facts.extend(_moments(told, facts, output, frozenset(key), read))
    for quantity in quantities:
        facts.facts.append(_fact(facts, output, line, quantity, key, read))


def _outside(taken: list[tuple[int, int]], quantities: list[Quantity]) -> list[Quantity]:
    """The quantities that are no part of a date or a time."""
    if not taken:
        return quantities
    spans = sorted(taken)
    starts = [start for start, _ in spans]
    longest = max(end - start for start, end in spans)
    found: list[Quantity] = []
    for quantity in quantities:
        first = bisect_right(starts, quantity.start - longest)
        last = bisect_right(starts, quantity.end)
        if not overlaps(spans[max(0, first - 1) : last], quantity.start, quantity.end):
            found.append(quantity)
    return found


def _moments(
    told: list[DateMention | TimeMention], facts: Facts, output: int, scope: frozenset[str], read: _Line
) -> Iterator[Fact]:
    """Dates and times as facts; a date with the time written behind it is one."""
    times = [time for time in told if isinstance(time, TimeMention)]
    starts = [time.start for time in times]
    within: set[int] = set()
    for mention in told:
        if isinstance(mention, TimeMention):
            continue
        place = bisect_right(starts, mention.start)
        time = times[place] if place < len(times) and starts[place] < mention.end else None
        within.add(place if time else -1)
        day = day_of(mention)
        yearless = None if day else yearless_day(mention.text, next(iter(facts.todays), None))
        yield Fact(
            output,
            "",
            mention.text,
            scope=scope,
            string=mention.text,
            weak=True,
            day=day or yearless,
            yearless=yearless is not None,
            clock=time.seconds if time else None,
            offset=time.offset if time else None,
            said=partial(read.clause_at, mention.start),
            line=facts.lines,
        )
    for place, time in enumerate(times):
        if place not in within:
            yield Fact(
                output,
                "",
                time.text,
                scope=scope,
                string=time.text,
                weak=True,
                clock=time.seconds,
                offset=time.offset,
                said=partial(read.clause_at, time.start),
                line=facts.lines,
            )


def read_strings(facts: Facts, output: int, first: int) -> None:
    """Read the sentences that the facts from `first` on hold as values: snippets, messages, descriptions."""
    for fact in facts.facts[first : first + _MAX_STRINGS]:
        text = fact.string
        if text is None or fact.number is not None or fact.day is not None or fact.clock is not None:
            continue
        if text.strip().count(" ") >= _LEAST_SPACES and any(character.isdigit() for character in text):
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


def _fact(
    facts: Facts, output: int, line: str, quantity: Quantity, key: tuple[str, ...], read: _Line
) -> Fact:
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
        said=partial(read.clause_at, quantity.start),
        line=facts.lines,
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
    first_end = sentence.pieces[0][1]
    about = first_end if first_end <= inside[0][0] else inside[0][1]
    subject = frozenset(_told(line[sentence.start : about], today))
    words: frozenset[str] = frozenset()
    valued = [each for each in sentence.segments if any(each[0] <= place[0] < each[1] for place in inside)]
    is_list = len(valued) > 1 and all(_is_labelled(line, *each, inside) for each in valued)
    for start, end in sentence.segments:
        before, words = words, frozenset(_told(line[start:end], today))
        if not any(word.isalpha() for word in words) and line[:start].rstrip().endswith(","):
            words = before  # "load average: 0.42, 0.87, 1.35": one list
        names_its_own = _NAME.search(line, start, end) is not None
        clause = words if start == sentence.start or names_its_own or is_list else words | subject
        found |= {place: clause for place, _ in inside if start <= place < end}
    return found


def _is_labelled(line: str, start: int, end: int, inside: list[tuple[int, int]]) -> bool:
    """Whether a segment is its own label and a value behind it: the "day pass 7.40 €" of a list of prices."""
    held = [each for each in inside if start <= each[0] < end]
    if len(held) != 1:
        return False
    before, behind = line[start : held[0][0]], line[held[0][1] : end]
    return any(word.isalpha() for word in content_words(words_of(before))) and not words_of(behind)


def _told(text: str, today: date | None) -> list[str]:
    """Content words, with the day of each date that is written out."""
    words = [word for word in content_words(words_of(text)) if not word.isdigit()]
    for mention in dates_in(text, prose=False):
        day = day_of(mention) or yearless_day(mention.text, today)
        if day is not None:
            words.append(str(day))
    return words
