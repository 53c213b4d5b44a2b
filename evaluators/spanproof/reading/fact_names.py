"""How a fact is named: by what it says, by the heading that it is, by what only may be, or by nothing.

In: a fact. Out: its words, whether it names a column, and whether it is a number alone on its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from spanproof.reading.field_units import FieldUnit, with_unit
from spanproof.reading.records import Fact, Role
from spanproof.reading.values import Kind
from spanproof.reading.words import list_base_forms, split_name

# Fields whose values are the names of columns, and of no row.
_HEADINGS: Final = frozenset(("columns", "fields", "header", "headers", "schema"))
# Parts of a field's name by which its values are no facts: `may_contain`.
_POSSIBLE: Final = frozenset(("may", "might", "could", "possible", "potential"))
# Words of a source's sentence by which it says what is not so.
_SUPPOSING: Final = frozenset(("would", "could", "should", "might", "may", "unless", "not", "never"))


def is_heading(fact: Fact) -> bool:
    """Return whether a fact names a column: it heads one, or is of a list of their names."""
    return fact.role is Role.HEADER or fact.field.lower() in _HEADINGS


def list_name_words(fact: Fact) -> frozenset[str]:
    """Return the words of a text cell, or those of an identifier with the identifier itself."""
    text = fact.value.text
    if fact.value.kind is Kind.TEXT:
        return frozenset(text.split())
    return list_base_forms(text) | {text}


def build_detached_number(fact: Fact, unit: FieldUnit | None) -> Fact:
    """Return a number alone on its line, which no words are about, with the unit that code gives it."""
    value = fact.value if unit is None else with_unit(fact.value, unit)
    return replace(fact, sentence=None, value=value)


def is_bare_number(fact: Fact, text: str) -> bool:
    """Return whether a fact without a name is a plain number, alone on its line."""
    if fact.value.kind is not Kind.NUMBER:
        return False
    before, after = text[: fact.start].rpartition("\n")[2], text[fact.end :].partition("\n")[0]
    return not f"{before}{after}".strip()


def list_without_headers(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that head no column."""
    return [fact for fact in facts if fact.role is not Role.HEADER]


def list_supposing(fact: Fact) -> frozenset[str]:
    """Return the words of a fact's field or sentence by which it may be otherwise: "would remove 5"."""
    if fact.sentence is None:
        # The lone `may` is a month.
        return _POSSIBLE.intersection(split_name(fact.field)[:-1])
    return _SUPPOSING.intersection(fact.sentence.text.replace("May", "").lower().split())


def is_possible(fact: Fact) -> bool:
    """Return whether the name of a fact's field says only what may be."""
    return fact.sentence is None and bool(list_supposing(fact))
