"""Numbers in letters.

In English as a whole ("two thousand and five", "half an hour", "two thirds"), in other languages by single
words of `number_words.txt`, in Chinese and Japanese before what counts things.

In: folded text. Out: a pattern for the scanner of `numbers`, and the value of what it matched.
"""

from __future__ import annotations

import re

from spanproof.reading.patterns import build_word_pattern
from spanproof.reading.units import MONEY_WORDS, UNITS, read_resource
from spanproof.reading.values import Kind, Value

NUMBER_WORDS = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
_TENS = dict(
    zip(str.split("twenty thirty forty fifty sixty seventy eighty ninety"), range(20, 100, 10), strict=True)
)
_GERMAN_ONES = dict(
    zip(str.split("ein zwei drei vier fünf sechs sieben acht neun"), range(1, 10), strict=True)
)
_FOREIGN = {word: float(value) for _, value, *words in read_resource("number_words.txt") for word in words}
_FOREIGN |= {
    f"{one}und{word}": value + ones
    for one, ones in _GERMAN_ONES.items()
    for word, value in _FOREIGN.items()
    if word.endswith(("zig", "ßig"))
}
_VALUES = {word: float(number) for number, word in enumerate(NUMBER_WORDS)} | _TENS | _FOREIGN
_VALUES |= {"a": 1, "an": 1, "once": 1, "twice": 2, "both": 2, "single": 1, "half": 0.5}
_MULTIPLES = {"hundred": 100.0, "dozen": 12.0}
_LARGE = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_PARTS = {"half": 2, "halves": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
# A fraction in letters is said of what is about so much: a third of 0.32.
_FRACTION_STEP = 0.02

_CJK_DIGITS = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_CJK_PLACES = {"十": 10, "百": 100, "千": 1000}
_CJK_LARGE = {"万": 10_000, "億": 10**8, "亿": 10**8}
# The signs of numbers are parts of words as well: numbers are those that something is counted by.
_CJK_COUNTERS = "个個人件名台本つ次天年月日時时分秒円元块枚回点條条张張位种種项項"

_UNIT = build_word_pattern(UNITS)
_UNDER_100 = (
    rf"(?:(?:{build_word_pattern(_TENS)})(?:[-\s](?:{build_word_pattern(NUMBER_WORDS[1:10])}))?\b"
    rf"|(?:{build_word_pattern([*NUMBER_WORDS[:20], *_FOREIGN])})\b)"
)
_UNDER_1000 = rf"{_UNDER_100}(?:[-\s]hundred\b(?:[-\s](?:and[-\s])?{_UNDER_100})?)?"
_LARGE_WORD = rf"(?:{build_word_pattern(_LARGE)}|dozen)\b"
SPELLED = rf"""
    (?P<letters>(?<![\w-])(?:
        (?:half\san?\s(?=\w)|(?:an?|one)[-\s](?:half|third|quarter|fifth|tenth)\b(?=\s(?:of|the)\b|\s?[,.;)]|\Z)
          |(?:two|three|four)[-\s](?:third|quarter|fifth|tenth)s\b)(?:(?<=\s)(?:{_LARGE_WORD}))?
      | (?:an?\s(?:hundred\b|{_LARGE_WORD})|dozen\b|{_UNDER_1000}(?:\sand\san?\s(?:half|quarter)\b)?)
          (?:[-\s](?:and\s)?{_LARGE_WORD}(?:,?\s(?:and\s)?{_UNDER_1000}(?![-\s]hundred))?){{0,4}}
      | (?:once|twice|both|single|half)\b)
      (?:[\s-]?(?:(?P<word_percent>percent(?:age\spoints?)?\b|per\scent\b)|(?P<word_money>{build_word_pattern(MONEY_WORDS)})\b
        |(?P<word_unit>{_UNIT})(?:s|es)?\b))?(?<!\s)(?!\w|-[a-z]))
"""
_CJK_SIGNS = "".join([*_CJK_DIGITS, *_CJK_PLACES, *_CJK_LARGE])
CJK_NUMBER = rf"(?P<cjk_number>[{_CJK_SIGNS}]{{1,12}}(?=[{_CJK_COUNTERS}]))"
SPELLED_WORDS = frozenset(_VALUES) - {"a", "an"} | _MULTIPLES.keys() | _LARGE.keys() | _PARTS.keys()
_PARTING = re.compile(r"[-\s,]+")


def parse_spelled(text: str) -> Value:
    """Return the value of a number in letters, with its unit where one follows."""
    words = _PARTING.split(text)
    kind, unit, symbol, factor = Kind.NUMBER, "", "", 1.0
    last = words[-1]
    if last.startswith(("percent", "cent", "point")) and last != "cents":
        kind, unit, symbol = Kind.PERCENT, "%", "%"
        words = [word for word in words if not word.startswith(("per", "cent", "point"))]
    elif last in MONEY_WORDS:
        kind, unit, symbol = Kind.MONEY, MONEY_WORDS[last], MONEY_WORDS[last]
        factor = 0.01 if last == "cents" else 1.0
        del words[-1]
    else:
        found = UNITS.get(last) or UNITS.get(last.removesuffix("s")) or UNITS.get(last.removesuffix("es"))
        if found is not None and last not in _VALUES:
            kind, unit, symbol, factor = Kind.QUANTITY, found.dimension, found.symbol, found.factor
            del words[-1]
    number, step = _compute_number(words)
    return Value(kind, number * factor, step * factor, unit, factor=factor, symbol=symbol)


def _compute_number(words: list[str]) -> tuple[float, float]:
    """Return the number that English words write, and its precision."""
    part = next((_PARTS[word.removesuffix("s")] for word in words if word.removesuffix("s") in _PARTS), None)
    # "two and a half" is a sum, "half an hour" and "two thirds" are a part.
    if part is None or "and" in words:
        return _compute_sum(words), 0.0
    count = _VALUES.get(words[0], 1.0) if words[0] != "half" else 1.0
    multiples = _MULTIPLES | _LARGE
    large = next((multiples[word] for word in words if word in multiples), 1.0)
    return count / part * large, large * (_FRACTION_STEP if part != 2 else 0.0)


def _compute_sum(words: list[str]) -> float:
    """Return the number that English words write: `two hundred and five thousand`."""
    total = current = 0.0
    for word in words:
        if word in _LARGE:
            total += (current or 1.0) * _LARGE[word]
            current = 0.0
        elif word in _MULTIPLES:
            current = (current or 1.0) * _MULTIPLES[word]
        elif word in ("half", "quarter"):
            current += 1 / _PARTS[word]
        elif word in _VALUES and not (current and word == "a"):
            current += _VALUES[word]
    return total + current


def parse_cjk_number(text: str) -> Value:
    """Return the value of a number in Chinese or Japanese signs: `三千二百`."""
    total = group = digit = 0
    for sign in text:
        if sign in _CJK_DIGITS:
            digit = digit * 10 + _CJK_DIGITS[sign]
        elif sign in _CJK_PLACES:
            group += (digit or 1) * _CJK_PLACES[sign]
            digit = 0
        else:
            total += (group + digit or 1) * _CJK_LARGE[sign]
            group = digit = 0
    return Value(Kind.NUMBER, float(total + group + digit))
