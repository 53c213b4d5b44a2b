"""Slips: how a stated number may come of a value that is another.

In: a `Quantity` and a value in its unit. Out: what went wrong, in words, or nothing. A slip is evidence only
where few values are about: among many some is a slip away from anything, which `coincides` tells by its
kind: few numbers are the digits of a value turned round, many are one digit off.
"""

from __future__ import annotations

import math
from dataclasses import replace

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.units import BY_NAME, Dimension
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.matching import fits

_SURE_DIGITS = 3
"""Digits from which one that differs is a slip and no other number."""
_ORDERED_DIGITS = 2
"""Digits from which their order may be wrong: one number in ninety is another of two digits turned round."""
_SLIPS_PER_DIGIT = 10
_CHANCE = 0.2
"""How likely it may be that one of the values is a slip away by chance."""
ANOTHER_DIGIT = "another digit"
OTHER_SIGN = "the other sign"
OTHER_ORDER = "its digits in another order"
ANOTHER_UNIT = "another unit"
POWER_OF_TEN = "a power of ten off"
_FACTORS = {
    measured: frozenset(unit.factor for unit in BY_NAME.values() if unit.dimension is measured)
    for measured in Dimension
}
_POWERS = frozenset((1, -1, 2, -2, 3, -3, 6, -6))


def slip(quantity: Quantity, value: float, *, meant: bool = False) -> str:
    """How the quantity is one slip away from the value; empty where it is not.

    Where the value is `meant` beyond doubt, one of two digits tells enough.
    """
    if not value or not quantity.value:
        return ""
    told, exact = _steps(quantity.value, quantity), _steps(value, quantity)
    if told == exact:
        return "" if (quantity.value < 0) == (value < 0) else OTHER_SIGN
    least, most = _steps(value * (1 - 1e-9), quantity), _steps(value * (1 + 1e-9), quantity)
    for steps in (least,) if least == most else (least, most):
        how = _misprint(told, steps, quantity, meant=meant)
        if how:
            return how
    power = round(math.log10(abs(quantity.value / value)))
    off = power in _POWERS and len(str(told).strip("0")) > 1 and _steps(value * 10.0**power, quantity) == told
    return POWER_OF_TEN if off else ""


def _misprint(told: int, steps: int, quantity: Quantity, *, meant: bool) -> str:
    """Whether the one has another digit than the other, or the same ones in another order."""
    apart = abs(told - steps)
    if apart % 9 and len(str(apart).rstrip("0")) > 1:
        return ""  # one digit makes a difference of that digit and zeros, their order one that nine divides
    stated, rounded = str(told), str(steps)
    if len(stated) != len(rounded):
        return ""
    differ = sum(one != other for one, other in zip(stated, rounded, strict=True))
    if differ == 1 and _telling(quantity) >= (_SURE_DIGITS - meant):
        return ANOTHER_DIGIT
    alike = sorted(stated) == sorted(rounded)
    return OTHER_ORDER if alike and _telling(quantity) >= _ORDERED_DIGITS else ""


def _steps(value: float, quantity: Quantity) -> int:
    """How many steps of the quantity's last digit a value is: its digits."""
    return round(abs(value) / quantity.ulp)


def _telling(quantity: Quantity) -> int:
    """The digits that tell it from others: the zeros at the end of a whole number may be rounding."""
    return (
        quantity.digits
        if quantity.decimals
        else max(1, len(str(_steps(quantity.value, quantity)).rstrip("0")))
    )


def is_long(quantity: Quantity) -> bool:
    """Whether its digits tell it from most other numbers."""
    return _telling(quantity) >= _SURE_DIGITS


def as_told(quantity: Quantity, *, coarse: bool) -> Quantity:
    """The quantity with the step it is told in: "about 510" says tens."""
    zeros = len(quantity.text.rstrip()) - len(quantity.text.rstrip().rstrip("0")) if coarse else 0
    if not zeros or quantity.decimals or quantity.scaled:
        return quantity
    return replace(quantity, ulp=quantity.ulp * 10.0**zeros)


def is_as_long(quantity: Quantity, value: float) -> bool:
    """Whether the value has as many digits, told as the quantity is: only then can one of them be wrong."""
    return len(str(_steps(value, quantity))) == len(str(_steps(quantity.value, quantity)))


def another_unit(quantity: Quantity, fact: Fact) -> str:
    """Whether the fact's own number is told in a unit that is not the fact's."""
    unit = fact.unit
    if unit is None or fact.number is None or quantity.unit is None or quantity.digits < _SURE_DIGITS - 1:
        return ""
    if (unit.dimension, unit.factor, unit.currency) == (
        quantity.unit.dimension,
        quantity.unit.factor,
        quantity.unit.currency,
    ):
        return ""
    told = (fact.number, *_in_units_of(quantity, fact))
    return ANOTHER_UNIT if any(fits(quantity, value) for value in told) else ""


def _in_units_of(quantity: Quantity, fact: Fact) -> list[float]:
    """The fact in every unit of what the quantity measures: "14 hours" of what is 14 days."""
    if fact.unit is None or fact.number is None or fact.dimension is not quantity.dimension:
        return []
    return [fact.number * fact.unit.factor / factor for factor in _FACTORS[fact.unit.dimension]]


def in_units_of(quantity: Quantity, number: float) -> list[float]:
    """A number without a unit, read in each unit of what the quantity measures and told in the quantity's."""
    unit = quantity.unit
    return [] if unit is None else [number * factor / unit.factor for factor in _FACTORS[unit.dimension]]


def coincides(quantity: Quantity, values: int, how: str = "", most: float = _CHANCE) -> bool:
    """Whether one of so many values is likely to be such a slip away by mere chance: above `most`."""
    digits = _telling(quantity)
    return values * _ways(how, digits) / (9 * 10.0 ** (digits - 1)) > most


def _ways(how: str, digits: int) -> int:
    """How many numbers lie such a slip away from one of so many digits."""
    if how == OTHER_ORDER:
        return min(math.factorial(min(digits, _SURE_DIGITS + 2)) - 1, _SLIPS_PER_DIGIT * digits)
    if how in (ANOTHER_UNIT, POWER_OF_TEN):
        return 1  # the very same digits
    return _SLIPS_PER_DIGIT * digits
