"""Adjectives that compare: what each measures, and which end of it "more" is.

In: "slower", "driest", "dearer", and a fact. Out: 1 where the adjective says that the fact's number is the
greater, -1 where it is the smaller, 0 where the fact measures something else, of which it says nothing. Speed
is told by times and by rates, age by years that have passed and by the year something began: there the same
word turns round.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact

_RATES = frozenset((Dimension.SPEED, Dimension.FREQUENCY))


@dataclass(frozen=True, slots=True)
class Quality:
    """What an adjective measures.

    Attributes:
        measures: words of keys that hold more of it with a greater number.
        inverse: words of keys that hold less of it with a greater number.
    """

    measures: frozenset[str]
    inverse: frozenset[str] = frozenset()
    dimensions: frozenset[Dimension] = frozenset()
    fast: bool = False
    """Whether a rate holds less of it."""

    def of(self, fact: Fact) -> int:
        """1 or -1 where a greater number of the fact is more or less of it, 0 where it measures another."""
        if not self.inverse.isdisjoint(fact.key) or (self.fast and fact.dimension in _RATES):
            return -1
        if not self.measures.isdisjoint(fact.key):
            return 1
        return int(fact.dimension in self.dimensions)


_SLOWNESS = Quality(
    canonical_set("duration latency time took runtime elapsed response p50 p90 p95 p99 lead delay wait pace"),
    canonical_set("rate speed throughput bandwidth iops qps rps tps mbps kmh kbps velocity"),
    frozenset((Dimension.TIME,)),
    fast=True,
)
_PRICE = Quality(
    canonical_set("price cost fare fee rent rate premium tariff amount"),
    dimensions=frozenset((Dimension.MONEY,)),
)
_LONG = Quality(
    canonical_set("length duration distance"), dimensions=frozenset((Dimension.TIME, Dimension.LENGTH))
)
_RAIN = Quality(canonical_set("rain rainfall precipitation precip"))
_SUN = Quality(canonical_set("sun sunshine"))
_DISTANCE = Quality(canonical_set("distance away"), dimensions=frozenset((Dimension.LENGTH,)))
_HEIGHT = Quality(canonical_set("height elevation altitude"))
_DEPTH = Quality(canonical_set("depth"))
_WIDTH = Quality(canonical_set("width"))
_WEIGHT = Quality(canonical_set("weight mass"), dimensions=frozenset((Dimension.MASS,)))
_AGE = Quality(
    canonical_set("age"), canonical_set("year opened built founded born established created released")
)
_HEAT = Quality(canonical_set("temperature"), dimensions=frozenset((Dimension.TEMPERATURE,)))
_WIND = Quality(canonical_set("wind gust"))
_NOISE = Quality(canonical_set("noise db loudness"))
_QUALITIES: dict[str, tuple[Quality, int]] = {
    **dict.fromkeys(("slower", "slowest"), (_SLOWNESS, 1)),
    **dict.fromkeys(("faster", "fastest", "quicker", "quickest"), (_SLOWNESS, -1)),
    **dict.fromkeys(
        ("dearer", "dearest", "pricier", "priciest", "costlier", "costliest", "expensive", "costly"),
        (_PRICE, 1),
    ),
    **dict.fromkeys(("cheaper", "cheapest"), (_PRICE, -1)),
    **dict.fromkeys(("wetter", "wettest", "rainier", "rainiest"), (_RAIN, 1)),
    **dict.fromkeys(("drier", "driest", "dryer", "dryest"), (_RAIN, -1)),
    **dict.fromkeys(("sunnier", "sunniest"), (_SUN, 1)),
    **dict.fromkeys(("farther", "farthest"), (_DISTANCE, 1)),
    **dict.fromkeys(("closer", "closest", "nearer", "nearest"), (_DISTANCE, -1)),
    **dict.fromkeys(("taller", "tallest"), (_HEIGHT, 1)),
    **dict.fromkeys(("deeper", "deepest"), (_DEPTH, 1)),
    **dict.fromkeys(("shallower", "shallowest"), (_DEPTH, -1)),
    **dict.fromkeys(("wider", "widest"), (_WIDTH, 1)),
    **dict.fromkeys(("narrower", "narrowest"), (_WIDTH, -1)),
    **dict.fromkeys(("heavier", "heaviest"), (_WEIGHT, 1)),
    **dict.fromkeys(("lighter", "lightest"), (_WEIGHT, -1)),
    **dict.fromkeys(("older", "oldest"), (_AGE, 1)),
    **dict.fromkeys(("younger", "youngest", "newer", "newest"), (_AGE, -1)),
    **dict.fromkeys(("warmer", "warmest", "hotter", "hottest"), (_HEAT, 1)),
    **dict.fromkeys(("cooler", "coolest", "colder", "coldest"), (_HEAT, -1)),
    **dict.fromkeys(("windier", "windiest"), (_WIND, 1)),
    **dict.fromkeys(("longer", "longest"), (_LONG, 1)),
    **dict.fromkeys(("shorter", "shortest"), (_LONG, -1)),
    **dict.fromkeys(("louder", "loudest"), (_NOISE, 1)),
}


def side_of(word: str, fact: Fact, *, less: bool = False) -> int:
    """Which end of the fact's number an adjective says: 1 the greater, -1 the smaller, 0 neither.

    With `less` it is told of the other end: "less expensive".
    """
    found = _QUALITIES.get(word.lower())
    return 0 if found is None else found[0].of(fact) * found[1] * (-1 if less else 1)


ADJECTIVES = frozenset(_QUALITIES)
SUPERLATIVES = frozenset(word for word in _QUALITIES if word.endswith("est"))
