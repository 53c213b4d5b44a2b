"""Facts: the single values that outputs hold, each under the words that name it.

A `Fact` is one value with its key, its row and its unit; a `Records` is a list or table, so that values can
be counted, added up and compared along a column. `Facts` is all of one answer's outputs. Values only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

from spanproof.evaluators.layers.groundedness.language.units import Dimension, Unit


@dataclass(slots=True)
class Fact:
    """One value of an output; there are many, and only `measure` changes one once it is read.

    Attributes:
        output: index of the output.
        label: the place, readable: `orders[2].qty`.
        key: the canonical words of the value's own key, its unit's word left out.
        scope: words of the keys above it and of what its row is about ("Oslo").
        number: the value where it is one; `step` is the last digit it was written with, 0 where it is exact.
        weak: found in prose, so its words are only what stands near it.
        records, row: the list or table it stands in, -1 where it stands alone.
    """

    output: int
    label: str
    text: str
    key: tuple[str, ...] = ()
    scope: frozenset[str] = frozenset()
    number: float | None = None
    unit: Unit | None = None
    day: date | None = None
    string: str | None = None
    flag: bool | None = None
    null: bool = False
    weak: bool = False
    records: int = -1
    row: int = -1
    scale: float = 1.0
    """What the key says the number counts in: 1e6 for `revenue_m`."""
    fraction: bool = False
    """The key names a share of a whole."""
    money: bool = False
    """The key names an amount of money."""
    counted: bool = False
    """The key names a number of things."""
    said: Callable[[], frozenset[str]] | None = field(default=None, compare=False, repr=False)
    """Of a value found in prose, what reads its clause, until it has been read."""
    currency: str = ""
    """The currency that the object it stands in names beside it."""
    line: int = -1
    """Of a value found in prose, the number of its line, counted over all outputs."""
    yearless: bool = False
    """The day is written without a year."""
    clock: int | None = None
    """The time of day where it is one, in seconds since midnight."""
    offset: int | None = None
    """Minutes from UTC of that time, where the output says."""
    latent: Unit | None = None
    """The unit that the last word of its key may be."""
    when: tuple[float | None, ...] | None = field(default=None, init=False, compare=False, repr=False)
    """Where its names place it in time, once `order` has been asked."""
    words: frozenset[str] = field(init=False, compare=False, repr=False)
    """Everything that names it."""
    dimension: Dimension | None = field(init=False, compare=False, repr=False)
    """What it measures, as far as its unit or its key says."""

    def __post_init__(self) -> None:
        """Work out once what every rule asks of every fact."""
        self.words = self.scope.union(self.key)
        kept = Dimension.FRACTION if self.fraction else Dimension.MONEY if self.money else None
        self.dimension = self.unit.dimension if self.unit is not None else kept

    def measure(self) -> None:
        """Take the last word of the key for the unit that it may be."""
        self.unit, self.latent = self.latent, None
        self.fraction = self.money = self.counted = False
        self.key = self.key[:-1] or self.key
        self.__post_init__()

    _clause: frozenset[str] = field(default=frozenset(), init=False, compare=False, repr=False)

    @property
    def clause(self) -> frozenset[str]:
        """Of a value found in prose, the words of its own clause and of what its sentence is about."""
        if self.said is not None:
            self._clause, self.said = self.said(), None
        return self._clause


@dataclass(slots=True)
class Records:
    """A list, a table, or a mapping of like values.

    Attributes:
        index: its number among all records.
        words: what names it: the key it stands under.
        rows: how many entries it has.
        columns: its facts by column key, in order of the rows.
    """

    index: int
    output: int
    label: str
    words: tuple[str, ...]
    rows: int = 0
    columns: dict[str, list[Fact]] = field(default_factory=dict)
    _measured: list[tuple[str, list[Fact]]] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    _numbering: frozenset[str] | None = field(default=None, init=False, repr=False, compare=False)

    def numbering(self) -> frozenset[str]:
        """The words of columns that only number its rows on; worked out once."""
        if self._numbering is None:
            found = (column for column in self.columns.values() if self.rows > 1 and is_numbering(column))
            self._numbering = frozenset(word for column in found for word in column[0].key)
        return self._numbering

    def measured(self) -> list[tuple[str, list[Fact]]]:
        """The columns that hold nothing but numbers, in one unit; of a mapping its values by their unit."""
        if self._measured is None:
            if self.rows < 0:
                columns = [("", alike) for alike in by_measure(self.columns.get("", ()))]
            else:
                columns = list(self.columns.items())
            self._measured = [
                (name, numbers)
                for name, column in columns
                if (numbers := [fact for fact in column if fact.number is not None])
                and all(fact.number is not None or fact.null for fact in column)
                and all(fact.unit is numbers[0].unit or fact.unit == numbers[0].unit for fact in numbers)
            ]
        return self._measured


def is_numbering(column: Sequence[Fact]) -> bool:
    """Whether a column only numbers its rows on, as `run` does in 1, 2, 3: its values are names."""
    first = column[0].number if len(column) > 1 else None
    return first in (0, 1) and all(fact.number == first + place for place, fact in enumerate(column))


def by_measure(facts: Sequence[Fact]) -> list[list[Fact]]:
    """Values in groups of one unit, where all of them are values: only like ones add up."""
    groups: dict[Unit | None, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(fact.unit, []).append(fact)
    return list(groups.values())


@dataclass(slots=True)
class Facts:
    """All facts of the outputs, and what was not read.

    Attributes:
        empty: indices of outputs that hold nothing (`[]`, `null`, "no results").
        cut: an output was longer than what is read: a value not found may stand in the rest.
        scales: what an output says its amounts are in ("in millions"), by its index.
        documents: objects that stand for themselves, as output and the range of their facts.
        currencies: the currency an object names, by output and path of the object.
        texts: the outputs as text.
        lines: how many lines of prose have been read.
        todays: the days it may be for the people of the run, the likeliest first; empty where nobody knows.
    """

    facts: list[Fact] = field(default_factory=list)
    records: list[Records] = field(default_factory=list)
    empty: set[int] = field(default_factory=set)
    cut: bool = False
    scales: dict[int, float] = field(default_factory=dict)
    documents: list[tuple[int, int, int]] = field(default_factory=list)
    currencies: dict[tuple[int, str], str] = field(default_factory=dict)
    texts: Sequence[str] = ()
    lines: int = 0
    todays: Sequence[date] = ()

    def numbers(self) -> list[Fact]:
        """Facts with a number, those in prose included."""
        return [fact for fact in self.facts if fact.number is not None]
