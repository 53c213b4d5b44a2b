"""What the outputs say instead: the fact that a contradicted number most likely misquotes.

In: an `Asked`. Out: a fact, and how it reads in the answer's unit where that is not plain. The words decide
where they name a keyed fact; else the same unit, the same digits in another order, the closest value, and of
equals the later step. A number far from all of them misquotes none.
"""

from __future__ import annotations

from spanproof.evaluators.layers.groundedness.language.units import CENTS, Dimension
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import Asked, in_unit, subjects
from spanproof.evaluators.layers.groundedness.rules.matching import comparable

_FAR = 0.5
"""Share of the value beyond which two numbers have nothing to do with each other."""
_MAX_FACTS = 500


def nearest_to(asked: Asked) -> tuple[Fact, str] | None:
    """The fact a contradicted number stands in for, with its reading; None where no fact suggests itself."""
    about = subjects(asked)
    named = [fact for fact in about if not fact.weak]
    pool = named or [fact for fact in asked.binding.numbers[:_MAX_FACTS] if comparable(asked.quantity, fact)]
    ranked = [
        (_rank(asked, fact, value), fact, reading) for fact in pool for value, reading in _read(asked, fact)
    ]
    if not named:
        ranked = [entry for entry in ranked if entry[0][0] or entry[0][1] > -_FAR]
    if ranked:
        _, fact, reading = max(ranked, key=lambda entry: entry[0])
        return fact, reading
    return (about[0], "") if about else None


def _read(asked: Asked, fact: Fact) -> list[tuple[float, str]]:
    """The fact's value in the answer's unit, and as cents where it may be such."""
    value = in_unit(asked.quantity, fact)
    readings = [(value, "")]
    money = asked.quantity.dimension is Dimension.MONEY and asked.quantity.decimals == 2
    bare = fact.unit is None and not fact.counted and value == int(value)
    if money and bare:
        symbol = asked.quantity.text[:1] if not asked.quantity.text[:1].isdigit() else ""
        readings.append((value / 100, f"cents: {symbol}{value / 100:,.2f}"))
    elif fact.unit is CENTS and asked.quantity.unit is None:
        readings.append((value / 100, ""))
    return readings


def _rank(asked: Asked, fact: Fact, value: float) -> tuple[bool, float, bool, int]:
    stated = asked.quantity.value
    apart = abs(value - stated) / max(abs(value), abs(stated), 1e-12)
    unit = asked.quantity.dimension is not None and fact.dimension is asked.quantity.dimension
    return _digits(value) == _digits(stated), -round(apart, 6), unit, fact.output


def _digits(value: float) -> list[str]:
    """The digits a misquote may have put in another order."""
    return sorted(f"{abs(value):.10g}".replace(".", "").rstrip("0"))
