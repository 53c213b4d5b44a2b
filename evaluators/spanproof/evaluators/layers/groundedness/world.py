"""What the sources hold, with the indices that binding needs: rows, names, fields, states.

In: sources. Out: a `World`. A row is a record of a table or a list, or the outermost record of an object: the
objects in a row belong to it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from spanproof.reading.agreement import find_power_of_ten, is_unnamed
from spanproof.reading.answer_sources import Source, SourceKind
from spanproof.reading.dates import MONTHS_BY_FORM, list_month_forms, read_month_label
from spanproof.reading.documents.read import read_facts
from spanproof.reading.doings import changes_something
from spanproof.reading.fact_names import detach_number, is_bare_number, is_heading, list_name_words
from spanproof.reading.printed_literals import find_printed_unit
from spanproof.reading.records import Fact, FactBase, Role
from spanproof.reading.sql_facts import list_result_columns
from spanproof.reading.text_search import FactIndex, has_word, read_words_beside
from spanproof.reading.value_search import ValueIndex
from spanproof.reading.values import NUMERIC, Kind
from spanproof.reading.words import STOP, base_forms_of

_TEXTUAL: Final = (Kind.TEXT, Kind.ID)
_NAMING: Final = frozenset((Role.CELL, Role.KEY))
HOLDING_NOTHING: Final = frozenset(("", "None", "Execution logs:"))
"""Outputs without content: what smolagents writes above a step's prints, and what an empty call gives."""
# An output with more numbers is a page or a log, of which two make any figure.
_MOST_AMOUNTS: Final = 30
# A longer output may be a page.
_LONGEST_RESULT: Final = 2000
# The prompt of one company's agent has few numbers, and those of frameworks have examples.
_MOST_OF_PROMPT: Final = 8
# One word beside a number, such as "total", says little of what it is an example of.
_FEWEST_SHARED: Final = 2
FieldName = tuple[str, ...]


@dataclass
class World:
    """The sources, read; `outputs` says how many of them are outputs, which come first."""

    sources: Sequence[Source]
    base: FactBase
    outputs: int
    _rows: dict[int, int] = field(default_factory=dict)

    def get_row(self, record: int) -> int:
        """Return the row that a record is in."""
        row = self._rows.get(record)
        if row is None:
            row = record
            # Most records are in no other.
            if self.base.records[record].parent is not None:
                for outer in self.base.chain(record):
                    row = outer
                    if self.base.records[outer].group is not None and not self._is_element(outer):
                        break
            self._rows[record] = row
        return row

    def _is_element(self, record: int) -> bool:
        """Return whether a record is one value of a row that is written as a tuple: `('battery', 14)`."""
        parent = self.base.records[record].parent
        facts = self.base.by_record[record]
        is_bare = bool(facts) and not any(fact.path for fact in facts)
        return is_bare and parent is not None and self.base.records[parent].group is not None

    @cached_property
    def last_output(self) -> int:
        """Return the index of the last output that holds something; -1 where none does."""
        texts = self.base.texts[: self.outputs]
        return max((at for at, text in enumerate(texts) if text.strip() not in HOLDING_NOTHING), default=-1)

    @cached_property
    def values(self) -> ValueIndex:
        """Return the index of the facts by their values."""
        return ValueIndex(self.base)

    def is_output(self, fact: Fact) -> bool:
        """Return whether a fact is of an output."""
        return fact.source < self.outputs

    def is_in(self, fact: Fact, rows: Iterable[int]) -> bool:
        """Return whether a fact is of one of some rows, or of a row within."""
        own = self.get_row(fact.record)
        chain = set(self.base.chain(own))
        return any(row in chain for row in rows)

    def list_siblings(self, row: int) -> list[int]:
        """Return the rows of the table or list that a row is in, itself included."""
        group = self.base.records[row].group
        return self.base.groups[group] if group is not None else [row]

    def list_facts(self, row: int) -> list[Fact]:
        """Return the facts of a row."""
        return self.facts_by_row.get(row, [])

    def get_field(self, fact: Fact) -> FieldName:
        """Return the name of a fact's column: without the label of its row."""
        path = fact.path
        group = self.base.records[self.get_row(fact.record)].group
        return path[-1:] if group is not None and len(path) > 1 else path

    @cached_property
    def facts_by_row(self) -> dict[int, list[Fact]]:
        """Return the facts of each row."""
        found: dict[int, list[Fact]] = defaultdict(list)
        record, own = -1, []  # the facts of a record follow each other
        for fact in self.base.facts:
            if fact.role is not Role.HEADER:
                if fact.record != record:
                    record = fact.record
                    own = found[self.get_row(record)]
                own.append(fact)
        return found

    def group_rows_of_word(self, word: str) -> dict[int, list[Fact]]:
        """Return the rows with a text cell that has a word, with the cells."""
        rows = self._rows_of_words.get(word)
        if rows is None:
            found: dict[int, list[Fact]] = defaultdict(list)
            for fact in self._named.iter_with(word) if word not in STOP else ():
                if word in list_name_words(fact):
                    found[self.get_row(fact.record)].append(fact)
            rows = self._rows_of_words[word] = dict(found)
        return rows

    _rows_of_words: dict[str, dict[int, list[Fact]]] = field(default_factory=dict)

    @cached_property
    def _named(self) -> FactIndex:
        """Return the text cells and identifiers of the outputs, but those that name columns."""
        texts = [fact for fact in self.base.facts if fact.value.kind in _TEXTUAL and self.is_output(fact)]
        return FactIndex([fact for fact in texts if fact.role in _NAMING and not is_heading(fact)])

    def has_more(self, fact: Fact) -> bool:
        """Return whether the row of a fact holds more than it, or is one of a list."""
        row = self.get_row(fact.record)
        return self.base.records[row].group is not None or len(self.list_facts(row)) > 1

    def group_rows_of_month(self, name: str) -> dict[int, list[Fact]]:
        """Return the rows whose own label is of a month alone, with their labels."""
        return self._rows_by_month.get(name, {}) if name in MONTHS_BY_FORM else {}

    @cached_property
    def _rows_by_month(self) -> dict[str, dict[int, list[Fact]]]:
        """Return, for each name of a month, the rows whose own label is of that month alone: `2024-03`."""
        found: dict[str, dict[int, list[Fact]]] = defaultdict(lambda: defaultdict(list))
        for rows in self.base.groups.values():
            labels = [self.list_facts(row)[0] for row in rows if self.list_facts(row)]
            months = [read_month_label(self.base.texts[fact.source][slice(*fact.cell)]) for fact in labels]
            for fact, month in zip(labels, months, strict=True):
                if month and months.count(month) == 1:
                    for name in list_month_forms(month):
                        found[name][self.get_row(fact.record)].append(fact)
        return found

    @cached_property
    def numeric(self) -> list[Fact]:
        """Return the amounts of the outputs."""
        return [
            fact
            for fact in self.base.facts
            if fact.value.kind in NUMERIC and fact.role is not Role.HEADER and self.is_output(fact)
        ]

    def list_operands(self, words: AbstractSet[str], bound: Iterable[int] = ()) -> list[Fact]:
        """Return the amounts that arithmetic may start from: not those of a log, or a page of other words."""
        short = (at for at, text in enumerate(self.base.texts) if len(text) <= _LONGEST_RESULT)
        wanted = {self.last_output, *bound}
        named = {f.source for f in self.numeric if not self.words_of(f).isdisjoint(words)}.union(short)
        return [
            f for f in self.numeric if f.source in wanted or (f.source in named and not self.is_of_many(f))
        ]

    def is_of_many(self, fact: Fact) -> bool:
        """Return whether a fact is of a text with so many numbers that two of them make any figure."""
        most = _MOST_OF_PROMPT if self.is_of_prompt(fact) else _MOST_AMOUNTS
        return self._amounts_by_source[fact.source] > most

    @cached_property
    def _amounts_by_source(self) -> Counter[int]:
        return Counter(fact.source for fact in self.base.facts if fact.value.kind in NUMERIC)

    def is_of_prompt(self, fact: Fact) -> bool:
        """Return whether a fact is of the system prompt."""
        return self.sources[fact.source].kind is SourceKind.SYSTEM

    def is_example(self, fact: Fact, words: AbstractSet[str]) -> bool:
        """Return whether a number is one of many in the system prompt, and beside few of some words."""
        is_number = fact.value.kind in NUMERIC and self.is_of_prompt(fact)
        words = {word for word in words if word.isalpha() and word not in STOP}
        wanted = 1 if fact.value.kind is Kind.PERCENT else min(_FEWEST_SHARED, len(words))
        return is_number and self.is_of_many(fact) and len(fact.words & words) < wanted

    def words_of(self, fact: Fact) -> frozenset[str]:
        """Return the words that name a fact's field, with the month that a column is of.

        A value in prose is named by the words of its own clause: `5412 insertions(+), 7930 deletions(-)`.
        """
        if not fact.path and fact.role is Role.PROSE:
            near = read_words_beside(self.base.texts[fact.source], fact.start, fact.end)
            return near or fact.words
        key = fact.path
        words = self._words.get(key)
        if words is None:
            words = base_forms_of(" ".join(key)) | fact.words
            for name in key:
                parts = name.split("-")
                if len(parts) in (2, 3) and parts[0].isdigit() and parts[1].isdigit():
                    words |= list_month_forms(int(parts[1]))
            self._words[key] = words
        return words or fact.words

    _words: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)

    @cached_property
    def field_words(self) -> frozenset[str]:
        """Return the words of all fields of the outputs."""
        named = {fact.path: fact for fact in self.base.facts if fact.path and self.is_output(fact)}
        return frozenset[str]().union(*map(self.words_of, named.values()))

    @cached_property
    def names_of_fields(self) -> frozenset[str]:
        """Return the words of the names of all fields as they are written: `p95` of `p95_latency_ms`."""
        paths = {fact.path for fact in self.base.facts if self.is_output(fact)}
        return frozenset(word for path in paths for name in path for word in name.lower().split("_"))

    def has_word(self, form: str) -> bool:
        """Return whether an output has a word, given in its base form."""
        return has_word(self.base.texts[: self.outputs], form)

    def is_one_of_several(self, fact: Fact) -> bool:
        """Return whether an amount was printed beside others without a name for each: "45.0 12.5"."""
        if not self._is_unlabelled(fact):
            return False
        others = {other.value.amount for other in self.unlabelled if other.source == fact.source}
        # 4500 cents and $45.00 are one amount.
        return any(find_power_of_ten(other, fact.value.amount) is None for other in others)

    @cached_property
    def unlabelled(self) -> list[Fact]:
        """Return the amounts of the outputs that nothing names: no field, no word beside them, no row."""
        return [fact for fact in self.numeric if self._is_unlabelled(fact)]

    def _is_unlabelled(self, fact: Fact) -> bool:
        is_named = bool(fact.path) and not is_unnamed(fact)
        if fact.value.kind not in NUMERIC or (is_named and any(map(str.isalpha, fact.field))):
            return False
        if _HAS_NAMES.search(self.base.texts[fact.source]) is None:
            return True
        if is_named:
            return False
        if not fact.path and self.words_of(fact):
            return False
        row = self.list_facts(self.get_row(fact.record))
        return all(other.value.kind in NUMERIC for other in row)

    def may_have_changed(self, fact: Fact) -> bool:
        """Return whether a later call of the run may have changed what an output says."""
        later = self.sources[fact.source + 1 : self.outputs]
        return any(changes_something(source.tool) or _CHANGES.search(source.arguments) for source in later)

    def words_about(self, source: int) -> frozenset[str]:
        """Return the words of the tool and the arguments that gave an output."""
        if source >= self.outputs:
            return frozenset()
        return base_forms_of(f"{self.sources[source].tool} {self.sources[source].arguments}")


def build_world(sources: Sequence[Source], code: Sequence[str] = ()) -> World:
    """Read sources, outputs first; the names in the executed `code` say what it prints."""
    outputs = sum(source.kind is SourceKind.OUTPUT for source in sources)
    columns = [list_result_columns(source.text, source.arguments) for source in sources]
    base = read_facts([source.text for source in sources], columns=columns)
    unnamed = [fact for fact in base.facts if not fact.path and fact.source < outputs]
    bare = [fact for fact in unnamed if is_bare_number(fact, base.texts[fact.source])]
    if bare:
        # Of several numbers it is not clear which of them the code names.
        is_clear = len({fact.value.number for fact in bare}) == 1
        unit = find_printed_unit(code) if is_clear else None
        alone = {id(fact) for fact in bare}
        base.facts = [detach_number(fact, unit) if id(fact) in alone else fact for fact in base.facts]
    return World(sources, base, outputs)


# Statements of SQL and methods of HTTP that change what was read before.
_CHANGES: Final = re.compile(r"\b(?:UPDATE|INSERT|DELETE|ALTER|MERGE|TRUNCATE|PATCH|PUT|POST)\b")
# A text of numbers alone names none of them.
_HAS_NAMES: Final = re.compile(r"[^\W\d_]|:")
