"""Numbers written as words: "seven", "twenty-one percent", "two dozen", "a dozen and a half".

In: prose. Out: `Quantity`s. "One" alone is a pronoun far more often than a number, and "two thirds" says a
share, and roughly: neither is read. Dozens round to one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spanproof.evaluators.layers.groundedness.language.quantity import SCALES, Quantity
from spanproof.evaluators.layers.groundedness.language.units import BY_NAME, PERCENT
from spanproof.evaluators.layers.groundedness.language.words import said_in

_UNIT_AFTER = re.compile(r"[ \u00a0]([A-Za-z]{3,14})(?!\w)")
_FRACTION_WORD = re.compile(
    r"[ -](?:thirds?|quarters?|fifths?|tenths?|halves|half)\b|\s+and\s+a\s+(?:half|quarter)\b", re.IGNORECASE
)
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
_NUMBERS = {word: number for number, word in enumerate(_WORDS.split())} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SPELLED = re.compile(
    r"\b(?:(?P<half>half\s+)?(?P<dozen>an?\s+dozen)(?P<more>\s+and\s+a\s+half)?"
    rf"|(?P<word>{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
    r"(?:[- ](?P<ones>one|two|three|four|five|six|seven|eight|nine))?\b"
    r"(?:\s+(?P<scale>hundred|thousand|million|billion|dozen|percent))?)\b",
    re.IGNORECASE,
)
_ONE_AND = re.compile(
    r"\b(?:an?|one)\s+(?P<unit>hour|minute|day|week|month|year)(?:\s+and\s+a\s+(?P<part>half|quarter)\b"
    r"|(?=\s+and\s+\d))"
    rf"|\b(?P<count>{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}|\d{{1,3}})\s+and\s+a\s+"
    r"(?P<more>half|quarter)\s+(?P<units>hour|minute|day|week|month|year)s\b",
    re.IGNORECASE,
)
"""One of a unit where more follows, or some and a part: "an hour and 15 minutes", "two and a half days"."""
_PARTS = {"half": 0.5, "quarter": 0.25}
_CUES = frozenset((*_NUMBERS, "dozen"))
_LASTING = ("hour", "minute", "day", "week", "month", "year")
_ONE_CUES = frozenset((*_LASTING, *(f"{word}s" for word in _LASTING)))
_DOZEN = 12.0
_DOZEN_STEP = 2.0
"""What a number of dozens is exact to: one more or less."""


def spelled_in(text: str) -> Iterator[Quantity]:
    """Every number of a text that is written as a word."""
    said = said_in(text)
    for match in _ONE_AND.finditer(text) if "and" in said and not _ONE_CUES.isdisjoint(said) else ():
        count, part = (match["count"] or "one").lower(), (match["part"] or match["more"] or "").lower()
        value = (float(count) if count.isdigit() else _NUMBERS[count]) + _PARTS.get(part, 0.0)
        unit = BY_NAME[(match["unit"] or match["units"]).lower()]
        step = _PARTS.get(part, 0.5) * 2 if match["unit"] else _PARTS[part]
        yield Quantity(match.group(), match.start(), match.end(), value, step, 0, 1, unit, spelled=True)
    for match in _SPELLED.finditer(text) if not _CUES.isdisjoint(said) else ():
        if match["dozen"]:
            value = _DOZEN * (0.5 if match["half"] else 1.5 if match["more"] else 1.0)
            yield _quantity(text, match, match.end(), value, _DOZEN_STEP)
        elif not _FRACTION_WORD.match(text, match.end()):
            found = _number(text, match)
            if found is not None:
                yield found


def _number(text: str, match: re.Match[str]) -> Quantity | None:
    word, scale = match["word"].lower(), (match["scale"] or "").lower()
    if word == "one" and not scale:
        return None
    value = float(_NUMBERS[word])
    if match["ones"] and value >= 20:
        value += _NUMBERS[match["ones"].lower()]
    if scale == "percent":
        return _quantity(text, match, match.end(), value, 1.0, percent=True)
    factor = SCALES.get(scale, 1.0)
    return _quantity(text, match, match.end(), value * factor, _DOZEN_STEP if scale == "dozen" else factor)


def _quantity(
    text: str, match: re.Match[str], end: int, value: float, ulp: float, *, percent: bool = False
) -> Quantity:
    unit = PERCENT if percent else None
    after = _UNIT_AFTER.match(text, end) if unit is None else None
    if after and after[1].lower() in BY_NAME:
        unit, end = BY_NAME[after[1].lower()], after.end()
    scaled = ulp != 1.0 and not match["dozen"] and (match["scale"] or "").lower() != "dozen"
    start = match.start()
    return Quantity(text[start:end], start, end, value, ulp, 0, 1, unit, scaled, spelled=True)
