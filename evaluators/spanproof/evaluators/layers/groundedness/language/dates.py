"""Dates as people and programs write them.

In: any text. Out: `DateMention`s with the parts that are written: a day without a year is a day without a
year. Ambiguous slashed dates keep both readings. Relative words ("tomorrow", "in 3 days") are read in
`relative`, times of day in `clock`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime

from spanproof.evaluators.layers.groundedness.language.relative import Relative, relatives_in
from spanproof.evaluators.layers.groundedness.language.words import MONTH_NAMES, WEEKDAYS, said_in

_MONTHS = {name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)}
_MONTH = (
    r"(?P<{0}>January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
)
_DATE = re.compile(
    r"(?<![\w.-])(?P<iy>\d{4})[-/](?P<im>\d{1,2})[-/](?P<id>\d{1,2})(?!\d)"
    r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|(?<![\w./-])(?P<sa>\d{1,2})[/.](?P<sb>\d{1,2})[/.](?P<sy>\d{4}|\d{2})(?![\w/])"
    r"|\b" + _MONTH.format("m1") + r"\s+(?P<d1>\d{1,2})(?:st|nd|rd|th)?\b(?!,\d{3})"
    r"(?:(?:,\s*|\s+|\s+\d\d:\d\d(?::\d\d)?\s+)(?P<y1>(?:19|20)\d{2})\b)?"
    r"|(?<![\w.])(?P<d2>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?"
    + _MONTH.format("m2")
    + r"(?:,?\s+(?P<y2>(?:19|20)\d{2})\b)?"
    r"|\b" + _MONTH.format("m3") + r",?\s+(?P<y3>(?:19|20)\d{2})\b",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d[-/.]\d{1,2}[-/.]\d")
_YEAR_MONTH = re.compile(r"((?:19|20)\d\d)-(0[1-9]|1[0-2])")
_WEEKDAY = re.compile(r"\b(Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b")
_WEEKDAYS = frozenset(WEEKDAYS)
_LEAP_YEAR = 2000
"""Stands for a year that nothing tells."""


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date as far as it is written; `other` is the second reading of `5/6/2026`.

    Attributes:
        weekday: 0 for Monday, where only the weekday is written.
        relative: what the words mean, where that depends on today.
    """

    text: str
    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    other: tuple[int, int] | None = None
    weekday: int | None = None
    relative: Relative | None = None

    def says(self, day: date, *, yearless: bool = False) -> bool:
        """Whether this mention is true of that day, as far as both are written."""
        if self.weekday is not None:
            return day.weekday() == self.weekday
        if self.year is not None and day.year != self.year and not yearless:
            return False
        if self.other is not None and (day.month, day.day) == self.other:
            return True
        return self.month in (None, day.month) and self.day in (None, day.day)


def dates_in(text: str, *, prose: bool = True) -> Iterator[DateMention]:
    """Every date of a text in order; weekdays and relative words only in prose."""
    mentions = (
        [found for match in _DATE.finditer(text) if (found := _read_date(match))]
        if _may_hold_dates(text)
        else []
    )
    if prose:
        taken = [(mention.start, mention.end) for mention in mentions]
        if not _WEEKDAYS.isdisjoint(said_in(text)):
            mentions += [
                DateMention(
                    match.group(), match.start(), match.end(), weekday=WEEKDAYS.index(match[1].lower())
                )
                for match in _WEEKDAY.finditer(text)
            ]
        mentions += [
            DateMention(text[start:end], start, end, relative=relative)
            for start, end, relative in relatives_in(text)
            if not any(begin < end and start < stop for begin, stop in taken)
        ]
        reached = [(mention.start, mention.end) for mention in mentions if mention.relative is not None]
        mentions = [
            mention
            for mention in mentions
            if mention.weekday is None
            or not any(start <= mention.start and mention.end <= end for start, end in reached)
        ]
        mentions.sort(key=lambda mention: mention.start)
    return iter(mentions)


def _may_hold_dates(text: str) -> bool:
    """Whether it is worth looking for dates: digits between the marks of one, or the name of a month."""
    if _DIGITS.search(text) is not None:
        return True
    lowered = text.lower()
    return any(month in lowered for month in _MONTHS)


def without_dates(text: str) -> str:
    """A text with its dates left out."""
    return _DATE.sub("", text)


def yearless_day(text: str, today: date | None) -> date | None:
    """The day of a text that is a day and a month: in the year that brings it closest to today."""
    stripped = text.strip()
    if not 4 <= len(stripped) <= 20:
        return None
    match = _DATE.match(stripped)
    found = _read_date(match) if match is not None and match.end() == len(stripped) else None
    if found is None or found.year is not None or found.month is None or found.day is None:
        return None
    around = (today.year - 1, today.year, today.year + 1) if today else (_LEAP_YEAR,)
    days: list[date] = []
    for year in around:
        try:
            days.append(date(year, found.month, found.day))
        except ValueError:
            continue
    if not days:
        return None
    return min(days, key=lambda day: abs((day - today).days)) if today else days[0]


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
        if first > 12 or "." in text:
            first, second = second, first  # with points the day comes first
        other = (second, first) if "/" in text and second <= 12 and first != second else None
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
