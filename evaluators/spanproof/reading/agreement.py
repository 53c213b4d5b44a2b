"""Whether a value that an answer states is one that a source holds.

In: a stated value, how it is hedged, and a fact. Out: whether they agree, across units, scales and
rounding. A sign is never ignored: the caller says where a word of the answer turns it.
"""

from __future__ import annotations

from enum import StrEnum
from math import log10
from typing import Final

from spanproof.reading.lexicon import load_texts
from spanproof.reading.records import Fact
from spanproof.reading.units import UNITS
from spanproof.reading.values import NUMERIC, Kind, Value, is_cut, is_same_date, is_same_number, is_same_time
from spanproof.reading.words import base_forms_of

# How far "just under 80" may be from what it is said of, as a share of it: 79.90, and no 70.
_ONE_SIDED_WIDTH: Final = 0.1
# How far "about 8,000" may be: a number with trailing zeros, and at most so large a share of it.
_ROUND_WIDTH: Final = 0.05
# A card or an account is named by so many last digits.
_LAST_DIGITS: Final = 4
_RATE_WORDS: Final = frozenset[str]().union(*map(base_forms_of, load_texts("rate")))
# How far the logarithm of a power of ten may be from a whole number.
_LOG_STEP: Final = 1e-3
PLAIN_KINDS: Final = (Kind.NUMBER, Kind.MONEY)
"""Kinds whose amounts have one reading only."""
# How the reader names the columns of rows without a header.
_UNNAMED: Final = "column "
_DEGREE: Final = "deg"
# Of a stated quantity: sources leave these units to the name of the field.
_UNITS_LEFT_OUT: Final = ("", "data", "angle")
# How far two readings of digits may differ that are the same number.
_SAME_READING: Final = 1e-9
# How much larger a unit of data is by powers of 1024.
_BINARY_FACTORS: Final = {1000.0**power: 1.024**power for power in (1, 2, 3, 4)}
# A number up to this is read as a share where the answer says a percentage.
_LARGEST_FRACTION: Final = 2.0


class Hedge(StrEnum):
    """How a number is meant."""

    NONE = "none"
    ABOUT = "about"
    UNDER = "under"
    OVER = "over"


def is_agreeing(said: Value, hedge: Hedge, fact: Fact, text: str) -> bool:
    """Return whether a stated value is that of a fact; `text` are the characters of the stated one."""
    source = fact.value
    if said.kind is Kind.DATE:
        return _is_date_of(said, source)
    if said.kind is Kind.TIME:
        return source.kind is Kind.TIME and is_same_time(said, source)
    if said.kind is Kind.ID:
        return source.text == said.text or _is_number_of(said.text, source)
    if source.kind is Kind.ID:
        return _names_identifier(text, source.text)
    if said.kind not in NUMERIC or source.kind not in NUMERIC:
        return False
    return _is_same_amount(said, hedge, fact)


def _is_date_of(said: Value, source: Value) -> bool:
    """Return whether a stated date is that of a source; a year alone may be a plain number there."""
    if source.kind is Kind.NUMBER and said.date is not None and said.date[1:] == (None, None):
        return source.number == said.date[0]
    return source.kind is Kind.DATE and is_same_date(said, source)


def _is_number_of(identifier: str, source: Value) -> bool:
    """Return whether an identifier of digits is the number that a source holds."""
    return source.kind is Kind.NUMBER and identifier.isdigit() and float(identifier) == source.number


def _names_identifier(text: str, identifier: str) -> bool:
    digits = text.lstrip("#").lower()
    if identifier == digits:
        return True
    are_last = len(digits) == _LAST_DIGITS and identifier.endswith(digits)
    return are_last and digits.isdigit() and identifier.isdigit()


def are_comparable(said: Value, fact: Fact) -> bool:
    """Return whether two values could be of the same quantity: their kinds and units do not exclude it."""
    known = fact.value
    if said.kind not in NUMERIC or known.kind not in NUMERIC:
        return said.kind is known.kind
    if said.unit and known.unit:
        return said.unit == known.unit or _are_degrees(said, known)
    if Kind.PERCENT in (said.kind, known.kind):
        plain = known if said.kind is Kind.PERCENT else said
        may_be_rate = abs(plain.number) <= _LARGEST_FRACTION or is_rate(fact) or is_unnamed(fact)
        return plain.kind is Kind.NUMBER and may_be_rate
    return True


def _are_degrees(said: Value, known: Value) -> bool:
    """Return whether degrees are said of a temperature, without the scale that the source names."""
    return said.symbol == _DEGREE and known.unit == "temperature"


def is_rate(fact: Fact) -> bool:
    """Return whether a fact's field names a share."""
    return not _RATE_WORDS.isdisjoint(fact.words) or "%" in fact.field


def is_unnamed(fact: Fact) -> bool:
    """Return whether a fact has no name that could say its unit: its column has none, or it is bare."""
    return fact.field.startswith(_UNNAMED) or (not fact.path and fact.sentence is None)


def compute_width(said: Value, hedge: Hedge) -> float:
    """Return how wide a range a number means: its last written place, or more where it is hedged."""
    if hedge is not Hedge.ABOUT:
        return said.step
    amount = round(said.amount)
    zeros = 1.0
    while amount and amount % (zeros * 10) == 0:
        zeros *= 10
    wide = zeros * said.factor if abs(said.amount - amount) < said.step / 2 + 1e-9 else 0.0
    return max(said.step, min(wide, 2 * _ROUND_WIDTH * abs(said.number)))


def is_hedged_number(said: Value, hedge: Hedge, known: float, scale: float = 1.0) -> bool:
    """Return whether a hedged number may mean a known one; `scale` turns the stated into the known unit."""
    number, width = said.number * scale, compute_width(said, hedge) * scale
    if is_same_number(number, known, width):
        return True
    near = abs(number - known) <= _ONE_SIDED_WIDTH * abs(number)
    if hedge is Hedge.UNDER:
        return near and abs(known) < abs(number) and known * number > 0
    if hedge is Hedge.OVER:
        return near and abs(known) > abs(number) and known * number > 0
    return hedge is Hedge.ABOUT and is_cut(number, known, width)


def is_in_some_unit(said: Value, hedge: Hedge, bare: float) -> bool:
    """Return whether a stated amount may be a number without a unit: 190.08 MJ where code printed 190.08."""
    alike = {unit for unit in UNITS.values() if unit.dimension == said.unit}
    amounts = [bare * said.factor, *((bare - unit.offset) * unit.factor for unit in alike)]
    return any(is_hedged_number(said, hedge, amount) for amount in amounts)


def _is_same_amount(said: Value, hedge: Hedge, fact: Fact) -> bool:
    source = fact.value
    if _are_plain(said, source) and hedge is Hedge.NONE and fact.factor == 1.0:
        # Most pairs are: they differ, and nothing else is compared.
        return is_same_number(said.number, source.number, said.step) and are_comparable(said, fact)
    if not are_comparable(said, fact):
        return False
    match said.kind, source.kind:
        case Kind.PERCENT, Kind.NUMBER:
            return _is_share(said, hedge, fact)
        case Kind.QUANTITY, Kind.NUMBER:
            # Its unit is nowhere beside it: the name of the field has to bear the unit out.
            has_plain_unit = said.factor == 1.0 and said.unit in _UNITS_LEFT_OUT
            return has_plain_unit and is_hedged_number(said, hedge, source.number)
        case Kind.NUMBER, Kind.QUANTITY:
            return is_hedged_number(said, hedge, source.amount)
        case _, Kind.QUANTITY if _are_degrees(said, source):
            return is_hedged_number(said, hedge, source.amount, 1 / said.factor)
    return is_hedged_number(said, hedge, source.number * fact.factor) or _is_other_reading(said, hedge, fact)


def _are_plain(said: Value, source: Value) -> bool:
    """Return whether both amounts have one reading only."""
    if said.other is not None or source.other is not None:
        return False
    return said.kind in PLAIN_KINDS and source.kind in PLAIN_KINDS


def _is_share(said: Value, hedge: Hedge, fact: Fact) -> bool:
    """Return whether a percentage is a number of a source, which may hold it as a fraction."""
    number = fact.value.number
    if abs(number) <= _LARGEST_FRACTION and is_hedged_number(said, hedge, number, 0.01):
        return True
    return (is_rate(fact) or is_unnamed(fact)) and is_hedged_number(said, hedge, number)


def _is_other_reading(said: Value, hedge: Hedge, fact: Fact) -> bool:
    """Return whether two amounts agree as they are read less often: in powers of 1024, or unscaled."""
    source = fact.value
    if said.unit == source.unit == "data" and said.factor in _BINARY_FACTORS:
        # "7 GB" is often 7 GiB.
        return is_hedged_number(said, hedge, source.number, _BINARY_FACTORS[said.factor])
    if fact.factor != 1.0 and said.factor == 1.0 and said.scale == 1.0:
        return is_hedged_number(said, hedge, source.number)
    if said.other is not None and abs(said.other - source.number) < _SAME_READING:
        return True
    return source.other is not None and abs(source.other - said.number) < _SAME_READING


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


def is_exchange(said: str, known: str) -> bool:
    """Return whether digits are others with two neighbours exchanged."""
    if len(said) != len(known):
        return False
    places = [at for at, (one, other) in enumerate(zip(said, known, strict=True)) if one != other]
    return (
        len(places) == 2
        and places[1] - places[0] == 1
        and said[places[0]] == known[places[1]]
        and said[places[1]] == known[places[0]]
    )


def is_slip(said: str, known: str) -> bool:
    """Return whether two identifiers differ in one character, or in two neighbours that changed places."""
    if len(said) != len(known):
        return False
    places = [at for at, (one, other) in enumerate(zip(said, known, strict=True)) if one != other]
    if len(places) == 1:
        return said[places[0]].isdigit() == known[places[0]].isdigit()
    return is_exchange(said, known)
