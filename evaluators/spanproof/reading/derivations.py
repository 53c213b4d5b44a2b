"""Amounts that follow from those of sources: shares, changes and sums, each with the program that gives it.

In: facts. Out: a `Derived`. Which facts an answer means, and which operation, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from spanproof.reading.amounts import are_of_one_unit, compute_amount
from spanproof.reading.records import Fact
from spanproof.reading.values import Kind, Value

# A program names so many operands.
_MAX_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Derived:
    """A result of an operation over facts."""

    result: float
    facts: tuple[Fact, ...]
    program: str


def iter_shares(one: Fact, two: Fact, is_percent: bool) -> Iterator[Derived]:
    """Yield the share that the smaller of two facts is of the larger one."""
    for part, whole in ((one, two), (two, one)):
        if (
            compute_amount(whole)
            and 0 <= compute_amount(part) <= compute_amount(whole)
            and are_of_one_unit(part, whole)
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
            f"{format_amount(two)} - {format_amount(one)} = {change:.6g}",
        )
    elif compute_amount(one):
        share = change / compute_amount(one)
        program = f"({format_amount(two)} - {format_amount(one)}) / {format_amount(one)} = {share:.4g}"
        yield Derived(100 * (share if is_signed else abs(share)), (one, two), program)


def build_derived(result: float, facts: Sequence[Fact], sign: str) -> Derived:
    """Return the result of an operation, with its sign between the operands as the program."""
    return Derived(
        result,
        tuple(facts),
        f" {sign} ".join(map(format_amount, facts[:_MAX_SHOWN])) + f" = {result:.6g}",
    )


def format_amount(fact: Fact) -> str:
    """Return the amount of a fact as a program names it."""
    return f"{fact.value.amount:g}"
