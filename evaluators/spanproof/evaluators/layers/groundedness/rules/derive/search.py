"""What a derivation may take as operands.

In: a `Search`: the quantity, the words around it, the facts. Out: columns, named rows, and pairs that can be
set against each other. Bounded by `MAX_PAIRS`: among many numbers some pair always gives any result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import CENTS, Dimension, readings
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts, Records
from spanproof.evaluators.layers.groundedness.outputs.order import before_after
from spanproof.evaluators.layers.groundedness.rules.derive.cues import INCOME, SPENDING
from spanproof.evaluators.layers.groundedness.rules.matching import currencies_clash, fits

MAX_PAIRS = 4_000

_MAX_OPERANDS = 60

FEW = 8

_CROWD = 12

_MAX_COLUMN = 500


@dataclass(frozen=True, slots=True)
class Derived:
    """A derivation found; `operands` are the facts it uses, in order (later minus earlier)."""

    text: str
    operands: tuple[Fact, ...]
    value: float


@dataclass(slots=True)
class Search:
    """What a search looks at: the claim's cue words and its sentence's words."""

    quantity: Quantity
    cues: frozenset[str]
    words: frozenset[str]
    facts: Facts
    near: frozenset[str] = frozenset()
    """Words of the claim's own segment."""
    given: tuple[float, ...] = ()
    """Whole numbers of the task and of the sentence."""
    amounts: tuple[float, ...] = ()
    """Amounts of money that the task or the sentence gives."""
    beside: tuple[Fact, ...] = ()
    """Facts that the other numbers of the clause tell."""
    reckoned: tuple[Fact, ...] = ()
    """What the answer itself has derived before: it may go on reckoning with it."""
    bases: tuple[tuple[Fact, ...], tuple[Fact, ...]] | None = None
    """Facts behind "from A to B" in the same sentence: then the pair is given."""
    numbers: list[Fact] | None = field(default=None, init=False)
    """What `operands` gives, once it has."""
    paired: list[tuple[Fact, Fact]] | None = field(default=None, init=False)
    """What `pairs` gives, once it has."""


def scaled_value(fact: Fact) -> float:
    """A fact's number in the unit people state it in: cents as currency units, shares as they are."""
    assert fact.number is not None
    return fact.number / 100 if fact.unit is CENTS else fact.number


def measured_value(fact: Fact) -> float:
    """A fact's number in the base unit of what it measures, so that values of one kind can be compared."""
    return scaled_value(fact) * (
        fact.unit.factor if fact.unit and fact.dimension is not Dimension.MONEY else 1.0
    )


def columns(search: Search, *, least: int = 2) -> Iterator[tuple[Records, str, list[Fact]]]:
    """Columns of numbers, and named rows whose entries differ only in when."""
    for records in search.facts.records:
        for name, numbers in records.measured():
            if len(numbers) >= least:
                yield records, name, numbers
        yield from _named_rows(search, records, least)


def _named_rows(search: Search, records: Records, least: int) -> Iterator[tuple[Records, str, list[Fact]]]:
    """The numbers of a row that the words name, where its columns are of one kind (years, quarters)."""
    if not 2 <= len(records.columns) <= _MAX_OPERANDS or not 1 < records.rows <= _MAX_OPERANDS:
        return
    rows: dict[int, list[Fact]] = {}
    for column in records.columns.values():
        for fact in column:
            if fact.number is not None:
                rows.setdefault(fact.row, []).append(fact)
    for members in rows.values():
        about = members[0].scope
        if len(members) >= least and not about.isdisjoint(search.words) and _alike(members):
            yield records, members[0].label.partition(".")[0], members


def _alike(facts: Sequence[Fact]) -> bool:
    """Whether facts measure the same at different times: they differ only in when."""
    return all(before_after(facts[0], fact) is not None for fact in facts[1:])


def agrees(search: Search, fact: Fact) -> bool:
    """Whether the quantity's dimension allows this operand."""
    mine, its = search.quantity.dimension, fact.dimension
    if mine is None or mine is Dimension.FRACTION:
        return True
    if mine is Dimension.MONEY:
        return not currencies_clash(search.quantity, fact) and (
            its is Dimension.MONEY or (its is None and not fact.counted)
        )
    return its is mine or its is None


def fits_operand(search: Search, value: float, operand: Fact) -> bool:
    """Whether the quantity is the value, in the operand's unit or in the quantity's."""
    quantity, unit = search.quantity, operand.unit
    if value < 0 < quantity.value and quantity.dimension is Dimension.MONEY:
        value = -value  # what a ledger writes with a sign, people say with a verb
    if quantity.unit is CENTS and unit is CENTS:
        value = value * 100
    if quantity.unit is None or unit is None or unit.dimension is not quantity.dimension or unit is CENTS:
        return fits(quantity, value)
    return any(
        fits(quantity, value * own / wanted) for own in readings(unit) for wanted in readings(quantity.unit)
    )


def groups(search: Search, column: list[Fact]) -> list[list[Fact]]:
    """The rows of a column that the words name, where they name some, before the whole column."""
    telling = search.words - _common_scope(column)
    named = [fact for fact in column if not fact.scope.isdisjoint(telling)]
    found = [named, column] if 1 < len(named) < len(column) else [column]
    return [*_sides(search, column), *found]


def _sides(search: Search, column: list[Fact]) -> list[list[Fact]]:
    """Of a ledger what went out, or what came in, where the words say which."""
    out = [fact for fact in column if (fact.number or 0.0) < 0]
    if not 0 < len(out) < len(column):
        return []
    if not search.words.isdisjoint(SPENDING):
        return [out]
    return (
        [[fact for fact in column if (fact.number or 0.0) > 0]] if not search.words.isdisjoint(INCOME) else []
    )


def _common_scope(column: Sequence[Fact]) -> frozenset[str]:
    return frozenset.intersection(*(fact.scope for fact in column))


def common_words(column: Sequence[Fact]) -> frozenset[str]:
    """The words every fact of a column has."""
    return frozenset.intersection(*(fact.words for fact in column))


def operands(search: Search) -> list[Fact]:
    """The numbers a derivation may use: all, or in a crowd those that the words name."""
    if search.numbers is None:
        search.numbers = _operands(search)
    return search.numbers


def _operands(search: Search) -> list[Fact]:
    numbers = [fact for fact in search.facts.facts if fact.number is not None and fact.day is None]
    if len(numbers) <= _MAX_OPERANDS:
        return [*numbers, *search.reckoned]
    named = [fact for fact in numbers if not fact.words.isdisjoint(search.words)]
    return (named or numbers)[:_MAX_OPERANDS]


def pairs(search: Search) -> list[tuple[Fact, Fact]]:
    """The pairs that may be set against each other, at most `MAX_PAIRS`; or the given pair."""
    if search.paired is None:
        search.paired = list(islice(_pairs(search), MAX_PAIRS))
    return search.paired


def _pairs(search: Search) -> Iterator[tuple[Fact, Fact]]:
    if search.bases is not None:
        for first in search.bases[0]:
            for second in search.bases[1]:
                yield first, second
        return
    numbers = operands(search)
    few = len(numbers) <= _CROWD
    for place, first in enumerate(numbers):
        for second in numbers[place + 1 :]:
            if (few or _either_named(first, second, search.words)) and _kindred(first, second):
                yield first, second


def _kindred(first: Fact, second: Fact) -> bool:
    """Whether two facts can be set against each other: of one table in one row or column, of one kind.

    Without a common key or dimension they must be neighbours of one number kind: whole with whole.
    """
    if (
        first.records >= 0
        and second.records == first.records
        and first.row != second.row
        and first.key != second.key
    ):
        return False
    beside = first.records == second.records >= 0 and first.unit is second.unit is None
    if (
        beside
        and first.row == second.row
        and (first.number or 0.5).is_integer()
        and (second.number or 0.5).is_integer()
    ):
        return True  # whole numbers of one list, whatever their names make of them
    if first.dimension is not second.dimension:
        return False
    if first.dimension is not None or not set(first.key).isdisjoint(second.key):
        return True
    return (first.number or 0.0).is_integer() == (second.number or 0.0).is_integer()


def _either_named(first: Fact, second: Fact, words: AbstractSet[str]) -> bool:
    """In a crowd of numbers one of the two must be named."""
    return not first.words.isdisjoint(words) or not second.words.isdisjoint(words)


def another_row_is_named(first: Fact, second: Fact, search: Search) -> bool:
    """Whether two values are of one row, and the words beside the number name another row of the table."""
    if first.records < 0 or first.scope != second.scope or not first.scope.isdisjoint(search.near):
        return False
    own = (records for records in search.facts.records if records.index == first.records)
    columns = [column for records in own for column in records.columns.values()]
    return any(
        not (each.scope - first.scope).isdisjoint(search.near)
        for column in columns
        if column and column[0].key == first.key
        for each in column[:_MAX_COLUMN]
    )
