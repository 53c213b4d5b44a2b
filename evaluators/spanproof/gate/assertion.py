"""Assertions as values.

A `CaseAssertion` compares the scores of each case and counts the cases that satisfy it. An
`AggregateAssertion` compares one number over all scores, with a threshold or with a baseline. `str()` of an
assertion is its canonical text, which parses to an equal assertion. A
`TrialsAssertion` compares the chance that trials pass. Shares are exact fractions: 90 % of 10
cases is 9.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from spanproof.evaluators.scores import ScoreSpec, Unit, find_nearest, find_score, get_score_id
from spanproof.trace import Cohort, Label, Layer, Scored

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""A name of a score that may be written without quotes."""


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


def is_satisfied(value: float, comparison: Comparison, threshold: float) -> bool:
    """Whether the comparison holds."""
    return _COMPARE[comparison](value, threshold)


def evaluate_range(comparison: Comparison, threshold: float, low: float, high: float) -> bool | None:
    """Return whether the comparison holds for every value from `low` to `high`: True, False for none.

    None where it depends on the value.
    """
    below, above = threshold < low, threshold > high
    match comparison:
        case Comparison.AT_LEAST:
            always, never = threshold <= low, above
        case Comparison.ABOVE:
            always, never = below, threshold >= high
        case Comparison.AT_MOST:
            always, never = threshold >= high, below
        case Comparison.BELOW:
            always, never = above, threshold <= low
        case Comparison.EQUAL:
            always, never = False, below or above
        case Comparison.UNEQUAL:
            always, never = below or above, False
    if always:
        return True
    if never:
        return False
    return None


@dataclass(frozen=True, slots=True)
class AllCases:
    """Every judged case."""

    def count_needed(self, judged: int) -> int:
        """Return how many of so many judged cases must satisfy the assertion."""
        return judged

    def __str__(self) -> str:
        return "for all cases"


@dataclass(frozen=True, slots=True)
class AtLeastShare:
    """A share of the judged cases, `percent` from 0 to 100."""

    percent: Fraction

    def count_needed(self, judged: int) -> int:
        """Return how many of so many judged cases must satisfy the assertion; exact, rounded up."""
        return -((-self.percent * judged) // 100)

    @property
    def first_with_slack(self) -> int | None:
        """The smallest number of judged cases of which one may fail; None where none ever may."""
        return -(-100 // (100 - self.percent)) if self.percent < 100 else None

    def __str__(self) -> str:
        return f"for at_least {_format_decimal(self.percent)}% of cases"


@dataclass(frozen=True, slots=True)
class AtLeastCount:
    """A number of cases, however many were judged."""

    count: int

    def count_needed(self, judged: int) -> int:
        """Return how many cases must satisfy the assertion."""
        return self.count

    def __str__(self) -> str:
        return f"for at_least {self.count} cases"


Quantifier: TypeAlias = AllCases | AtLeastShare | AtLeastCount


class Match(StrEnum):
    """How a cohort dimension is compared."""

    EQUAL = "="
    UNEQUAL = "!="
    PATTERN = "~"
    IN = "in"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on the cohort of a case.

    Attributes:
        values: one text; for `in` any number of them; for `~` a regular expression that is searched for.
    """

    dimension: str
    match: Match
    values: tuple[str, ...]

    def holds_for(self, cohort: Cohort) -> bool:
        """Whether a case of this cohort satisfies it."""
        return self.holds(str(getattr(cohort, self.dimension)))

    def holds(self, value: str) -> bool:
        """Whether a value of the dimension satisfies it."""
        match self.match:
            case Match.UNEQUAL:
                return value != self.values[0]
            case Match.PATTERN:
                return re.search(self.values[0], value) is not None
            case Match.EQUAL | Match.IN:
                return value in self.values

    def __str__(self) -> str:
        quoted = [json.dumps(value, ensure_ascii=False) for value in self.values]
        if self.match is Match.IN:
            right = f"({', '.join(quoted)})"
        else:
            right = quoted[0]
        return f"{self.dimension} {self.match.value} {right}"


@dataclass(frozen=True, slots=True)
class ScoreRef:
    """The score that an assertion is about.

    Attributes:
        name: as it is written: the sub-score's, or the layer's for its own value.
    """

    layer: Layer
    name: str

    @property
    def spec(self) -> ScoreSpec | None:
        """Its entry in the registry; None for a score of the user's own evaluator."""
        return find_score(self.layer, self.name)

    @property
    def row_name(self) -> str:
        """The name of the score that holds its number."""
        return self.spec.row_name if self.spec else self.name

    @property
    def is_own_value(self) -> bool:
        """Whether it is the layer's own value, which every case has."""
        return self.name == self.layer.value

    @property
    def is_raw(self) -> bool:
        """Whether its number is the raw value of a metric, else it is a value from 0 to 1."""
        return self.spec is not None and self.spec.is_raw

    @property
    def unit(self) -> Unit:
        """What its number is counted in; `NONE` for a value from 0 to 1."""
        return self.spec.unit if self.spec else Unit.NONE

    @property
    def high(self) -> float:
        """The largest number it can have; the smallest is 0."""
        return self.spec.high if self.spec else 1.0

    def find_number(self, scored: Scored) -> float | None:
        """Return the number that is compared; None where a metric was stored without its raw value."""
        return scored.raw if self.is_raw else scored.value

    def __str__(self) -> str:
        if self.spec is not None or self._is_plain:
            return get_score_id(self.layer, self.name)
        return f"{self.layer.value}.{json.dumps(self.name, ensure_ascii=False)}"

    @property
    def _is_plain(self) -> bool:
        """Whether the grammar reads the name without quotes."""
        is_word = PLAIN_NAME.fullmatch(self.name) is not None and self.name != "score"
        return is_word and find_nearest(self.layer, self.name) is None


@dataclass(frozen=True, slots=True)
class CaseAssertion:
    """A claim about the scores of each of many cases.

    Attributes:
        threshold: a number in the score's unit, or a verdict, which is compared with the label.
        where: conditions on the cohort; cases that do not meet them all are not cases of this assertion.
    """

    score: ScoreRef
    comparison: Comparison
    threshold: float | Label
    quantifier: Quantifier = AllCases()
    where: tuple[Condition, ...] = ()

    def evaluate(self, scored: Scored) -> bool | None:
        """Whether this score satisfies it; None where it lacks the verdict or the raw value needed."""
        if isinstance(self.threshold, Label):
            if scored.label is None:
                return None
            return _COMPARE[self.comparison](scored.label, self.threshold)
        number = self.score.find_number(scored)
        if number is None:
            return None
        return is_satisfied(number, self.comparison, self.threshold)

    def __str__(self) -> str:
        threshold = format_threshold(self.threshold, self.score.unit)
        return (
            f"{self.score} {self.comparison.value} {threshold} {self.quantifier}{_format_where(self.where)}"
        )


class Function(StrEnum):
    """The function that is computed over the scores."""

    AVG = "avg"
    P50 = "p50"
    P95 = "p95"
    MAX = "max"
    FAIL_RATE = "fail_rate"
    OPEN_RATE = "open_rate"
    ERROR_RATE = "error_rate"
    PRESENCE_RATE = "presence_rate"
    SANDBOX_PASS_RATE = "sandbox_pass_rate"  # noqa: S105 - a share, no password
    """Of the cases whose code was tried, the share whose code works; it is written without a score."""
    CODE_PRESENCE = "code_presence"
    """The share of the cases that bear code; it is written without a score."""

    @property
    def has_score(self) -> bool:
        """Whether it is written with a score."""
        return self not in (Function.SANDBOX_PASS_RATE, Function.CODE_PRESENCE)

    @property
    def is_rate(self) -> bool:
        """Whether it is a share, else it has the score's unit."""
        return self not in (Function.AVG, Function.P50, Function.P95, Function.MAX)


@dataclass(frozen=True, slots=True)
class Bound:
    """An aggregate compared with a number."""

    comparison: Comparison
    threshold: float

    def format_limit(self, unit: Unit) -> str:
        """Return its canonical text."""
        return f"{self.comparison.value} {format_threshold(self.threshold, unit)}"


@dataclass(frozen=True, slots=True)
class NoWorse:
    """An aggregate compared with that of a baseline; it may be worse by `by` at most."""

    by: float = 0.0

    def format_limit(self, unit: Unit) -> str:
        """Return its canonical text."""
        return "no_worse_than baseline" + (f" by {format_threshold(self.by, unit)}" if self.by else "")


@dataclass(frozen=True, slots=True)
class AggregateAssertion:
    """A claim about one number over all scores."""

    function: Function
    score: ScoreRef
    limit: Bound | NoWorse
    where: tuple[Condition, ...] = ()

    @property
    def unit(self) -> Unit:
        """The unit of the number."""
        if self.function.is_rate:
            return Unit.NONE
        return self.score.unit

    @property
    def high(self) -> float:
        """The largest number there can be; the smallest is 0."""
        return 1.0 if self.function.is_rate else self.score.high

    @property
    def larger_is_better(self) -> bool:
        """Whether a larger number is an improvement: for values from 0 to 1 and for presence."""
        if self.function.is_rate:
            return self.function in (
                Function.PRESENCE_RATE,
                Function.SANDBOX_PASS_RATE,
                Function.CODE_PRESENCE,
            )
        return self.score.unit is Unit.NONE

    def __str__(self) -> str:
        return f"{self.subject} {self.limit.format_limit(self.unit)}{_format_where(self.where)}"

    @property
    def subject(self) -> str:
        """The compared value: `avg(groundedness.score)`, `sandbox_pass_rate`."""
        if not self.function.has_score:
            return self.function.value
        return f"{self.function.value}({self.score})"


@dataclass(frozen=True, slots=True)
class TrialsAssertion:
    """A claim about the trials of each case: `pass@5 >= 0.8`, `pass^3 >= 0.5`.

    Attributes:
        all_of: whether all `k` trials must pass (`pass^k`), else one of them (`pass@k`).
    """

    k: int
    all_of: bool
    limit: Bound | NoWorse
    where: tuple[Condition, ...] = ()

    unit: ClassVar[Unit] = Unit.NONE
    high: ClassVar[float] = 1.0

    def __str__(self) -> str:
        return f"{self.subject} {self.limit.format_limit(self.unit)}{_format_where(self.where)}"

    @property
    def subject(self) -> str:
        """The compared value: `pass@5`."""
        return f"pass{'^' if self.all_of else '@'}{self.k}"


ScoreAssertion: TypeAlias = CaseAssertion | AggregateAssertion
"""An assertion about one score."""

Assertion: TypeAlias = ScoreAssertion | TrialsAssertion


def is_about(assertion: ScoreAssertion, cohort: Cohort) -> bool:
    """Whether a case of this cohort is one of the assertion's cases."""
    return all(condition.holds_for(cohort) for condition in assertion.where)


def format_threshold(threshold: float | Label, unit: Unit) -> str:
    """Return a verdict, or the shortest plain decimal with its unit."""
    if isinstance(threshold, Label):
        return threshold.value
    number = _format_decimal(Fraction(repr(threshold)))
    return f"{number} {unit.value}" if unit else number


def _format_where(conditions: Sequence[Condition]) -> str:
    if conditions:
        return " where " + " and ".join(map(str, conditions))
    return ""


def _format_decimal(number: Fraction) -> str:
    """Return the shortest plain decimal; the number has one, as it was read from one."""
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    scaled = str(int(number * 10**digits)).rjust(digits + 1, "0")
    if digits:
        return f"{scaled[:-digits]}.{scaled[-digits:]}"
    return scaled
