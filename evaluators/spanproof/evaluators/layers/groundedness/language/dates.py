"""Dates and times of day as people and programs write them.

In: any text. Out: `DateMention`s with the parts that are written (a day without a year is a day without a
year) and `TimeMention`s. Ambiguous slashed dates keep both readings. Relative words ("tomorrow", "in 3 days")
are resolved only against a day that the outputs or the task give.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from spanproof.evaluators.layers.groundedness.language.words import MONTH_NAMES

_MONTHS = {name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)}
_MONTH = (
    r"(?P<{0}>January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DATE = re.compile(
    r"(?<![\w.-])(?P<iy>\d{4})[-/](?P<im>\d{1,2})[-/](?P<id>\d{1,2})(?!\d)"
    r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|(?<![\w./-])(?P<sa>\d{1,2})[/.](?P<sb>\d{1,2})[/.](?P<sy>\d{4}|\d{2})(?![\w/])"
    r"|\b"
    + _MONTH.format("m1")
    + r"\s+(?P<d1>\d{1,2})(?:st|nd|rd|th)?\b(?:(?:,\s*|\s+)(?P<y1>(?:19|20)\d{2})\b)?"
    r"|(?<![\w.])(?P<d2>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?"
    + _MONTH.format("m2")
    + r"(?:,?\s+(?P<y2>(?:19|20)\d{2})\b)?"
    r"|\b" + _MONTH.format("m3") + r",?\s+(?P<y3>(?:19|20)\d{2})\b",
    re.IGNORECASE,
)
_YEAR_MONTH = re.compile(r"((?:19|20)\d\d)-(0[1-9]|1[0-2])")
_WEEKDAY = re.compile(r"\b(Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b")
_RELATIVE = re.compile(
    r"\b(?:(?P<word>today|tomorrow|yesterday|the day after tomorrow)"
    r"|in\s+(?P<in>\d{1,3}|a|one|two|three|four|five|six|seven)\s+(?P<iu>days?|weeks?)"
    r"|(?P<ago>\d{1,3}|a|one|two|three|four|five|six|seven)\s+(?P<au>days?|weeks?)\s+ago)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?:(?<![\w:.-])|(?<=[\s(]\d:\d\d[-–])|(?<=[\s(]\d\d:\d\d[-–]))(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}))?\s?(?P<p>[ap]\.?m\.?)?(?![\w:])"
    r"|(?<![\w:.$-])(?P<h2>\d{1,2})\s?(?P<p2>[ap]\.?m\.?)(?!\w)"
    r"|(?<=\d{4}-\d\d-\d\d[T ])(?P<h3>\d{2}):(?P<m3>\d{2})",
    re.IGNORECASE,
)
_SMALL = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date as far as it is written; `other` is the second reading of `5/6/2026`.

    Attributes:
        weekday: 0 for Monday, where only the weekday is written.
        relative: the words, where it depends on today.
    """

    text: str
    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    other: tuple[int, int] | None = None
    weekday: int | None = None
    offset_days: int | None = None

    def says(self, day: date) -> bool:
        """Whether this mention is true of that day, as far as it is written."""
        if self.weekday is not None:
            return day.weekday() == self.weekday
        if self.year is not None and day.year != self.year:
            return False
        if self.other is not None and (day.month, day.day) == self.other:
            return True
        return self.month in (None, day.month) and self.day in (None, day.day)


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time of day; `minute` is None for "3 pm"."""

    text: str
    start: int
    end: int
    hour: int
    minute: int | None


def dates_in(text: str, *, prose: bool = True) -> Iterator[DateMention]:
    """Every date of a text in order; weekdays and relative words only in prose."""
    mentions = [found for match in _DATE.finditer(text) if (found := _read_date(match))]
    if prose:
        taken = [(mention.start, mention.end) for mention in mentions]
        mentions += [
            DateMention(match.group(), match.start(), match.end(), weekday=WEEKDAYS.index(match[1].lower()))
            for match in _WEEKDAY.finditer(text)
        ]
        mentions += [
            DateMention(match.group(), match.start(), match.end(), offset_days=_offset(match))
            for match in _RELATIVE.finditer(text)
            if not any(start < match.end() and match.start() < end for start, end in taken)
        ]
        mentions.sort(key=lambda mention: mention.start)
    return iter(mentions)


def times_in(text: str) -> Iterator[TimeMention]:
    """Every time of day of a text in order."""
    for match in _TIME.finditer(text):
        hour = int(match["h"] or match["h2"] or match["h3"])
        minute = match["m"] or match["m3"]
        half = (match["p"] or match["p2"] or "").lower()[:1]
        if hour > 23 or (minute is not None and int(minute) > 59) or (half and not 1 <= hour <= 12):
            continue
        hour = hour % 12 + (12 if half == "p" else 0) if half else hour
        yield TimeMention(match.group(), match.start(), match.end(), hour, int(minute) if minute else None)


def whole_date(text: str) -> date | None:
    """The day a text consists of, None where it is anything else."""
    stripped = text.strip()
    monthly = _YEAR_MONTH.fullmatch(stripped)
    if monthly:
        return date(int(monthly[1]), int(monthly[2]), 1)
    if not 6 <= len(stripped) <= 40 or not any(character.isdigit() for character in stripped):
        return None
    match = _DATE.match(stripped)
    if match is None or match.end() < len(stripped) - 7:
        return None
    found = _read_date(match)
    return day_of(found) if found else None


def day_of(mention: DateMention) -> date | None:
    """The day of a mention that is complete."""
    if mention.year is None or mention.month is None or mention.day is None:
        return None
    try:
        return date(mention.year, mention.month, mention.day)
    except ValueError:
        return None


def day_of_timestamp(value: float) -> date | None:
    """The UTC day of Unix seconds or milliseconds within 1990..2100, else None."""
    seconds = value / 1000 if value > 1e11 else value
    if not 631152000 <= seconds <= 4102444800:
        return None
    return datetime.fromtimestamp(seconds, UTC).date()


def resolve(mention: DateMention, today: date) -> DateMention:
    """A relative mention made absolute."""
    assert mention.offset_days is not None
    day = today + timedelta(days=mention.offset_days)
    return DateMention(mention.text, mention.start, mention.end, day.year, day.month, day.day)


def _read_date(match: re.Match[str]) -> DateMention | None:
    text, start, end = match.group(), match.start(), match.end()
    if match["iy"]:
        parts: tuple[int | None, int | None, int | None] = (
            int(match["iy"]),
            int(match["im"]),
            int(match["id"]),
        )
        return _checked(DateMention(text, start, end, *parts))
    if match["sa"]:
        year = int(match["sy"]) + (2000 if len(match["sy"]) == 2 else 0)
        first, second = int(match["sa"]), int(match["sb"])
        if first > 12:
            first, second = second, first
        other = (second, first) if second <= 12 and first != second else None
        return _checked(DateMention(text, start, end, year, first, second, other))
    if match["m3"]:
        return DateMention(text, start, end, int(match["y3"]), _MONTHS[match["m3"][:3].lower()])
    month, day, written_year = (
        (match["m1"], match["d1"], match["y1"]) if match["m1"] else (match["m2"], match["d2"], match["y2"])
    )
    year_number = int(written_year) if written_year else None
    return _checked(DateMention(text, start, end, year_number, _MONTHS[month[:3].lower()], int(day)))


def _checked(mention: DateMention) -> DateMention | None:
    fits = 1 <= (mention.month or 1) <= 12 and 1 <= (mention.day or 1) <= 31
    return mention if fits and 1 <= (mention.year or 1) <= 9999 else None


def _offset(match: re.Match[str]) -> int:
    if match["word"]:
        words = {"today": 0, "tomorrow": 1, "yesterday": -1}
        return words.get(match["word"].lower(), 2)
    count, unit, sign = (match["in"], match["iu"], 1) if match["in"] else (match["ago"], match["au"], -1)
    number = int(count) if count.isdigit() else _SMALL[count.lower()]
    return sign * number * (7 if unit.lower().startswith("week") else 1)
