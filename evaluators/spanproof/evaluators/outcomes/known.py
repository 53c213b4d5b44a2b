"""What the sources of a run hold: the numbers and words that a value of its answer may rest on.

In: texts. Out: whether a number, as code or an answer writes it, is one of theirs: the same, rounded, in
another scale (thousands, per cent), or worked out of two numbers of the task. Too much counts as held rather
than too little: what is held is never called invented.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

# `1,234.5`, `1_234.5`, `1.234,5`, `1 234,5`, `234,5`: a comma before other than three digits is a point.
_NUMBER = re.compile(
    r"(?<![\w.])(?:"
    r"(?P<european>\d{1,3}(?:\.\d{3})+,\d+)"
    r"|(?P<spaced>\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d{1,2})?(?![\d.,]*\d))"
    r"|(?P<comma>\d+,(?:\d{1,2}|\d{4,})(?![\d.,]*\d))"
    r"|\d[\d,_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?!\w)"
)

_SPACED = re.compile(r"\d[ \u00a0\u2009\u202f]\d{3}")
_PARTING = re.compile(r",|(?<=\d)[ \u00a0\u2009\u202f](?=\d)")
_MAX_TEXT = 200_000
_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = tuple(str.split("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"))
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SPELLED = (
    {word: number for number, word in enumerate((*_UNITS, *_TEENS))}
    | {word: 20 + 10 * number for number, word in enumerate(_TENS)}
    | {"dozen": 12, "hundred": 100, "thousand": 1000}
)
# `twenty-five`, `a dozen`: the numbers up to 99 as people spell them.
_IN_WORDS = re.compile(
    rf"\b(?P<first>{'|'.join(_SPELLED)})(?:[- ](?P<unit>{'|'.join(_UNITS[1:])}))?\b", re.IGNORECASE
)

_MAX_TASK_NUMBERS = 30
_SCALES = (1.0, 1e3, 1e6, 1e9, 100.0, 0.01)
_PLACES = 9
# Fewer digits are rounded from too much to say anything.
_FEWEST_DIGITS = 3


@dataclass(slots=True)
class Known:
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
        self.add(" ".join(_read_spelled_numbers(self.task)))
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
        numbers = find_numbers(text)
        for number in numbers - self.numbers:
            self.numbers.add(number)
            insort(self._values, float(number))
        return numbers

    def gave(self, number: str) -> bool:
        """Whether a tool or sourced code gave a number, given in its plain form."""
        if number in self._given:
            return True
        margin = _compute_margin(number)
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


def _read_spelled_numbers(text: str) -> Iterator[str]:
    """Yield the numbers that a text writes in English words, in digits."""
    for match in _IN_WORDS.finditer(text[:_MAX_TEXT]):
        tens, unit = _SPELLED[match["first"].lower()], match["unit"]
        yield str(tens)
        if unit is not None and 20 <= tens <= 90:
            yield str(tens + _SPELLED[unit.lower()])


def find_numbers(text: str) -> frozenset[str]:
    """Return a text's numbers in plain form, read both ways if a comma or space groups digits or cells."""
    found = {number for _, number in parse_numbers(text)}
    if "," in text or _SPACED.search(text[:_MAX_TEXT]):
        found |= {number for _, number in parse_numbers(_PARTING.sub(" | ", text))}
    return frozenset(found)


def parse_numbers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a text in order: as written, and in their plain form."""
    for match in _NUMBER.finditer(text[:_MAX_TEXT]):
        written = match[0].rstrip(",_")
        yield written, normalise_number(_with_point(written) if match.lastgroup else written)


def _with_point(written: str) -> str:
    """Return a number of another language's spelling with a point before its decimals and no groups."""
    whole, separator, decimals = re.sub(r"\s", "", written).replace(",", ".").rpartition(".")
    return f"{whole.replace('.', '')}.{decimals}" if separator else decimals


def normalise_number(number: str | float) -> str:
    """Return one spelling of a number: `1,200.50` and `1_200.5` are `1200.5`."""
    text = number.replace(",", "").replace("_", "") if isinstance(number, str) else repr(float(number))
    if "e" in text.lower() or not isinstance(number, str):
        try:
            text = f"{float(text):.10f}"
        except (ValueError, OverflowError):
            return "0"
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text


def rounds_to(number: str, written: str) -> bool:
    """Whether a number is, at the precision of the other, that other: 56833.333 and 56,833.33."""
    if number == written:
        return True
    margin = _compute_margin(written)
    return margin is not None and abs(float(number) - float(written)) <= margin


def _compute_margin(written: str) -> float | None:
    """Return how far a number may be from this one to be it, rounded; None where it has too few digits."""
    if len(written.replace(".", "")) < _FEWEST_DIGITS:
        return None
    return float(0.5 * 10.0 ** -len(written.partition(".")[2]))
