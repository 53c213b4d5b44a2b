"""Counts: "7 SKUs", "3 failed orders", "12 unique customers".

In: a stated integer with the noun behind it and the `Binding`. Out: what the outputs count to, with whether
that is the stated number; None where the noun names nothing that can be counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.words import canonical, canonical_set, words_of
from spanproof.evaluators.layers.groundedness.model import ClaimEvidence
from spanproof.evaluators.layers.groundedness.outputs.facts import Records
from spanproof.evaluators.layers.groundedness.rules.binding import Binding
from spanproof.evaluators.layers.groundedness.rules.matching import fits

_GENERIC = frozenset(
    canonical(word)
    for word in [
        "items",
        "rows",
        "records",
        "entries",
        "results",
        "products",
        "customers",
        "orders",
        "elements",
        "files",
        "users",
        "matches",
        "lines",
        "objects",
        "values",
        "people",
        "names",
        "employees",
        "transactions",
        "tickets",
        "events",
        "cities",
        "countries",
        "categories",
        "groups",
    ]
)
_MEASURES = canonical_set("points point percent degrees degree times hours minutes seconds days weeks years")
"""What is measured rather than counted in entries."""
_ALL = re.compile(r"\b(?:of|all|the|these|those)\s+$", re.IGNORECASE)
"""What stands before the number of all: "two of three pods are running"."""
_LEAST_STEM = 3
_DISTINCT = frozenset(("uniqu", "distinct", "different"))


@dataclass(frozen=True, slots=True)
class Count:
    """What was counted, whether it is the stated number, and how sure the noun is about what was meant."""

    number: int
    agrees: bool
    what: str
    evidence: ClaimEvidence
    specific: bool


def counted(stated: Stated, binding: Binding) -> Count | None:
    """Count what the noun names; an agreeing count wins over any other."""
    quantity = stated.what
    assert isinstance(quantity, Quantity)
    if not quantity.value.is_integer() or quantity.decimals or not stated.noun:
        return None
    best: Count | None = None
    for records in binding.facts.records:
        if records.rows < 0:
            entries = records.columns.get("", ())
            if set(stated.noun[:1]) & set(records.words) and quantity.value == len(entries) > 1:
                told = ClaimEvidence(records.output, records.label, f"entries = {len(entries)}")
                return Count(
                    len(entries), agrees=True, what=f"{len(entries)} (entries)", evidence=told, specific=False
                )
            continue
        for count in _counts(records, stated, quantity, binding.answer.text):
            if count.agrees:
                return count
            if count.specific and best is None:
                best = count
    return best


@dataclass(frozen=True, slots=True)
class _Counting:
    """Records that a stated number may be a count of; `nouns` are the words behind it, in their order."""

    records: Records
    stated: Stated
    quantity: Quantity
    label: str
    nouns: Mapping[str, None]
    distinct: bool

    def count(self, number: int, what: str, *, specific: bool) -> Count:
        """One thing that is counted in them."""
        evidence = ClaimEvidence(self.records.output, self.label, f"{what} = {number}")
        return Count(number, fits(self.quantity, number), f"{number} ({what})", evidence, specific)

    def names(self, words: Iterable[str]) -> bool:
        """Whether what is counted is called by one of these words."""
        return any(word in self.nouns for word in words)


def _counts(records: Records, stated: Stated, quantity: Quantity, text: str) -> list[Count]:
    """All that can be counted under the noun, the surest first."""
    nouns, distinct = dict.fromkeys(stated.noun), not _DISTINCT.isdisjoint(stated.words)
    asked = _Counting(records, stated, quantity, records.label or "the list", nouns, distinct)
    filtered = _filtered(records, stated)
    if filtered:
        return _of_some_rows(asked, filtered, text)
    found = [*_of_entries(asked), *_of_columns(asked)]
    if asked.names(_GENERIC) or (not found and _is_nameless(asked)):
        found.append(asked.count(records.rows, f"entries of {asked.label}", specific=False))
    return [*found, *_of_rows_in_scope(asked), *_of_flags(asked)]


def _of_some_rows(asked: _Counting, filtered: list[tuple[str, int]], text: str) -> list[Count]:
    """Rows with a value that the segment names, and with any of several."""
    records, quantity, found = asked.records, asked.quantity, []
    alone = len(filtered) == 1 and not _ALL.search(text, max(0, quantity.start - 20), quantity.start)
    for value, number in filtered:
        named = asked.names(_GENERIC.union(records.words, words_of(value)))
        exceeds = number < quantity.value <= records.rows and named and alone
        found.append(asked.count(number, f"rows of {asked.label} with {value!r}", specific=exceeds))
    every = sum(number for _, number in filtered)
    found.append(asked.count(every, f"rows of {asked.label} with any of these", specific=False))
    return found


def _of_entries(asked: _Counting) -> Iterator[Count]:
    """All entries, where the noun is what they are called or numbered by."""
    records, noun, entries = asked.records, asked.stated.noun[0], f"entries of {asked.label}"
    if noun in records.numbering():
        yield asked.count(records.rows, f"entries numbered by {noun}", specific=True)
    if _begins_all(records, noun):
        yield asked.count(records.rows, entries, specific=True)
    if asked.names(records.words) and not asked.distinct:
        whole = asked.nouns.keys() <= set(records.words) or noun in records.words
        yield asked.count(records.rows, entries, specific=whole)


def _of_columns(asked: _Counting) -> Iterator[Count]:
    """Values of a column of texts that the noun names: how many different ones, and how many at all."""
    for name, column in asked.records.columns.items():
        measured = any(fact.number is not None and fact.string is None for fact in column)
        if measured or not asked.names(words_of(name)):
            continue
        different = len({fact.text.partition(": ")[2] for fact in column})
        yield asked.count(different, f"distinct {name}", specific=True)
        if not asked.distinct:
            yield asked.count(asked.records.rows, f"rows with {name}", specific=False)


def _is_nameless(asked: _Counting) -> bool:
    """Whether the noun is no measure, and the name of no column of numbers and of no row."""
    columns = asked.records.columns
    measured = any(
        asked.names(words_of(name)) and any(fact.number is not None for fact in column)
        for name, column in columns.items()
    )
    of_a_row = any(
        fact.string and set(words_of(fact.string)) <= asked.nouns.keys()
        for column in columns.values()
        for fact in column
    )
    return not (measured or of_a_row or asked.names(_MEASURES))


def _of_rows_in_scope(asked: _Counting) -> Iterator[Count]:
    """Rows whose name has the noun in it."""
    columns = asked.records.columns.values()
    for noun in asked.nouns:
        rows = {fact.row for column in columns for fact in column if noun in fact.scope}
        if 0 < len(rows) < asked.records.rows:
            yield asked.count(len(rows), f"rows of {asked.label} named {noun}", specific=False)


def _of_flags(asked: _Counting) -> Iterator[Count]:
    """Rows in which that holds which the segment names."""
    for name, column in asked.records.columns.items():
        flags = [fact.flag for fact in column]
        if None not in flags and flags and set(words_of(name)) <= asked.stated.words:
            yield asked.count(sum(flag is True for flag in flags), f"rows with {name}", specific=False)


def _begins_all(records: Records, noun: str) -> bool:
    """Whether every entry's name begins with what is counted: nodes of `node-a1`, `node-b1`."""
    first = next(iter(records.columns.values()), [])
    named = len(noun) >= _LEAST_STEM and 1 < len(first) == records.rows
    return named and all(fact.string is not None and fact.string.lower().startswith(noun) for fact in first)


def _filtered(records: Records, stated: Stated) -> list[tuple[str, int]]:
    """How many rows hold a value that the segment names ("3 failed orders")."""
    found: list[tuple[str, int]] = []
    for column in records.columns.values():
        counts: dict[str, int] = {}
        for fact in column:
            if fact.string is not None and len(fact.string) < 40:
                counts[fact.string] = counts.get(fact.string, 0) + 1
        for value, number in counts.items():
            words = set(words_of(value))
            if words and words <= stated.words and len(counts) < max(2, records.rows):
                found.append((value, number))
    return found
