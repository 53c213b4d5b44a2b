"""Units: which words and symbols name one, and how units of a dimension convert.

In: a unit as written (`ms`, `MB`, `cents`, `km²`). Out: a `Unit` with its dimension and factor. Never guesses
a unit from a value; what a key's name says of its value is read in `key_units`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spanproof.evaluators.layers.groundedness.language.words import plain_set


class Dimension(StrEnum):
    """What a unit measures."""

    __hash__ = str.__hash__  # an enum's own is asked for in Python, and facts are counted by it

    MONEY = "money"
    FRACTION = "fraction"
    TIME = "time"
    BYTES = "bytes"
    LENGTH = "length"
    AREA = "area"
    MASS = "mass"
    VOLUME = "volume"
    TEMPERATURE = "temperature"
    SPEED = "speed"
    FREQUENCY = "frequency"
    ENERGY = "energy"
    POWER = "power"
    PRESSURE = "pressure"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Attributes:
        factor: how many of the dimension's base unit it is (currency unit, 1, second, byte, metre, …).
        currency: ISO code for money where the currency is known.
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
        "kbit kbits kilobit kilobits": 125.0,
        "mbit mbits megabit megabits": 125e3,
        "gbit gbits gigabit gigabits": 125e6,
        "byte bytes": 1.0,
        "kb kilobyte kilobytes kbyte kbytes": 1e3,
        "mb megabyte megabytes mbyte mbytes": 1e6,
        "gb gigabyte gigabytes gbyte gbytes": 1e9,
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
_AREA = _table(
    Dimension.AREA,
    {"cm²": 1e-4, "m² sqm": 1.0, "km²": 1e6, "ha hectare hectares": 1e4, "acre acres": 4046.8564224,
     "ft² sqft": 0.09290304, "mi²": 2589988.110336},
)  # fmt: skip
SQUARES = {
    "meter": "m²", "meters": "m²", "metre": "m²", "metres": "m²", "foot": "ft²", "feet": "ft²", "ft": "ft²",
    "kilometer": "km²", "kilometers": "km²", "kilometre": "km²", "kilometres": "km²", "km": "km²", "m": "m²",
    "mile": "mi²", "miles": "mi²", "centimeters": "cm²", "centimetres": "cm²",
}  # fmt: skip
"""What "square" makes of a unit of length."""
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
_ENERGY = _table(
    Dimension.ENERGY,
    {"wh": 1.0, "kwh": 1e3, "mwh": 1e6, "gwh": 1e9, "twh": 1e12, "kj": 1 / 3.6, "mj": 1e3 / 3.6,
     "kcal": 4.184 / 3.6},
)  # fmt: skip
_POWER = _table(
    Dimension.POWER,
    {"watt watts": 1.0, "kw kilowatt kilowatts": 1e3, "mw megawatt megawatts": 1e6, "gw gigawatts": 1e9},
)
_PRESSURE = _table(Dimension.PRESSURE, {"hpa mbar": 1.0, "kpa": 10.0, "psi": 68.94757})

CELSIUS = Unit("°C", Dimension.TEMPERATURE, 1.0)
FAHRENHEIT = Unit("°F", Dimension.TEMPERATURE, 5 / 9)
KELVIN = Unit("K", Dimension.TEMPERATURE, 1.0)
PERCENT = Unit("%", Dimension.FRACTION, 0.01)
FRACTION = Unit("fraction", Dimension.FRACTION, 1.0)
MONEY = Unit("currency unit", Dimension.MONEY, 1.0)
CENTS = Unit("cents", Dimension.MONEY, 0.01)

SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW", "CHF": "CHF"}
CURRENCIES = plain_set(
    "USD EUR GBP JPY INR RUB KRW CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF CNY BRL MXN SGD HKD ZAR TRY"
)
"""ISO codes that are read."""
_CURRENCY_WORDS = {
    "dollar": "USD", "dollars": "USD", "buck": "USD", "bucks": "USD", "euro": "EUR", "euros": "EUR",
    "yen": "JPY", "rupee": "INR", "rupees": "INR", "franc": "CHF", "francs": "CHF", "yuan": "CNY",
    "quid": "GBP", "sterling": "GBP",
}  # fmt: skip
_MONEY = {code.lower(): Unit(code, Dimension.MONEY, 1.0, code) for code in CURRENCIES - {"TRY"}} | {
    word: Unit(code, Dimension.MONEY, 1.0, code) for word, code in _CURRENCY_WORDS.items()
}
_CENTS = {
    "cent": CENTS, "cents": CENTS, "ct": CENTS, "¢": CENTS, "penny": CENTS,
    "pence": Unit("pence", Dimension.MONEY, 0.01, "GBP"),
    "pennies": CENTS,
}  # fmt: skip
_KRONOR = {word: Unit("kronor", Dimension.MONEY, 1.0) for word in ("krona", "kronor", "krone", "kroner")}
"""Of three countries: an amount of money, in a currency that the word does not tell."""
_SHARE = {"%": PERCENT, "percent": PERCENT, "pct": PERCENT, "percentage": PERCENT, "pp": PERCENT,
          "bps": Unit("bps", Dimension.FRACTION, 1e-4)}  # fmt: skip
_TEMPERATURE = {
    "°c": CELSIUS, "celsius": CELSIUS, "degc": CELSIUS, "°f": FAHRENHEIT, "fahrenheit": FAHRENHEIT,
    "degf": FAHRENHEIT, "kelvin": KELVIN,
}  # fmt: skip

BY_NAME: dict[str, Unit] = {
    **_TIME, **_BYTES, **_LENGTH, **_AREA, **_MASS, **_VOLUME, **_SPEED, **_FREQUENCY, **_ENERGY, **_POWER,
    **_PRESSURE, **_MONEY, **_CENTS, **_KRONOR, **_SHARE, **_TEMPERATURE,
    "b": Unit("byte", Dimension.BYTES, 1.0),
}  # fmt: skip
"""Every spelling, in lower case."""

_BINARY = {"kb": 1024.0, "mb": 1024.0**2, "gb": 1024.0**3, "tb": 1024.0**4, "pb": 1024.0**5}


def readings(unit: Unit) -> tuple[float, ...]:
    """The factors in use for a unit: kB, MB and the like are read as powers of 1000 and of 1024."""
    if unit.dimension is Dimension.BYTES and unit.name in _BINARY:
        return (unit.factor, _BINARY[unit.name])
    return (unit.factor,)
