"""Units, currencies and scale words.

In: names as people and programs write them, folded to lower case. Out: the dimension of a unit with its
factor to the dimension's base, the code of a currency, the number of a scale word. `units.txt` has the units.
"""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

from spanproof.reading.words import get_base_form


class Unit(NamedTuple):
    """A unit: what it measures, what its amount is multiplied by, and how it is commonly written.

    Attributes:
        offset: what is subtracted from an amount before it is multiplied: 32 of degrees Fahrenheit.
    """

    dimension: str
    factor: float
    symbol: str
    offset: float = 0.0


def read_resource(name: str) -> list[list[str]]:
    """Return the words of each line of a data file of this package, without its comments."""
    text = (resources.files(__package__) / name).read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def _read_units() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for dimension, factor, *names in read_resource("units.txt"):
        factor, _, offset = factor.partition("@")
        unit = Unit(dimension, float(factor), names[0], float(offset or 0))
        units |= dict.fromkeys((name.lower() for name in names), unit)
    return units


UNITS = _read_units()
"""Units by each of their names, in lower case."""

CASED_UNITS = {
    "mW": Unit("power", 1e-3, "mW"),
    "mWh": Unit("energy", 1e-3, "mWh"),
    "mHz": Unit("frequency", 1e-3, "mHz"),
    "mPa": Unit("pressure", 1e-8, "mPa"),
    "Mb": Unit("data", 125_000.0, "Mb"),
    "Gb": Unit("data", 125_000_000.0, "Gb"),
    "Mb/s": Unit("bitrate", 1e6, "Mb/s"),
    "Gb/s": Unit("bitrate", 1e9, "Gb/s"),
    "kN": Unit("force", 1000.0, "kN"),
}
"""Units that differ from another one by the case of a letter alone."""

CURRENCIES = {
    "$": "USD", "us$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "kr": "SEK", "zł": "PLN", "₽": "RUB",  # noqa: E501
    "r$": "BRL", "₩": "KRW", "元": "CNY", "円": "JPY", "₺": "TRY", "₴": "UAH", "a$": "AUD", "c$": "CAD",
}  # fmt: skip
CURRENCY_CODES = str.split(
    "USD EUR GBP JPY INR SEK NOK DKK CHF CAD AUD CNY PLN BRL RUB KRW MXN NZD SGD HKD CZK TRY ZAR"
)
CURRENCIES |= {code.lower(): code for code in CURRENCY_CODES}
MONEY_WORDS = {
    "dollar": "USD", "dollars": "USD", "bucks": "USD", "euro": "EUR", "euros": "EUR", "yen": "JPY", "rupees": "INR",  # noqa: E501
    "francs": "CHF", "franken": "CHF", "cent": "USD", "cents": "USD", "dólares": "USD", "reais": "BRL",
}  # fmt: skip
SCALES = {
    "k": 1e3, "thousand": 1e3, "tsd": 1e3, "mille": 1e3, "tausend": 1e3, "mil": 1e3, "m": 1e6, "mn": 1e6, "mm": 1e6,  # noqa: E501
    "mln": 1e6, "million": 1e6, "millions": 1e6, "mio": 1e6, "millionen": 1e6, "millones": 1e6, "millón": 1e6,
    "milhões": 1e6, "miljoner": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9, "billions": 1e9, "mrd": 1e9,
    "milliarden": 1e9, "milliard": 1e9, "milliards": 1e9, "trillion": 1e12, "tn": 1e12, "crore": 1e7, "lakh": 1e5,  # noqa: E501
    "dozen": 12.0, "hundred": 100.0, "千": 1e3, "万": 1e4, "萬": 1e4, "億": 1e8, "亿": 1e8,
}  # fmt: skip


# Units by the base forms of their names, as the words of a task are.
_UNITS_BY_FORM = {get_base_form(name): unit for name, unit in UNITS.items()} | UNITS


def list_units(words: frozenset[str]) -> frozenset[Unit]:
    """Return the units that words are, such as those of `ft` and `feet`."""
    return frozenset(_UNITS_BY_FORM[word] for word in words if word in _UNITS_BY_FORM and len(word) > 1)
