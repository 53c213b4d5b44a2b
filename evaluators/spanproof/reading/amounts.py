"""How the amounts of sources lie to each other: of one unit, of one shape, in an order of time.

In: facts. Out: whether two may be of one quantity, and the time that a fact is of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spanproof.reading.agreement import MINOR_UNITS
from spanproof.reading.dates import MONTHS
from spanproof.reading.records import Fact
from spanproof.reading.values import Kind, Value

_TOTAL_WORDS: Final = frozenset(("total", "overall", "sum", "al", "grand", "subtotal"))


def compute_amount(fact: Fact) -> float:
    """Return the number of a fact in the scale of its field."""
    return fact.value.number * fact.factor


def are_of_one_unit(one: Fact, other: Fact) -> bool:
    """Return whether two facts are amounts of one kind and unit."""
    return one.value.kind is other.value.kind and one.value.unit == other.value.unit


def are_of_one_shape(one: Fact, other: Fact) -> bool:
    """Return whether two facts could be of one quantity: both with decimals, or neither, and of one unit."""
    is_fraction = one.value.step < 1, other.value.step < 1
    return one.value.unit == other.value.unit and is_fraction[0] == is_fraction[1]


def is_total_row(facts: Sequence[Fact]) -> bool:
    """Return whether a row sums the others up: `total 4148 9536.00`."""
    return any(
        fact.value.kind is Kind.TEXT and not _TOTAL_WORDS.isdisjoint(fact.value.text.split())
        for fact in facts
    )


def find_printed_amount(stated: Value, printed: Sequence[Fact]) -> Fact | None:
    """Return the one number that was printed; of an amount in cents and in dollars the latter, for money."""
    if len(printed) == 1:
        return printed[0]
    if len(printed) != 2 or stated.kind is not Kind.MONEY:
        return None
    major, minor = sorted(printed, key=lambda fact: fact.value.number)
    return major if minor.value.number == MINOR_UNITS * major.value.number else None


def find_time(fact: Fact, row: Sequence[Fact]) -> tuple[int, int] | None:
    """Return the year and month that a fact's column or row is of."""
    for name in reversed(fact.path):
        parts = name.split("-")
        if len(parts) >= 2 and parts[0].isdigit() and parts[1].isdigit():
            return int(parts[0]), int(parts[1])
        if name.strip().lower() in MONTHS:
            return 0, MONTHS[name.strip().lower()]
    if fact.years:
        return max(fact.years), 0
    for other in row:
        if other.value.kind is Kind.DATE and other.value.date is not None:
            year, month, _ = other.value.date
            return year or 0, month or 0
        if other.value.kind is Kind.TEXT and other.value.text in MONTHS:
            return 0, MONTHS[other.value.text]
    return None
