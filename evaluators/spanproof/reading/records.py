"""Records and facts, and the base that holds and finds them.

A record is a row, an object or a sentence; it may stand in another. A fact is one typed value in one field of
a record, with the characters it is written in. Nothing here knows a notation.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache

from spanproof.reading.numbers import UNITS, scan_cached
from spanproof.reading.values import NUMERIC, Kind, Mention, Value, is_year
from spanproof.reading.words import base_form, base_forms_of, split_name

MAX_FACTS = 40_000
_FULL_NAME = re.compile(r"[^\W\d_a-z][^\W\d_]+(?:[ .'’-]+[^\W\d_a-z][^\W\d_]*){1,3}")
LONG_TEXT = 90
"""A longer text is no cell: it is read as prose."""
_BRACKETED = re.compile(r"\s*\(\s*[$€£]?\s*[\d.,]+\s*\)\s*%?\s*\Z")
_PERCENTS = re.compile(r"%\s*\)?\Z|\(%|\A%")
_BARE_NUMBER = re.compile(r"[#\d]\d{3,}")
_LAST_DIGITS = re.compile(r"(?<=[a-z_-])\d{4,}\Z")
_BOOLS = {"true": True, "false": False, "yes": True, "no": False}
_ENDINGS = (
    "ms sec secs seconds min mins minutes hours hrs days bytes kb mb gb tb kib mib gib kg km cm mm miles kw"
    " mw wh kwh mwh hz khz mhz ghz bps kbps mbps gbps db dbm lufs mv kv bar mbar hpa kpa kmh kph mph knots s"
)
_UNIT_ENDINGS = {name: UNITS.get(name) or UNITS[name.removesuffix("s")] for name in _ENDINGS.split()} | {
    "cents": ("money", 0.01), "pct": ("%", 1), "percent": ("%", 1), "usd": ("USD", 1), "eur": ("EUR", 1),
    "gbp": ("GBP", 1), "v": ("voltage", 1), "thousands": ("", 1e3), "millions": ("", 1e6),
    "mn": ("", 1e6), "mln": ("", 1e6), "bn": ("", 1e9), "billions": ("", 1e9),
}  # fmt: skip
_AFTER_A_NAME = frozenset(("min", "s", "v", "bar", "db"))  # units behind a name only: `duration_s`


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


@dataclass(frozen=True, slots=True)
class Fact:
    """One typed value of a record.

    Attributes:
        path: names of the fields that lead to it, the outermost first.
        words: base forms of those names.
        start, end: its characters in its source; `cell` those of the whole cell.
        factor: what its amount has to be multiplied by to be in the unit that its field or table names.
        known_scale: whether the table says its scale ("in thousands"), so that another scale is wrong.
    """

    value: Value
    source: int
    record: int
    path: tuple[str, ...]
    words: frozenset[str]
    start: int
    end: int
    cell: tuple[int, int]
    role: Role = Role.CELL
    factor: float = 1.0
    known_scale: bool = False

    @property
    def years(self) -> frozenset[int]:
        """Return the years that the names of its fields have."""
        return extract_years(self.path)

    @property
    def field(self) -> str:
        """Return the name of the innermost field."""
        return self.path[-1] if self.path else ""


@dataclass
class FactBase:
    """All records and facts of the sources, with the indices that a solver needs."""

    texts: list[str]
    records: list[Record] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    by_record: dict[int, list[Fact]] = field(default_factory=lambda: defaultdict(list))
    by_text: dict[str, list[tuple[tuple[str, ...], Fact]]] = field(default_factory=lambda: defaultdict(list))
    by_kind: dict[Kind, list[Fact]] = field(default_factory=lambda: defaultdict(list))
    groups: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    group_names: dict[int, str] = field(default_factory=dict)
    scales: dict[int, float] = field(default_factory=dict)
    scale: float | None = None
    cut: bool = False
    years: set[int] = field(default_factory=set)
    amount_sources: set[int] = field(default_factory=set)

    def names_year(self, year: int) -> bool:
        """Return whether a column, a row or a header is named by a year."""
        if not self.years:
            self.years = {each for path in {fact.path for fact in self.facts} for each in extract_years(path)}
            self.years |= {
                int(fact.value.number)
                for fact in self.by_kind[Kind.NUMBER]
                if fact.role in (Role.HEADER, Role.KEY) and is_year(fact.value)
            } | {0}
        return year in self.years

    @cached_property
    def field_words(self) -> frozenset[str]:
        """Return the words of all names of fields, as they are written."""
        return frozenset(word for fact in self.facts for name in fact.path for word in split_name(name))

    @cached_property
    def by_part(self) -> dict[str, list[Fact]]:
        """Return the names of several words by each word that only one name has: `Moran` of `Reese Moran`."""
        names: dict[str, dict[str, list[Fact]]] = defaultdict(lambda: defaultdict(list))
        for fact in self.by_kind[Kind.TEXT]:
            tokens = fact.value.text.split()
            written = self.texts[fact.source][fact.start : fact.end]
            if fact.role in (Role.CELL, Role.KEY) and _FULL_NAME.fullmatch(written):
                for token in tokens:
                    names[token][fact.value.text].append(fact)
        return {token: next(iter(found.values())) for token, found in names.items() if len(found) == 1}

    def by_source(self, source: int) -> list[Fact]:
        """Return the facts of one source."""
        facts = self.facts
        low = bisect_left(facts, source, key=lambda fact: fact.source)
        return facts[low : bisect_right(facts, source, key=lambda fact: fact.source)]

    def new_group(self, name: str) -> int:
        """Return a new table's or list's number."""
        number = len(self.group_names)
        self.group_names[number] = name
        return number

    def new_record(
        self, source: int, parent: int | None, start: int, end: int, group: int | None = None, name: str = ""
    ) -> int:
        """Return the number of a new record."""
        record = Record(len(self.records), source, parent, group, name, start, end)
        self.records.append(record)
        if group is not None:
            self.groups[group].append(record.id)
        return record.id

    def chain(self, record: int) -> Iterator[int]:
        """Yield a record and those it is in, the innermost first."""
        at: int | None = record
        for _ in range(12):
            if at is None:
                return
            yield at
            at = self.records[at].parent

    def add_cell(
        self,
        record: int,
        path: tuple[str, ...],
        start: int,
        end: int,
        role: Role = Role.CELL,
        quoted: bool = False,
    ) -> None:
        """Add what the cell `text[start:end]` of a record's source holds."""
        if len(self.facts) >= MAX_FACTS:
            self.cut = True
            return
        source = self.records[record].source
        text = self.texts[source][start:end]
        words = extract_name_words(path)
        mentions = scan_cached(text) if len(text) <= LONG_TEXT else ()
        stripped = text.strip()
        lowered = stripped.lower()
        cell = (start, end)

        def add(value: Value) -> None:
            self._add(Fact(value, source, record, path, words, start, end, cell, role))

        if lowered in _BOOLS or lowered in ("none", "null", "nan"):
            add(Value(Kind.BOOL, number=float(_BOOLS.get(lowered, False)), text=lowered))
            return
        whole = len(mentions) == 1 and _covers(mentions[0], text)
        for mention in mentions:
            if mention.spelled and not whole:
                continue
            value, factor, scaled = self._convert_unit(mention.value, path, record, text if whole else "")
            place = (start + mention.start, start + mention.end)
            self._add(Fact(value, source, record, path, words, *place, cell, role, factor, scaled))
        if whole and _BARE_NUMBER.fullmatch(stripped) and (quoted or lowered.startswith("#")):
            add(Value(Kind.ID, text=lowered.lstrip("#")))
        if whole and not quoted and mentions[0].value.kind is Kind.ID and stripped.isdigit():
            # A count of bytes has as many digits as an identifier.
            number = Value(Kind.NUMBER, number=float(stripped), step=1.0)
            value, factor, scaled = self._convert_unit(number, path, record, text)
            self._add(Fact(value, source, record, path, words, start, end, cell, role, factor, scaled))
        if not whole and stripped and len(text) <= LONG_TEXT:
            tokens = tuple(base_form(word) for word in split_name(stripped))
            if tokens:
                add(Value(Kind.TEXT, text=" ".join(tokens)))

    def add_mention(self, record: int, mention: Mention, offset: int, words: frozenset[str]) -> None:
        """Add a value that a sentence writes, with the words about it."""
        if len(self.facts) >= MAX_FACTS:
            self.cut = True
            return
        place = (offset + mention.start, offset + mention.end)
        self._add(
            Fact(mention.value, self.records[record].source, record, (), words, *place, place, Role.PROSE)
        )

    def _convert_unit(
        self, value: Value, path: tuple[str, ...], record: int, whole: str
    ) -> tuple[Value, float, bool]:
        """Return a value in the unit its field names (`amount_cents`), else times its table's scale."""
        if whole and _BRACKETED.match(whole) and value.number > 0:
            value = replace(value, number=-value.number)
        if value.kind not in NUMERIC:
            return value, 1.0, False
        for name in reversed(path[-2:]):
            parts = split_name(name)
            ending = _UNIT_ENDINGS.get(parts[-1]) if parts else None
            if (
                ending is not None
                and value.kind is Kind.NUMBER
                and not (parts[-1] in _AFTER_A_NAME and len(parts) < 2)
                # "pace_min_km" is in one unit by the other.
                and parts[-2:-1] != ("per",)
                and not (_UNIT_ENDINGS.keys() >= set(parts[-2:]) and len(parts) > 2)
            ):
                unit, factor = ending
                kind = {"money": Kind.MONEY, "USD": Kind.MONEY, "EUR": Kind.MONEY, "GBP": Kind.MONEY, "%": Kind.PERCENT, "": Kind.NUMBER}.get(unit, Kind.QUANTITY)  # fmt: skip  # noqa: E501
                unit = "" if unit == "money" else unit
                return replace(value, kind=kind, unit=unit, number=value.number * factor, step=value.step * factor, factor=value.factor * factor), 1.0, unit == ""  # fmt: skip  # noqa: E501
        if value.kind is Kind.NUMBER and any(_PERCENTS.search(name) for name in path[-2:]):
            return replace(value, kind=Kind.PERCENT, unit="%"), 1.0, True
        group = self.records[record].group
        if value.kind in (Kind.NUMBER, Kind.MONEY) and value.scale == 1 and group in self.scales:
            return value, self.scales[group], True
        return value, 1.0, value.scale != 1.0

    def _add(self, fact: Fact) -> None:
        self.facts.append(fact)
        self.by_record[fact.record].append(fact)
        self.by_kind[fact.value.kind].append(fact)
        if fact.value.kind in NUMERIC:
            self.amount_sources.add(fact.source)
        if fact.value.kind is Kind.TEXT:
            tokens = tuple(fact.value.text.split())
            self.by_text[tokens[0]].append((tokens, fact))
        elif fact.value.kind is Kind.ID:
            self.by_text[f"#{fact.value.text}"].append(((), fact))
            digits = _LAST_DIGITS.search(fact.value.text)
            if digits is not None:
                self.by_text[f"#{digits.group()}"].append(((), fact))


_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,]\d|\d)")


@lru_cache(maxsize=8192)
def extract_years(path: tuple[str, ...]) -> frozenset[int]:
    """Return the years that the names of a path have."""
    return frozenset(int(year) for name in path for year in _YEAR.findall(name))


_UNIT_WORDS = frozenset(base_form(word) for word in _UNIT_ENDINGS)


@lru_cache(maxsize=8192)
def extract_name_words(path: tuple[str, ...]) -> frozenset[str]:
    """Return the base forms of a path's names, without units: an answer says them with the value."""
    words = frozenset[str]().union(*map(base_forms_of, path[-3:]))
    return words - _UNIT_WORDS or words


def _covers(mention: Mention, text: str) -> bool:
    return not (text[: mention.start] + text[mention.end :]).strip(" ()*\t\n%+-~\"'")
