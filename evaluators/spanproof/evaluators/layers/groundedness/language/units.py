"""Units: which words and symbols name one, how units of a dimension convert, what a key's name implies.

In: a unit as written (`ms`, `MB`, `$`, `cents`), or the words of a key (`amount_cents`, `error_rate`).
Out: a `Unit` with its dimension and factor. Never guesses a unit from a value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Dimension(StrEnum):
    """What a unit measures."""

    MONEY = "money"
    FRACTION = "fraction"
    TIME = "time"
    BYTES = "bytes"
    LENGTH = "length"
    MASS = "mass"
    VOLUME = "volume"
    TEMPERATURE = "temperature"
    SPEED = "speed"
    FREQUENCY = "frequency"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Attributes:
        factor: how many of the dimension's base unit it is (currency unit, 1, second, byte, metre, …).
        currency: ISO code for money where the currency is known.
        loose: a factor that has two readings in use (kB of 1000 or 1024 bytes, Q of a year).
    """

    name: str
    dimension: Dimension
    factor: float
    currency: str | None = None


def _table(dimension: Dimension, entries: dict[str, float]) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for names, factor in entries.items():
        spellings = names.split()
        for spelling in spellings:
            units[spelling] = Unit(spellings[0], dimension, factor)
    return units


_TIME = _table(
    Dimension.TIME,
    {
        "ns nanosecond nanoseconds": 1e-9,
        "us µs μs microsecond microseconds": 1e-6,
        "ms msec msecs millisecond milliseconds millis": 1e-3,
        "s sec secs second seconds": 1.0,
        "min mins minute minutes": 60.0,
        "h hr hrs hour hours": 3600.0,
        "day days d": 86400.0,
        "week weeks": 604800.0,
        "month months": 2629800.0,
        "year years yr yrs": 31557600.0,
    },
)
_BYTES = _table(
    Dimension.BYTES,
    {
        "bit bits": 0.125,
        "byte bytes": 1.0,
        "kb kilobyte kilobytes": 1e3,
        "mb megabyte megabytes": 1e6,
        "gb gigabyte gigabytes": 1e9,
        "tb terabyte terabytes": 1e12,
        "pb petabyte petabytes": 1e15,
        "kib kibibyte kibibytes": 1024.0,
        "mib mebibyte mebibytes": 1024.0**2,
        "gib gibibyte gibibytes": 1024.0**3,
        "tib tebibyte tebibytes": 1024.0**4,
    },
)
_LENGTH = _table(
    Dimension.LENGTH,
    {
        "nm nanometer nanometers nanometre nanometres": 1e-9,
        "µm μm micron microns": 1e-6,
        "mm millimeter millimeters millimetre millimetres": 1e-3,
        "cm centimeter centimeters centimetre centimetres": 1e-2,
        "m meter meters metre metres": 1.0,
        "km kilometer kilometers kilometre kilometres kms": 1e3,
        "inch inches": 0.0254,
        "ft foot feet": 0.3048,
        "yard yards yd": 0.9144,
        "mile miles mi": 1609.344,
    },
)
_MASS = _table(
    Dimension.MASS,
    {
        "mg milligram milligrams": 1e-6,
        "g gram grams": 1e-3,
        "kg kilogram kilograms kgs kilo kilos": 1.0,
        "t tonne tonnes ton tons": 1e3,
        "lb lbs pound pounds": 0.45359237,
        "oz ounce ounces": 0.028349523125,
    },
)
_VOLUME = _table(
    Dimension.VOLUME,
    {
        "ml milliliter milliliters millilitre millilitres": 1e-3,
        "l liter liters litre litres": 1.0,
        "gallon gallons gal": 3.785411784,
    },
)
_SPEED = _table(Dimension.SPEED, {"mps": 1.0, "kmh kph": 1 / 3.6, "mph": 0.44704, "knots knot": 0.514444})
_FREQUENCY = _table(
    Dimension.FREQUENCY,
    {"hz hertz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9, "rps qps tps": 1.0, "rpm": 1 / 60},
)

CELSIUS = Unit("°C", Dimension.TEMPERATURE, 1.0)
FAHRENHEIT = Unit("°F", Dimension.TEMPERATURE, 5 / 9)
KELVIN = Unit("K", Dimension.TEMPERATURE, 1.0)
PERCENT = Unit("%", Dimension.FRACTION, 0.01)
FRACTION = Unit("fraction", Dimension.FRACTION, 1.0)
MONEY = Unit("currency unit", Dimension.MONEY, 1.0)
CENTS = Unit("cents", Dimension.MONEY, 0.01)

SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW", "CHF": "CHF"}
_CODES = frozenset(
    [
        "USD",
        "EUR",
        "GBP",
        "JPY",
        "INR",
        "RUB",
        "KRW",
        "CHF",
        "CAD",
        "AUD",
        "NZD",
        "SEK",
        "NOK",
        "DKK",
        "PLN",
        "CNY",
        "BRL",
        "MXN",
        "SGD",
        "HKD",
        "ZAR",
    ]
)
_CURRENCY_WORDS = {
    "dollar": "USD", "dollars": "USD", "buck": "USD", "bucks": "USD", "euro": "EUR", "euros": "EUR",
    "yen": "JPY", "rupee": "INR", "rupees": "INR", "franc": "CHF", "francs": "CHF", "yuan": "CNY",
    "quid": "GBP", "sterling": "GBP",
}  # fmt: skip
_MONEY = {code.lower(): Unit(code, Dimension.MONEY, 1.0, code) for code in _CODES} | {
    word: Unit(code, Dimension.MONEY, 1.0, code) for word, code in _CURRENCY_WORDS.items()
}
_CENTS = {
    "cent": CENTS, "cents": CENTS, "¢": CENTS, "penny": CENTS,
    "pence": Unit("pence", Dimension.MONEY, 0.01, "GBP"),
    "pennies": CENTS,
}  # fmt: skip
_SHARE = {"%": PERCENT, "percent": PERCENT, "pct": PERCENT, "percentage": PERCENT, "pp": PERCENT,
          "bps": Unit("bps", Dimension.FRACTION, 1e-4)}  # fmt: skip
_TEMPERATURE = {
    "°c": CELSIUS, "celsius": CELSIUS, "degc": CELSIUS, "°f": FAHRENHEIT, "fahrenheit": FAHRENHEIT,
    "degf": FAHRENHEIT, "kelvin": KELVIN,
}  # fmt: skip

BY_NAME: dict[str, Unit] = {
    **_TIME, **_BYTES, **_LENGTH, **_MASS, **_VOLUME, **_SPEED, **_FREQUENCY, **_MONEY, **_CENTS, **_SHARE,
    **_TEMPERATURE, "b": Unit("byte", Dimension.BYTES, 1.0),
}  # fmt: skip
"""Every spelling, in lower case."""

_AMBIGUOUS_IN_KEYS = frozenset(
    [
        "s",
        "h",
        "d",
        "m",
        "g",
        "t",
        "l",
        "b",
        "min",
        "us",
        "gal",
        "oz",
        "ft",
        "mi",
        "ton",
        "tons",
        "second",
        "foot",
        "nm",
        "mm",
        "pound",
        "pounds",
        "sterling",
    ]
)
"""Spellings that mean something else inside most keys (`min_temp`, `t_stat`); a key must end with them."""

_NEVER_IN_KEYS = frozenset(["min", "d", "second", "t", "m", "b", "us", "l", "g", "day"])
_FRACTION_KEYS = frozenset(
    [
        "rate",
        "ratio",
        "share",
        "fraction",
        "proportion",
        "probability",
        "prob",
        "likelihood",
        "accuracy",
        "precision",
        "recall",
    ]
)
_MONEY_KEYS = frozenset(
    [
        "price",
        "cost",
        "amount",
        "balance",
        "revenue",
        "salary",
        "fee",
        "fees",
        "income",
        "payment",
        "refund",
        "spend",
        "spent",
        "budget",
        "profit",
        "fare",
        "sales",
        "charge",
        "charges",
        "tax",
        "subtotal",
        "discount",
        "wage",
        "turnover",
        "earnings",
        "expense",
        "expenses",
        "debit",
        "credit",
        "invoice",
        "gmv",
        "arr",
        "mrr",
        "paid",
        "owed",
        "payout",
        "deposit",
    ]
)
_COUNT_KEYS = frozenset(
    [
        "count",
        "qty",
        "quantity",
        "stock",
        "units",
        "number",
        "num",
        "n",
        "rows",
        "row",
        "columns",
        "items",
        "total_count",
        "orders",
        "users",
        "requests",
        "customers",
        "visits",
        "clicks",
        "stops",
        "passengers",
        "seats",
        "pieces",
        "size",
        "len",
        "length",
    ]
)


def unit_of_key(words: Iterable[str]) -> Unit | None:
    """The unit a key's words declare: `amount_cents` cents, `latency_ms` milliseconds, `pct_free` percent.

    A word that names a unit counts where it stands last, or anywhere where it can mean nothing else.
    """
    ordered = tuple(words)
    if ordered[-1] in _SHORT_UNITS and not _MEASURED[ordered[-1]].isdisjoint(ordered[:-1]):
        return _SHORT_UNITS[ordered[-1]]
    if ordered[-1] in _DEGREES and not _THERMAL.isdisjoint(ordered):
        return _DEGREES[ordered[-1]]
    for place, word in enumerate(reversed(ordered)):
        unit = BY_NAME.get(word)
        if unit is None or word in _NEVER_IN_KEYS:
            continue
        if place and word in _AMBIGUOUS_IN_KEYS:
            continue
        return unit
    return None


_LASTING = frozenset(
    [
        "delay",
        "duration",
        "time",
        "wait",
        "elapsed",
        "runtime",
        "latency",
        "length",
        "timeout",
        "uptime",
        "travel",
        "trip",
        "walk",
        "drive",
        "cook",
        "prep",
    ]
)
_REACHING = frozenset(
    [
        "distance",
        "dist",
        "alt",
        "elev",
        "height",
        "length",
        "width",
        "depth",
        "altitude",
        "elevation",
        "radius",
        "diameter",
    ]
)
_SHORT_UNITS = {
    "min": BY_NAME["min"],
    "m": BY_NAME["m"],
    "h": BY_NAME["h"],
    "s": BY_NAME["s"],
    "d": BY_NAME["d"],
}
_MEASURED = {"min": _LASTING, "m": _REACHING, "h": _LASTING, "s": _LASTING, "d": _LASTING}
"""Short spellings that name a unit only beside a word for what it measures: `delay_min`, not `temp_min`."""

_SCALE_WORDS = {
    "k": 1e3, "thousand": 1e3, "thousands": 1e3, "m": 1e6, "mn": 1e6, "mm": 1e6,
    "million": 1e6, "millions": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9, "billions": 1e9,
}  # fmt: skip


def scale_of_key(words: Iterable[str]) -> float:
    """The scale a key ends in: `revenue_m` millions, `users_k` thousands; 1 where it names none."""
    ordered = tuple(words)
    return _SCALE_WORDS.get(ordered[-1], 1.0) if len(ordered) > 1 else 1.0


_THERMAL = frozenset(("temp", "temperature", "temps"))
_DEGREES = {"c": CELSIUS, "f": FAHRENHEIT, "k": KELVIN}


def is_fraction_key(words: Iterable[str]) -> bool:
    """Whether the key names a share of a whole (`error_rate`)."""
    return _names(words, _FRACTION_KEYS)


def is_money_key(words: Iterable[str]) -> bool:
    """Whether the key names an amount of money."""
    return _names(words, _MONEY_KEYS)


def is_count_key(words: Iterable[str]) -> bool:
    """Whether the key names a number of things."""
    return _names(words, _COUNT_KEYS)


def _names(words: Iterable[str], keys: frozenset[str]) -> bool:
    return any(word in keys or word.removesuffix("s") in keys for word in words)


def readings(unit: Unit) -> tuple[float, ...]:
    """The factors in use for a unit: kB, MB and the like are read as powers of 1000 and of 1024."""
    if unit.dimension is Dimension.BYTES and unit.name in _BINARY:
        return (unit.factor, _BINARY[unit.name])
    return (unit.factor,)


_BINARY = {"kb": 1024.0, "mb": 1024.0**2, "gb": 1024.0**3, "tb": 1024.0**4, "pb": 1024.0**5}
