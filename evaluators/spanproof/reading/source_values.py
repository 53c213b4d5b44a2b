"""What the sources of a run hold: the numbers and words that a value of its answer may rest on.

In: texts. Out: whether a number, as code or an answer writes it, is one of theirs: the same, rounded, in
another scale (thousands, per cent), or worked out of two numbers of the task. Too much counts as held rather
than too little: what is held is never called invented. But a long log, which has an amount near any number,
holds in another scale only what would not be there by chance.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from spanproof.reading.numbers import list_cached_mentions
from spanproof.reading.numerals import compute_rounding_margin, list_numbers, normalise_number

_MAX_TEXT = 200_000
_MAX_TASK = 20_000
_MAX_TASK_NUMBERS = 30
# `17'750.00`, and `1.2` of `1.2G`.
# The first digit comes before the look behind it, so that `re` skips from digit to digit.
_NOTATIONS = re.compile(
    r"\d(?<![\w.,]\d)(?:\d{0,2}(?:['’]\d{3})+(?:\.\d+)?(?!\w)|\d*(?:[.,]\d+)?(?=[^\W\d_]))"
)
# What comes before and after a number without a sign, a separator, a letter or a further digit next to it.
# Two characters say what is before: a blank after a digit may group digits.
_ALONE_BEFORE = re.compile(r"(?:.*[^\w.,+'’\-\s]|.*[^\d]\s|\s|)\Z", re.DOTALL)
_ALONE_BEHIND = r"(?![\w.'’]|,[\d_,.]|[ \u00a0\u2009\u202f]\d)"
_WHOLE_ENDS = re.compile(_ALONE_BEHIND)
_DECIMAL_ENDS = re.compile(f"0*+{_ALONE_BEHIND}")
_SCALES = (1e3, 1e6, 1e9, 100.0, 0.01)
_PLACES = 9
# From so many amounts expected as near as the nearest one is, a text has it by chance.
_MOST_BY_CHANCE = 0.02
# Fewer digits are rounded from too much to say anything.
_FEWEST_DIGITS = 3


@dataclass(slots=True)
class _SortedNumbers:
    """The numbers of the first texts of a list: in their plain form, and as sorted amounts of each text."""

    numbers: set[str] = field(default_factory=set)
    _amounts: list[list[float]] = field(default_factory=list)

    def update_numbers(self, texts: Sequence[str]) -> _SortedNumbers:
        """Read the texts that came since the last call; return itself."""
        for text in texts[len(self._amounts) :]:
            found = _list_all_numbers(text)
            self._amounts.append(sorted(map(float, found)))
            self.numbers |= found
        return self

    def list_near(self, amount: float, reach: float) -> list[float]:
        """Return the amounts that are at most so far from one."""
        return [near for amounts in self._amounts for near in _select_near(amounts, amount, reach)]

    def has_scaled(self, amount: float, reach: float) -> bool:
        """Return whether a text has an amount at most so far from one, and not by chance."""
        for amounts in self._amounts:
            near = _select_near(amounts, amount, reach)
            if near:
                # Whole amounts differ by 1 at least.
                distance = max(min(1.0, 2 * reach), 2 * min(abs(value - amount) for value in near))
                # Of the amounts from a half of it to twice as much, so many are expected that near.
                around = _select_near(amounts, 1.25 * amount, 0.75 * amount)
                if len(around) * distance / (1.5 * amount) < _MOST_BY_CHANCE:
                    return True
        return False


@dataclass(slots=True)
class SourceValues:
    """Numbers and text of the sources. Grows with what sourced code shows.

    A number is first looked for as it is written, as most numbers of an answer are. All numbers
    of the texts are read where that finds none.
    """

    task: str = ""
    _texts: list[str] = field(default_factory=list)
    _folded_texts: list[str] = field(default_factory=list)
    _results: list[str] = field(default_factory=list)
    _values: _SortedNumbers = field(default_factory=_SortedNumbers)
    _result_values: _SortedNumbers = field(default_factory=_SortedNumbers)
    _worked_out: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Take the task, and what two of its numbers give."""
        self.add(self.task)
        spelled = (
            mention.value.amount for mention in list_cached_mentions(self.task[:_MAX_TASK]) if mention.spelled
        )
        self.add(" ".join(map(normalise_number, spelled)))
        numbers = sorted(map(float, list_numbers(self.task)))[:_MAX_TASK_NUMBERS]
        for left, right in combinations(numbers, 2):
            found = [left + right, abs(left - right), left * right]
            found += [left / right] if right else []
            found += [right / left] if left else []
            self._worked_out.update(map(normalise_number, found))

    def add(self, text: str) -> None:
        """Take a source's text."""
        if text:
            self._texts.append(text[:_MAX_TEXT])

    def add_result(self, text: str) -> None:
        """Take what a tool or sourced code gave."""
        self.add(text)
        if text:
            self._results.append(text[:_MAX_TEXT])

    def holds(self, number: str) -> bool:
        """Whether a source holds a number, given in its plain form."""
        if number in self._worked_out or _is_written(number, self._texts):
            return True
        values = self._values.update_numbers(self._texts)
        if number in values.numbers:
            return True
        value = float(number)
        if value < 1 and normalise_number(round(value * 100, _PLACES)) in values.numbers:
            return True  # 0.19 is 19 %
        if 0 < value < 2 and normalise_number(round(abs(value - 1) * 100, _PLACES)) in values.numbers:
            return True  # 1.19 is 19 % more
        digits = number.replace(".", "").strip("0")
        if len(digits) < _FEWEST_DIGITS:
            return False
        half = 0.5 * 10 ** -len(number.partition(".")[2]) if "." in number else 0.5
        if values.list_near(value, half):
            return True
        return any(values.has_scaled(value * scale, half * scale) for scale in _SCALES)

    def has_given(self, number: str) -> bool:
        """Whether a tool or sourced code gave a number, given in its plain form."""
        if _is_written(number, self._results):
            return True
        values = self._result_values.update_numbers(self._results)
        if number in values.numbers:
            return True
        margin = compute_rounding_margin(number)
        if margin is None:
            return False
        wanted = float(number)
        # What is beyond this is so by more than the errors of binary fractions; the rest is compared exactly.
        reach = margin * (1 + 1e-9) + abs(wanted) * 1e-12
        return any(abs(value - wanted) <= margin for value in values.list_near(wanted, reach))

    @property
    def gave_values(self) -> bool:
        """Whether a tool or sourced code gave any number of more than one digit."""
        return any(len(number) > 1 for number in self._result_values.update_numbers(self._results).numbers)

    def says(self, text: str) -> bool:
        """Whether a source holds a text."""
        self._folded_texts += map(str.casefold, self._texts[len(self._folded_texts) :])
        wanted = text.casefold()
        return any(wanted in source for source in self._folded_texts)


def _select_near(amounts: list[float], amount: float, reach: float) -> list[float]:
    """Return the sorted amounts that are at most so far from one."""
    return amounts[bisect_left(amounts, amount - reach) : bisect_right(amounts, amount + reach)]


def _is_written(number: str, texts: Sequence[str]) -> bool:
    """Whether a text has a number as it is, where nothing next to it could make it another one."""
    return any(_has_alone(text, number) for text in texts)


def _has_alone(text: str, number: str) -> bool:
    ends = _DECIMAL_ENDS if "." in number else _WHOLE_ENDS
    at = text.find(number)
    while at >= 0:
        if _ALONE_BEFORE.match(text[max(0, at - 2) : at]) and ends.match(text, at + len(number)):
            return True
        at = text.find(number, at + 1)
    return False


def _list_all_numbers(text: str) -> frozenset[str]:
    return list_numbers(text) | list_numbers(_normalise_notations(text))


def _normalise_notations(text: str) -> str:
    """Return the numbers of a text that have a unit without a blank or apostrophes: `1.2G`, `17'750.00`."""
    return " ; ".join(re.sub("['’]", "", found[0]) for found in _NOTATIONS.finditer(text))
