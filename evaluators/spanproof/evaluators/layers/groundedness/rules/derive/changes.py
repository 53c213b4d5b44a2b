"""Differences, percentages and ratios of two values, and shares of a whole.

A change is measured from the earlier value where the names of the two have an order in time.
"""

from __future__ import annotations

from collections.abc import Iterator

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Records
from spanproof.evaluators.layers.groundedness.outputs.order import before_after
from spanproof.evaluators.layers.groundedness.rules.derive.cues import CHANGE_CUES, COMPLEMENT_CUES
from spanproof.evaluators.layers.groundedness.rules.derive.search import (
    FEW,
    Derived,
    Search,
    agrees,
    another_row_is_named,
    columns,
    fits_operand,
    operands,
    pairs,
    scaled_value,
)
from spanproof.evaluators.layers.groundedness.rules.matching import fits, number_text


def differences(search: Search) -> Derived | None:
    """One value less another."""
    percent = search.quantity.dimension is Dimension.FRACTION
    for first, second in pairs(search):
        if first.dimension is not second.dimension and first.dimension and second.dimension:
            continue
        if not agrees(search, first) or another_row_is_named(first, second, search):
            continue
        if percent and first.dimension is not Dimension.FRACTION and "point" not in search.words:
            continue  # a difference of amounts is no percentage
        one, other = scaled_value(first), scaled_value(second)
        if not one or not other:
            continue  # a difference to nothing is the value itself
        share = percent and first.unit is second.unit is None and abs(one) <= 1 and abs(other) <= 1
        for value in (other - one, one - other):
            if fits_operand(search, value * (100 if share else 1), first):
                text = (
                    f"{number_text(max(one, other))} - {number_text(min(one, other))} ="
                    f" {number_text(abs(value))}"
                )
                return Derived(text, (first, second), value)
    return None


def shares(search: Search) -> Derived | None:
    """Percentages: change from one to the other, one as a share of the other, share of a column, the rest."""
    quantity = search.quantity
    percent = quantity.dimension is Dimension.FRACTION
    if not percent:
        return None
    scale = 1 / quantity.unit.factor if percent and quantity.unit else 1.0
    mark = " × 100" if scale == 100 else ""
    changed = not CHANGE_CUES.isdisjoint(search.cues)
    for first, second in pairs(search):
        if first.dimension is not second.dimension and first.dimension and second.dimension:
            continue
        if changed and another_row_is_named(first, second, search):
            continue
        one, other = scaled_value(first), scaled_value(second)
        for base, later in ((one, other), (other, one)):
            if not base:
                continue
            change = (later - base) / base * scale
            if changed and (fits(quantity, change) or fits(quantity, -change)):
                if (before_after(first, second) or 0) * (1 if base == one else -1) < 0:
                    continue  # a change is measured from the earlier value
                text = (
                    f"({number_text(later)} - {number_text(base)}) / {number_text(base)}{mark} ="
                    f" {number_text(change)}"
                )
                return Derived(text, (first, second) if base == one else (second, first), change)
        if search.bases is not None or abs(one) <= 1 or abs(other) <= 1:
            continue
        for part, whole in ((one, other), (other, one)):
            if whole and percent and not changed and fits(quantity, part / whole * scale):
                text = (
                    f"{number_text(part)} / {number_text(whole)}{mark} = {number_text(part / whole * scale)}"
                )
                return Derived(text, (first, second), part / whole)
    if changed:
        return None
    return _of_what_is_beside(search, scale) or _share_of_column(search, scale) or _complement(search, scale)


def _of_what_is_beside(search: Search, scale: float) -> Derived | None:
    """A share of the whole that the sentence tells ("8 % of the 3,100"), or of a like pair together."""
    if len({fact.number for fact in search.beside}) == 2:
        part, whole = sorted(search.beside, key=lambda fact: abs(scaled_value(fact)))[
            :: len(search.beside) - 1
        ]
        one, other = scaled_value(part), scaled_value(whole)
        if other and fits(search.quantity, one / other * scale):
            text = f"{number_text(one)} / {number_text(other)} × 100 = {number_text(one / other * scale)}"
            return Derived(text, (part, whole), one / other)
    for whole in search.beside:
        column = [
            fact for fact in operands(search) if fact.key == whole.key and fact.records == whole.records
        ]
        for part in column:
            one, other = scaled_value(part), scaled_value(whole)
            if 0 < one < other and fits(search.quantity, one / other * scale):
                text = f"{number_text(one)} / {number_text(other)} × 100 = {number_text(one / other * scale)}"
                return Derived(text, (part, whole), one / other)
    if "rat" not in search.near and "share" not in search.near:
        return None
    for first, second in pairs(search):
        if not set(first.key).isdisjoint(second.key) and first.key != second.key:
            for part, rest in ((first, second), (second, first)):
                one, both = scaled_value(part), scaled_value(part) + scaled_value(rest)
                if (
                    both
                    and not search.near.isdisjoint(part.key)
                    and fits(search.quantity, one / both * scale)
                ):
                    text = f"{number_text(one)} / ({number_text(one)} + {number_text(both - one)}) × 100"
                    return Derived(f"{text} = {number_text(one / both * scale)}", (part, rest), one / both)
    return None


def _share_of_column(search: Search, scale: float) -> Derived | None:
    for records, name, column in columns(search):
        total = sum(map(scaled_value, column))
        if records.rows < 0 and any(fact.money or fact.counted for fact in column):
            continue  # revenue, costs and profit of one object are measures, not parts of a whole
        if not total or len(column) > 500 or abs(total - 1) < 0.01 or abs(total - 100) < 1:
            continue
        for fact in _named_parts(column, search):
            share = scaled_value(fact) / total * scale
            if fits(search.quantity, share) and (
                len(column) <= 12 or not fact.scope.isdisjoint(search.words)
            ):
                text = (
                    f"{number_text(scaled_value(fact))} / sum of {name or records.label} ×"
                    f" {number_text(scale)} = {number_text(share)}"
                )
                return Derived(text, (fact,), share)
    for records in search.facts.records:
        for value, count in _value_counts(records):
            if records.rows > 0 and fits(search.quantity, count / records.rows * scale):
                text = (
                    f"{count} of {records.rows} rows with {value} ="
                    f" {number_text(count / records.rows * scale)}"
                )
                return Derived(text, (), count / records.rows)
    return None


def _named_parts(column: list[Fact], search: Search) -> list[Fact]:
    """The parts of the whole that the words beside the number name; all where they name none."""
    telling = search.near - frozenset.intersection(*(each.words for each in column))
    return [each for each in column if not each.words.isdisjoint(telling)] or column


def _value_counts(records: Records) -> Iterator[tuple[str, int]]:
    for column in records.columns.values():
        counts: dict[str, int] = {}
        for fact in column:
            if fact.string is not None or fact.flag is not None:
                text = fact.string if fact.string is not None else str(fact.flag)
                counts[text] = counts.get(text, 0) + 1
        if len(counts) <= 20:
            yield from counts.items()


def _complement(search: Search, scale: float) -> Derived | None:
    if COMPLEMENT_CUES.isdisjoint(search.cues):
        return None
    for fact in operands(search):
        if fact.dimension is not Dimension.FRACTION or fact.number is None:
            continue
        whole = fact.number * (fact.unit.factor if fact.unit else 1.0)
        if 0 <= whole <= 1 and fits(search.quantity, (1 - whole) * scale):
            return Derived(f"1 - {number_text(whole)} = {number_text(1 - whole)}", (fact,), 1 - whole)
    return None


def ratios(search: Search) -> Derived | None:
    """How many times one value the other is."""
    for first, second in pairs(search):
        one, other = scaled_value(first), scaled_value(second)
        for part, whole in ((one, other), (other, one)):
            if whole and fits(search.quantity, part / whole):
                text = f"{number_text(part)} / {number_text(whole)} = {number_text(part / whole)}"
                return Derived(text, (first, second), part / whole)
    return None


def per_each(search: Search) -> Derived | None:
    """A value shared out over a number of things: "36 hours for a team of 3 is 12 hours each"."""
    numbers = operands(search)
    counts = {fact.number for fact in numbers if fact.dimension is None and fact.number} | set(search.given)
    for fact in numbers:
        if fact.weak or not agrees(search, fact):
            continue
        for count in counts:
            if (
                count
                and count > 1
                and count.is_integer()
                and fits_operand(search, scaled_value(fact) / count, fact)
            ):
                value = scaled_value(fact) / count
                text = f"{number_text(scaled_value(fact))} / {number_text(count)} = {number_text(value)}"
                return Derived(text, (fact,), value)
    return None


def portions(search: Search) -> Derived | None:
    """A share of a number told as a number: "855 of the 1,250 respondents", "the tax amounts to $38"."""
    money = search.quantity.dimension is Dimension.MONEY
    if search.quantity.unit is not None and not money:
        return None
    numbers = operands(search)
    parts = [
        fact
        for fact in numbers
        if fact.dimension is Dimension.FRACTION and not search.words.isdisjoint(fact.key)
    ]
    for share in parts[:FEW]:
        factor = (share.number or 0.0) * (share.unit.factor if share.unit else 1.0)
        for whole in numbers:
            given = money and not whole.counted and whole is not share
            if (
                whole.number
                and (whole.dimension is None or (money and whole.dimension is Dimension.MONEY))
                and (given or whole.number in search.given)
                and fits(search.quantity, factor * whole.number)
            ):
                text = (
                    f"{number_text(factor)} × {number_text(whole.number)} ="
                    f" {number_text(factor * whole.number)}"
                )
                return Derived(text, (share, whole), factor * whole.number)
    return None
