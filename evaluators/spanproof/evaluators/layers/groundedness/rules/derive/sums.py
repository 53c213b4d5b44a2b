"""Sums, means and deviations: of a column, of a named row, of a few named values."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import content_words
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.derive.cues import SUM_CUES
from spanproof.evaluators.layers.groundedness.rules.derive.search import (
    FEW,
    Derived,
    Search,
    agrees,
    columns,
    common_words,
    fits_operand,
    groups,
    operands,
    scaled_value,
)
from spanproof.evaluators.layers.groundedness.rules.matching import number_text

_MAX_TOLD = 24
_FEW_ALIKE = 4
"""Values told alike ("30,380 inhabitants") that "together" may mean without naming them."""


def sums(search: Search) -> Derived | None:
    """The sum of a column, of its named rows, or of a family of values."""
    for records, name, column in columns(search):
        if not agrees(search, column[0]):
            continue
        for group in groups(search, column):
            value = sum(map(scaled_value, group))
            if fits_operand(search, value, group[0]):
                return Derived(
                    f"sum of {name or records.label or 'values'} = {number_text(value)}",
                    tuple(group[:8]),
                    value,
                )
    named = [fact for fact in operands(search) if fact.records < 0 or len(fact.key) > 0]
    families: dict[tuple[str, ...], list[Fact]] = {}
    for fact in named:
        if not fact.weak:
            for word in fact.key:
                families.setdefault((word,), []).append(fact)
    if len(named) <= 24 and len({fact.output for fact in named}) == 1:
        families[("",)] = [fact for fact in named if not fact.weak]
    families[("row",)] = _counts_of_a_row(search, named)
    families[()] = [fact for fact in named if not fact.words.isdisjoint(search.words)]
    for family in families.values():
        if 2 <= len(family) <= 24 and agrees(search, family[0]) and _of_one_kind(family):
            value = sum(map(scaled_value, family))
            if fits_operand(search, value, family[0]):
                terms = " + ".join(number_text(scaled_value(fact)) for fact in family[:6])
                return Derived(
                    f"{terms}{' + …' if len(family) > 6 else ''} = {number_text(value)}",
                    tuple(family[:8]),
                    value,
                )
    return None


def _counts_of_a_row(search: Search, facts: Sequence[Fact]) -> list[Fact]:
    """The whole numbers of the one row that the words name, as a pivot has them."""
    rows: dict[tuple[int, int], list[Fact]] = {}
    for fact in facts:
        if fact.records >= 0 and not fact.scope.isdisjoint(search.words) and fact.dimension is None:
            rows.setdefault((fact.records, fact.row), []).append(fact)
    whole = [row for row in rows.values() if all((fact.number or 0.0).is_integer() for fact in row)]
    return whole[0] if len(rows) == len(whole) == 1 else []


def _of_one_kind(family: Sequence[Fact]) -> bool:
    first = family[0]
    sizes = [abs(fact.number or 0.0) for fact in family]
    mixed = any(0 < size < 1 for size in sizes) and any(size >= FEW for size in sizes)
    return not mixed and all(fact.dimension is first.dimension for fact in family)


def named_sums(search: Search) -> Derived | None:
    """The sum of a whole column that the words name, where no row is: "77 units over 3 SKUs"."""
    for records, name, column in columns(search):
        shared = common_words(column)
        if shared.isdisjoint(search.near) or not agrees(search, column[0]):
            continue
        if any(not (fact.words - shared).isdisjoint(search.near) for fact in column):
            continue
        value = sum(map(scaled_value, column))
        if fits_operand(search, value, column[0]):
            return Derived(f"sum of {name or records.label} = {number_text(value)}", tuple(column[:8]), value)
    return None


def told_sums(search: Search) -> Derived | None:
    """Values told in prose, together: those whose clauses the words name, or two told alike."""
    told = [fact for fact in operands(search) if fact.weak and fact.clause and agrees(search, fact)]
    told = [fact for fact in told if fact.dimension is search.quantity.dimension and fact.day is None]
    if not 2 <= len(told) <= _MAX_TOLD:
        return None
    if search.quantity.dimension is None and SUM_CUES.isdisjoint(search.cues) and "plus" not in search.near:
        return None  # "with 8 errors in 2 files": what is only counted side by side adds up to nothing
    common = frozenset.intersection(*(fact.clause for fact in told))
    named = [fact for fact in told if not (fact.clause - common).isdisjoint(search.words)]
    pairs = [[one, other] for at, one in enumerate(named) for other in named[at + 1 :]]
    alike = [fact for fact in told if not fact.clause.isdisjoint(search.words)]
    for family in (named, *pairs, alike if len(alike) <= _FEW_ALIKE else []):
        value = sum(map(scaled_value, family))
        if len(family) > 1 and fits_operand(search, value, family[0]):
            terms = " + ".join(number_text(scaled_value(fact)) for fact in family)
            return Derived(f"{terms} = {number_text(value)}", tuple(family), value)
    return None


def pair_sums(search: Search) -> Derived | None:
    """Two of a few values together: "with the fee"."""
    numbers = [fact for fact in operands(search) if agrees(search, fact) and not fact.weak]
    if len(numbers) > FEW:
        return None
    for place, first in enumerate(numbers):
        for second in numbers[place + 1 :]:
            value = scaled_value(first) + scaled_value(second)
            if (
                first.dimension is None
                and set(first.key).isdisjoint(second.key)
                and "plus" not in search.near
            ):
                continue  # a rank and a count add up to nothing
            if first.dimension is second.dimension and fits_operand(search, value, first):
                text = (
                    f"{number_text(scaled_value(first))} + {number_text(scaled_value(second))} ="
                    f" {number_text(value)}"
                )
                return Derived(text, (first, second), value)
    return None


def named_pair_sums(search: Search) -> Derived | None:
    """Two values that the words name, together: "87 % were satisfied or neutral", "41 were either"."""
    if search.quantity.dimension is not Dimension.FRACTION:
        return _named_in_full(search)
    named = [
        fact
        for fact in operands(search)
        if fact.dimension is Dimension.FRACTION and not search.near.isdisjoint(fact.key)
    ][:FEW]
    for place, first in enumerate(named):
        for second in named[place + 1 :]:
            value = (first.number or 0.0) + (second.number or 0.0)
            if first.unit is second.unit and fits_operand(search, value * (1 if first.unit else 100), first):
                text = (
                    f"{number_text(first.number or 0)} + {number_text(second.number or 0)} ="
                    f" {number_text(value)}"
                )
                return Derived(text, (first, second), value)
    return None


def _named_in_full(search: Search) -> Derived | None:
    """The values of one list whose names the words hold in full."""
    for records in search.facts.records:
        for column in records.columns.values():
            numbers = [fact for fact in column if fact.number is not None]
            shared = common_words(column)
            named = [fact for fact in numbers if _in_full(fact.words - shared, search.words)]
            if not 1 < len(named) < len(column) or not agrees(search, named[0]):
                continue
            value = sum(map(scaled_value, named))
            if fits_operand(search, value, named[0]):
                terms = " + ".join(number_text(scaled_value(fact)) for fact in named)
                return Derived(f"{terms} = {number_text(value)}", tuple(named), value)
    return None


def _in_full(names: AbstractSet[str], words: AbstractSet[str]) -> bool:
    return bool(names) and names <= words


def averages(search: Search) -> Derived | None:
    """The mean or median of a column, of its named rows, or of a few named values."""
    for records, name, column in columns(search):
        for word, measure in (("mean", statistics.fmean), ("median", statistics.median)):
            if word not in search.cues and not (word == "mean" and "per" in search.cues):
                continue
            for group in groups(search, column):
                value = float(measure(map(scaled_value, group)))
                if agrees(search, group[0]) and fits_operand(search, value, group[0]):
                    told = f"{word} of {name or records.label or 'values'} = {number_text(value)}"
                    return Derived(told, tuple(group[:8]), value)
    said = frozenset(content_words(search.words))
    family = [fact for fact in operands(search) if not fact.words.isdisjoint(said) and not fact.weak]
    if 2 <= len(family) <= 24 and "mean" in search.cues and _of_one_kind(family):
        value = statistics.fmean(map(scaled_value, family))
        if fits_operand(search, value, family[0]):
            return Derived(f"mean of {len(family)} values = {number_text(value)}", tuple(family[:8]), value)
    return None


def deviations(search: Search) -> Derived | None:
    """The standard deviation of a column, of a sample or of the whole."""
    for records, name, column in columns(search, least=3):
        values = [scaled_value(fact) for fact in column]
        for measure in (statistics.stdev, statistics.pstdev):
            value = measure(values)
            if fits_operand(search, value, column[0]):
                return Derived(
                    f"standard deviation of {name or records.label} = {number_text(value)}",
                    tuple(column[:8]),
                    value,
                )
    return None
