"""What the sources of a run hold: the numbers and words that a value of its answer may rest on.

In: texts. Out: whether a number, as code or an answer writes it, is one of theirs: the same, rounded, in
another scale (thousands, per cent), or worked out of two numbers of the task. Too much counts as held rather
than too little: what is held is never called invented.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from itertools import combinations

from spanproof.reading.numbers import scan_cached
from spanproof.reading.numerals import compute_rounding_margin, find_numbers, normalise_number

_MAX_TEXT = 200_000
_MAX_TASK = 20_000
_MAX_TASK_NUMBERS = 30
# `17'750.00`, and `1.2` of `1.2G`.
# The first digit comes before the look behind it, so that `re` skips from digit to digit.
_NOTATIONS = re.compile(
    r"\d(?<![\w.,]\d)(?:\d{0,2}(?:['’]\d{3})+(?:\.\d+)?(?!\w)|\d*(?:[.,]\d+)?(?=[^\W\d_]))"
)
_SCALES = (1.0, 1e3, 1e6, 1e9, 100.0, 0.01)
_PLACES = 9
# Fewer digits are rounded from too much to say anything.
_FEWEST_DIGITS = 3


@dataclass(slots=True)
class SourceValues:
    """Numbers and text of the sources. Grows with what sourced code shows."""

    task: str = ""
    numbers: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    _values: list[float] = field(default_factory=list)
    _worked_out: set[str] = field(default_factory=set)
    _given: set[str] = field(default_factory=set)
    _given_values: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Take the task, and what two of its numbers give."""
        self.add(self.task)
        spelled = (each.value.amount for each in scan_cached(self.task[:_MAX_TASK]) if each.spelled)
        self.add(" ".join(map(normalise_number, spelled)))
        given = [float(number) for number in find_numbers(self.task)][:_MAX_TASK_NUMBERS]
        for left, right in combinations(given, 2):
            found = [left + right, abs(left - right), left * right]
            found += [left / right] if right else []
            found += [right / left] if left else []
            self._worked_out.update(map(normalise_number, found))

    def add(self, text: str) -> None:
        """Take a source's text."""
        self._take(text)

    def holds(self, number: str) -> bool:
        """Whether a source holds a number, given in its plain form."""
        if number in self.numbers or number in self._worked_out:
            return True
        value = float(number)
        if value < 1 and normalise_number(round(value * 100, _PLACES)) in self.numbers:
            return True  # 0.19 is 19 %
        if 0 < value < 2 and normalise_number(round(abs(value - 1) * 100, _PLACES)) in self.numbers:
            return True  # 1.19 is 19 % more
        digits = number.replace(".", "").strip("0")
        if len(digits) < _FEWEST_DIGITS:
            return False
        half = 0.5 * 10 ** -len(number.partition(".")[2]) if "." in number else 0.5
        return any(self._is_near(value * scale, half * scale) for scale in _SCALES)

    def add_result(self, text: str) -> None:
        """Take what a tool or sourced code gave."""
        for number in self._take(text) - self._given:
            self._given.add(number)
            insort(self._given_values, float(number))

    def _take(self, text: str) -> frozenset[str]:
        """Take a text; return its numbers."""
        if not text:
            return frozenset()
        self.words.append(text[:_MAX_TEXT].casefold())
        numbers = find_numbers(text) | find_numbers(_normalise_notations(text[:_MAX_TEXT]))
        for number in numbers - self.numbers:
            self.numbers.add(number)
            insort(self._values, float(number))
        return numbers

    def gave(self, number: str) -> bool:
        """Whether a tool or sourced code gave a number, given in its plain form."""
        if number in self._given:
            return True
        margin = compute_rounding_margin(number)
        if margin is None:
            return False
        wanted = float(number)
        # What is beyond this is so by more than the errors of binary fractions; the rest is compared exactly.
        reach = margin * (1 + 1e-9) + abs(wanted) * 1e-12
        low = bisect_left(self._given_values, wanted - reach)
        near = self._given_values[low : bisect_right(self._given_values, wanted + reach)]
        return any(abs(value - wanted) <= margin for value in near)

    @property
    def gave_values(self) -> bool:
        """Whether a tool or sourced code gave any number of more than one digit."""
        return any(len(number) > 1 for number in self._given)

    def says(self, text: str) -> bool:
        """Whether a source holds a text."""
        wanted = text.casefold()
        return any(wanted in each for each in self.words)

    def _is_near(self, value: float, margin: float) -> bool:
        low = bisect_left(self._values, value - margin)
        return bisect_right(self._values, value + margin) > low


def _normalise_notations(text: str) -> str:
    """Return the numbers of a text that have a unit without a blank or apostrophes: `1.2G`, `17'750.00`."""
    return " ; ".join(re.sub("['’]", "", found[0]) for found in _NOTATIONS.finditer(text))
