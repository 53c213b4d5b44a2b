"""Quantities: numbers in text with sign, scale word, unit, currency and the precision they are written with.

In: any text. Out: `Quantity` values with their place. One compiled expression, linear in the text; digits
that belong to an identifier (`SKU12`, `v1.2.3`, `A-766`) are no quantities. Never evaluates anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.units import (
    BY_NAME,
    MONEY,
    PERCENT,
    SYMBOLS,
    Dimension,
    Unit,
)

_SCALES = {
    "k": 1e3, "thousand": 1e3, "thousands": 1e3, "mn": 1e6, "mm": 1e6, "mio": 1e6, "mil": 1e6, "million": 1e6,
    "millions": 1e6, "bn": 1e9, "billion": 1e9, "billions": 1e9, "tn": 1e12, "trillion": 1e12, "hundred": 1e2,
    "dozen": 12.0, "lakh": 1e5, "crore": 1e7,
}  # fmt: skip
_SPACED_UNITS_NEVER = frozenset(("in", "b", "t", "oz", "pp", "cent"))
_SIGNS = "-−–"

_QUANTITY = re.compile(
    r"(?P<open>\()?"
    r"(?P<sign>(?<![\w)\]%.])[-−–+])?\s?"
    r"(?P<symbol>(?:US|CA|AU|NZ|HK)?\$|€|£|¥|₹|₽|₩|\b(?:USD|EUR|GBP|JPY|INR|CHF|CAD|AUD)\s?)?"
    r"(?P<inner>[-−–])?"
    r"(?<![\w.])(?P<number>\d{1,3}(?:\.\d{3})+,\d{1,2}(?![\d,])"
    r"|\d{1,3}(?:[,\u00a0\u202f\u2009'’]\d{3})+(?:\.\d+)?(?![\d])"
    r"|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
    r"|\.\d+(?:[eE][+-]?\d{1,3})?)"
    r"(?P<tail>(?:[ \u00a0\u202f-]?(?:°\s?[CFcf]\b|[%¢€£¥₹]|[A-Za-zµμ]{1,14}/[a-z]{1,6}|[A-Za-zµμ]{1,14}))?)"
)
_STATED = re.compile(r"(?:\b(?:is|was|were|are|of|at)|[:=])\s*$", re.IGNORECASE)
_WORD_AFTER = re.compile(r"[ \u00a0]?([A-Za-zµμ]{1,14}|[%€£¥₹])(?![\w])")
_FRACTION_WORD = re.compile(r"[ -](?:thirds?|quarters?|fifths?|tenths?|halves|half)\b", re.IGNORECASE)
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_SPELLED = re.compile(
    r"\b("
    + "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))
    + r")(?:[- ](one|two|three|four|five|six|seven|eight|nine))?\b"
    r"(?:\s+(hundred|thousand|million|billion|dozen|percent))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it is written.

    Attributes:
        value: with sign and scale word applied, in its own unit.
        ulp: the step of its last written digit, in the same unit: half of it is what rounding may hide.
        decimals: digits written after the point.
        digits: significant digits written.
        spelled: written as a word ("seven").
    """

    text: str
    start: int
    end: int
    value: float
    ulp: float
    decimals: int
    digits: int
    unit: Unit | None = None
    scaled: bool = False
    spelled: bool = False

    @property
    def dimension(self) -> Dimension | None:
        """What it measures, None for a bare number."""
        return self.unit.dimension if self.unit else None


def quantities_in(text: str, *, spelled: bool = False) -> Iterator[Quantity]:
    """Every quantity of a text in order; `spelled` includes number words."""
    spoken = list(_spelled_in(text)) if spelled else []
    for match in _QUANTITY.finditer(text):
        found = _read(text, match)
        if found is None:
            continue
        while spoken and spoken[0].end <= found.start:
            yield spoken.pop(0)
        yield found
    yield from spoken


def whole_quantity(text: str) -> Quantity | None:
    """The quantity a text consists of (`$45.00`, `3.2 s`, `27 %`), None where it is anything else."""
    if not text or len(text) > 40:
        return None
    stripped = text.strip()
    match = _QUANTITY.match(stripped)
    if match is None:
        return None
    found = _read(stripped, match)
    if found is None or found.start > 1 or found.end < len(stripped.rstrip(").")):
        return None
    return found


def _read(text: str, match: re.Match[str]) -> Quantity | None:
    written = match["number"]
    parsed = _parse(written)
    if parsed is None:
        return None
    value, ulp, decimals = parsed
    symbol = (match["symbol"] or "").strip()
    start = match.start("number")
    end, scale, unit = _tail(text, match, bool(symbol))
    if end < 0:
        return None
    if symbol:
        code = SYMBOLS.get(symbol[-1:] if len(symbol) != 3 else symbol, symbol)
        unit = Unit(code, Dimension.MONEY, 1.0, code)
        start = match.start("symbol")
    negative = ((match["sign"] or "") in _SIGNS and bool(match["sign"])) or bool(match["inner"])
    if match["sign"] and (match["sign"] != "+" or symbol):
        start = match.start("sign")
    if (
        match["open"]
        and symbol
        and text[end : end + 1] == ")"
        and _STATED.search(text[max(0, match.start() - 8) : match.start()])
    ):
        negative = True  # ($500): how accountants write a negative amount
    value = -value if negative else value
    digits = len(written.replace(".", "").replace(",", "").lstrip("0"))
    return Quantity(
        text[start:end], start, end, value * scale, ulp * scale, decimals, digits, unit, scale != 1.0
    )


def _parse(written: str) -> tuple[float, float, int] | None:
    if "," in written and written.rfind(",") > written.rfind(".") >= 0:
        written = written.replace(".", "").replace(",", ".")
    else:
        written = re.sub(r"[,\u00a0\u202f\u2009'’]", "", written)
    mantissa, _, exponent = written.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    try:
        value = float(written)
        ulp = 10.0 ** ((int(exponent) if exponent else 0) - decimals)
    except (ValueError, OverflowError):
        return None
    return (value, ulp, decimals) if value != float("inf") else None


def _tail(text: str, match: re.Match[str], money: bool) -> tuple[int, float, Unit | None]:
    """Where the quantity ends, its scale and unit; an end of -1 says the digits are part of a name."""
    tail = match["tail"]
    end = match.end("number")
    if not tail:
        return (-1 if _inside_a_name(text, end) else end), 1.0, None
    spaced = tail[0] in " \u00a0\u202f-"
    word = tail[1:] if spaced else tail
    following = text[match.end() : match.end() + 1]
    if following.isalnum() or following == "_":
        return (end if spaced else -1), 1.0, None
    if tail[0] == "-" and word.lower() not in BY_NAME and word.lower() not in _SCALES:
        return end, 1.0, None
    scale = _scale(word, spaced=spaced, money=money)
    if scale is not None:
        after = _WORD_AFTER.match(text, match.end())
        unit = _unit(after[1], spaced=True) if after else None
        return (after.end() if after and unit else match.end()), scale, unit
    unit = _unit(word, spaced=spaced)
    if unit is not None:
        return match.end(), 1.0, unit
    if spaced:
        return end, 1.0, None
    if word.lower() == "x":
        return match.end(), 1.0, None
    return -1, 1.0, None


def _inside_a_name(text: str, end: int) -> bool:
    following = text[end : end + 2]
    if not following:
        return False
    if following[0] == "_" or following[0].isalnum():
        return True
    return following[0] in ".-:/" and len(following) == 2 and following[1].isdigit() and following[0] in ".:/"


def _scale(word: str, *, spaced: bool, money: bool) -> float | None:
    if word == "M" or (word == "m" and money):
        return 1e6
    if word == "B" and not spaced:
        return 1e9
    if word in {"b", "t", "T"} and money:
        return 1e9 if word == "b" else 1e12
    lowered = word.lower()
    if lowered == "mm" and not money:
        return None
    if lowered == "k" and spaced:
        return None
    return _SCALES.get(lowered)


def _unit(word: str, *, spaced: bool) -> Unit | None:
    if word == "%":
        return PERCENT
    if word in SYMBOLS:
        return Unit(SYMBOLS[word], Dimension.MONEY, 1.0, SYMBOLS[word])
    lowered = word.lower().replace("° ", "°")
    if "/" in lowered:
        return {"km/h": BY_NAME["kmh"], "m/s": BY_NAME["mps"], "req/s": BY_NAME["rps"]}.get(lowered)
    if spaced and lowered in _SPACED_UNITS_NEVER:
        return None
    return BY_NAME.get(lowered)


def _spelled_in(text: str) -> Iterator[Quantity]:
    for match in _SPELLED.finditer(text):
        word, ones, scale = match[1].lower(), match[2], (match[3] or "").lower()
        value = _NUMBER_WORDS[word]
        if _FRACTION_WORD.match(text, match.end()):
            continue  # "two thirds" says a share, and roughly
        if word == "one" and not scale:
            continue  # "the highest priced one": a pronoun far more often than a number
        if ones and value >= 20:
            value += _NUMBER_WORDS[ones.lower()]
        factor = _SCALES.get(scale, 1.0)
        unit = PERCENT if scale == "percent" else None
        end = match.end()
        after = _WORD_AFTER.match(text, end) if unit is None else None
        if after and len(after[1]) > 2 and after[1].lower() in BY_NAME:
            unit, end = BY_NAME[after[1].lower()], after.end()
        yield Quantity(
            text[match.start() : end],
            match.start(),
            end,
            value * factor,
            factor,
            0,
            1,
            unit,
            factor != 1.0,
            spelled=True,
        )


__all__ = ["MONEY", "Quantity", "quantities_in", "whole_quantity"]
