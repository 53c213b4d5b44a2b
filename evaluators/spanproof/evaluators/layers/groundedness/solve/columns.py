"""Find the facts that a stated value could be, among thousands, without comparing it with each.

In: the facts of a base that hold amounts, or identifiers. Out: for a frame, those that may match it; a fact
that is left out compares as `Match.NONE`. What does not match is kept in columns: their facts fit a frame
alike, but for how near their records are named.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from spanproof.evaluators.layers.groundedness.claims.frames import Bound, Frame
from spanproof.evaluators.layers.groundedness.solve.match import compute_width
from spanproof.reading.records import Fact, FactBase
from spanproof.reading.values import Kind, is_year

# Of a range, relative to its middle: more than a comparison allows for the errors of binary fractions.
_SLACK = 1e-9


@dataclass(slots=True)
class Siblings:
    """Facts of one column whose records are in the same one: the place of each, by record and in order."""

    by_record: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    members: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Column:
    """Facts that a frame fits alike, but for their records.

    Attributes:
        sample: one of them.
        size: how many they are.
        groups: by the record that theirs are in.
    """

    sample: Fact
    size: int = 0
    groups: dict[int | None, Siblings] = field(default_factory=lambda: defaultdict(Siblings))


class Columns:
    """Facts of some kinds, by column and, for a frame, by value."""

    def __init__(self, base: FactBase, facts: Sequence[Fact]) -> None:
        self.facts = facts
        self.columns: list[Column] = []
        self.column_of: list[int] = []
        numbers: dict[Hashable, int] = {}
        for at, fact in enumerate(facts):
            number = numbers.setdefault(_build_column_key(fact), len(self.columns))
            if number == len(self.columns):
                self.columns.append(Column(fact))
            self.column_of.append(number)
            column = self.columns[number]
            column.size += 1
            siblings = column.groups[base.records[fact.record].parent]
            siblings.by_record[fact.record].append(at)
            siblings.members.append((at, fact.record))

    def may_match(self, frame: Frame) -> Collection[int]:
        """Return the places of all facts that may match a frame's value, and maybe others, in order."""
        raise NotImplementedError


class Identifiers(Columns):
    """Identifiers, which match where they are written alike."""

    def __init__(self, base: FactBase, facts: Sequence[Fact]) -> None:
        super().__init__(base, facts)
        self._by_text: Mapping[str, list[int]] = defaultdict(list)
        for at, fact in enumerate(facts):
            self._by_text[fact.value.text].append(at)

    def may_match(self, frame: Frame) -> Collection[int]:
        """See `Columns`."""
        return self._by_text.get(frame.mention.value.text, ())


class Amounts(Columns):
    """Amounts, which match where one of the readings that `compare` tries is near enough."""

    def __init__(self, base: FactBase, facts: Sequence[Fact]) -> None:
        super().__init__(base, facts)
        found = sorted((amount, at) for at, fact in enumerate(facts) for amount in _collect_amounts(fact))
        self._amounts = [amount for amount, _ in found]
        self._places = [at for _, at in found]
        self._unordered = [
            at for at, fact in enumerate(facts) if not all(map(isfinite, _list_readings(fact)))
        ]

    def may_match(self, frame: Frame) -> Collection[int]:
        """See `Columns`."""
        ranges = list(_list_ranges(frame))
        is_sided = frame.bound not in (Bound.EXACT, Bound.ABOUT)
        if is_sided or not all(isfinite(middle) and isfinite(radius) for middle, radius in ranges):
            return range(len(self.facts))
        found = set(self._unordered)
        for middle, radius in ranges:
            reach = radius + _SLACK * max(1.0, middle, radius)
            low = bisect_left(self._amounts, middle - reach)
            found.update(self._places[low : bisect_right(self._amounts, middle + reach)])
        return sorted(found)


def _build_column_key(fact: Fact) -> Hashable:
    value = fact.value
    return fact.source, fact.words, fact.years, fact.role, value.kind, value.unit, is_year(value)


def _list_readings(fact: Fact) -> Iterator[float]:
    """Yield what `compare` reads a fact's amount as."""
    value = fact.value
    yield value.number
    yield value.number * fact.factor
    yield value.amount
    if value.other is not None:
        yield value.other


def _collect_amounts(fact: Fact) -> set[float]:
    return {abs(amount) for amount in _list_readings(fact) if isfinite(amount)}


def _list_ranges(frame: Frame) -> Iterator[tuple[float, float]]:
    """Yield the ranges in which `compare` may find an amount: the middle of each, and how far from it."""
    said = frame.mention.value
    # As written, rounded, or with further digits left out.
    yield abs(said.number), compute_width(frame)
    yield abs(said.amount), abs(said.step / said.factor)
    if said.kind is Kind.PERCENT:
        yield abs(said.number / 100), compute_width(frame) / 100
    if said.kind is Kind.MONEY:
        yield abs(100 * said.number), 1.0
    if said.other is not None:
        yield abs(said.other), 0.0
