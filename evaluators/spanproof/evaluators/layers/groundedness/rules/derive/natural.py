"""What people reckon of a table or an object without saying so: "of 19,500 requests 47 failed (0.24 %)".

In: a `Search` that nothing which the words ask for gives. Out: a derivation that is natural (a column's
total, what is left of a whole, a difference, a quotient, a part of a total, a value so many times) and that
chance does not explain: so few results are possible, beside so many digits told, that one is not hit by luck.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import before_after
from spanproof.evaluators.layers.groundedness.rules.derive.cues import (
    CHANGE_CUES,
    DIFFERENCE_CUES,
    SERVED,
    SUM_CUES,
)
from spanproof.evaluators.layers.groundedness.rules.derive.search import (
    Derived,
    Search,
    agrees,
    columns,
    fits_operand,
    scaled_value,
)
from spanproof.evaluators.layers.groundedness.rules.matching import fits, number_text

_CHANCE = 0.12
"""How likely it may be that one of the results tried is hit by luck."""
_MOST_STRETCHED = 10
_PRICED = frozenset(("price", "rat", "tariff", "per"))
_FAR = 3.0
"""How many times one value may be the other where a change from one to the other is told without a word."""
_BEYOND = frozenset(("over", "under", "beyond"))
_MOST_TRIED = 120
_MOST_ROWS = 60
_MOST_IN_A_ROW = 8
_MOST_COLUMNS = 8
_LEAST_SPELLED = 13
_NO_PARTS = frozenset((Dimension.FRACTION, Dimension.TEMPERATURE))
_ENDS = {("max",), ("min",)}
Result = tuple[str, float, tuple[Fact, ...]]


def natural(search: Search) -> Derived | None:
    """The first natural result that is the quantity, where that is no luck."""
    quantity = search.quantity
    if quantity.spelled and abs(quantity.value) < _LEAST_SPELLED:
        return None
    percent = quantity.dimension is Dimension.FRACTION
    if quantity.dimension is None and abs(quantity.value) < 1:
        return None  # a coefficient, and nothing that is reckoned of a table
    tried: set[float] = set()
    for text, value, facts in _shares(search) if percent else _amounts(search):
        if not value or (not percent and any(value == scaled_value(fact) for fact in facts)):
            continue
        tried.add(round(abs(value), 9))
        if len(tried) > _MOST_TRIED:
            return None
        if _is_hit(search, abs(value), facts[0], percent=percent):
            told = Derived(f"{text} = {number_text(value)}", facts, value)
            return None if _is_luck(quantity, value, len(tried)) else told
    return None


def _is_hit(search: Search, value: float, operand: Fact, *, percent: bool) -> bool:
    if percent:
        return fits(search.quantity, value)
    return agrees(search, operand) and fits_operand(search, value, operand)


def _is_luck(quantity: Quantity, value: float, tried: int) -> bool:
    """Whether so many results are likely to hold one that fits so few digits."""
    written = f"{abs(quantity.value / quantity.ulp):.0f}"
    exact = abs(abs(value) - abs(quantity.value)) < 1e-9 * abs(value) and not quantity.decimals
    digits = len(written) if exact else max(1, len(written.rstrip("0")))
    return tried / (9 * 10.0 ** (digits - 1)) > _CHANCE


def _amounts(search: Search) -> Iterator[Result]:
    """Sums, what is left, differences, quotients and multiples."""
    totals = list(_totals(search))
    for name, total, column in totals:
        yield f"sum of {name}", total, column[:8]
    for (one, first, column), (other, second, subtracted) in permutations(totals[:_MOST_COLUMNS], 2):
        if first > second and _alike(column[0], subtracted[0]):
            yield f"{one} less {other}", first - second, (*column[:8], *subtracted[:8])
    for row in _rows(search):
        yield from _of_a_row(row, search)
    yield from _of_two_rows(search)
    yield from _stretches(search)
    for reckoned in search.reckoned:
        for row in _rows(search):
            for fact in row:
                first, second = scaled_value(reckoned), scaled_value(fact)
                if agrees(search, fact) and not fact.counted:
                    yield f"{number_text(first)} - {number_text(second)}", first - second, (fact, reckoned)


def _of_a_row(row: list[Fact], search: Search) -> Iterator[Result]:
    """What the values of one row or object come to."""
    kin = [fact for fact in row if _alike(fact, row[0])]
    first, rest = kin[0], kin[1:]
    if len(rest) > 1:
        left = scaled_value(first) - sum(map(scaled_value, rest))
        terms = " - ".join(number_text(scaled_value(fact)) for fact in kin)
        yield terms, left, tuple(kin)
    asks = not search.cues.isdisjoint(DIFFERENCE_CUES) or not search.words.isdisjoint(_BEYOND)
    for one, other in permutations(row, 2):
        a, b = scaled_value(one), scaled_value(other)
        if _alike(one, other) and a >= b and (asks or _both(one, other, search)):
            yield f"{number_text(a)} - {number_text(b)}", a - b, (one, other)
            if search.near.isdisjoint(DIFFERENCE_CUES) and {one.key, other.key} != _ENDS:
                yield f"{number_text(a)} + {number_text(b)}", a + b, (one, other)
    for one, other in permutations(row, 2):
        a, b = scaled_value(one), scaled_value(other)
        if b and one.dimension is not other.dimension and _either(one, other, search):
            yield f"{number_text(a)} / {number_text(b)}", a / b, (one, other)
            if one.dimension is Dimension.MONEY and not _PRICED.isdisjoint(one.key):
                yield f"{number_text(a)} × {number_text(b)}", a * b, (one, other)
    yield from _portions(row, search)
    for one in row:
        yield from _so_many(one, search)
    yield from _scaled(row, search)


def _portions(row: list[Fact], search: Search) -> Iterator[Result]:
    """The part of a value that a share of its row says, and what is left of it: 38.4 % of 1,250 l."""
    for share in row:
        bare = share.dimension is None and not share.counted and 0 < (share.number or 0.0) < 1
        if not (bare or share.dimension is Dimension.FRACTION) or not share.number:
            continue
        part = share.number * (share.unit.factor if share.unit is not None else 1.0)
        for whole in row if 0 < part < 1 else ():
            value = scaled_value(whole)
            measured = whole.unit is not None and whole.dimension is search.quantity.dimension
            named = measured or len(row) == 2 or not search.words.isdisjoint(whole.key)
            if named and whole.dimension not in _NO_PARTS and agrees(search, whole):
                yield f"{number_text(part)} × {number_text(value)}", part * value, (whole, share)
                yield f"{number_text(1 - part)} × {number_text(value)}", (1 - part) * value, (whole, share)


def _scaled(row: list[Fact], search: Search) -> Iterator[Result]:
    """What is told for so many people, for as many as the task or the sentence names: a recipe."""
    for base in row:
        if SERVED.isdisjoint(base.key) or not base.number:
            continue
        for one in row:
            for given in search.given:
                if one is not base and given != base.number and not search.words.isdisjoint(one.key):
                    value = scaled_value(one)
                    told = f"{number_text(value)} × {number_text(given)} / {number_text(base.number)}"
                    yield told, value * given / base.number, (one, base)


def _so_many(one: Fact, search: Search) -> Iterator[Result]:
    """A value as often as the task or the sentence says, less an amount that they take off."""
    value = scaled_value(one)
    for given in search.given:
        if given > 1 and not search.words.isdisjoint(one.words):
            yield f"{number_text(given)} × {number_text(value)}", given * value, (one,)
            for amount in search.amounts:
                if one.dimension is Dimension.MONEY and amount != given:
                    told = f"{number_text(given)} × {number_text(value)} - {number_text(amount)}"
                    yield told, given * value - amount, (one,)


def _of_two_rows(search: Search) -> Iterator[Result]:
    """How far the values of two rows that the words name are apart, once or as often as is given."""
    for _, _, column in columns(search):
        shared = frozenset.intersection(*(fact.scope for fact in column))
        named = [fact for fact in column if not (fact.scope - shared).isdisjoint(search.words)]
        if len(named) != 2:
            continue
        one, other = sorted(map(scaled_value, named), reverse=True)
        told = f"{number_text(one)} - {number_text(other)}"
        yield told, one - other, tuple(named)
        for given in search.given:
            if given > 1:
                yield f"{number_text(given)} × ({told})", given * (one - other), tuple(named)


def _stretches(search: Search) -> Iterator[Result]:
    """What as many neighbouring rows come to as the sentence counts: "three nights from the 6th"."""
    if search.cues.isdisjoint(SUM_CUES):
        return
    for records, name, column in columns(search):
        if len(column) > _MOST_STRETCHED or records.rows < 0:
            continue
        for length in {int(given) for given in search.given if 1 < given < len(column)}:
            for first in range(len(column) - length + 1):
                some = column[first : first + length]
                yield f"sum of {len(some)} of {name}", sum(map(scaled_value, some)), tuple(some)


def _alike(one: Fact, other: Fact) -> bool:
    """Whether the two may be added and taken away: amounts, whether their keys say so or not."""
    if (
        one.unit is not None
        or other.unit is not None
        or Dimension.FRACTION in (one.dimension, other.dimension)
    ):
        return one.dimension is other.dimension
    return one.dimension is other.dimension or not (one.counted or other.counted)


def _both(one: Fact, other: Fact, search: Search) -> bool:
    """Whether both are named, share a word of their names (`points`, `points_to_gold`), or are two ends."""
    if {one.key, other.key} == _ENDS:
        return True
    named = not search.words.isdisjoint(one.key) and not search.words.isdisjoint(other.key)
    return named or not set(one.key).isdisjoint(other.key)


def _either(one: Fact, other: Fact, search: Search) -> bool:
    return not search.words.isdisjoint((*one.key, *other.key)) or not search.words.isdisjoint(one.scope)


def _shares(search: Search) -> Iterator[Result]:
    """Parts of a total or of another value of the row, and how far values of a row are apart."""
    for name, total, column in _totals(search):
        if not total or len(column) > _MOST_ROWS:
            continue
        shared = frozenset.intersection(*(fact.words for fact in column))
        named = [fact for fact in column if not (fact.words - shared).isdisjoint(search.words)]
        parts = [fact for fact in column if fact in search.beside] or named or list(column)
        for fact in parts:
            share = 100 * scaled_value(fact) / total
            yield f"{number_text(scaled_value(fact))} / sum of {name} × 100", share, (fact,)
        if len(named) > 1:
            share = 100 * sum(map(scaled_value, named)) / total
            yield f"{len(named)} values / sum of {name} × 100", share, tuple(named[:8])
    for row in _rows(search):
        for one, other in permutations(row, 2):
            a, b = scaled_value(one), scaled_value(other)
            if b and _alike(one, other):
                if (before_after(other, one) or 1) > 0 and b < _FAR * a < _FAR * _FAR * b:
                    told = f"({number_text(a)} - {number_text(b)}) / {number_text(b)} × 100"
                    yield told, 100 * (a - b) / b, (one, other)
                if 0 < a < b and search.cues.isdisjoint(CHANGE_CUES):
                    yield f"{number_text(a)} / {number_text(b)} × 100", 100 * a / b, (one, other)
    totals = [each for each in _totals(search) if each[1]][:_MOST_COLUMNS]
    for (one_name, a, column), (other_name, b, base) in permutations(totals, 2):
        facts = (*column[:8], *base[:8])
        yield f"({one_name} - {other_name}) / {other_name} × 100", 100 * (a - b) / b, facts


def _totals(search: Search) -> Iterator[tuple[str, float, tuple[Fact, ...]]]:
    """What each column comes to, and what went out or came in of a ledger."""
    for records, name, column in columns(search):
        if len(column) > 500 or any("total" in fact.words for fact in column):
            continue
        if records.rows < 0 and len({fact.dimension for fact in column}) > 1:
            continue
        out = [fact for fact in column if (fact.number or 0.0) < 0]
        if 0 < len(out) < len(column):
            yield f"what went out of {name}", sum(map(scaled_value, out)), tuple(out)
        yield name or records.label or "values", sum(map(scaled_value, column)), tuple(column)


def _rows(search: Search) -> Iterator[list[Fact]]:
    """The numbers of each row that the words name, and of objects that stand alone."""
    rows: dict[tuple[int, int, int], list[Fact]] = {}
    shared: dict[int, frozenset[str]] = {}
    for fact in search.facts.facts[:2000]:
        shared[fact.records] = shared.get(fact.records, fact.scope) & fact.scope
    for fact in search.facts.facts[:2000]:
        if fact.number is None or fact.weak or fact.day is not None:
            continue
        alone = fact.records < 0 or search.facts.records[fact.records].rows < 0
        if alone or not (fact.scope - shared[fact.records]).isdisjoint(search.words):
            rows.setdefault((fact.output, fact.records, -1 if alone else fact.row), []).append(fact)
    near = sorted(rows.values(), key=lambda row: row[0].scope.isdisjoint(search.near))
    for row in near[:_MOST_ROWS]:
        if 1 < len(row) <= _MOST_IN_A_ROW:
            yield row
