"""Derived values: a number that no output holds but that follows from what they hold.

In: a quantity, the words around it, the facts. Out: the derivation as text, or None. A derivation is looked
for only where the answer's words ask for it ("total", "difference", "by 12 %"), because among many numbers
some pair always gives any sum; the search is bounded by `MAX_PAIRS`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.facts import Fact, Facts, Records
from spanproof.evaluators.layers.groundedness.matching import fits, number_text
from spanproof.evaluators.layers.groundedness.order import before_after
from spanproof.evaluators.layers.groundedness.quantities import Quantity
from spanproof.evaluators.layers.groundedness.units import CENTS, Dimension
from spanproof.evaluators.layers.groundedness.words import canonical_set

MAX_PAIRS = 4_000
_MAX_OPERANDS = 60

SUM_CUES = canonical_set("total sum combined overall together altogether across aggregate whole hold")
CHANGE_CUES = canonical_set(
    "change changed increase increased decrease decreased rise rises rose risen grew grow grown growth fall fell fallen"
    " drop dropped decline declined gain gained improved reduced reduction jumped surged climbed slipped up down higher"
    " lower more less fewer discount"
)
DIFFERENCE_CUES = CHANGE_CUES | canonical_set(
    "difference gap save saved remaining left net spread range margin profit extra additional above below loss short"
    " behind ahead older younger longer shorter faster slower between apart later earlier than exceeds exceeded trails"
)
RATIO_CUES = canonical_set("times ratio fold twice double doubled triple tripled per each every x")
SHARE_CUES = CHANGE_CUES | canonical_set(
    "of share percent portion makes represents accounts contributes proportion rate success succeeded failed passed"
    " remaining rest other return uptime"
)
COMPLEMENT_CUES = canonical_set("success succeeded successful remaining rest other passed uptime failed available")
AVERAGE_CUES = canonical_set("mean median typical per")
PRODUCT_CUES = canonical_set("total value worth revenue price for times sum amount overall all")


@dataclass(frozen=True, slots=True)
class Derived:
    """A derivation found; `operands` are the facts it uses, in order (later minus earlier)."""

    text: str
    operands: tuple[Fact, ...]
    value: float


@dataclass(frozen=True, slots=True)
class Search:
    """What a search looks at: the claim's cue words and its sentence's words."""

    quantity: Quantity
    cues: frozenset[str]
    words: frozenset[str]
    facts: Facts
    bases: tuple[tuple[Fact, ...], tuple[Fact, ...]] | None = None
    """Facts behind "from A to B" in the same sentence: then the pair is given."""


def derive(search: Search) -> Derived | None:
    """The first derivation that gives the quantity."""
    for wanted, attempt in _ATTEMPTS:
        if wanted.isdisjoint(search.cues) and not _asked_by_unit(attempt, search.quantity):
            continue
        found = attempt(search)
        if found is not None:
            return found
    return None


def _asked_by_unit(attempt: Callable[[Search], Derived | None], quantity: Quantity) -> bool:
    """A percentage asks for a share, a number of days for the time between two dates."""
    if attempt is _shares:
        return quantity.dimension is Dimension.FRACTION
    return attempt is _day_differences and quantity.dimension is Dimension.TIME


def scaled_value(fact: Fact) -> float:
    """A fact's number in the unit people state it in: cents as currency units, shares as they are."""
    assert fact.number is not None
    return fact.number / 100 if fact.unit is CENTS else fact.number


def _columns(search: Search, *, least: int = 2) -> Iterator[tuple[Records, str, list[Fact]]]:
    for records in search.facts.records:
        for name, column in records.columns.items():
            numbers = [fact for fact in column if fact.number is not None]
            if len(numbers) >= least and len(numbers) == len([fact for fact in column if not fact.null]):
                yield records, name, numbers


def _agrees(search: Search, fact: Fact) -> bool:
    """Whether the quantity's dimension allows this operand."""
    mine, its = search.quantity.dimension, fact.dimension
    if mine is None or mine is Dimension.FRACTION:
        return True
    if mine is Dimension.MONEY:
        return its is Dimension.MONEY or (its is None and not fact.counted)
    return its is mine or its is None


def _fits(search: Search, value: float, operand: Fact) -> bool:
    """Whether the quantity is the value, in the operand's unit or in the quantity's."""
    quantity = search.quantity
    if fits(quantity, value):
        return True
    unit = operand.unit
    if quantity.unit is None or unit is None or unit.dimension is not quantity.unit.dimension or unit is CENTS:
        return False
    return unit.factor != quantity.unit.factor and fits(quantity, value * unit.factor / quantity.unit.factor)


def _sums(search: Search) -> Derived | None:
    for records, name, column in _columns(search):
        if not _agrees(search, column[0]):
            continue
        for group in _groups(search, column):
            value = sum(map(scaled_value, group))
            if _fits(search, value, group[0]):
                return Derived(f"sum of {name or records.label or 'values'} = {number_text(value)}", tuple(group[:8]), value)
    named = [fact for fact in _operands(search) if fact.records < 0 or len(fact.key) > 0]
    families: dict[tuple[str, ...], list[Fact]] = {}
    for fact in named:
        if not fact.weak:
            for word in fact.key:
                families.setdefault((word,), []).append(fact)
    if len(named) <= 24 and len({fact.output for fact in named}) == 1:
        families[("",)] = [fact for fact in named if not fact.weak]
    families[()] = [fact for fact in named if not fact.words.isdisjoint(search.words)]
    for family in families.values():
        if 2 <= len(family) <= 24 and _agrees(search, family[0]):
            value = sum(map(scaled_value, family))
            if _fits(search, value, family[0]):
                terms = " + ".join(number_text(scaled_value(fact)) for fact in family[:6])
                return Derived(f"{terms}{' + …' if len(family) > 6 else ''} = {number_text(value)}", tuple(family[:8]), value)
    return None


def _groups(search: Search, column: list[Fact]) -> list[list[Fact]]:
    """The rows of a column that the words name, where they name some, before the whole column."""
    named = [fact for fact in column if not fact.scope.isdisjoint(search.words - _common_scope(column))]
    return [named, column] if 1 < len(named) < len(column) else [column]


def _common_scope(column: Sequence[Fact]) -> frozenset[str]:
    return frozenset.intersection(*(fact.scope for fact in column))


def _averages(search: Search) -> Derived | None:
    for records, name, column in _columns(search):
        for word, measure in (("mean", statistics.fmean), ("median", statistics.median)):
            if word not in search.cues and not (word == "mean" and "per" in search.cues):
                continue
            for group in _groups(search, column):
                value = float(measure(map(scaled_value, group)))
                if _agrees(search, group[0]) and _fits(search, value, group[0]):
                    told = f"{word} of {name or records.label or 'values'} = {number_text(value)}"
                    return Derived(told, tuple(group[:8]), value)
    family = [fact for fact in _operands(search) if not fact.words.isdisjoint(search.words) and not fact.weak]
    if 2 <= len(family) <= 24 and "mean" in search.cues:
        value = statistics.fmean(map(scaled_value, family))
        if _fits(search, value, family[0]):
            return Derived(f"mean of {len(family)} values = {number_text(value)}", tuple(family[:8]), value)
    return None


def _deviations(search: Search) -> Derived | None:
    for records, name, column in _columns(search, least=3):
        values = [scaled_value(fact) for fact in column]
        for measure in (statistics.stdev, statistics.pstdev):
            value = measure(values)
            if _fits(search, value, column[0]):
                return Derived(
                    f"standard deviation of {name or records.label} = {number_text(value)}", tuple(column[:8]), value
                )
    return None


def _differences(search: Search) -> Derived | None:
    for first, second in _pairs(search):
        if first.dimension is not second.dimension and first.dimension and second.dimension:
            continue
        if not _agrees(search, first):
            continue
        one, other = scaled_value(first), scaled_value(second)
        for value in (other - one, one - other):
            if _fits(search, value, first):
                text = f"{number_text(max(one, other))} - {number_text(min(one, other))} = {number_text(abs(value))}"
                return Derived(text, (first, second), value)
    return None


def _day_differences(search: Search) -> Derived | None:
    if search.quantity.dimension not in (None, Dimension.TIME):
        return None
    days = [fact for fact in search.facts.facts[:2000] if fact.day is not None][:20]
    for place, first in enumerate(days):
        for second in days[place + 1 :]:
            assert first.day is not None
            assert second.day is not None
            apart = abs((second.day - first.day).days)
            factor = search.quantity.unit.factor / 86400 if search.quantity.unit else 1
            if fits(search.quantity, apart / factor):
                return Derived(f"{first.day} to {second.day} = {apart} days", (first, second), apart)
    return None


def _shares(search: Search) -> Derived | None:
    """Percentages: change from one to the other, one as a share of the other, share of a column, the rest."""
    quantity = search.quantity
    percent = quantity.dimension is Dimension.FRACTION
    scale = 1 / quantity.unit.factor if percent and quantity.unit else 1.0
    mark = " × 100" if scale == 100 else ""
    changed = not CHANGE_CUES.isdisjoint(search.cues)
    for first, second in _pairs(search):
        if first.dimension is not second.dimension and first.dimension and second.dimension:
            continue
        one, other = scaled_value(first), scaled_value(second)
        for base, later in ((one, other), (other, one)):
            if not base:
                continue
            change = (later - base) / base * scale
            if changed and (fits(quantity, change) or fits(quantity, -change)):
                if (before_after(first, second) or 0) * (1 if base == one else -1) < 0:
                    continue  # a change is measured from the earlier value
                text = f"({number_text(later)} - {number_text(base)}) / {number_text(base)}{mark} = {number_text(change)}"
                return Derived(text, (first, second) if base == one else (second, first), change)
        if search.bases is not None or abs(one) <= 1 or abs(other) <= 1:
            continue
        for part, whole in ((one, other), (other, one)):
            if whole and percent and not changed and fits(quantity, part / whole * scale):
                text = f"{number_text(part)} / {number_text(whole)}{mark} = {number_text(part / whole * scale)}"
                return Derived(text, (first, second), part / whole)
    return _share_of_column(search, scale) or _complement(search, scale)


def _share_of_column(search: Search, scale: float) -> Derived | None:
    for records, name, column in _columns(search):
        total = sum(map(scaled_value, column))
        if not total or len(column) > 500 or abs(total - 1) < 0.01 or abs(total - 100) < 1:
            continue
        for fact in column:
            share = scaled_value(fact) / total * scale
            if fits(search.quantity, share) and (len(column) <= 12 or not fact.scope.isdisjoint(search.words)):
                text = f"{number_text(scaled_value(fact))} / sum of {name or records.label} × {number_text(scale)} = {number_text(share)}"
                return Derived(text, (fact,), share)
    for records in search.facts.records:
        for value, count in _value_counts(records):
            if records.rows > 0 and fits(search.quantity, count / records.rows * scale):
                text = f"{count} of {records.rows} rows with {value} = {number_text(count / records.rows * scale)}"
                return Derived(text, (), count / records.rows)
    return None


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
    for fact in _operands(search):
        if fact.dimension is not Dimension.FRACTION or fact.number is None:
            continue
        whole = fact.number * (fact.unit.factor if fact.unit else 1.0)
        if 0 <= whole <= 1 and fits(search.quantity, (1 - whole) * scale):
            return Derived(f"1 - {number_text(whole)} = {number_text(1 - whole)}", (fact,), 1 - whole)
    return None


def _ratios(search: Search) -> Derived | None:
    for first, second in _pairs(search):
        one, other = scaled_value(first), scaled_value(second)
        for part, whole in ((one, other), (other, one)):
            if whole and fits(search.quantity, part / whole):
                text = f"{number_text(part)} / {number_text(whole)} = {number_text(part / whole)}"
                return Derived(text, (first, second), part / whole)
    return None


def _products(search: Search) -> Derived | None:
    """A count times a price, in one row or over a whole table."""
    rows: dict[tuple[int, int, int], list[Fact]] = {}
    for fact in _operands(search):
        if not fact.weak:
            rows.setdefault((fact.output, fact.records, fact.row), []).append(fact)
    overall: dict[int, float] = {}
    for (_, records, _row), facts in rows.items():
        counts = [fact for fact in facts if fact.counted]
        prices = [fact for fact in facts if fact.money or fact.dimension is Dimension.MONEY]
        for count in counts:
            for price in prices:
                value = (count.number or 0.0) * scaled_value(price)
                if _fits(search, value, price):
                    text = f"{number_text(count.number or 0)} × {number_text(scaled_value(price))} = {number_text(value)}"
                    return Derived(text, (count, price), value)
        if records >= 0 and len(counts) == len(prices) == 1:
            overall[records] = overall.get(records, 0.0) + (counts[0].number or 0.0) * scaled_value(prices[0])
    for records, value in overall.items():
        if fits(search.quantity, value):
            return Derived(f"sum of products over {search.facts.records[records].rows} rows = {number_text(value)}", (), value)
    return None


def _operands(search: Search) -> list[Fact]:
    numbers = [fact for fact in search.facts.facts if fact.number is not None and fact.day is None]
    if len(numbers) <= _MAX_OPERANDS:
        return numbers
    named = [fact for fact in numbers if not fact.words.isdisjoint(search.words)]
    return (named or numbers)[:_MAX_OPERANDS]


def _pairs(search: Search) -> Iterator[tuple[Fact, Fact]]:
    if search.bases is not None:
        for first in search.bases[0]:
            for second in search.bases[1]:
                yield first, second
        return
    operands = _operands(search)
    few = len(operands) <= 12
    tried = 0
    for place, first in enumerate(operands):
        for second in operands[place + 1 :]:
            if not few and not _related(first, second, search.words):
                continue
            tried += 1
            if tried > MAX_PAIRS:
                return
            yield first, second


def _related(first: Fact, second: Fact, words: Set[str]) -> bool:
    """In a crowd of numbers a pair must share a key or a row, and one of the two must be named."""
    same_row = first.records >= 0 and (first.records, first.row) == (second.records, second.row)
    if not same_row and set(first.key).isdisjoint(second.key):
        return False
    return not first.words.isdisjoint(words) or not second.words.isdisjoint(words)


_ATTEMPTS: tuple[tuple[frozenset[str], Callable[[Search], Derived | None]], ...] = (
    (SUM_CUES, _sums),
    (AVERAGE_CUES, _averages),
    (canonical_set("std"), _deviations),
    (SHARE_CUES, _shares),
    (DIFFERENCE_CUES, _differences),
    (DIFFERENCE_CUES, _day_differences),
    (RATIO_CUES, _ratios),
    (PRODUCT_CUES, _products),
)
