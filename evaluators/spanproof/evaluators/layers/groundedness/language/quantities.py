"""Quantities: numbers in text with sign, scale word, unit, currency and the precision they are written with.

In: any text. Out: `Quantity` values with their place. One compiled expression, linear in the text; digits
that belong to an identifier (`SKU12`, `v1.2.3`, `A-766`) are no quantities. Never evaluates anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from spanproof.evaluators.layers.groundedness.language.durations import durations_in
from spanproof.evaluators.layers.groundedness.language.quantity import SCALES, Quantity
from spanproof.evaluators.layers.groundedness.language.spelled import spelled_in
from spanproof.evaluators.layers.groundedness.language.units import (
    BY_NAME,
    CURRENCIES,
    PERCENT,
    SQUARES,
    SYMBOLS,
    Dimension,
    Unit,
)

_SPACED_UNITS_NEVER = frozenset(("in", "b", "t", "oz", "pp", "cent"))
_SIGNS = "-−–"
_LEADING = frozenset(("square", "sq", "more", "further", "additional", "full", "US"))
_SQUARE = frozenset(("square", "sq"))
"""Words between a number and its unit: "14 more days", "470 square kilometres"."""
_PERIODS = frozenset(("year", "month", "week", "day", "hour"))
"""What an amount may be for, and is not counted in: "12.6 million year over year"."""
_ATTACHED = {
    "C": "celsius",
    "F": "fahrenheit",
    "G": "gb",
    "T": "tb",
    "Ki": "kib",
    "Mi": "mib",
    "Gi": "gib",
    "Ti": "tib",
}
"""How shells write sizes, and instruments degrees: `198G`, `31Gi`, `4.1C`."""

_QUANTITY = re.compile(
    r"(?=\W{0,7}[A-Z\d])(?=\D{0,9}\d)"  # what may stand before its digits is short
    r"(?P<open>\()?"
    r"(?P<sign>(?<![\w)\]%.])[-−–+])?\s?"
    rf"(?P<symbol>(?:US|CA|AU|NZ|HK)?\$|€|£|¥|₹|₽|₩|\b(?:{'|'.join(sorted(CURRENCIES))})\s?)?"
    r"(?P<inner>[-−–])?"
    r"(?<![\w.])(?<!\d:)(?P<number>\d{1,3}(?:\.\d{3})+,\d{1,2}(?![\d,])"
    r"|\d{1,3}(?:[,\u00a0\u202f\u2009'’]\d{3})+(?:\.\d+)?(?![\d])"
    r"|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
    r"|\.\d+(?:[eE][+-]?\d{1,3})?)"
    r"(?P<tail>(?:[ \u00a0\u202f-]?(?:°\s?[CFcf]\b|[%¢€£¥₹]|[A-Za-zµμ¢€£]{1,14}/[A-Za-z]{1,6}"
    r"|[A-Za-zµμ]{1,14}[²³]?))?)"
)
_STATED = re.compile(r"(?:\b(?:is|was|were|are|of|at)|[:=])\s*$", re.IGNORECASE)
_GROUPING = str.maketrans("", "", ",\u00a0\u202f\u2009'’")
_WORD_AFTER = re.compile(r"[ \u00a0]?([A-Za-zµμ]{1,14}|[%€£¥₹])(?![\w])")


def quantities_in(text: str, *, spelled: bool = False) -> Iterator[Quantity]:
    """Every quantity of a text in order; `spelled` includes number words."""
    others = [*spelled_in(text)] if spelled else []
    lasting = [*durations_in(text)]
    if others or lasting:
        others = sorted(others + lasting, key=lambda quantity: quantity.start)
    place = 0
    for match in _QUANTITY.finditer(text):
        found = _read(text, match)
        if found is None:
            continue
        while place < len(others) and others[place].end <= found.start:
            yield others[place]
            place += 1
        if not lasting or not any(each.start < found.end and found.start < each.end for each in lasting):
            yield found
    yield from others[place:]


def whole_quantity(text: str) -> Quantity | None:
    """The quantity a text consists of (`$45.00`, `3.2 s`, `27 %`), None where it is anything else."""
    if not text or len(text) > 40:
        return None
    stripped = text.strip()
    lasting = next(durations_in(stripped), None)
    if lasting is not None and (lasting.start, lasting.end) == (0, len(stripped)):
        return lasting
    match = _QUANTITY.match(stripped)
    if match is None:
        return None
    found = _read(stripped, match)
    if found is None or found.start > 1 or found.end < len(stripped.rstrip(").")):
        return None
    return found


def _read(text: str, match: re.Match[str]) -> Quantity | None:
    opened, sign, symbol, inner, written, _ = match.groups()
    parsed = _parse(written)
    if parsed is None:
        return None
    value, ulp, decimals = parsed
    symbol = symbol.strip() if symbol else ""
    start = match.start("number")
    end, scale, unit = _tail(text, match, bool(symbol))
    if end < 0:
        return None
    if symbol:
        code = SYMBOLS.get(symbol[-1:] if len(symbol) != 3 else symbol, symbol)
        unit = _in_currency(code)
        start = match.start("symbol")
    if sign or inner or opened:
        start, negative = _signed(text, match, start, end, symbol)
        value = -value if negative else value
    digits = len(written.replace(".", "").replace(",", "").lstrip("0"))
    return Quantity(
        text[start:end], start, end, value * scale, ulp * scale, decimals, digits, unit, scale != 1.0
    )


@lru_cache(maxsize=64)
def _in_currency(code: str) -> Unit:
    return Unit(code, Dimension.MONEY, 1.0, code)


def _signed(text: str, match: re.Match[str], start: int, end: int, symbol: str) -> tuple[int, bool]:
    """Where a quantity begins with its sign, and whether it is negative."""
    sign = match["sign"] or ""
    if sign and text[match.end("sign") : match.end("sign") + 1].isspace():
        sign = ""  # "LH 3015 – €162.50": a dash between two things
    inner = bool(match["inner"]) and (bool(symbol) or not _is_joined(text, match.start("inner")))
    negative = inner or (bool(sign) and sign in _SIGNS)
    if sign and (sign != "+" or symbol):
        start = match.start("sign")
    elif inner and not symbol:
        start = match.start("inner")
    if (
        match["open"]
        and symbol
        and text[end : end + 1] == ")"
        and _STATED.search(text[max(0, match.start() - 8) : match.start()])
    ):
        negative = True  # ($500): how accountants write a negative amount
    return start, negative


def _is_joined(text: str, place: int) -> bool:
    """Whether a dash stands right behind a word or number: "0-100" is a range, and no negative."""
    before = text[place - 1 : place] if place else ""
    return bool(before) and (before.isalnum() or before in ")]%.")


def _parse(written: str) -> tuple[float, float, int] | None:
    if "," in written and written.rfind(",") > written.rfind(".") >= 0:
        written = written.replace(".", "").replace(",", ".")
    else:
        written = written.translate(_GROUPING)
    if written.isdecimal():
        value = float(written)
        return (value, 1.0, 0) if value != float("inf") else None
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
    if tail[0] == "-" and word.lower() not in BY_NAME and word.lower() not in SCALES:
        return end, 1.0, None
    if word in _LEADING and (after := _WORD_AFTER.match(text, match.end())):
        unit = BY_NAME.get(SQUARES.get(after[1].lower(), "") if word in _SQUARE else after[1].lower())
        return (after.end(), 1.0, unit) if unit else (end, 1.0, None)
    scale = _scale(word, spaced=spaced, money=money)
    if scale is not None:
        after = _WORD_AFTER.match(text, match.end())
        unit = _unit(after[1], spaced=True) if after and after[1] not in _PERIODS else None
        return (after.end() if after and unit else match.end()), scale, unit
    unit = _unit(word, spaced=spaced)
    if unit is not None:
        return match.end() + (len(" points") if text.startswith(" points", match.end()) else 0), 1.0, unit
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
    return SCALES.get(lowered)


def _unit(word: str, *, spaced: bool) -> Unit | None:
    if word == "%":
        return PERCENT
    if not spaced and word in _ATTACHED:
        return BY_NAME[_ATTACHED[word]]
    if word in SYMBOLS:
        return _in_currency(SYMBOLS[word])
    lowered = word.lower().replace("° ", "°")
    if "/" in lowered:
        of = BY_NAME.get(lowered.partition("/")[0])
        whole = {"km/h": BY_NAME["kmh"], "m/s": BY_NAME["mps"], "req/s": BY_NAME["rps"]}
        return of if of is not None and of.dimension is Dimension.MONEY else whole.get(lowered)
    if spaced and lowered in _SPACED_UNITS_NEVER:
        return None
    return BY_NAME.get(lowered)


__all__ = ["Quantity", "quantities_in", "whole_quantity"]
