"""Counts: "7 SKUs", "3 failed orders", "12 unique customers".

In: a stated integer with the noun behind it and the `Binding`. Out: what the outputs count to, with whether
that is the stated number; None where the noun names nothing that can be counted.
"""

from __future__ import annotations

import re
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


def _counts(records: Records, stated: Stated, quantity: Quantity, text: str) -> list[Count]:
    nouns = set(stated.noun)
    found: list[Count] = []
    label = records.label or "the list"
    distinct = not _DISTINCT.isdisjoint(stated.words)

    def add(number: int, what: str, *, specific: bool) -> None:
        evidence = ClaimEvidence(records.output, label, f"{what} = {number}")
        found.append(Count(number, fits(quantity, number), f"{number} ({what})", evidence, specific))

    names_list = not nouns.isdisjoint(records.words)
    filtered = _filtered(records, stated)
    alone = len(filtered) == 1 and not _ALL.search(text, max(0, quantity.start - 20), quantity.start)
    for value, number in filtered:
        kind = _GENERIC.union(records.words, words_of(value))
        exceeds = number < quantity.value <= records.rows and not nouns.isdisjoint(kind) and alone
        add(number, f"rows of {label} with {value!r}", specific=exceeds)
    if filtered:
        add(sum(number for _, number in filtered), f"rows of {label} with any of these", specific=False)
        return found
    if stated.noun[0] in records.numbering():
        add(records.rows, f"entries numbered by {stated.noun[0]}", specific=True)
    if _begins_all(records, stated.noun[0]):
        add(records.rows, f"entries of {label}", specific=True)
    if names_list and not filtered and not distinct:
        add(
            records.rows,
            f"entries of {label}",
            specific=nouns <= set(records.words) or stated.noun[0] in records.words,
        )
    for name, column in records.columns.items():
        words = set(words_of(name))
        if nouns.isdisjoint(words) or any(fact.number is not None and fact.string is None for fact in column):
            continue
        add(len({fact.text.partition(": ")[2] for fact in column}), f"distinct {name}", specific=not filtered)
        if not distinct:
            add(records.rows, f"rows with {name}", specific=False)
    measured = any(
        not nouns.isdisjoint(words_of(name)) and any(fact.number is not None for fact in column)
        for name, column in records.columns.items()
    )
    of_a_row = any(
        fact.string and set(words_of(fact.string)) <= nouns
        for column in records.columns.values()
        for fact in column
    )
    unnamed = not (found or measured or of_a_row) and nouns.isdisjoint(_MEASURES)
    if not nouns.isdisjoint(_GENERIC) or unnamed:
        add(records.rows, f"entries of {label}", specific=False)
    for noun in dict.fromkeys(stated.noun):
        rows = {fact.row for column in records.columns.values() for fact in column if noun in fact.scope}
        if 0 < len(rows) < records.rows:
            add(len(rows), f"rows of {label} named {noun}", specific=False)
    for name, column in records.columns.items():
        flags = [fact.flag for fact in column]
        if None not in flags and flags and set(words_of(name)) <= stated.words:
            add(sum(flag is True for flag in flags), f"rows with {name}", specific=False)
    return found


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
