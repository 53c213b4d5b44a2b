"""What an assertion says, as values.

`str()` of an assertion is its canonical text, which parses to an equal assertion. Shares are exact fractions:
90 % of 10 cases is 9, and never 9 and a rounding error.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias

from spanproof.trace import Cohort, Label, Layer, Scored


class Comparison(StrEnum):
    """How a value is compared."""

    AT_LEAST = ">="
    ABOVE = ">"
    AT_MOST = "<="
    BELOW = "<"
    EQUAL = "=="
    UNEQUAL = "!="


_COMPARE: dict[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.AT_LEAST: operator.ge,
    Comparison.ABOVE: operator.gt,
    Comparison.AT_MOST: operator.le,
    Comparison.BELOW: operator.lt,
    Comparison.EQUAL: operator.eq,
    Comparison.UNEQUAL: operator.ne,
}


@dataclass(frozen=True, slots=True)
class AllCases:
    """Every judged case."""

    def needed(self, judged: int) -> int:
        """How many of so many judged cases must satisfy the assertion."""
        return judged

    def __str__(self) -> str:
        return "for all cases"


@dataclass(frozen=True, slots=True)
class AtLeastShare:
    """A share of the judged cases, `percent` from 0 to 100."""

    percent: Fraction

    def needed(self, judged: int) -> int:
        """How many of so many judged cases must satisfy the assertion; exact, rounded up."""
        return -((-self.percent * judged) // 100)

    def __str__(self) -> str:
        return f"for at_least {_decimal(self.percent)}% of cases"


@dataclass(frozen=True, slots=True)
class AtLeastCount:
    """A number of cases, however many were judged."""

    count: int

    def needed(self, judged: int) -> int:
        """How many cases must satisfy the assertion."""
        return self.count

    def __str__(self) -> str:
        return f"for at_least {self.count} cases"


Quantifier: TypeAlias = AllCases | AtLeastShare | AtLeastCount


@dataclass(frozen=True, slots=True)
class Assertion:
    """One claim about the scores of many cases.

    Attributes:
        layer: whose score.
        name: the sub-score's name; the layer's name for its own value, which is written `layer.score`.
        threshold: a number, compared with the value, or a verdict, compared with the label.
        where: cohort dimensions and the values they must have; no others are cases of this assertion.
    """

    layer: Layer
    name: str
    comparison: Comparison
    threshold: float | Label
    quantifier: Quantifier = AllCases()
    where: tuple[tuple[str, str], ...] = ()

    @property
    def metric(self) -> str:
        """`layer.score` or `layer.name`."""
        return f"{self.layer.value}.{'score' if self.is_own_value else self.name}"

    @property
    def is_own_value(self) -> bool:
        """Whether it is about the layer's own value, which every case has."""
        return self.name == self.layer.value

    def is_about(self, cohort: Cohort) -> bool:
        """Whether a case of this cohort is one of its cases."""
        return all(getattr(cohort, dimension) == value for dimension, value in self.where)

    def satisfied_by(self, scored: Scored) -> bool | None:
        """Whether this score satisfies it; None where a verdict is asked for and there is none."""
        compare = _COMPARE[self.comparison]
        if isinstance(self.threshold, Label):
            return None if scored.label is None else compare(scored.label, self.threshold)
        return compare(scored.value, self.threshold)

    def __str__(self) -> str:
        threshold = (
            self.threshold.value
            if isinstance(self.threshold, Label)
            else _decimal(Fraction(repr(self.threshold)))
        )
        text = f"{self.metric} {self.comparison.value} {threshold} {self.quantifier}"
        if self.where:
            text += " where " + " and ".join(
                f"{dimension} = {json.dumps(value, ensure_ascii=False)}" for dimension, value in self.where
            )
        return text


def _decimal(number: Fraction) -> str:
    """The shortest plain decimal; the number has one, as it was read from one."""
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    scaled = str(int(number * 10**digits)).rjust(digits + 1, "0")
    return f"{scaled[:-digits]}.{scaled[-digits:]}" if digits else scaled
