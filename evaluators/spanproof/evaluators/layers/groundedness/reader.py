"""What a passage states: its values, the names in it, its clauses, and what is above it.

In: passages with their words, and the world. Out: a `Reading` of each, on which the binders work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from spanproof.evaluators.layers.groundedness.model import Claim
from spanproof.evaluators.layers.groundedness.world import World
from spanproof.reading.agreement import Hedge, is_precise
from spanproof.reading.dates import with_relatives
from spanproof.reading.fact_names import is_heading
from spanproof.reading.lexicon import is_of, load_texts
from spanproof.reading.numbers import scan_cached
from spanproof.reading.records import Fact
from spanproof.reading.sentences import PATH_MARKS, Passage, Word
from spanproof.reading.statements import (
    counts_nothing,
    is_plain_word,
    list_clause_starts,
    read_abbreviation,
    read_hedge,
)
from spanproof.reading.values import Kind, Mention
from spanproof.reading.words import base_form, split_name

_LONGEST_NAME: Final = 8
# A word of more rows names none of them.
_MOST_ROWS_OF_A_WORD: Final = 40
# Parts of speech that a name may begin with.
_NAMING_PARTS: Final = frozenset(("NOUN", "PROPN", "ADJ", "X", "VERB"))


@dataclass(frozen=True, slots=True)
class Stated:
    """A value that a passage states; `words` are the indices of its words."""

    mention: Mention
    text: str
    hedge: Hedge
    words: tuple[int, ...]

    @property
    def start(self) -> int:
        """Return where it begins in the passage."""
        return self.mention.start

    @property
    def end(self) -> int:
        """Return where it ends in the passage."""
        return self.mention.end

    @property
    def is_precise(self) -> bool:
        """Return whether it has enough digits to be of one quantity only."""
        return is_precise(self.mention, self.text)


@dataclass(frozen=True, slots=True)
class Named:
    """A name of rows in a passage: the cells that it names, and the rows that they are in."""

    start: int
    end: int
    facts: tuple[Fact, ...]
    rows: frozenset[int]
    words: tuple[int, ...]
    is_whole: bool = True


@dataclass
class Reading:
    """A passage as the binders see it.

    Attributes:
        names: of the passage, in order; `scope` those of what is above or before it.
        covered: indices of words that some claim covers.
        by_stated: by the place of a stated value, the fact that it is bound to.
        bound: the facts that claims are bound to.
    """

    passage: Passage
    words: list[Word]
    stated: list[Stated]
    names: list[Named]
    clauses: list[int]
    scope: list[Named] = field(default_factory=list)
    scope_words: frozenset[str] = frozenset()
    claims: list[Claim] = field(default_factory=list)
    covered: set[int] = field(default_factory=set)
    bound: list[Fact] = field(default_factory=list)
    by_stated: dict[int, Fact] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the passage's characters."""
        return self.passage.text

    def get_clause(self, at: int) -> tuple[int, int]:
        """Return the characters of the clause that a character is in."""
        low = max((start for start in self.clauses if start <= at), default=0)
        high = min((start for start in self.clauses if start > at), default=len(self.text))
        return low, high

    def get_header(self, stated: Stated) -> str:
        """Return the header above a value that is a cell of the answer's table; empty where there is none."""
        cells = self.passage.cells
        return next((name for name, low, high in cells if low <= stated.start < high), "")

    def words_between(self, low: int, high: int) -> list[Word]:
        """Return the words of a stretch of characters."""
        return [word for word in self.words if low <= word.start and word.end <= high]

    def list_clause_words(self, stated: Stated) -> list[Word]:
        """Return the words of the clause that a value is in, but its own."""
        low, high = self.get_clause(stated.start)
        words = enumerate(self.words)
        return [word for at, word in words if low <= word.start < high and at not in stated.words]

    def find_words(self, low: int, high: int) -> tuple[int, ...]:
        """Return the indices of the words that a stretch of characters touches."""
        return tuple(at for at, word in enumerate(self.words) if word.start < high and low < word.end)

    def cover(self, *indices: int) -> None:
        """Mark words as covered by a claim."""
        self.covered.update(indices)

    def is_negated(self, at: int) -> bool:
        """Return whether a negation is before a character in its clause, or in the verb's group."""
        low, high = self.get_clause(at)
        return any(is_of(word, "negation") for word in self.words_between(low, min(high, at + 25)))


def read_passage(passage: Passage, words: list[Word], world: World, today: date | None) -> Reading:
    """Return what a passage states."""
    words = [read_abbreviation(word, passage.text) for word in words]
    stated = list(_iter_stated(passage, words, world, today))
    clauses = list_clause_starts(passage, words)
    reading = Reading(passage, words, stated, [], clauses)
    reading.names = list(_iter_names(reading, world))
    # "Berth 12" is a name and no amount.
    reading.stated = [value for value in stated if not _list_numbered(value, words, world)]
    return reading


def _iter_stated(
    passage: Passage, words: Sequence[Word], world: World, today: date | None
) -> Iterator[Stated]:
    text = passage.text
    mentions = list(scan_cached(text))
    if today is not None:
        dates = [fact.value for fact in world.base.by_kind[Kind.DATE]]
        mentions = with_relatives(text, mentions, today, dates)
    for mention in mentions:
        indices = tuple(
            at for at, word in enumerate(words) if word.start < mention.end and mention.start < word.end
        )
        if not indices or counts_nothing(mention, text, words, indices):
            continue
        if mention.value.kind is Kind.ID and mention.value.text in world.names_of_fields:
            # `p95` of "p95 latency" is a word of the field's name.
            continue
        yield Stated(mention, text[mention.start : mention.end], read_hedge(words, indices), indices)


def _iter_names(reading: Reading, world: World) -> Iterator[Named]:
    """Yield the names of rows in a passage, the longest at each place."""
    at = 0
    words = reading.words
    identified: dict[int, tuple[tuple[int, ...], list[Fact]]] = {}
    for stated in reading.stated:
        if facts := _list_numbered(stated, words, world):
            identified[stated.words[0] - 1] = (stated.words[0] - 1, *stated.words), facts
        elif _may_identify(stated):
            identified[stated.words[0]] = stated.words, _list_identified(stated, world)
    plain = [at for at, word in enumerate(words) if word.text.lstrip(PATH_MARKS)[:1].isalnum()]
    positions = {index: position for position, index in enumerate(plain)}
    while at < len(words):
        if at in identified:
            indices, facts = identified[at]
            named = _make_name(reading, world, facts, indices)
            if named is not None:
                yield named
            at = indices[-1] + 1
            continue
        if at not in positions:
            at += 1
            continue
        found = _match_name(reading, world, plain, positions[at])
        if found is None:
            at += 1
            continue
        yield found
        at = found.words[-1] + 1


IDENTIFYING: Final = load_texts("identifying")
_FEWEST_DIGITS: Final = 3


def _may_identify(stated: Stated) -> bool:
    """Return whether a value may name a row: an identifier, or digits that are written as one."""
    digits = stated.text.lstrip("#")
    is_plain = digits.isdigit() and len(digits) >= _FEWEST_DIGITS
    return stated.mention.value.kind is Kind.ID or is_plain


def _list_numbered(stated: Stated, words: Sequence[Word], world: World) -> list[Fact]:
    """Return the labels of the rows that a number names behind the name of their field: "room 102"."""
    before = words[stated.words[0] - 1] if stated.words[0] else None
    if before is None or not stated.text.isdecimal():
        return []
    found = [
        fact
        for fact in world.values.list_numbers(float(stated.text))
        if world.is_output(fact)
        and base_form(fact.field) == before.form
        and world.list_facts(world.get_row(fact.record))[0] is fact
    ]
    # A label of two rows of a table names neither.
    sources = [fact.source for fact in found]
    return [fact for fact in found if sources.count(fact.source) == 1]


def _list_identified(stated: Stated, world: World) -> list[Fact]:
    """Return the cells that an identifier names."""
    digits = stated.text.strip("#.").lower()
    text = stated.mention.value.text if stated.mention.value.kind is Kind.ID else digits
    found = [fact for _, fact in world.base.by_text.get(f"#{text}", ()) if world.is_output(fact)]
    if digits.isdecimal():
        found += [
            fact
            for fact in world.values.list_numbers(float(digits))
            if world.is_output(fact) and not IDENTIFYING.isdisjoint(split_name(fact.field))
        ]
    return found


def _match_name(reading: Reading, world: World, plain: list[int], position: int) -> Named | None:
    """Return the name that begins at a word: a whole cell, or a word that cells of some rows have."""
    length, cells = _match_cells(reading, world, plain, position)
    whole = tuple(plain[position : position + length])
    if cells and (named := _make_name(reading, world, cells, whole)) is not None:
        return named
    first = reading.words[plain[position]]
    may_name = not first.part or first.part in _NAMING_PARTS
    if is_plain_word(first) or first.text[0].isdigit() or not may_name:
        return None
    rows = world.group_rows_of_word(first.form) or world.group_rows_of_month(first.form)
    if not rows or len(rows) > _MOST_ROWS_OF_A_WORD:
        return None
    facts = [fact for cells in rows.values() for fact in cells]
    return _make_name(reading, world, facts, (plain[position],), is_whole=False)


def _match_cells(reading: Reading, world: World, plain: list[int], position: int) -> tuple[int, list[Fact]]:
    """Return the longest cells whose text begins at a word, and how many words they have."""
    words = reading.words
    first = words[plain[position]]
    best: tuple[int, list[Fact]] = (0, [])
    for tokens, fact in world.base.by_text.get(first.form, ()):
        length = len(tokens)
        if length < best[0] or length > _LONGEST_NAME or not world.is_output(fact):
            continue
        written = [words[index].form for index in plain[position : position + length]]
        is_lead = reading.passage.lead == (
            first.start,
            words[plain[min(position + length, len(plain)) - 1]].end,
        )
        if tuple(written) == tokens and (is_lead or not (length == 1 and is_plain_word(first))):
            best = (length, [*best[1], fact] if length == best[0] else [fact])
    return best


def _make_name(
    reading: Reading, world: World, facts: Sequence[Fact], words: tuple[int, ...], *, is_whole: bool = True
) -> Named | None:
    """Return a name with its rows; None where it heads a column and names no row."""
    naming = [fact for fact in facts if not is_heading(fact) and world.has_more(fact)]
    rows = frozenset(world.get_row(fact.record) for fact in naming)
    start, end = reading.words[words[0]].start, reading.words[words[-1]].end
    return Named(start, end, tuple(naming), rows, words, is_whole) if naming else None
