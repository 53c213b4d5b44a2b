"""Operations over facts: shares, differences and the like, each with the program that shows it.

In: facts. Out: a `Derived` for each result, and the time of a fact, which orders two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from spanproof.reading.dates import MONTHS
from spanproof.reading.records import Fact
from spanproof.reading.values import Kind, Value

# A program shows at most so many operands.
_MOST_SHOWN: Final = 8
_TOTAL_WORDS: Final = frozenset(("total", "overall", "sum", "al", "grand", "subtotal"))


@dataclass(frozen=True, slots=True)
class Derived:
    """A result of an operation over facts."""

    result: float
    facts: tuple[Fact, ...]
    program: str


def iter_shares(one: Fact, two: Fact, is_percent: bool) -> Iterator[Derived]:
    """Yield the share that one of two facts is of the other."""
    for part, whole in ((one, two), (two, one)):
        if (
            compute_amount(whole)
            and 0 <= compute_amount(part) <= compute_amount(whole)
            and are_alike(part, whole)
        ):
            result = compute_amount(part) / compute_amount(whole) * (100 if is_percent else 1)
            yield build_derived(result, (part, whole), "/")


def iter_differences(one: Fact, two: Fact, value: Value, sign: int, *, is_signed: bool) -> Iterator[Derived]:
    """Yield the change from one fact to another, where it has the sign that the clause states.

    A signed number is the change itself, another one how large it is.
    """
    change = compute_amount(two) - compute_amount(one)
    if change * sign < 0:
        return
    if value.kind is not Kind.PERCENT or one.value.kind is Kind.PERCENT:
        yield Derived(
            change if is_signed else abs(change),
            (one, two),
            f"{show_amount(two)} - {show_amount(one)} = {change:.6g}",
        )
    elif compute_amount(one):
        share = change / compute_amount(one)
        program = f"({show_amount(two)} - {show_amount(one)}) / {show_amount(one)} = {share:.4g}"
        yield Derived(100 * (share if is_signed else abs(share)), (one, two), program)


def build_derived(result: float, facts: Sequence[Fact], sign: str) -> Derived:
    """Return the result of one operation over facts, with its program."""
    return Derived(
        result, tuple(facts), f" {sign} ".join(map(show_amount, facts[:_MOST_SHOWN])) + f" = {result:.6g}"
    )


def compute_amount(fact: Fact) -> float:
    """Return the amount of a fact in the unit that its field names."""
    return fact.value.number * fact.factor


def show_amount(fact: Fact) -> str:
    """Return the amount of a fact as its source writes it."""
    return f"{fact.value.amount:g}"


def are_alike(one: Fact, two: Fact) -> bool:
    """Return whether two facts are amounts of one unit."""
    return one.value.kind is two.value.kind and one.value.unit == two.value.unit


def is_total_row(facts: Sequence[Fact]) -> bool:
    """Return whether a row sums the others up: `total 4148 9536.00`."""
    return any(
        fact.value.kind is Kind.TEXT and not _TOTAL_WORDS.isdisjoint(fact.value.text.split())
        for fact in facts
    )


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


def is_full_column(facts: Sequence[Fact], fewest: int) -> bool:
    """Return whether facts are amounts of one unit, one in each of enough rows."""
    is_one_each = len({fact.record for fact in facts}) == len(facts) >= fewest
    return is_one_each and len({fact.value.unit for fact in facts}) == 1
