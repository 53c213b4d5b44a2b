"""Whether a stated quantity and a fact are the same value, written in two ways.

In: a `Quantity` of the answer and a number with its unit. Out: how the one follows from the other, as words,
or None. A quantity may round: it fits where the exact value lies within half of its last written digit.
Conversions need a unit on both sides, or a key that says what it measures; where neither is given, only those
readings are allowed that the form itself suggests (an integer of money behind an answer with two decimals).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import CENTS, Dimension, readings
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact

_DURATION_KEYS = frozenset(
    ("latency", "duration", "elaps", "tim", "took", "respons", "p50", "p90", "p95", "p99", "runtim")
)
_SIZE_KEYS = frozenset(("size", "byte", "memory", "disk", "file", "rss", "heap"))


@dataclass(slots=True)
class Probe(Quantity):
    """A quantity that fits nothing and notes what it is held against, with the step it is told in."""

    tried: list[tuple[float, Quantity]] = field(default_factory=list)


def fits(quantity: Quantity, value: float, *, coarse: bool = False) -> bool:
    """Whether the quantity is this value as far as its own precision tells.

    With `coarse`, where the answer says "about", trailing zeros of an integer are not claimed.
    """
    if isinstance(quantity, Probe):
        quantity.tried.append((value, quantity))
        return False
    ulp = quantity.ulp
    if coarse and not quantity.decimals and not quantity.scaled and quantity.value:
        written = str(abs(int(quantity.value)))
        ulp *= 10 ** (len(written) - len(written.rstrip("0")))
    if quantity.value == 0:
        # Zero hides everything below its last digit: only with decimals is that a rounding.
        return abs(value) <= (ulp / 2 if quantity.decimals else 0.0)
    return abs(quantity.value - value) <= ulp / 2 * (1 + 1e-6) + abs(value) * 1e-12


def binds(quantity: Quantity, fact: Fact, *, coarse: bool = False) -> str | None:
    """How the quantity follows from the fact: empty where it is the same number, None where it does not."""
    value = fact.number
    assert value is not None
    if fact.scale != 1.0 and (quantity.scaled or abs(quantity.value) >= fact.scale):
        return _in_scale(quantity, value, fact.scale)
    dimension = quantity.dimension
    if dimension is None:
        return _bare(quantity, fact, value, coarse)
    if dimension is Dimension.MONEY:
        return _money(quantity, fact, value, coarse)
    if dimension is Dimension.FRACTION:
        return _share(quantity, fact, value, coarse)
    return _measured(quantity, fact, value, coarse)


def _in_scale(quantity: Quantity, value: float, scale: float) -> str | None:
    """A fact in thousands or millions, as its key says, told in full."""
    if not fits(quantity, value * scale):
        return None
    return f"{number_text(value)} × {number_text(scale)} = {number_text(value * scale)}"


def currencies_clash(quantity: Quantity, fact: Fact) -> bool:
    """Whether the two are amounts of different currencies."""
    mine = quantity.unit.currency if quantity.unit else ""
    its = (fact.unit.currency if fact.unit else "") or fact.currency
    return bool(mine and its and mine != its)


def comparable(quantity: Quantity, fact: Fact) -> bool:
    """Whether the quantity could be a statement of this fact at all: no clash of dimensions."""
    mine, its = quantity.dimension, fact.dimension
    if mine is None:
        return True
    if mine is Dimension.MONEY:
        return its is Dimension.MONEY or (its is None and not fact.counted)
    if mine is Dimension.FRACTION:
        return (
            its is Dimension.FRACTION
            or _may_be_a_share(fact)
            or (its is None and not fact.counted and fact.day is None)
        )
    return its is mine or (its is None and not fact.counted)


def _may_be_a_share(fact: Fact) -> bool:
    """Whether a value that its key takes for an amount may be a share: a `tax` or a `charge` below one."""
    return fact.money and not fact.currency and 0 < abs(fact.number or 0.0) < 1


def number_text(value: float) -> str:
    """A number as people write it in a derivation."""
    return f"{value:.10g}"


def _bare(quantity: Quantity, fact: Fact, value: float, coarse: bool) -> str | None:
    in_cents = fact.unit is CENTS and quantity.decimals == 2
    if not in_cents and fits(quantity, value, coarse=coarse):
        return ""
    if in_cents and fits(quantity, value / 100):
        return f"{number_text(value)} / 100 = {number_text(value / 100)}"
    return None


def _money(quantity: Quantity, fact: Fact, value: float, coarse: bool) -> str | None:
    unit = quantity.unit
    assert unit is not None
    if currencies_clash(quantity, fact):
        return None
    if fact.unit is not None:
        if fact.unit.dimension is not Dimension.MONEY:
            return None
        return _converted(quantity, value, fact.unit.factor, (unit.factor,), coarse)
    if fact.counted and not fact.money:
        return None
    if fits(quantity, value * (100 if unit.factor == 0.01 and fact.money else 1), coarse=coarse):
        return ""
    looks_like_cents = (
        value == int(value)
        and quantity.decimals == 2
        and (fact.money or fact.currency or not fact.key or fact.weak)
    )
    if looks_like_cents and fits(quantity, value / 100):
        return f"{number_text(value)} / 100 = {number_text(value / 100)}, read as cents"
    return None


def _share(quantity: Quantity, fact: Fact, value: float, coarse: bool) -> str | None:
    unit = quantity.unit
    assert unit is not None
    if fact.unit is not None:
        if fact.unit.dimension is not Dimension.FRACTION:
            return None
        return _converted(quantity, value, fact.unit.factor, (unit.factor,), coarse)
    if fact.counted or (fact.money and not _may_be_a_share(fact)):
        return None
    if abs(value) <= 1 and fits(quantity, value / unit.factor, coarse=coarse):
        return f"{number_text(value)} × {number_text(1 / unit.factor)} = {number_text(value / unit.factor)}"
    is_fraction = fact.fraction or not fact.key
    if fits(quantity, value, coarse=coarse) and (abs(value) > 1 or not is_fraction):
        return ""
    return None


def _measured(quantity: Quantity, fact: Fact, value: float, coarse: bool) -> str | None:
    unit = quantity.unit
    assert unit is not None
    if fact.unit is not None:
        if fact.unit.dimension is not unit.dimension:
            return None
        if unit.dimension is Dimension.TEMPERATURE and fact.unit.name != unit.name:
            converted = temperature(value, fact.unit.name, unit.name)
            return (
                f"{number_text(value)} {fact.unit.name} = {converted:.6g} {unit.name}"
                if fits(quantity, converted)
                else None
            )
        for factor in readings(fact.unit):
            found = _converted(quantity, value, factor, readings(unit), coarse)
            if found is not None:
                return found
        return None
    if fact.money or (fact.counted and unit.dimension is not Dimension.BYTES):
        return None
    if fits(quantity, value, coarse=coarse) and not fact.weak:
        return ""
    words = fact.words
    if unit.dimension is Dimension.BYTES and not _SIZE_KEYS.isdisjoint(words):
        return _converted(quantity, value, 1.0, readings(unit), coarse)
    if unit.dimension is Dimension.TIME and value >= 1000 and not _DURATION_KEYS.isdisjoint(words):
        found = _converted(quantity, value, 1e-3, (unit.factor,), coarse)
        return f"{found}, read as milliseconds" if found else None
    if unit.dimension is Dimension.TIME and unit.factor < 1 and not _DURATION_KEYS.isdisjoint(words):
        found = _converted(quantity, value, 1.0, (unit.factor,), coarse)
        return f"{found}, read as seconds" if found else None
    return None


def _converted(
    quantity: Quantity, value: float, factor: float, into: tuple[float, ...], coarse: bool
) -> str | None:
    for target in into:
        ratio = factor / target
        if fits(quantity, value * ratio, coarse=coarse):
            if ratio == 1:
                return ""
            step = f"× {number_text(ratio)}" if ratio > 1 else f"/ {number_text(1 / ratio)}"
            return f"{number_text(value)} {step} = {number_text(value * ratio)}"
    return None


def temperature(value: float, source: str, target: str) -> float:
    """Degrees of one scale in another."""
    kelvin = {"°C": value + 273.15, "°F": (value - 32) * 5 / 9 + 273.15}.get(source, value)
    return {"°C": kelvin - 273.15, "°F": (kelvin - 273.15) * 9 / 5 + 32}.get(target, kelvin)
