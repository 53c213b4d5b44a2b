"""Units that the names of fields say: `duration_ms`, `area_km2`, `price_usd`, `share (%)`, `conc_mg_l`.

In: the names that lead to a value. Out: the unit of its numbers, None where the names say none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from spanproof.reading.units import UNITS, Unit
from spanproof.reading.values import Kind, Value
from spanproof.reading.words import get_base_form, split_name


@dataclass(frozen=True, slots=True)
class FieldUnit:
    """What a field's name says of its numbers.

    Attributes:
        names_scale: whether it is a scale or a share, of which another reading is wrong.
    """

    kind: Kind
    unit: str
    factor: float
    symbol: str = ""
    offset: float = 0.0
    names_scale: bool = False


_QUANTITIES = (
    "ns us ms sec secs seconds min mins minutes hours hrs hr days weeks bytes kb mb gb tb kib mib gib tib ug mcg mg kg km"  # noqa: E501
    " cm mm nm miles mi ft kw mw gw wh kwh mwh gwh hz khz mhz ghz rpm bps kbps mbps gbps db dbm lufs mv kv ma mah bar mbar"  # noqa: E501
    " hpa kpa mpa psi kmh kph mph knots m2 km2 cm2 sqm sqft ha acres hectares ml cl liters litres m3 celsius fahrenheit"  # noqa: E501
    " mmol kcal s"
)
_OTHER = {
    "cents": FieldUnit(Kind.MONEY, "", 0.01),
    "pct": FieldUnit(Kind.PERCENT, "%", 1.0, "%"),
    "percent": FieldUnit(Kind.PERCENT, "%", 1.0, "%"),
    "percentage": FieldUnit(Kind.PERCENT, "%", 1.0, "%"),
    "usd": FieldUnit(Kind.MONEY, "USD", 1.0, "USD"),
    "eur": FieldUnit(Kind.MONEY, "EUR", 1.0, "EUR"),
    "gbp": FieldUnit(Kind.MONEY, "GBP", 1.0, "GBP"),
    "v": FieldUnit(Kind.QUANTITY, "voltage", 1.0, "V"),
    "thousands": FieldUnit(Kind.NUMBER, "", 1e3, names_scale=True),
    "millions": FieldUnit(Kind.NUMBER, "", 1e6, names_scale=True),
    "mn": FieldUnit(Kind.NUMBER, "", 1e6, names_scale=True),
    "mln": FieldUnit(Kind.NUMBER, "", 1e6, names_scale=True),
    "bn": FieldUnit(Kind.NUMBER, "", 1e9, names_scale=True),
    "billions": FieldUnit(Kind.NUMBER, "", 1e9, names_scale=True),
}
# Units after a name only: `duration_s`; a field `min` is the least.
_AFTER_A_NAME = frozenset(("min", "s", "v", "bar", "db", "ma", "us", "mi", "ft", "ha", "hr", "percentage"))
# Letters that are a unit after a word for what is measured: `depth_m`, but not `group_m`.
_AFTER_CERTAIN_WORDS = {
    "m": str.split(
        "depth height length distance width altitude elevation radius diameter level visibility wave snow reach"  # noqa: E501
    ),
    "g": str.split("weight mass dose sugar protein fat carbs salt fiber fibre net gross"),
    "c": str.split("temp temperature dewpoint feels high low max min avg mean water air"),
    "f": str.split("temp temperature dewpoint feels"),
    "h": str.split("duration time runtime elapsed battery wait"),
    "l": str.split("volume capacity tank water fuel"),
    "w": str.split("power load output draw"),
    "t": str.split("weight mass cargo load"),
}
_LETTER_UNITS = {"c": UNITS["celsius"], "f": UNITS["fahrenheit"]}
_PERCENT_SIGN = re.compile(r"%\s*\)?\Z|\(%|\A%")
_BRACKETED = re.compile(r"[(\[](?P<unit>[^()\[\]]{1,12})[)\]]\s*\Z")
_CENT, _CENTS = 0.01, "cents"
_CURRENCY_SIGN = re.compile(r"[$€£]")
_PLAIN_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_DURATION_WORDS = frozenset(
    str.split("duration elapsed runtime length took lap pace uptime split taken spent timeout")
)


def _to_field_unit(unit: Unit) -> FieldUnit:
    return FieldUnit(Kind.QUANTITY, unit.dimension, unit.factor, unit.symbol, unit.offset)


_ENDINGS = {
    name: _to_field_unit(UNITS.get(name) or UNITS[name.removesuffix("s")]) for name in _QUANTITIES.split()
} | _OTHER
_UNIT_WORDS = frozenset(get_base_form(word) for word in _ENDINGS)


def is_unit_word(word: str) -> bool:
    """Return whether the base form of a word is that of a unit."""
    return word in _UNIT_WORDS


@lru_cache(maxsize=8192)
def find_field_unit(path: tuple[str, ...]) -> FieldUnit | None:
    """Return the unit that the last two names of a path say, the innermost first."""
    if any(_PERCENT_SIGN.search(name) for name in path[-2:]):
        return FieldUnit(Kind.PERCENT, "%", 1.0, "%", names_scale=True)
    for name in reversed(path[-2:]):
        bracketed = _BRACKETED.search(name)
        if bracketed is not None and (unit := UNITS.get(bracketed["unit"].strip().lower())) is not None:
            return _to_field_unit(unit)
        found = _find_ending(split_name(name))
        if found is not None:
            return found
    return None


def _find_ending(parts: tuple[str, ...]) -> FieldUnit | None:
    """Return the unit that the words of a name end with."""
    if not parts:
        return None
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    quotient = UNITS.get(f"{before}/{last}")
    if quotient is not None:
        return _to_field_unit(quotient)
    # "price_per_kg" and "pace_min_km" are in one unit by the other.
    if before == "per" or (len(parts) > 2 and last in _ENDINGS and before in _ENDINGS):
        return None
    if last in _AFTER_CERTAIN_WORDS:
        follows_certain = any(part in _AFTER_CERTAIN_WORDS[last] for part in parts[:-1])
        if follows_certain:
            return _to_field_unit(_LETTER_UNITS.get(last) or UNITS[last])
        return None
    if last in _AFTER_A_NAME and not before:
        return None
    return _ENDINGS.get(last)


def with_unit(value: Value, unit: FieldUnit) -> Value:
    """Return a plain number in the unit of its field."""
    # Made outright, as `dataclasses.replace` takes five times as long and each number of a column comes here.
    return Value(
        unit.kind,
        (value.number - unit.offset) * unit.factor,
        value.step * unit.factor,
        unit.unit,
        value.scale,
        None if value.other is None else value.other * unit.factor,
        factor=value.factor * unit.factor,
        grouped=value.grouped,
        offset=unit.offset,
        symbol=unit.symbol,
        approximate=value.approximate,
    )


@lru_cache(maxsize=8192)
def names_duration(path: tuple[str, ...]) -> bool:
    """Return whether the innermost name of a path is that of a duration: its `03:30` is no time of day."""
    return not _DURATION_WORDS.isdisjoint(split_name(path[-1]))


def get_minor_unit(value: Value) -> str:
    """Return `cents` of an amount that counts them, as a name beside it says; else nothing."""
    if value.kind is Kind.MONEY and value.factor == _CENT:
        return _CENTS
    return ""


def format_in_currency(text: str, unit: str, stated: str) -> str:
    """Return a source's amount in cents in the currency of a stated one: `$45.00, from 4500 cents`.

    Args:
        text: the source's amount as `name: value`, or alone; returned unchanged if it is not in cents.
        unit: what `get_minor_unit` returns of it.
        stated: the amount beside it, with the sign of its currency.
    """
    name, _, number = text.rpartition(": ")
    sign = _CURRENCY_SIGN.match(stated)
    if sign is None or unit != _CENTS or not _PLAIN_NUMBER.fullmatch(number):
        return text
    written = text if name else f"{text} {unit}"
    return f"{sign[0]}{float(number.replace(',', '')) * _CENT:,.2f}, from {written}"
