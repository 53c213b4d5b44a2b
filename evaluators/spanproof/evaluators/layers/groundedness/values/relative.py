"""Dates that count from the day of the answer: tomorrow, in two days, next Monday."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from spanproof.evaluators.layers.groundedness.values.model import Kind, Mention, Value

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RELATIVE = re.compile(
    rf"""\b(?:(?P<near>today|tonight|tomorrow|yesterday)
    |in\s+(?P<in>\d{{1,3}}|{"|".join(_SMALL)})\s+(?P<in_unit>days?|weeks?)\b(?!\s+ago)
    |(?P<ago>\d{{1,3}}|{"|".join(_SMALL)})\s+(?P<ago_unit>days?|weeks?)\s+ago
    |(?P<side>next|last|this)\s+(?P<day>{"|".join(_DAYS)}))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NEAR = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}


def with_relatives(text: str, mentions: list[Mention], today: date, known: Sequence[Value]) -> list[Mention]:
    """Return a text's mentions with those of relative dates, which take the place of their numbers."""
    found = []
    for match in _RELATIVE.finditer(text):
        day = _day(match, today)
        counted = match.group("in") or match.group("ago")
        # "in four days" is a duration as well: it is a date only where a source has that date.
        if day is not None and (
            not counted or any(each.date == (day.year, day.month, day.day) for each in known)
        ):
            found.append(Mention(Value(Kind.DATE, date=(day.year, day.month, day.day)), *match.span()))
    kept = [each for each in mentions if not any(one.start <= each.start < one.end for one in found)]
    return sorted([*kept, *found], key=lambda mention: mention.start)


def _day(match: re.Match[str], today: date) -> date | None:
    near = match.group("near")
    if near:
        return today + timedelta(days=_NEAR[near.lower()])
    for name, sign in (("in", 1), ("ago", -1)):
        count = match.group(name)
        if count:
            number = int(count) if count.isdigit() else _SMALL.index(count.lower())
            weeks = match.group(f"{name}_unit").lower().startswith("week")
            return today + timedelta(days=sign * number * (7 if weeks else 1))
    weekday = _DAYS.index(match.group("day").lower())
    ahead = (weekday - today.weekday()) % 7
    side = match.group("side").lower()
    if side == "last":
        return today - timedelta(days=(today.weekday() - weekday) % 7 or 7)
    # "next Monday" is the coming one to some and the one after to others: of the two only the first is read.
    return today + timedelta(days=ahead or (7 if side == "next" else 0))
