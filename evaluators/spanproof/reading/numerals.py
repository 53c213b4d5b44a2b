"""Numerals: the digits of numbers as people and programs write them, without units.

In: a text. Out: numbers in one plain spelling, each as written, or the amount of one numeral with its
precision. Thousands are set apart by commas, points, blanks, apostrophes and underscores; decimals by a point
or a comma; digits may be those of other scripts. Where a numeral has two readings, both are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_MAX_TEXT = 200_000
# A number of fewer digits is rounded from too much to be compared as rounded.
_PRECISION_DIGITS = 3

_DIGITS_OF_SCRIPTS = "０٠۰०০੦૦௦๐"
# Signs of one character that mean the same as one of ASCII; positions stay as they are.
_FOLDED = {ord(zero) + digit: 48 + digit for zero in _DIGITS_OF_SCRIPTS for digit in range(10)} | {
    ord(sign): plain
    for sign, plain in {
        "−": "-", "﹣": "-", "－": "-", "＋": "+", "％": "%", "٪": "%", "．": ".", "，": ",", "٫": ".", "٬": ",",  # noqa: E501
        "：": ":", "／": "/", "（": "(", "）": ")", "＄": "$", "￥": "¥", "＃": "#", "\u00a0": "\u202f", "\u2009": "\u202f",  # noqa: E501
        "µ": "μ", "′": "'", "’": "'",
    }.items()
}  # fmt: skip


def normalise_text(text: str) -> str:
    """Return a text in lower case, with the digits and signs of other scripts as ASCII's.

    It has the same length, so that places in it are places in the text.
    """
    if text.isascii():
        return text.lower()
    folded = text.translate(_FOLDED).lower()
    if len(folded) == len(text):
        return folded
    # One letter in a million grows when it is folded: the dotted capital I of Turkish.
    return "".join(
        low if len(low := character.lower()) == 1 else character for character in text.translate(_FOLDED)
    )


NUMERAL = (
    r"(?:\d{0,9}[½¼¾⅓⅔]"  # 1½
    r"|\d{1,3}(?:[ ]\d{3})+,\d{1,2}(?!\d)"  # 1 234,50
    r"|\d{1,3}(?:[ ]\d{3}){2,4}(?![\d ]\d)"  # 1 234 567
    r"|\d{1,3}[ ]\d{3}(?=\s(?:€|eur|sek|nok|dkk|kr|zł|pln|руб|₽))"  # 10 000 SEK
    r"|\d{1,3}(?:,\d{2,3})+(?:\.\d+)?"  # 1,234.5
    r"|\d{1,3}(?:['\u202f]\d{3})+(?:[.,]\d+)?"  # 1'234.5
    r"|\d{1,3}(?:_\d{3})+(?:\.\d+)?"  # 1_234.5
    r"|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?(?![.\d])|\d{1,3}\.\d{3},\d+"  # 1.234.567,8
    r"|\d+,\d{1,2}(?!\d)"  # 3,5
    r"|\d+(?:\.\d+)?(?:e[+-]?\d{1,3}(?!\w))?|\.\d+)"  # 12.5e-3
)
"""A numeral in folded text."""

_FRACTIONS = {"½": 1 / 2, "¼": 1 / 4, "¾": 3 / 4, "⅓": 1 / 3, "⅔": 2 / 3}
_SEPARATORS = re.compile(r"[\u00a0\u2009\u202f'’_ ]")
_AMBIGUOUS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")


@lru_cache(maxsize=8192)
def read_numeral(text: str) -> tuple[float, float, float | None]:
    """Return a numeral's amount, the unit of its last digit and its other reading, if it has one."""
    if text[-1] in _FRACTIONS:
        return float(text[:-1] or 0) + _FRACTIONS[text[-1]], 0.25, None
    plain = _SEPARATORS.sub("", text)
    other: float | None = None
    if "," in plain and "." in plain:
        decimal = max(plain.rfind(","), plain.rfind("."))
        plain = plain[:decimal].replace(",", "").replace(".", "") + "." + plain[decimal + 1 :]
    elif "," in plain:
        head, tail = plain.rsplit(",", 1)
        grouped = len(tail) == 3 or plain.count(",") > 1
        plain = plain.replace(",", "") if grouped else f"{head}.{tail}"
    elif plain.count(".") > 1:
        plain = plain.replace(".", "")
    elif _AMBIGUOUS.fullmatch(plain):
        other = float(plain.replace(".", ""))
    mantissa, _, exponent = plain.lower().partition("e")
    places = len(mantissa.partition(".")[2])
    # Written, and not computed: `10.0 ** 923` is an error, and `1e923` is infinite, as the number is.
    return float(plain), float(f"1e{int(exponent or 0) - places}"), other


def read_power(text: str) -> float:
    """Return a power of ten as it is written after `10`: `⁻¹⁵`, `^-15`."""
    return float(f"1e{int(text.translate(_SUPERSCRIPTS).lstrip('^*{ ').rstrip('} '))}")


# `1,234.5`, `1_234.5`, `1.234,5`, `1 234,5`, `234,5`: a comma before other than three digits is a point.
# The first digit comes before the look behind it, so that `re` skips from digit to digit.
_NUMBER = re.compile(
    r"\d(?<![\w.]\d)(?:"
    r"(?P<european>\d{0,2}(?:\.\d{3})+,\d+)"
    r"|(?P<spaced>\d{0,2}(?:[ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d{1,2})?(?![\d.,]*\d))"
    r"|(?P<comma>\d*,(?:\d{1,2}|\d{4,})(?![\d.,]*\d))"
    r"|[\d,_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?!\w)"
)
_PARTING = re.compile(r",|(?<=\d)[ \u00a0\u2009\u202f](?=\d)")


# The texts of a run are read for several questions; a longer one is held by none.
_MAX_CACHED_CHARS = 16_384


def list_numbers(text: str) -> frozenset[str]:
    """Return a text's numbers in plain spelling.

    A number is read both ways where a comma or a blank may group digits or part cells.
    """
    if len(text) <= _MAX_CACHED_CHARS:
        return _find_cached_numbers(text)
    return _list_numbers(text)


def _list_numbers(text: str) -> frozenset[str]:
    found: set[str] = set()
    for match in _NUMBER.finditer(text[:_MAX_TEXT]):
        written = match[0].rstrip(",_")
        if written.isdecimal():
            found.add(written)
            continue
        found.add(_normalise_match(match))
        parts = _PARTING.split(written)
        if len(parts) > 1:
            found.update(number for part in parts for _, number in iter_numbers(part))
    return frozenset(found)


_find_cached_numbers = lru_cache(maxsize=64)(_list_numbers)


def iter_numbers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a text in order: as written, and in their plain spelling."""
    for match in _NUMBER.finditer(text[:_MAX_TEXT]):
        yield match[0].rstrip(",_"), _normalise_match(match)


def _normalise_match(match: re.Match[str]) -> str:
    written = match[0].rstrip(",_")
    if match.lastgroup is None:
        return normalise_number(written)
    whole, _, decimals = re.sub(r"\s", "", written).replace(",", ".").rpartition(".")
    return normalise_number(f"{whole.replace('.', '')}.{decimals}" if whole else decimals)


def normalise_number(number: str | float) -> str:
    """Return one spelling of a number: `1,200.50` and `1_200.5` are `1200.5`."""
    if isinstance(number, str) and number.isdecimal():
        return number
    if isinstance(number, str):
        text = number.replace(",", "").replace("_", "")
    else:
        text = repr(float(number))
    if "e" in text.lower() or not isinstance(number, str):
        try:
            text = f"{float(text):.10f}"
        except (ValueError, OverflowError):
            return "0"
    if "." in text:
        return text.rstrip("0").rstrip(".") or "0"
    return text


def rounds_to(number: str, written: str) -> bool:
    """Return whether a number is, at the precision of another, that other: 56833.333 and 56,833.33."""
    if number == written:
        return True
    margin = compute_rounding_margin(written)
    return margin is not None and abs(float(number) - float(written)) <= margin


def gives_number(text: str, number: str) -> bool:
    """Return whether a text has a number, or one that rounds to it."""
    return any(rounds_to(found, number) for found in list_numbers(text))


def compute_rounding_margin(written: str) -> float | None:
    """Return how far a number may be from a written one to round to it; None of one with too few digits."""
    if len(written.replace(".", "")) < _PRECISION_DIGITS:
        return None
    return float(0.5 * 10.0 ** -len(written.partition(".")[2]))
