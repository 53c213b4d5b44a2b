"""How a stated value and a known one compare, across units, scales, signs and precision."""

from __future__ import annotations

from enum import Enum

from spanproof.evaluators.layers.groundedness.claims.frames import Bound, Frame
from spanproof.reading.records import Fact
from spanproof.reading.values import (
    NUMERIC,
    Kind,
    Value,
    is_cut,
    is_same_date,
    is_same_number,
    is_same_time,
)

# "Ending in 6644": a card is named by four digits.
_LAST_DIGITS = 4
_WITHOUT_CENTS = frozenset(("JPY", "KRW", "VND", "CLP", "ISK", "HUF"))


class Match(Enum):
    """How a stated value is the known one; the value is how good a match that is."""

    NONE = 0.0
    CUT = 0.3
    SIGN = 0.4
    SIDE = 0.6
    MINOR = 0.7
    UNSCALED = 0.8
    FRACTION = 0.85
    ROUNDED = 0.95
    EXACT = 1.0


def compare(frame: Frame, fact: Fact) -> Match:
    """Return how a frame's value matches a fact's."""
    said, known = frame.mention.value, fact.value
    if said.kind is Kind.DATE:
        return (
            Match.EXACT
            if known.kind is Kind.DATE and is_same_date(said, known)
            else _compare_year(said, known)
        )
    if said.kind is Kind.TIME:
        return Match.EXACT if known.kind is Kind.TIME and is_same_time(said, known) else Match.NONE
    if said.kind is Kind.ID and known.kind is Kind.NUMBER:
        return Match.EXACT if said.text.isdigit() and float(said.text) == known.number else Match.NONE
    if said.kind is Kind.ID:
        return Match.EXACT if known.text == said.text else Match.NONE
    if known.kind is Kind.ID:
        return Match.EXACT if _matches_identifier(frame, known.text) else Match.NONE
    if said.kind in NUMERIC and known.kind is Kind.DATE and known.date is not None:
        return Match.EXACT if said.kind is Kind.NUMBER and said.number in known.date[:1] else Match.NONE
    if said.kind not in NUMERIC or known.kind not in NUMERIC:
        return Match.NONE
    return _compare_numbers(frame, said, known, fact)


def _matches_identifier(frame: Frame, known: str) -> bool:
    """Return whether digits are an identifier, the number in it (`card_6644`), or what it ends in."""
    digits = frame.text.lstrip("#").lower()
    return known == digits or (
        len(digits) >= _LAST_DIGITS
        and known.endswith(digits)
        and (frame.ends or not known[-len(digits) - 1].isdigit())
    )


def _compare_year(said: Value, known: Value) -> Match:
    alone = said.date is not None and said.date[1:] == (None, None)
    return Match.EXACT if alone and said.date and known.number == said.date[0] else Match.NONE


def are_comparable(said: Value, known: Value) -> bool:
    """Return whether two values could be about the same thing: none of their units excludes the other."""
    if said.kind in NUMERIC and known.kind in NUMERIC:
        both = said.unit and known.unit
        return not both or said.unit == known.unit
    return said.kind is known.kind


def is_in_minor_units(said: Value, known: float) -> bool:
    """Return whether a plain number is an amount of money in cents: 4500 of $45.00."""
    if said.kind is not Kind.MONEY or said.unit in _WITHOUT_CENTS:
        return False
    cents = round(100 * said.number)
    return abs(cents) >= 100 and cents == known and abs(100 * said.number - cents) < 1e-6


def compute_width(frame: Frame) -> float:
    """Return how wide a range of amounts a frame's number means."""
    said = frame.mention.value
    return max(said.step, 0.1 * abs(said.number)) if frame.bound is Bound.ABOUT else said.step


def _compare_numbers(frame: Frame, said: Value, known: Value, fact: Fact) -> Match:
    if not are_comparable(said, known):
        return Match.NONE
    step = compute_width(frame)
    amount, amount_step = said.amount, said.step / said.factor
    known_amount = known.number
    for target, candidate, width, match in (
        (said.number, known_amount * fact.factor, step, Match.EXACT),
        (amount, known_amount, amount_step, Match.UNSCALED),
        (said.number / 100, known_amount, step / 100, Match.FRACTION),
    ):
        if match is Match.UNSCALED:
            if said.factor == 1.0 and fact.factor == 1.0:
                continue
            # Both name their units: 95 seconds are no 95 minutes.
            if said.kind is known.kind is Kind.QUANTITY and said.factor != known.factor:
                continue
            if fact.known_scale and said.scale != 1.0 and fact.factor != said.scale:
                continue
        if match is Match.FRACTION and (
            said.kind is not Kind.PERCENT or known.kind is Kind.PERCENT or abs(known_amount) > 20
        ):
            continue
        if is_same_number(target, candidate, width):
            exact = abs(target - candidate) <= 1e-9 * max(1.0, abs(candidate))
            return match if match is not Match.EXACT or exact else Match.ROUNDED
        # A decrease of 5 may be known as -5; a minus that no source has makes another value.
        if target > 0 and is_same_number(target, -candidate, width):
            return Match.SIGN
    # "1,074 of 1,200 GB" leaves out the unit of the first.
    bare = said.kind is Kind.NUMBER and said.factor == 1.0 and known.kind is Kind.QUANTITY
    if bare and is_same_number(said.number, known.amount, step):
        return Match.UNSCALED
    if said.other is not None and is_same_number(said.other, known_amount * fact.factor, 0.0):
        return Match.ROUNDED
    if known.other is not None and is_same_number(said.number, known.other, said.step):
        return Match.ROUNDED
    if frame.bound is Bound.MORE and known_amount * fact.factor >= said.number:
        return Match.SIDE
    if frame.bound is Bound.LESS and known_amount * fact.factor <= said.number:
        return Match.SIDE
    if is_in_minor_units(said, known_amount) and known.kind is Kind.NUMBER and fact.factor == 1.0:
        return Match.MINOR
    return Match.CUT if is_cut(said.number, known_amount * fact.factor, said.step) else Match.NONE
