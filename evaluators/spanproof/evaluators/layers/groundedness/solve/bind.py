"""Bind a frame to facts: how well each fact fits the words and the records the frame is about.

In: a frame and the base. Out: a `Binding`: the best facts that give the stated value, and the best that give
another one. The score of a fact is how much of its field's name is said, and how near its record is named.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from math import log

from spanproof.evaluators.layers.groundedness.claims.frames import Bound, Frame
from spanproof.evaluators.layers.groundedness.facts.base import Fact, FactBase, Role
from spanproof.evaluators.layers.groundedness.solve.match import Match, comparable, compare
from spanproof.evaluators.layers.groundedness.values.model import NUMERIC, Kind, is_year
from spanproof.evaluators.layers.groundedness.values.words import classes_of

MAX_SCORED = 4000


@dataclass(frozen=True, slots=True)
class Scored:
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
        return (
            self.name
            + 0.5 * self.label
            + self.scope
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
        self._instructions = frozenset(instructions)
        counts: dict[str, int] = {}
        names = {(fact.path, fact.words) for fact in base.facts if fact.words}
        for _, words in names:
            for word in words:
                counts[word] = counts.get(word, 0) + 1
        self._weight = {word: 1.0 / (1.0 + log(count)) for word, count in counts.items()}

    def bind(self, frame: Frame) -> Binding:
        """Return a frame's binding."""
        binding = Binding(frame)
        scopes = self.scopes(frame)
        binding.scoped = bool(scopes)
        names: dict[frozenset[str], tuple[float, float]] = {}
        for fact in self._candidates(frame):
            match = compare(frame, fact)
            # A system prompt is full of examples: its "54 people" gives no $54.
            if fact.source in self._instructions and fact.value.kind is not frame.mention.value.kind:
                continue
            only_operand = match is Match.NONE and not comparable(frame.mention.value, fact.value)
            if only_operand and frame.mention.value.kind is not Kind.PERCENT:
                continue
            if fact.words not in names:
                names[fact.words] = self.naming(fact.words, frame)
            name, label = names[fact.words]
            if match is Match.NONE and is_year(fact.value) and not is_year(frame.mention.value):
                continue
            year = 0
            if frame.years and fact.years:
                year = 1 if frame.years & fact.years else -1
            scored = Scored(fact, match, name, label, self.scope(fact.record, scopes), year)
            if only_operand:
                binding.operands.append(scored)
                continue
            binding.compared += 1
            (binding.other if match is Match.NONE else binding.equal).append(scored)
        binding.equal.sort(key=lambda each: (-each.total - 0.5 * each.match.value, each.fact.source))
        binding.other.sort(key=lambda each: -each.total)
        binding.operands.sort(key=lambda each: -each.total)
        del binding.equal[12:], binding.other[40:], binding.operands[40:]
        return binding

    def _candidates(self, frame: Frame) -> list[Fact]:
        kind = frame.mention.value.kind
        if kind in NUMERIC:
            found = [
                fact
                for each in (Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.QUANTITY)
                for fact in self.base.by_kind[each]
            ]
            if kind is Kind.NUMBER and frame.mention.value.step == 1:
                found = found + self.base.by_kind[Kind.DATE]
                digits = frame.text.lstrip("#").lower()
                found += [fact for _, fact in self.base.by_text.get(f"#{digits}", ())]
                if frame.ends:
                    found += [fact for fact in self.base.by_kind[Kind.ID] if fact.value.text.endswith(digits)]
        else:
            found = self.base.by_kind[kind]
        return found[:MAX_SCORED]

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

    def scope(self, record: int, scopes: dict[int, float]) -> float:
        """Return how near a record, or one that it is in, is named."""
        total = 0.0
        for distance, outer in enumerate(self.base.chain(record)):
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
            for group in classes_of(word):
                if frame.near.get(group, 0.0) * 0.9 > best:
                    best = frame.near[group] * 0.9
            said += weight * best
        label = 0.0
        if frame.label:
            groups = {group for word in words for group in classes_of(word)}
            label = sum(word in words or bool(classes_of(word) & groups) for word in frame.label) / len(
                frame.label
            )
        return said / whole, label
