"""What the outputs' values are known by: their names, their rows, their kinds.

In: the `Facts` of an answer's outputs. Out: a `Known`, each part of which is worked out once, when a rule
asks for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from spanproof.evaluators.layers.groundedness.language.words import words_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts
from spanproof.evaluators.layers.groundedness.rules.naming import row_words, vocabulary


@dataclass
class Known:
    """The facts, and the words by which they are told apart."""

    facts: Facts

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Words by which facts are named."""
        return vocabulary(self.facts)

    @cached_property
    def key_words(self) -> frozenset[str]:
        """Words of keys, prose left out."""
        return frozenset(word for fact in self.facts.facts if not fact.weak for word in fact.key)

    @cached_property
    def label_words(self) -> frozenset[str]:
        """Words of columns that hold names: a `trail` there asks for no distance."""
        return frozenset(
            word
            for fact in self.facts.facts
            if fact.records >= 0 and fact.string and fact.number is None
            for word in fact.key
        )

    @cached_property
    def by_label(self) -> dict[str, list[Fact]]:
        """Facts with a number by their label."""
        found: dict[str, list[Fact]] = {}
        for fact in self.numbers:
            if not fact.weak:
                found.setdefault(fact.label, []).append(fact)
        return found

    @cached_property
    def row_words(self) -> frozenset[str]:
        """Words by which rows of tables are known."""
        return row_words(self.facts)

    @cached_property
    def row_names(self) -> Mapping[tuple[int, int], frozenset[str]]:
        """The words of the strings in each row, by its list and place."""
        found: defaultdict[tuple[int, int], frozenset[str]] = defaultdict(frozenset)
        for fact in self.facts.facts:
            if fact.string and fact.records >= 0:
                found[fact.records, fact.row] |= frozenset(words_of(fact.string))
        return found

    @cached_property
    def numbers(self) -> list[Fact]:
        """Facts with a number."""
        return self.facts.numbers()

    @cached_property
    def scales(self) -> list[float]:
        """What the outputs or their keys count in, other than ones."""
        return sorted({*self.facts.scales.values(), *(fact.scale for fact in self.numbers)} - {1.0})

    def is_matrix(self, records: int) -> bool:
        """Whether a table has the same names for its rows and its columns, as correlations are printed."""
        return records in self._matrices

    @cached_property
    def _matrices(self) -> frozenset[int]:
        found: set[int] = set()
        for records in self.facts.records:
            numeric = [
                column for column in records.columns.values() if column and column[0].number is not None
            ]
            if 1 < len(numeric) == records.rows:
                names = {frozenset(column[0].key) for column in numeric}
                rows = {fact.scope for fact in numeric[0]}
                if names == rows:
                    found.add(records.index)
        return frozenset(found)

    @cached_property
    def dated(self) -> list[Fact]:
        """Facts with a day."""
        return [fact for fact in self.facts.facts if fact.day is not None]

    @cached_property
    def timed(self) -> list[Fact]:
        """Facts with a time of day."""
        return [fact for fact in self.facts.facts if fact.clock is not None]
