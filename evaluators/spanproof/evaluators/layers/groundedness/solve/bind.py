"""Bind a frame to facts: how well each fact fits the words and the records the frame is about.

In: a frame and the base. Out: a `Binding`: the best facts that give the stated value, and the best that give
another one. The score of a fact is how much of its field's name is said, and how near its record is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import chain, islice
from math import log
from typing import NamedTuple

from spanproof.evaluators.layers.groundedness.claims.frames import Bound, Frame
from spanproof.evaluators.layers.groundedness.solve.columns import Amounts, Column, Columns, Identifiers
from spanproof.evaluators.layers.groundedness.solve.match import Match, are_comparable, compare
from spanproof.reading.records import Fact, FactBase, Role
from spanproof.reading.values import NUMERIC, Kind, is_year
from spanproof.reading.words import find_synonym_groups

MAX_SCORED = 4000
MAX_KEPT = 40
_AMOUNTS = (Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.QUANTITY)


class Scored(NamedTuple):
    """A fact with how well it fits a frame.

    Attributes:
        name: the share of the field's name that is said.
        label: the share of the frame's label that the field's name explains.
        scope: how near the fact's record is named, 1 for the nearest.
        year: 1 where its field has a year that the frame has too, -1 where it has another one.
    """

    fact: Fact
    match: Match
    name: float
    label: float
    scope: float
    year: int = 0

    @property
    def total(self) -> float:
        """Return one number to rank by."""
        return self.total_in(self.scope)

    def total_in(self, scope: float) -> float:
        """Return the score of a fact that differs in how near its record is named only."""
        return (
            self.name
            + 0.5 * self.label
            + scope
            + 0.4 * self.year
            + (0.0 if self.fact.role is Role.CELL else -0.1)
        )


@dataclass(slots=True)
class Binding:
    """What a frame was held against.

    Attributes:
        equal: facts that give the stated value, the best first; `other` facts that give another.
        operands: amounts of another unit that a percentage may be worked out from.
        compared: how many facts could have been meant.
    """

    frame: Frame
    equal: list[Scored] = field(default_factory=list)
    other: list[Scored] = field(default_factory=list)
    operands: list[Scored] = field(default_factory=list)
    compared: int = 0
    scoped: bool = False


class Binder:
    """Binds frames to the facts of one base; keeps what it worked out between frames."""

    def __init__(self, base: FactBase, outputs: int, instructions: Collection[int] = ()) -> None:
        self.base = base
        self.outputs = outputs
        self.instructions = frozenset(instructions)
        amounts = chain.from_iterable(base.by_kind[kind] for kind in _AMOUNTS)
        self._amounts = Amounts(base, list(islice(amounts, MAX_SCORED)))
        self._identifiers = Identifiers(base, base.by_kind[Kind.ID][:MAX_SCORED])
        counts: dict[str, int] = {}
        names = {(fact.path, fact.words) for fact in base.facts if fact.words}
        for _, words in names:
            for word in words:
                counts[word] = counts.get(word, 0) + 1
        self._weight = {word: 1.0 / (1.0 + log(count)) for word, count in counts.items()}

    def bind(self, frame: Frame) -> Binding:
        """Return a frame's binding."""
        binding = Binding(frame)
        search = _Search(self, frame)
        binding.scoped = bool(search.scopes)
        kind = frame.mention.value.kind
        if kind in NUMERIC:
            search.bind(binding, self._amounts)
        elif kind is Kind.ID:
            search.bind(binding, self._identifiers)
        for fact in self._collect_other_facts(frame):
            search.put(binding, fact, compare(frame, fact))
        binding.equal.sort(key=lambda each: (-each.total - 0.5 * each.match.value, each.fact.source))
        binding.other.sort(key=lambda each: -each.total)
        binding.operands.sort(key=lambda each: -each.total)
        del binding.equal[12:], binding.other[MAX_KEPT:], binding.operands[MAX_KEPT:]
        return binding

    def _collect_other_facts(self, frame: Frame) -> list[Fact]:
        """Return the facts that are in no column and could be meant by a frame."""
        value = frame.mention.value
        if value.kind is Kind.ID and not value.text.isdigit():
            return []
        if value.kind is Kind.ID:
            # `#2044` is the issue whose number is 2044.
            return [
                fact
                for fact in self.base.by_kind[Kind.NUMBER][:MAX_SCORED]
                if compare(frame, fact) is Match.EXACT
            ]
        if value.kind not in NUMERIC:
            return self.base.by_kind[value.kind][:MAX_SCORED]
        if value.kind is not Kind.NUMBER or value.step != 1:
            return []
        digits = frame.text.lstrip("#").lower()
        found = self.base.by_kind[Kind.DATE] + [fact for _, fact in self.base.by_text.get(f"#{digits}", ())]
        if frame.ends:
            found += [fact for fact in self.base.by_kind[Kind.ID] if fact.value.text.endswith(digits)]
        return found[: MAX_SCORED - len(self._amounts.facts)]

    def scopes(self, frame: Frame) -> dict[int, float]:
        """Return the records a frame is about, each with how near it is named; 1 is the nearest."""
        weights: dict[int, float] = {}
        for anchor, near in frame.anchors:
            if frame.bound is not Bound.EXACT and anchor.kind is Kind.NUMBER:
                continue
            gain = near * anchor.strength
            if gain < 0.02:
                continue
            for record in anchor.records:
                weights[record] = weights.get(record, 0.0) + gain
        if not weights:
            return {}
        # What names an inner record names the one around it as well, though less.
        for record, weight in list(weights.items()):
            for distance, outer in enumerate(self.base.chain(record)):
                if distance:
                    weights[outer] = max(weights.get(outer, 0.0), weight * 0.6**distance)
        most = max(weights.values())
        return {record: weight / most for record, weight in weights.items()} if most > 0.05 else {}

    def scope(self, record: int, scopes: dict[int, float], skipped: int = 0) -> float:
        """Return how near a record, or one that it is in, is named; of these the innermost may be skipped."""
        total = 0.0
        for distance, outer in islice(enumerate(self.base.chain(record)), skipped, None):
            total = max(total, scopes.get(outer, 0.0) * 0.85**distance)
        return total

    def naming(self, words: frozenset[str], frame: Frame) -> tuple[float, float]:
        """Return the share of a field's name that is said, and of the label that the name explains."""
        if not words:
            return 0.0, 0.0
        said = whole = 0.0
        explained: set[str] = set()
        for word in words:
            weight = self._weight.get(word, 1.0)
            whole += weight
            best = frame.near.get(word, 0.0)
            if best:
                explained.add(word)
            for group in find_synonym_groups(word):
                if frame.near.get(group, 0.0) * 0.9 > best:
                    best = frame.near[group] * 0.9
            said += weight * best
        label = 0.0
        if frame.label:
            groups = {group for word in words for group in find_synonym_groups(word)}
            label = sum(
                word in words or bool(find_synonym_groups(word) & groups) for word in frame.label
            ) / len(frame.label)
        return said / whole, label


class _Search:
    """The search for one frame: what has been worked out of the records and names it met."""

    def __init__(self, binder: Binder, frame: Frame) -> None:
        self.scopes = binder.scopes(frame)
        self._binder = binder
        self._frame = frame
        self._names: dict[frozenset[str], tuple[float, float]] = {}
        self._around: dict[int | None, float] = {}

    def put(self, binding: Binding, fact: Fact, match: Match) -> None:
        """Add a fact to the list it belongs to, if it could be meant."""
        kept = self._choose_list(binding, fact, match)
        if kept is None:
            return
        kept.append(self._score_fact(fact, match))
        binding.compared += kept is not binding.operands

    def bind(self, binding: Binding, columns: Columns) -> None:
        """Put the facts that give the stated value, and the best of those that give another."""
        equal: set[int] = set()
        for at in columns.may_match(self._frame):
            match = compare(self._frame, columns.facts[at])
            if match is not Match.NONE:
                equal.add(at)
                self.put(binding, columns.facts[at], match)
        equal_of = Counter(columns.column_of[at] for at in equal)
        others: list[tuple[float, int]] = []
        operands: list[tuple[float, int]] = []
        for number, column in enumerate(columns.columns):
            kept = self._choose_list(binding, column.sample, Match.NONE)
            if kept is binding.operands:
                operands += self._rank(column, equal)
            elif kept is binding.other:
                others += self._rank(column, equal)
                binding.compared += column.size - equal_of[number]
        binding.other += self._select_best(columns, others)
        binding.operands += self._select_best(columns, operands)

    def _select_best(self, columns: Columns, ranked: list[tuple[float, int]]) -> list[Scored]:
        return [self._score_fact(columns.facts[at], Match.NONE) for _, at in nsmallest(MAX_KEPT, ranked)]

    def _choose_list(self, binding: Binding, fact: Fact, match: Match) -> list[Scored] | None:
        """Return where a fact belongs; None where it could not be meant."""
        said = self._frame.mention.value
        # A system prompt is full of examples: its "54 people" gives no $54.
        if fact.source in self._binder.instructions and fact.value.kind is not said.kind:
            return None
        if match is not Match.NONE:
            return binding.equal
        if is_year(fact.value) and not is_year(said):
            return None
        if are_comparable(said, fact.value):
            return binding.other
        return binding.operands if said.kind is Kind.PERCENT else None

    def _rank(self, column: Column, equal: set[int]) -> Iterator[tuple[float, int]]:
        """Yield the places of a column's facts that are not equal, each after how well it fits, negative.

        Of those that fit equally well, because none of their records is named, the first are enough.
        """
        sample = self._score_fact(column.sample, Match.NONE)
        for parent, siblings in column.groups.items():
            around = self._compute_outer_scope(parent, siblings.members[0][1])
            for record in self.scopes.keys() & siblings.by_record.keys():
                fit = -sample.total_in(max(around, self.scopes[record]))
                yield from ((fit, at) for at in siblings.by_record[record] if at not in equal)
            fit = -sample.total_in(around)
            unnamed = (at for at, record in siblings.members if record not in self.scopes and at not in equal)
            yield from ((fit, at) for at in islice(unnamed, MAX_KEPT))

    def _score_fact(self, fact: Fact, match: Match) -> Scored:
        if fact.words not in self._names:
            self._names[fact.words] = self._binder.naming(fact.words, self._frame)
        name, label = self._names[fact.words]
        year = 0
        if self._frame.years and fact.years:
            year = 1 if self._frame.years & fact.years else -1
        return Scored(fact, match, name, label, self._compute_scope(fact.record), year)

    def _compute_scope(self, record: int) -> float:
        """Return how near a record, or one that it is in, is named; see `Binder.scope`."""
        around = self._compute_outer_scope(self._binder.base.records[record].parent, record)
        return max(around, self.scopes.get(record, 0.0))

    def _compute_outer_scope(self, parent: int | None, record: int) -> float:
        """Return how near those are named that a record of this parent is in."""
        if not self.scopes:
            return 0.0
        if parent not in self._around:
            self._around[parent] = self._binder.scope(record, self.scopes, skipped=1)
        return self._around[parent]
