"""Relative dates: "yesterday", "in three days", "last Friday", "next month", and the days they may mean.

In: prose. Out: `Relative`s, which say what days they reach once it is told what day today is. People round:
"in two weeks" may be a day or two off, "last week" may be the calendar's or the past seven days; each reaches
as far as it is used, so that only what nobody would call so lies outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from spanproof.evaluators.layers.groundedness.language.words import WEEKDAYS, plain_set, said_in

_WEEKDAY = "|".join(WEEKDAYS)
_COUNTED = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|thirty"
_UNIT = r"days?|nights?|weeks?|fortnights?|months?|years?"
_RELATIVE = re.compile(
    r"\b(?:(?P<word>the day after tomorrow|the day before yesterday|last night|tonight|today|tomorrow"
    r"|yesterday|this (?:morning|afternoon|evening))"
    rf"|(?P<after>a week (?:from|on)) (?P<afterday>{_WEEKDAY}|today|tomorrow)"
    rf"|in\s+(?:about\s+|just\s+|exactly\s+)?(?P<in>{_COUNTED})\s+(?P<iu>{_UNIT})(?!\s+ago)(?:['’]\s+time)?"
    rf"|(?P<from>{_COUNTED})\s+(?P<fu>{_UNIT})\s+from\s+(?:now|today)"
    rf"|(?P<ago>{_COUNTED})\s+(?P<au>{_UNIT})\s+ago"
    rf"|(?P<which>last|past|previous|this|next|coming)\s+(?P<what>{_WEEKDAY}|weekend|week|month|year|quarter))\b",
    re.IGNORECASE,
)
_CUES = frozenset(WEEKDAYS) | plain_set(
    "tomorrow yesterday night tonight today morning afternoon evening weekend quarter quarters day days"
    " nights week weeks fortnight fortnights month months year years"
)
"""One of these stands in every relative date."""
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fourteen": 14, "thirty": 30,
}  # fmt: skip
_WORDS = {
    "today": (0, 0), "tonight": (0, 0), "tomorrow": (1, 1), "yesterday": (-1, -1), "last night": (-1, 0),
    "the day after tomorrow": (2, 2), "the day before yesterday": (-2, -2),
}  # fmt: skip
_DAYS = {"day": (1, 0), "night": (1, 0), "week": (7, 2), "fortnight": (14, 2)}
"""Days of a unit, and how many days either way a number of them is loosely meant."""
_WEEKS = {"last": (-13, -1), "past": (-13, 0), "previous": (-13, -1), "this": (-6, 6), "next": (1, 13),
          "coming": (0, 7)}  # fmt: skip
_STEPS = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}
_LONG = {"month": (30.44, 5), "year": (365.25, 45)}


@dataclass(frozen=True, slots=True)
class Relative:
    """A day or a stretch of days, told from today.

    Attributes:
        first, last: days from today, both included.
        weekday: 0 for Monday, where only that weekday within the stretch is meant.
        months, years: calendar months or years from this one, which then count instead of the days.
        exact: the number of days it names, for "in 3 days" and "4 days ago".
    """

    first: int = 0
    last: int = 0
    weekday: int | None = None
    months: int | None = None
    years: int | None = None
    exact: int | None = None

    def reaches(self, day: date, today: date) -> bool:
        """Whether the day may be meant."""
        if self.months is not None:
            return (day.year - today.year) * 12 + day.month - today.month == self.months
        if self.years is not None:
            return day.year - today.year == self.years
        within = self.first <= (day - today).days <= self.last
        return within and self.weekday in (None, day.weekday())

    def is_now(self) -> bool:
        """Whether it means the day itself: "today", which is often no more than a manner of speaking."""
        return self.first == self.last == 0 and self.months is self.years is None


def relatives_in(text: str) -> Iterator[tuple[int, int, Relative]]:
    """Every relative date of a text, with its place."""
    if _CUES.isdisjoint(said_in(text)):
        return
    for match in _RELATIVE.finditer(text):
        found = _read(match)
        if found is not None:
            yield match.start(), match.end(), found


def _read(match: re.Match[str]) -> Relative | None:
    if match["word"]:
        first, last = _WORDS.get(match["word"].lower(), (0, 0))
        return Relative(first, last, exact=first if first == last else None)
    if match["after"]:
        return _week_after(match["afterday"].lower())
    if match["which"]:
        return _named(match["which"].lower(), match["what"].lower())
    for count, unit, sign in (("in", "iu", 1), ("from", "fu", 1), ("ago", "au", -1)):
        if match[count]:
            return _counted(match[count].lower(), match[unit].lower().rstrip("s"), sign)
    return None


def _week_after(day: str) -> Relative:
    if day in WEEKDAYS:
        return Relative(7, 14, WEEKDAYS.index(day))
    offset = 7 if day == "today" else 8
    return Relative(offset, offset, exact=offset)


def _named(which: str, what: str) -> Relative | None:
    if what in WEEKDAYS:
        return Relative(*_WEEKS[which], WEEKDAYS.index(what))
    if what in {"week", "weekend"}:
        return Relative(*_WEEKS[which])
    if what == "quarter":
        return None  # a quarter is named by its number wherever it can be compared
    return Relative(months=_STEPS[which]) if what == "month" else Relative(years=_STEPS[which])


def _counted(count: str, unit: str, sign: int) -> Relative:
    number = int(count) if count.isdigit() else _NUMBERS[count]
    if unit in _DAYS:
        days, slack = _DAYS[unit]
        middle = sign * number * days
        return Relative(middle - slack, middle + slack, exact=middle)
    length, slack = _LONG[unit]
    middle = sign * round(number * length)
    return Relative(middle - slack, middle + slack)


def todays(now_utc_hour: int, today: date) -> tuple[date, ...]:
    """The days it may be where the run's people live, by UTC's day and hour: today's first.

    Offsets of -8 to +9 hours are allowed for: where nothing tells the zone, a day that is over in one of them
    is not held against an answer.
    """
    if now_utc_hour < 8:
        return today, today - timedelta(days=1)
    if now_utc_hour >= 15:
        return today, today + timedelta(days=1)
    return (today,)
