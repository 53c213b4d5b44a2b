"""Dates, times of day, durations and schedules, as people, programs and cameras write them.

In: folded text (`numerals.normalise_text`). Out: patterns for the scanner of `numbers`, and the value of what
each matched. Dates may leave out the year or the day. Months are read in eight languages. `with_relatives`
finds days that are named from another one ("tomorrow", "next Monday").

dateutil and dateparser are not used: they parse a text that is one date and complete it, while a claim about
"3 March" must keep that no year was written, and where.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from spanproof.reading.patterns import build_word_pattern
from spanproof.reading.units import read_resource
from spanproof.reading.values import Kind, Mention, Value
from spanproof.reading.words import get_base_form

DateParts = tuple[int | None, int | None, int | None]
"""Year, month and day, each None where it is not written."""

MONTHS = {name: number for _, *names in read_resource("months.txt") for number, name in enumerate(names, 1)}
MONTHS_BY_FORM = {get_base_form(name): number for name, number in MONTHS.items() if name.isascii()}
"""Months by the base forms of their names."""
_MONTH_LABEL = re.compile(r"\d{4}-(?P<month>0[1-9]|1[0-2])(?:-01)?")
_MONTH = build_word_pattern(MONTHS)
_MO, _D = r"(?:1[0-2]|0?[1-9])(?!\d)", r"(?:3[01]|[12]\d|0?[1-9])(?!\d)"
_OF = r"(?:of\s+|de\s+)?"

# Forms that begin with a digit, in the order in which they are tried, by what follows the first digits. Each
# name is a group of the scanner.
DIGIT_FORMS = rf"""
      (?=\d{{1,4}}[-/.:]\d)(?:
          (?P<iso_date>(?<![\d/-])[12]\d{{3}}(?P<iso_part>[-/.]){_MO}(?P=iso_part){_D}(?![/-]))
        | (?P<duration>(?<![\w:.])\d{{1,3}}:[0-5]\d(?::[0-5]\d)?\s?(?:h|hrs?|hours?|std|min|mins|minutes?|minuten)(?!\w))
        | (?P<time>(?:(?P<zoned>(?<=\dt))|(?<![\w:.])|(?<=/\d{{4}}:))\d{{1,2}}:[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?
            (?:\s*[ap]\.?m\b\.?)?(?:\+\d(?![\d:]))?
            (?:z\b|\s?\+\d\d:?\d\d(?!\d)|\s-\d{{4}}(?!\d)|(?(zoned)-\d\d:?\d\d(?!\d)|(?!)))?(?![\d:]))
        | (?P<exif_date>[12]\d{{3}}:(?:0[1-9]|1[0-2]):(?:0[1-9]|[12]\d|3[01])(?=[ t]\d\d:))
        | (?P<numeric_date>(?<![\d/.-])(?:\d{{1,2}}(?P<part>[/.])\d{{1,2}}(?P=part)(?:\d{{4}}|\d{{2}})(?![\d/]|\.\d)
            |(?:0?[1-9]|[12]\d|3[01])-(?:0[1-9]|1[0-2])-(?:19|20)\d\d(?![\w-]))))
    | (?=\d{{1,4}}[年月년월])(?P<cjk_date>(?:\d{{4}}[年년]\s?)?\d{{1,2}}[月월]\s?\d{{1,2}}[日일])
    | (?=\d\d?[a-zº.\s/-])(?:
          (?P<named_date>(?<![\w.])\d{{1,2}}(?:(?P<dash>[-/])(?:{_MONTH})(?P=dash)(?:\d{{4}}|\d\d)\b
            |(?:st|nd|rd|th|\.|er|º)?\s+{_OF}(?:{_MONTH})\b\.?(?:,?\s+(?:de\s+)?[12]\d{{3}}\b)?))
        | (?P<clock>(?<![\w.])\d{{1,2}}(?:\s?[ap]\.?m\b\.?|h[0-5]\d(?!\w))))
    | (?=\d{{8}}t)(?P<compact_date>\b(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?=t\d{{4}}))
    | (?<=\dt)(?P<compact_time>\d{{4}}(?:\d\d)?z?(?!\w))
"""  # noqa: E501
# Forms that begin with a letter.
LETTER_FORMS = rf"""
      (?P<month_date>(?<!\w)(?:{_MONTH})\b\.?(?:,?\s+{_OF}[12]\d{{3}}\b
        |\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?!:\d)(?:,?\s+[12]\d{{3}}\b)?))
    | (?P<iso_duration>(?<!\w)p(?=t?\d)(?:\d+d)?(?:t(?:\d+h)?(?:\d+m)?(?:\d+(?:\.\d+)?s)?)?(?!\w))
"""
_CRON_FIELD = r"(?:\*|\d{1,2}(?:-\d{1,2})?)(?:/\d{1,2})?(?:,\d{1,2}(?:-\d{1,2})?)*"
CRON = rf"(?<![^\s\"'`(=:])(?=[^\n]{{0,30}}\*)(?:{_CRON_FIELD}[ ]){{4}}(?:{_CRON_FIELD}|[a-z]{{3}}(?:-[a-z]{{3}})?)(?![\w*/-])"  # noqa: E501
DATE_FORMS = frozenset(
    str.split("compact_date iso_date exif_date numeric_date cjk_date named_date month_date")
)

_NUMBERS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]{3,}")


def find_date(form: str, text: str) -> DateParts | None:
    """Return the parts of a date that a form matched; None where it is no day of the calendar."""
    if form == "iso_date":
        iso_year, iso_month, iso_day = map(int, text.replace(text[4], "-").split("-"))
        return iso_year, iso_month, iso_day
    numbers = [int(number) for number in _NUMBERS.findall(text)]
    parts: DateParts
    if form == "compact_date":
        parts = (int(text[:4]), int(text[4:6]), int(text[6:8]))
    elif form == "exif_date":
        parts = (numbers[0], numbers[1], numbers[2])
    elif form == "cjk_date":
        parts = (numbers[0] if len(numbers) == 3 else None, numbers[-2], numbers[-1])
    elif form == "numeric_date":
        first, second, year = numbers
        year = year + 2000 if year < 100 else year
        # 05/20 is American, 20/05 and 20.05. European; where both read, only the separator decides.
        is_american = "/" in text and first <= 12
        if is_american:
            parts = (year, first, second)
        else:
            parts = (year, second, first)
    else:
        parts = _parse_named_date(form, text, numbers)
    _, month, day = parts
    is_valid = (month is None or 1 <= month <= 12) and (day is None or 1 <= day <= 31)
    return parts if is_valid else None


def _parse_named_date(form: str, text: str, numbers: list[int]) -> DateParts:
    """Return the parts of a date with the month in letters: a number next to it is its day or its year."""
    year: int | None = None
    day: int | None = None
    for number in numbers:
        if number > 31 or (day is not None and form == "named_date"):
            year = number if number > 99 else number + 2000
        else:
            day = number
    return year, next(MONTHS[word] for word in _LETTERS.findall(text) if word in MONTHS), day


_CLOCK_TIME = re.compile(
    r"(?P<hour>\d+)[:h]?(?P<minute>\d\d)?(?::(?P<second>\d\d))?(?:[.,]\d+)?\s*(?P<half>[ap])?"
)


def parse_time(form: str, text: str) -> Value:
    """Return a time of day, or the duration that has no such time (`28:47`)."""
    if form == "compact_time":
        hour, minute, second = int(text[:2]), int(text[2:4]), int(text[4:6]) if text[4:6].isdigit() else None
        return Value(Kind.TIME, time=(hour % 24, minute, second))
    match = _CLOCK_TIME.match(text)
    assert match is not None, "the scanner matched a time"
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    second = int(match["second"]) if match["second"] else None
    if hour > 24:
        parts = [part for part in (hour, minute, second) if part is not None]
        return Value(Kind.QUANTITY, _compute_seconds(parts), 1.0, "time", symbol="s")
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return Value(Kind.TIME, time=(hour % 24, minute, second), unit="" if half or hour > 12 else "12h?")


def parse_duration(text: str) -> Value:
    """Return a duration with colons and its unit: `03:30 min` is 210 seconds, `3:30 h` is 12,600."""
    parts = [int(number) for number in _NUMBERS.findall(text)]
    seconds = _compute_seconds(parts)
    if len(parts) == 2 and ("h" in text or "std" in text):
        seconds *= 60
    return Value(Kind.QUANTITY, seconds, 1.0 if len(parts) == 3 else 60.0, "time", symbol="s")


def as_duration(value: Value) -> Value | None:
    """Return the duration that the digits of a time of day write: minutes and seconds, or hours and minutes.

    `number` has minutes and seconds, `other` hours and minutes; with seconds written there is one reading.
    """
    if value.time is None:
        return None
    hour, minute, second = value.time
    if second is not None:
        return Value(Kind.QUANTITY, float(hour * 3600 + minute * 60 + second), 1.0, "time", symbol="s")
    seconds = float(hour * 60 + minute)
    return Value(Kind.QUANTITY, seconds, 1.0, "time", other=seconds * 60, symbol="s")


_ISO_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])")
_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


def parse_iso_duration(text: str) -> Value:
    """Return a duration of ISO 8601, such as `PT1H30M`."""
    parts = _ISO_PART.findall(text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return Value(Kind.QUANTITY, seconds, _SECONDS[parts[-1][1]], "time", symbol="s")


def _compute_seconds(parts: Sequence[int]) -> float:
    """Return the seconds of hours, minutes and seconds, or of the last two."""
    return float(sum(part * 60**power for power, part in enumerate(reversed(parts))))


WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SMALL = str.split("zero one two three four five six seven eight nine ten")
_RELATIVE = re.compile(
    rf"""\b(?:(?P<near>today|tonight|tomorrow|yesterday)
    |in\s+(?P<in>\d{{1,3}}|{"|".join(_SMALL)})\s+(?P<in_unit>days?|weeks?)\b(?!\s+ago)
    |(?P<ago>\d{{1,3}}|{"|".join(_SMALL)})\s+(?P<ago_unit>days?|weeks?)\s+ago
    |(?P<side>next|last|this)\s+(?P<day>{"|".join(WEEKDAYS)}))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NEAR = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}


def with_relatives(text: str, mentions: list[Mention], today: date, dates: Sequence[Value]) -> list[Mention]:
    """Return a text's mentions with those of relative dates, which take the place of their numbers."""
    found = []
    for match in _RELATIVE.finditer(text):
        day = _compute_day(match, today)
        counted = match.group("in") or match.group("ago")
        # "in four days" is a duration as well: it is a date only where a source has that date.
        if not counted or any(value.date == (day.year, day.month, day.day) for value in dates):
            found.append(Mention(Value(Kind.DATE, date=(day.year, day.month, day.day)), *match.span()))
    kept = [value for value in mentions if not any(one.start <= value.start < one.end for one in found)]
    return sorted([*kept, *found], key=lambda mention: mention.start)


def _compute_day(match: re.Match[str], today: date) -> date:
    near = match.group("near")
    if near:
        return today + timedelta(days=_NEAR[near.lower()])
    for name, sign in (("in", 1), ("ago", -1)):
        count = match.group(name)
        if count:
            if count.isdigit():
                number = int(count)
            else:
                number = _SMALL.index(count.lower())
            weeks = match.group(f"{name}_unit").lower().startswith("week")
            return today + timedelta(days=sign * number * (7 if weeks else 1))
    weekday = WEEKDAYS.index(match.group("day").lower())
    ahead = (weekday - today.weekday()) % 7
    side = match.group("side").lower()
    if side == "last":
        return today - timedelta(days=(today.weekday() - weekday) % 7 or 7)
    # "next Monday" is the coming one to some and the one after to others: of the two only the first is read.
    return today + timedelta(days=ahead or (7 if side == "next" else 0))


def list_month_forms(month: int) -> frozenset[str]:
    """Return the base forms of the names of a month."""
    return frozenset(form for form, number in MONTHS_BY_FORM.items() if number == month)


def read_month_label(text: str) -> int:
    """Return the number of the month that a label such as `2024-03` is of; 0 where it is of none alone."""
    match = _MONTH_LABEL.fullmatch(text.strip())
    return int(match["month"]) if match is not None else 0
