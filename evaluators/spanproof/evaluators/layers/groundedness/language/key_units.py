"""What a key's name says of its value: unit, scale, and whether it is an amount, a share or a count.

In: a key (`amount_cents`, `error_rate`, `revenue_m`). Out: a `Key`, read once for all values under it. A word
that names a unit counts where it stands last, or anywhere where it can mean nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from spanproof.evaluators.layers.groundedness.language.units import (
    BY_NAME,
    CELSIUS,
    FAHRENHEIT,
    KELVIN,
    Dimension,
    Unit,
)
from spanproof.evaluators.layers.groundedness.language.words import key_words, plain_set, raw_key_words

_AMBIGUOUS = plain_set(
    "s h d m g t l b min us gal oz ft mi ton tons second foot nm mm pound pounds sterling ha mw mj"
)
"""Spellings that mean something else inside most keys (`min_temp`, `t_stat`); a key must end with them."""
_NEVER = plain_set("min d second t m b us l g day try")
_LASTING = plain_set(
    "delay duration time wait elapsed runtime latency length timeout uptime travel trip walk drive cook "
    "prep response resolution delivery processing cycle idle session call hold turnaround reply commute "
    "transit flight ride"
)
_REACHING = plain_set("distance dist alt elev height length width depth altitude elevation radius diameter")
_SHORT = {name: BY_NAME[name] for name in ("min", "m", "h", "s", "d")}
WINDOWS = {
    "s": 1.0, "m": 60.0, "min": 60.0, "mins": 60.0, "h": 3600.0, "hr": 3600.0, "hrs": 3600.0, "hour": 3600.0,
    "hours": 3600.0, "d": 86400.0, "day": 86400.0, "days": 86400.0, "w": 604800.0, "week": 604800.0,
    "weeks": 604800.0,
}  # fmt: skip
"""Seconds of what a number stands before in a key that tells how long its value was gathered."""
_OVER = (BY_NAME.keys() | {"per"}) - {"min"}
"""What stands before the period of a rate: `flow_l_min`, `rate_per_h`; in `min_c` it is a minimum."""
_LONGEST = 366
"""Above it a number in a key is no count of days: `revenue_2024_m`."""
_MEASURED = {"min": _LASTING, "m": _REACHING, "h": _LASTING, "s": _LASTING, "d": _LASTING}
"""Short spellings that name a unit only beside a word for what it measures: `delay_min`, not `temp_min`."""
_THERMAL = frozenset(("temp", "temperature", "temps"))
_DEGREES = {"c": CELSIUS, "f": FAHRENHEIT, "k": KELVIN}
_MOVING = plain_set("wind gust gusts velocity")
_LATENT = {name: BY_NAME[name] for name in ("min", "m", "h", "s", "d", "g", "l", "t")} | {
    "c": CELSIUS,
    "f": FAHRENHEIT,
}
"""Short last words of a key that may be its unit: they are where the answer tells it in one of the kind."""
_SCALES = {
    "k": 1e3, "thousand": 1e3, "thousands": 1e3, "m": 1e6, "mn": 1e6, "mm": 1e6,
    "million": 1e6, "millions": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9, "billions": 1e9,
}  # fmt: skip
_SHARES = plain_set(
    "rate ratio share fraction proportion probability prob likelihood accuracy precision recall"
)
_RATES = plain_set("rate rates")
_PERIODIC = plain_set("nightly hourly daily weekly monthly day night hour week month room exchange billing")
_AMOUNTS = plain_set(
    "price cost amount balance revenue salary fee fees income payment refund spend spent budget "
    "profit fare sales charge charges tax subtotal discount wage turnover earnings expense expenses "
    "debit credit invoice gmv arr mrr ebitda ebit capex opex cogs paid owed payout deposit"
)
_COUNTS = plain_set(
    "count qty quantity stock units number num n rows row columns items total_count orders users "
    "requests customers hand sold visits clicks stops passengers seats pieces size len length"
)
_MOMENTS = plain_set("timestamp at time epoch date created updated ts on year fy")


@dataclass(frozen=True, slots=True)
class Key:
    """A key, read.

    Attributes:
        raw: its words as they are written, in lower case.
        words: its canonical words, without the one that names the unit.
        column: what a column of values under it is called.
        latent: the unit that its last word may be, where nothing but an answer in such units tells.
        scale: what it says its values count in: 1e6 for `revenue_m`.
        fraction, money, counted: whether it names a share of a whole, an amount, a number of things.
        moment: whether a number under it may be a moment.
    """

    raw: tuple[str, ...]
    words: tuple[str, ...]
    column: str
    unit: Unit | None
    scale: float
    fraction: bool
    money: bool
    counted: bool
    moment: bool
    latent: Unit | None = None


@lru_cache(maxsize=4096)
def read_key(key: str) -> Key:
    """What a key says."""
    raw = raw_key_words(key)
    if not raw:
        return Key((), key_words(key), "value", None, 1.0, False, False, False, False)  # noqa: FBT003
    unit = unit_of_key(raw)
    words = key_words(key)
    if unit is not None and len(words) > 1:
        pairs = zip(words, raw, strict=True)
        words = tuple(word for word, plain in pairs if BY_NAME.get(plain) is not unit) or words
    return Key(
        raw,
        words,
        " ".join(raw),
        unit,
        scale_of_key(raw),
        fraction=is_fraction_key(raw),
        money=is_money_key(raw),
        counted=is_count_key(raw),
        moment=is_time_key(raw),
        latent=_latent(raw) if unit is None else None,
    )


def unit_of_key(words: Iterable[str]) -> Unit | None:
    """The unit a key's words declare: `amount_cents` cents, `latency_ms` milliseconds, `pct_free` percent."""
    ordered = tuple(words)
    if "per" in ordered[1:] and not _is_money(ordered[-1]):
        ordered = ordered[: ordered.index("per")]  # what follows is the period, and no unit of the value
    if _is_window(ordered):
        ordered = ordered[:-2]  # `error_rate_30d` is over 30 days, and none of them
    if ordered[-1] in _SHORT and not _MEASURED[ordered[-1]].isdisjoint(ordered[:-1]):
        return _SHORT[ordered[-1]]
    if ordered[-1] in ("ms", "mps") and not _MOVING.isdisjoint(ordered):
        return BY_NAME["mps"]
    if ordered[-1] in _DEGREES and not _THERMAL.isdisjoint(ordered):
        return _DEGREES[ordered[-1]]
    for place, word in enumerate(reversed(ordered)):
        unit = BY_NAME.get(word)
        if unit is None or word in _NEVER:
            continue
        if place and word in _AMBIGUOUS:
            continue
        return unit
    return None


def _latent(words: tuple[str, ...]) -> Unit | None:
    """The unit that the last word may be, unless something is told over it: `flow_l_min`, `p95_7d`."""
    before = words[:-3] if _is_window(words[:-1]) else words[:-1]
    if _is_window(words) or (before and before[-1] in _OVER):
        return None
    return _LATENT.get(words[-1])


def _is_window(words: tuple[str, ...]) -> bool:
    """Whether a key ends in how long its values were gathered: `p95_7d`."""
    return len(words) > 2 and words[-2].isdigit() and int(words[-2]) <= _LONGEST and words[-1] in WINDOWS


def _is_money(word: str) -> bool:
    """Whether a word is a unit of money: in `price_per_seat_cents` the last one is the amount's."""
    unit = BY_NAME.get(word)
    return unit is not None and unit.dimension is Dimension.MONEY


def scale_of_key(words: Iterable[str]) -> float:
    """The scale a key ends in: `revenue_m` millions, `users_k` thousands; 1 where it names none."""
    ordered = tuple(words)
    return _SCALES.get(ordered[-1], 1.0) if len(ordered) > 1 and not _is_window(ordered) else 1.0


def is_fraction_key(words: Iterable[str]) -> bool:
    """Whether the key names a share of a whole (`error_rate`); a `nightly_rate` is a price."""
    ordered = tuple(words)
    return _names(ordered, _SHARES) and not (ordered[-1] in _RATES and _PERIODIC & set(ordered))


def is_money_key(words: Iterable[str]) -> bool:
    """Whether the key names an amount of money."""
    return _names(words, _AMOUNTS)


def is_count_key(words: Iterable[str]) -> bool:
    """Whether the key names a number of things."""
    return _names(words, _COUNTS)


def is_time_key(words: Iterable[str]) -> bool:
    """Whether a number under the key may be a moment, or a year."""
    return not _MOMENTS.isdisjoint(words)


def _names(words: Iterable[str], keys: frozenset[str]) -> bool:
    return any(word in keys or word.removesuffix("s") in keys for word in words)
