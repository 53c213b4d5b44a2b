"""Whether a value that an answer states is one that a source holds.

In: a stated value, how it is hedged, and a fact. Out: whether they agree, across units, scales and
rounding. A sign is never ignored: the caller says where a word of the answer turns it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from math import log10
from typing import Final

from spanproof.reading.lexicon import load_texts
from spanproof.reading.records import Fact
from spanproof.reading.units import UNITS
from spanproof.reading.values import (
    NUMERIC,
    Kind,
    Mention,
    Value,
    is_cut,
    is_same_date,
    is_same_number,
    is_same_time,
    is_year,
)
from spanproof.reading.words import list_base_forms

# How far "just under 80" may be from what it is said of, as a share of it: 79.90, and no 70.
_ONE_SIDED_WIDTH: Final = 0.1
# How far "about 8,000" may be: a number with trailing zeros, and at most so large a share of it.
_ROUND_WIDTH: Final = 0.05
# A card or an account is named by so many last digits.
_LAST_DIGITS: Final = 4
_RATE_WORDS: Final = frozenset[str]().union(*map(list_base_forms, load_texts("rate")))
# How far the logarithm of a power of ten may be from a whole number.
_LOG_STEP: Final = 1e-3
PLAIN_KINDS: Final = (Kind.NUMBER, Kind.MONEY)
"""Kinds whose amounts have one reading only."""
# How the reader names the columns of rows without a header.
_UNNAMED: Final = "column "
_DEGREE: Final = "deg"
# Of a stated quantity: sources leave these units to the name of the field.
_UNITS_LEFT_OUT: Final = ("", "data", "angle")
# A number of so many digits, zeros at its ends left out, is in an output by chance in few answers.
_PRECISE_DIGITS: Final = 3
# How far two readings of digits may differ that are the same number.
_SAME_READING: Final = 1e-9
# How much larger a unit of data is by powers of 1024.
_BINARY_FACTORS: Final = {1000.0**power: 1.024**power for power in (1, 2, 3, 4)}
# Cents of a dollar, as most currencies have them.
MINOR_UNITS: Final = 100
_CURRENCY_CODE: Final = re.compile(r"[A-Za-z]{3}")
# A number up to this is read as a share where the answer says a percentage.
_LARGEST_FRACTION: Final = 2.0


class Hedge(StrEnum):
    """How a number is meant."""

    NONE = "none"
    ABOUT = "about"
    UNDER = "under"
    OVER = "over"


def is_agreeing(stated: Value, hedge: Hedge, fact: Fact, text: str) -> bool:
    """Return whether a stated value is that of a fact; `text` are the characters of the stated one."""
    source = fact.value
    if stated.kind is Kind.DATE:
        return _is_date_of(stated, source)
    if stated.kind is Kind.TIME:
        return source.kind is Kind.TIME and is_same_time(stated, source)
    if stated.kind is Kind.ID:
        return source.text == stated.text or _is_number_of(stated.text, source)
    if source.kind is Kind.ID:
        return _names_identifier(text, source.text)
    if stated.kind not in NUMERIC or source.kind not in NUMERIC:
        return False
    return _is_same_amount(stated, hedge, fact)


def _is_date_of(stated: Value, source: Value) -> bool:
    """Return whether a stated date is that of a source; a year alone may be a plain number there."""
    if source.kind is Kind.NUMBER and stated.date is not None and stated.date[1:] == (None, None):
        return source.number == stated.date[0]
    return source.kind is Kind.DATE and is_same_date(stated, source)


def _is_number_of(identifier: str, source: Value) -> bool:
    """Return whether an identifier of digits is the number that a source holds."""
    return source.kind is Kind.NUMBER and identifier.isdigit() and float(identifier) == source.number


def _names_identifier(text: str, identifier: str) -> bool:
    digits = text.lstrip("#").lower()
    if identifier == digits:
        return True
    are_last = len(digits) == _LAST_DIGITS and identifier.endswith(digits)
    return are_last and digits.isdigit() and identifier.isdigit()


def are_comparable(stated: Value, fact: Fact) -> bool:
    """Return whether two values could be of the same quantity: their kinds and units do not exclude it."""
    source = fact.value
    if stated.kind not in NUMERIC or source.kind not in NUMERIC:
        return stated.kind is source.kind
    if stated.unit and source.unit:
        return stated.unit == source.unit or _are_degrees(stated, source)
    if Kind.PERCENT in (stated.kind, source.kind):
        plain = source if stated.kind is Kind.PERCENT else stated
        may_be_rate = abs(plain.number) <= _LARGEST_FRACTION or is_rate(fact) or is_unnamed(fact)
        return plain.kind is Kind.NUMBER and may_be_rate
    return True


def _are_degrees(stated: Value, source: Value) -> bool:
    """Return whether degrees are said of a temperature, without the scale that the source names."""
    return stated.symbol == _DEGREE and source.unit == "temperature"


def is_rate(fact: Fact) -> bool:
    """Return whether a fact's field names a share."""
    return not _RATE_WORDS.isdisjoint(fact.words) or "%" in fact.field


def is_unnamed(fact: Fact) -> bool:
    """Return whether a fact has no name that could say its unit: its column has none, or it is bare."""
    return fact.field.startswith(_UNNAMED) or (not fact.path and fact.sentence is None)


def compute_width(stated: Value, hedge: Hedge) -> float:
    """Return how wide a range a number means: its last written place, or more where it is hedged."""
    if hedge is not Hedge.ABOUT:
        return stated.step
    amount = round(stated.amount)
    zeros = 1.0
    while amount and amount % (zeros * 10) == 0:
        zeros *= 10
    if abs(stated.amount - amount) < stated.step / 2 + 1e-9:
        wide = zeros * stated.factor
    else:
        wide = 0.0
    return max(stated.step, min(wide, 2 * _ROUND_WIDTH * abs(stated.number)))


def is_hedged_number(stated: Value, hedge: Hedge, amount: float, scale: float = 1.0) -> bool:
    """Return whether a hedged number may mean a known one; `scale` turns the stated into the known unit."""
    number, width = stated.number * scale, compute_width(stated, hedge) * scale
    if is_same_number(number, amount, width):
        # "Over 12.35" is no rounding of 12.3456.
        return abs(number - amount) <= _SAME_READING or not _is_on_other_side(hedge, number, amount)
    near = abs(number - amount) <= _ONE_SIDED_WIDTH * abs(number)
    if hedge is Hedge.UNDER:
        return near and abs(amount) < abs(number) and amount * number > 0
    if hedge is Hedge.OVER:
        return near and abs(amount) > abs(number) and amount * number > 0
    return hedge is Hedge.ABOUT and is_cut(number, amount, width)


def _is_on_other_side(hedge: Hedge, number: float, amount: float) -> bool:
    return (hedge is Hedge.OVER and amount < number) or (hedge is Hedge.UNDER and amount > number)


def is_in_some_unit(stated: Value, hedge: Hedge, bare: float) -> bool:
    """Return whether a stated amount may be a number without a unit: 190.08 MJ where code printed 190.08."""
    alike = {unit for unit in UNITS.values() if unit.dimension == stated.unit}
    amounts = [bare * stated.factor, *((bare - unit.offset) * unit.factor for unit in alike)]
    return any(is_hedged_number(stated, hedge, amount) for amount in amounts)


def _is_same_amount(stated: Value, hedge: Hedge, fact: Fact) -> bool:
    source = fact.value
    if _are_plain(stated, source) and hedge is Hedge.NONE and fact.factor == 1.0:
        # Most pairs are: they differ, and nothing else is compared.
        return is_same_number(stated.number, source.number, stated.step) and are_comparable(stated, fact)
    if not are_comparable(stated, fact):
        return False
    match stated.kind, source.kind:
        case Kind.PERCENT, Kind.NUMBER:
            return _is_share(stated, hedge, fact)
        case Kind.QUANTITY, Kind.NUMBER:
            # Its unit is not next to it: the name of the field has to support the unit.
            has_plain_unit = stated.factor == 1.0 and stated.unit in _UNITS_LEFT_OUT
            return has_plain_unit and is_hedged_number(stated, hedge, source.number)
        case Kind.NUMBER, Kind.QUANTITY:
            return is_hedged_number(stated, hedge, source.amount)
        case _, Kind.QUANTITY if _are_degrees(stated, source):
            return is_hedged_number(stated, hedge, source.amount, 1 / stated.factor)
    return is_hedged_number(stated, hedge, source.number * fact.factor) or _is_other_reading(
        stated, hedge, fact
    )


def _are_plain(stated: Value, source: Value) -> bool:
    """Return whether both amounts have one reading only."""
    if stated.other is not None or source.other is not None:
        return False
    return stated.kind in PLAIN_KINDS and source.kind in PLAIN_KINDS


def _is_share(stated: Value, hedge: Hedge, fact: Fact) -> bool:
    """Return whether a percentage is a number of a source, which may hold it as a fraction."""
    number = fact.value.number
    if abs(number) <= _LARGEST_FRACTION and is_hedged_number(stated, hedge, number, 0.01):
        return True
    return (is_rate(fact) or is_unnamed(fact)) and is_hedged_number(stated, hedge, number)


def _is_other_reading(stated: Value, hedge: Hedge, fact: Fact) -> bool:
    """Return whether two amounts agree as they are read less often: in powers of 1024, or unscaled."""
    source = fact.value
    if stated.unit == source.unit == "data" and stated.factor in _BINARY_FACTORS:
        # "7 GB" is often 7 GiB.
        return is_hedged_number(stated, hedge, source.number, _BINARY_FACTORS[stated.factor])
    if fact.factor != 1.0 and stated.factor == 1.0 and stated.scale == 1.0:
        return is_hedged_number(stated, hedge, source.number)
    if stated.other is not None and abs(stated.other - source.number) < _SAME_READING:
        return True
    return source.other is not None and abs(source.other - stated.number) < _SAME_READING


def find_power_of_ten(one: float, other: float) -> int | None:
    """Return the power of ten by which two numbers differ."""
    if not one or not other:
        return None
    power = log10(abs(one / other))
    return round(power) if abs(power - round(power)) < _LOG_STEP else None


def is_of_other_scale(value: Value, fact: Fact) -> bool:
    """Return whether two amounts differ by a power of ten: the field may name a unit that is not read."""
    if fact.value.factor != 1.0:
        # `amount_cents`: its unit was read.
        return False
    if value.number == 0 or fact.value.number == 0 or bool(value.unit) == bool(fact.value.unit):
        return False
    power = find_power_of_ten(value.amount, fact.value.amount)
    # A share is written as such or in percent: no other power lies between the two.
    return power is not None and (value.kind is not Kind.PERCENT or power in (0, 2))


def is_exchange(stated: str, source: str) -> bool:
    """Return whether digits are others with two neighbours exchanged."""
    if len(stated) != len(source):
        return False
    places = [at for at, (one, other) in enumerate(zip(stated, source, strict=True)) if one != other]
    return (
        len(places) == 2
        and places[1] - places[0] == 1
        and stated[places[0]] == source[places[1]]
        and stated[places[1]] == source[places[0]]
    )


def is_slip(stated: str, source: str) -> bool:
    """Return whether two identifiers differ in one character, or in two neighbours that changed places."""
    if len(stated) != len(source):
        return False
    places = [at for at, (one, other) in enumerate(zip(stated, source, strict=True)) if one != other]
    if len(places) == 1:
        return stated[places[0]].isdigit() == source[places[0]].isdigit()
    return is_exchange(stated, source)


def get_sort_key(fact: Fact) -> float:
    """Return what the facts of a column are ordered by: the amount, of a date the day."""
    if fact.value.date is not None:
        year, month, day = fact.value.date
        return float(((year or 0) * 100 + (month or 0)) * 100 + (day or 0))
    return fact.value.number * fact.factor


def may_be_minor_units(stated: Value, fact: Fact, row: Sequence[Fact]) -> bool:
    """Return whether an amount of money may be a hundred times too high.

    An integer beside the code of its currency counts cents at some providers of payments, and whole units
    elsewhere: `{"amount_due": 128900, "currency": "usd"}`.
    """
    codes = (other.value.text for other in row if other.field.lower() == "currency")
    has_decimals = any(other.value.kind in NUMERIC and not other.value.number.is_integer() for other in row)
    is_integer = fact.value.kind is Kind.NUMBER and not has_decimals and fact.value.number >= MINOR_UNITS
    return stated.kind is Kind.MONEY and is_integer and any(map(_CURRENCY_CODE.fullmatch, codes))


def find_printed_number(stated: Value, printed: Sequence[Fact]) -> Fact | None:
    """Return the one number that was printed; of an amount in cents and in dollars the latter, for money."""
    if len(printed) == 1:
        return printed[0]
    if len(printed) != 2 or stated.kind is not Kind.MONEY:
        return None
    major, minor = sorted(printed, key=lambda fact: fact.value.number)
    if minor.value.number == MINOR_UNITS * major.value.number:
        return major
    return None


def are_of_one_shape(one: Fact, other: Fact) -> bool:
    """Return whether two facts could be of one quantity: both with decimals, or neither, and of one unit."""
    is_fraction = one.value.step < 1, other.value.step < 1
    return one.value.unit == other.value.unit and is_fraction[0] == is_fraction[1]


def is_precise(mention: Mention, text: str) -> bool:
    """Return whether a value has enough digits to be of one quantity only, by any chance but a small one."""
    digits = [character for character in text if character.isdigit()]
    value = mention.value
    if value.kind is Kind.DATE:
        return value.date is not None and None not in value.date[1:]
    is_amount = (value.kind in NUMERIC and not is_year(value)) or value.kind is Kind.TIME
    return is_amount and not mention.spelled and len("".join(digits).strip("0")) >= _PRECISE_DIGITS
