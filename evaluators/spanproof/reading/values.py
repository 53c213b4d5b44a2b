"""A typed value and where it is written, and when two values are the same.

Values only; nothing here reads text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class Kind(StrEnum):
    """What sort of value it is."""

    NUMBER = "number"
    MONEY = "money"
    PERCENT = "percent"
    QUANTITY = "quantity"
    DATE = "date"
    TIME = "time"
    ID = "id"
    TEXT = "text"
    BOOL = "bool"


# Days of a year, of a month and of a day, about.
_DAYS = (365, 30, 1)
_YEARS = frozenset(range(1900, 2101))
NUMERIC = frozenset((Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.QUANTITY))


# Values and mentions are never changed. They are not frozen, as a frozen class takes three times as long to
# make, and a page of output has hundreds.
@dataclass(slots=True, unsafe_hash=True)
class Value:
    """A typed value.

    Attributes:
        number: the amount in the unit's base (seconds, bytes, grams, metres); also a percentage as written.
        step: the distance to the next amount that could have been written: 0.01 of `5.30`; 0 of letters.
        unit: a currency's code, or the dimension of a quantity; empty of a plain number.
        scale: what a written scale word multiplied by (`million`); 1 without one.
        other: another reading of the same characters (`1.234` in German), None where there is one only.
        date: year, month and day, each None where it is not written.
        time: hour, minute and second; the second None where it is not written.
        text: of identifiers and texts, the lower-cased words.
        factor: what the unit and the scale word multiplied by.
        grouped: whether its thousands are set apart ("1,966"), as those of a year never are.
        offset: what is added to an amount in its unit's base to write it: 32 of degrees Fahrenheit.
        symbol: the common symbol of its unit (`mg`, `°F`, `km²`), empty without one.
        approximate: whether it is written as about so much: `~5`, `≈ 3.2`.
    """

    kind: Kind
    number: float = 0.0
    step: float = 0.0
    unit: str = ""
    scale: float = 1.0
    other: float | None = None
    date: tuple[int | None, int | None, int | None] | None = None
    time: tuple[int, int, int | None] | None = None
    text: str = ""
    factor: float = 1.0
    grouped: bool = False
    offset: float = 0.0
    symbol: str = ""
    approximate: bool = False

    @property
    def amount(self) -> float:
        """Return the number as it is written, without its unit and scale word."""
        return self.number / self.factor + self.offset

    def without_unit(self) -> Value:
        """Return the plain number of an amount, as it is written."""
        step = self.step / self.factor
        return replace(self, kind=Kind.NUMBER, unit="", number=self.amount, step=step, factor=1.0)

    @property
    def seconds(self) -> float:
        """Return the seconds of the day of a time."""
        hour, minute, second = self.time or (0, 0, 0)
        return 3600.0 * hour + 60.0 * minute + (second or 0)


@dataclass(slots=True, unsafe_hash=True)
class Mention:
    """A value in a text: its characters are `text[start:end]`; `spelled` of numbers in letters."""

    value: Value
    start: int
    end: int
    spelled: bool = False


def is_year(value: Value) -> bool:
    """Return whether a number may be a year: it more often says which value is meant than how much it is."""
    is_plain = value.kind is Kind.NUMBER and value.step == 1 and value.factor == 1.0
    return is_plain and not value.grouped and value.number in _YEARS


def is_same_number(stated: float, source: float, step: float) -> bool:
    """Return whether a number said with a precision is the known one, rounded to that precision."""
    return abs(stated - source) <= step / 2 + _compute_float_error(source)


def is_cut(stated: float, source: float, step: float) -> bool:
    """Return whether a number said with a precision is the known one with its further digits left out."""
    return (
        step < 1
        and stated * source > 0
        and 0 <= (abs(source) - abs(stated)) < step - _compute_float_error(source)
    )


def _compute_float_error(number: float) -> float:
    """Return how far binary fractions of this size err: 100000.01 - 100000.00 is a little less than 0.01."""
    return 1e-12 * max(1.0, abs(number))


def compute_days_between(one: Value, other: Value) -> int | None:
    """Return about how many days are between two dates; None where one of them is not known to the day."""
    if one.date is None or other.date is None or None in (*one.date, *other.date):
        return None
    pairs = zip(_DAYS, one.date, other.date, strict=True)
    return abs(sum(days * ((first or 0) - (second or 0)) for days, first, second in pairs))


def is_same_date(stated: Value, source: Value) -> bool:
    """Return whether two dates agree in every part that both write, and share more than a year or a day."""
    if stated.date is None or source.date is None:
        return False
    shared = 0
    for one, other in zip(stated.date, source.date, strict=True):
        if one is not None and other is not None:
            if one != other:
                return False
            shared += 1
    return shared >= min(2, sum(part is not None for part in stated.date))


def is_same_time(stated: Value, source: Value) -> bool:
    """Return whether two times of day agree; a time in the afternoon may be written without saying so."""
    if stated.time is None or source.time is None or stated.time[1] != source.time[1]:
        return False
    seconds = stated.time[2], source.time[2]
    if None not in seconds and seconds[0] != seconds[1] and stated.time[2] != 0:
        return False
    if stated.time[0] == source.time[0]:
        return True
    return stated.unit == "12h?" and stated.time[0] % 12 == source.time[0] % 12
