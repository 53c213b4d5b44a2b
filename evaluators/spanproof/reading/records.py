"""Records and facts, and the base that holds and finds them.

A record is a row, an object or a sentence; it may be part of another. A fact is one typed value in one field
of a record, with the characters it is written in. Nothing here knows a notation.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache

from spanproof.reading.dates import as_duration
from spanproof.reading.field_units import FieldUnit, find_field_unit, is_unit_word, names_duration, with_unit
from spanproof.reading.numbers import list_cached_mentions
from spanproof.reading.text_cache import cache_short_texts
from spanproof.reading.values import NUMERIC, Kind, Mention, Value
from spanproof.reading.words import STOP, get_base_form, list_base_forms, split_name, split_words

MAX_FACTS = 40_000
LONG_TEXT = 90
"""A longer text is no cell: it is read as prose."""
_MAX_PARENTS = 12

_BRACKETED = re.compile(r"\s*\(\s*[$€£]?\s*[\d.,]+\s*\)\s*%?\s*\Z")
_PLAIN_NUMBER = re.compile(r"-?\d{1,8}(?:\.\d{1,8})?")
_BARE_NUMBER = re.compile(r"[#\d]\d{3,}")
_LAST_DIGITS = re.compile(r"(?<=[a-z_-])\d{4,}\Z")
_BOOLS = dict.fromkeys(("true", "yes", "✓", "✔", "✅"), 1.0) | dict.fromkeys(
    ("false", "no", "none", "null", "nan", "✗", "✘", "❌"), 0.0
)
# How Python writes the dates that a database gave.
_DATE_CALL = re.compile(
    r"(?:datetime\.)?(?:date|datetime)\((?P<year>\d{4}), (?P<month>\d{1,2}), (?P<day>\d{1,2})"
    r"(?:, (?P<hour>\d{1,2}), (?P<minute>\d{1,2})(?:, (?P<second>\d{1,2}))?)?[^)]*\)*"
)
# `1.234` is another number in German: three decimals after one to three digits.
_AMBIGUOUS_DECIMALS = 3


class Role(StrEnum):
    """What a fact is in its record."""

    CELL = "cell"
    KEY = "key"
    HEADER = "header"
    PROSE = "prose"


@dataclass(slots=True)
class Record:
    """A row, an object or a sentence.

    Attributes:
        parent: the record that it is in, None for the outermost.
        group: the table or list that it is one of, None of single records; `name` is that of the group.
    """

    id: int
    source: int
    parent: int | None
    group: int | None = None
    name: str = ""
    start: int = 0
    end: int = 0


@dataclass(slots=True)
class Sentence:
    """The words of a sentence of prose with their places, read when they are first needed."""

    text: str
    start: int
    _words: list[tuple[str, int, int]] | None = None

    def list_words_near(self, start: int, end: int) -> frozenset[str]:
        """Return the base forms of the words about the characters of a value."""
        if self._words is None:
            placed = [(get_base_form(word), low, high) for word, low, high in split_words(self.text)]
            self._words = [entry for entry in placed if entry[0] not in STOP]
        low_end, high_end = start - self.start, end - self.start
        return frozenset(
            word
            for word, low, high in self._words
            if -_WORDS_BEFORE <= low - high_end <= _WORDS_BEHIND and (high <= low_end or low >= high_end)
        )


# As many characters from a value its words may be.
_WORDS_BEFORE, _WORDS_BEHIND = 60, 40


# Not frozen: see `values.Value`.
@dataclass(slots=True, unsafe_hash=True)
class Fact:
    """One typed value of a record.

    Attributes:
        path: names of the fields that lead to it, the outermost first.
        start, end: its characters in its source; `cell` those of the whole cell.
        factor: what its amount has to be multiplied by to be in the unit that its field or table names.
        known_scale: whether the table says its scale ("in thousands"), so that another scale is wrong.
        sentence: the prose it is written in, None in a cell.
    """

    value: Value
    source: int
    record: int
    path: tuple[str, ...]
    start: int
    end: int
    cell: tuple[int, int]
    role: Role = Role.CELL
    factor: float = 1.0
    known_scale: bool = False
    sentence: Sentence | None = field(default=None, compare=False, repr=False)

    @property
    def words(self) -> frozenset[str]:
        """Return the base forms of its fields' names, in prose those of the words about it."""
        if self.sentence is not None:
            return self.sentence.list_words_near(self.start, self.end)
        return list_name_words(self.path)

    @property
    def years(self) -> frozenset[int]:
        """Return the years that the names of its fields have."""
        return list_years(self.path)

    @property
    def field(self) -> str:
        """Return the name of the innermost field."""
        return self.path[-1] if self.path else ""


Cell = tuple[tuple[str, ...], int, int, bool]
"""A cell: its path, its first and last character, and whether it is quoted."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one text holds, as a base numbered it: its records and groups from their first numbers on."""

    source: int
    first_record: int
    first_group: int
    records: list[Record]
    groups: dict[int, list[int]]
    group_names: dict[int, str]
    scales: dict[int, float]
    facts: list[Fact]


@dataclass
class FactBase:
    """All records and facts of the sources. The indices are built when they are first used."""

    texts: list[str]
    records: list[Record] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    groups: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    group_names: dict[int, str] = field(default_factory=dict)
    scales: dict[int, float] = field(default_factory=dict)
    scale: float | None = None
    cut: bool = False

    @cached_property
    def by_record(self) -> dict[int, list[Fact]]:
        """Return the facts of each record."""
        found: dict[int, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            found[fact.record].append(fact)
        return found

    @cached_property
    def by_kind(self) -> dict[Kind, list[Fact]]:
        """Return the facts of each kind."""
        found: dict[Kind, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            found[fact.value.kind].append(fact)
        return found

    @cached_property
    def by_text(self) -> dict[str, list[tuple[tuple[str, ...], Fact]]]:
        """Return texts by their first word, identifiers by `#` with the whole or its last digits.

        Each is with all its words, of an identifier none.
        """
        found: dict[str, list[tuple[tuple[str, ...], Fact]]] = defaultdict(list)
        for fact in self.by_kind[Kind.TEXT]:
            tokens = tuple(fact.value.text.split())
            found[tokens[0]].append((tokens, fact))
        for fact in self.by_kind[Kind.ID]:
            found[f"#{fact.value.text}"].append(((), fact))
            digits = _LAST_DIGITS.search(fact.value.text)
            if digits is not None:
                found[f"#{digits.group()}"].append(((), fact))
        return found

    @cached_property
    def field_words(self) -> frozenset[str]:
        """Return the words of all names of fields, as they are written."""
        return frozenset(word for fact in self.facts for name in fact.path for word in split_name(name))

    def list_by_source(self, source: int) -> list[Fact]:
        """Return the facts of one source."""
        facts = self.facts
        low = bisect_left(facts, source, key=lambda fact: fact.source)
        return facts[low : bisect_right(facts, source, key=lambda fact: fact.source)]

    def iter_chain(self, record: int) -> Iterator[int]:
        """Yield a record and those it is in, the innermost first."""
        at: int | None = record
        for _ in range(_MAX_PARENTS):
            if at is None:
                return
            yield at
            at = self.records[at].parent

    def add_group(self, name: str) -> int:
        """Return a new table's or list's number."""
        number = len(self.group_names)
        self.group_names[number] = name
        return number

    def add_record(
        self, source: int, parent: int | None, start: int, end: int, group: int | None = None, name: str = ""
    ) -> int:
        """Return the number of a new record."""
        number = len(self.records)
        self.records.append(Record(number, source, parent, group, name, start, end))
        if group is not None:
            self.groups[group].append(number)
        return number

    def get_part(self, source: int, first_record: int, first_group: int, first_fact: int) -> Part:
        """Return what was added for a source since the base had so many records, groups and facts."""
        groups = range(first_group, len(self.group_names))
        return Part(
            source, first_record, first_group,
            self.records[first_record:],
            {group: self.groups[group] for group in groups if group in self.groups},
            {group: self.group_names[group] for group in groups},
            {group: self.scales[group] for group in groups if group in self.scales},
            self.facts[first_fact:],
        )  # fmt: skip

    def add_part(self, source: int, part: Part) -> None:
        """Add the records and facts of a text that was read before, as those of a source."""
        record_offset = len(self.records) - part.first_record
        group_offset = len(self.group_names) - part.first_group
        for group, members in part.groups.items():
            self.groups[group + group_offset] = [member + record_offset for member in members]
        for group, name in part.group_names.items():
            self.group_names[group + group_offset] = name
        for group, scale in part.scales.items():
            self.scales[group + group_offset] = scale
        left = MAX_FACTS - len(self.facts)
        self.cut = self.cut or len(part.facts) > left
        facts = part.facts[:left]
        if source == part.source and record_offset == group_offset == 0:
            self.records.extend(part.records)
            self.facts.extend(facts)
            return
        for record in part.records:
            parent = None if record.parent is None else record.parent + record_offset
            own = None if record.group is None else record.group + group_offset
            number = record.id + record_offset
            self.records.append(Record(number, source, parent, own, record.name, record.start, record.end))
        self.facts.extend(
            Fact(
                fact.value, source, fact.record + record_offset, fact.path, fact.start, fact.end, fact.cell,
                fact.role, fact.factor, fact.known_scale, fact.sentence,
            )
            for fact in facts
        )  # fmt: skip

    def add_cell(
        self,
        record: int,
        path: tuple[str, ...],
        start: int,
        end: int,
        role: Role = Role.CELL,
        *,
        quoted: bool = False,
    ) -> None:
        """Add what the cell `text[start:end]` of a record's source holds."""
        self.add_cells(record, [(path, start, end, quoted)], role)

    def add_cells(
        self,
        record: int,
        cells: Sequence[Cell],
        role: Role = Role.CELL,
    ) -> None:
        """Add what cells of a record hold: of each its path, its characters and whether it is quoted."""
        facts = self.facts
        row = self.records[record]
        source = row.source
        text = self.texts[source]
        if row.group is not None and self.scales:
            scale = self.scales.get(row.group)
        else:
            scale = None
        for path, start, end, quoted in cells:
            if len(facts) >= MAX_FACTS:
                self.cut = True
                return
            for value, low, high, names_scale, is_scaled in _read_field(text[start:end], path, quoted):
                factor = 1.0
                if is_scaled and scale is not None:
                    factor, names_scale = scale, True
                low, high = start + low, start + high
                facts.append(
                    Fact(value, source, record, path, low, high, (start, end), role, factor, names_scale)
                )

    def add_mention(self, record: int, mention: Mention, sentence: Sentence) -> None:
        """Add a value that a sentence writes."""
        if len(self.facts) >= MAX_FACTS:
            self.cut = True
            return
        span = (sentence.start + mention.start, sentence.start + mention.end)
        source = self.records[record].source
        self.facts.append(Fact(mention.value, source, record, (), *span, span, Role.PROSE, sentence=sentence))


def _as_field_duration(value: Value, unit: FieldUnit | None) -> Value:
    """Return `03:30` of a field that names a duration as seconds; in hours where the field says so."""
    duration = as_duration(value)
    if duration is None:
        return value
    if unit is not None and unit.symbol == "h" and duration.other is not None:
        return replace(duration, number=duration.other, other=None, step=60.0)
    return duration


@cache_short_texts(16384)
def _read_field(
    text: str, path: tuple[str, ...], quoted: bool
) -> tuple[tuple[Value, int, int, bool, bool], ...]:
    """Return the values of a cell in the unit of its field.

    Returns:
        Each value with its characters, whether its scale is written, and whether it has that of its table.
    """
    unit = find_field_unit(path) if path else None
    found = []
    for value, low, high in _read_cell(text, quoted):
        names_scale = is_scaled = False
        if unit is not None and value.kind is Kind.NUMBER:
            value, names_scale = with_unit(value, unit), unit.names_scale
        elif value.kind in NUMERIC:
            names_scale = value.scale != 1.0
            is_scaled = not names_scale and value.kind in (Kind.NUMBER, Kind.MONEY)
        elif value.kind is Kind.TIME and path and names_duration(path):
            value = _as_field_duration(value, unit)
        found.append((value, low, high, names_scale, is_scaled))
    return tuple(found)


def _read_cell(text: str, quoted: bool) -> tuple[tuple[Value, int, int], ...]:
    """Return the values of a cell with their characters: amounts, dates, an identifier, or its words."""
    length = len(text)
    if _PLAIN_NUMBER.fullmatch(text):
        number = _build_plain(text)
        if quoted and _BARE_NUMBER.fullmatch(text):
            return (number, 0, length), (Value(Kind.ID, text=text), 0, length)
        return ((number, 0, length),)
    stripped = text.strip()
    lowered = stripped.lower()
    if lowered in _BOOLS:
        return ((Value(Kind.BOOL, number=_BOOLS[lowered], text=lowered), 0, length),)
    called = _DATE_CALL.fullmatch(stripped) if lowered.startswith("date") else None
    if called is not None:
        return tuple((value, 0, length) for value in _build_called_date(called))
    mentions = list_cached_mentions(text) if length <= LONG_TEXT else ()
    if len(mentions) == 1 and _covers(mentions[0], text):
        return tuple(_iter_whole_values(mentions[0], text, quoted))
    values = [(mention.value, mention.start, mention.end) for mention in mentions if not mention.spelled]
    if stripped and length <= LONG_TEXT:
        tokens = list(map(get_base_form, split_name(stripped))) or [stripped]
        values.append((Value(Kind.TEXT, text=" ".join(tokens)), 0, length))
    return tuple(values)


def _iter_whole_values(mention: Mention, text: str, quoted: bool) -> Iterator[tuple[Value, int, int]]:
    """Yield what a cell of one value may be: `(5)` is -5, and digits may be a number or an identifier."""
    value, stripped = mention.value, text.strip()
    is_positive = value.kind in NUMERIC and value.number > 0
    if is_positive and _BRACKETED.match(text):
        yield replace(value, number=-value.number), mention.start, mention.end
    else:
        yield value, mention.start, mention.end
    if _BARE_NUMBER.fullmatch(stripped) and (quoted or stripped.startswith("#")):
        yield Value(Kind.ID, text=stripped.lower().lstrip("#")), 0, len(text)
    if value.kind is Kind.ID and not quoted and stripped.isdecimal():
        # A count of bytes has as many digits as an identifier.
        yield Value(Kind.NUMBER, number=float(stripped), step=1.0), 0, len(text)


def _build_called_date(match: re.Match[str]) -> list[Value]:
    """Return the date, and the time where there is one, of `datetime.datetime(2024, 5, 1, 10, 30)`."""
    values = [Value(Kind.DATE, date=(int(match["year"]), int(match["month"]), int(match["day"])))]
    if match["hour"]:
        second = int(match["second"]) if match["second"] else None
        values.append(Value(Kind.TIME, time=(int(match["hour"]), int(match["minute"]), second)))
    return values


def _build_plain(text: str) -> Value:
    """Return the number of digits with at most one point."""
    amount = float(text)
    _, point, decimals = text.partition(".")
    if not point:
        return Value(Kind.NUMBER, amount, 1.0)
    other = None
    if len(decimals) == _AMBIGUOUS_DECIMALS and 1 <= abs(amount) < 1000:
        other = float(text.replace(".", ""))
    return Value(Kind.NUMBER, amount, 10.0 ** -len(decimals), other=other)


def _covers(mention: Mention, text: str) -> bool:
    return not (text[: mention.start] + text[mention.end :]).strip(" ()*\t\n%+-~\"'")


_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,]\d|\d)")


@lru_cache(maxsize=8192)
def list_years(path: tuple[str, ...]) -> frozenset[int]:
    """Return the years that the names of a path have."""
    return frozenset(int(year) for name in path for year in _YEAR.findall(name))


@lru_cache(maxsize=8192)
def list_name_words(path: tuple[str, ...]) -> frozenset[str]:
    """Return the base forms of a path's names, without units: an answer says them with the value."""
    words = frozenset[str]().union(*map(list_base_forms, path[-3:]))
    return frozenset(word for word in words if not is_unit_word(word)) or words
