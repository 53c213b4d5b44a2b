"""Amounts told in two units: "1 hour and 35 minutes", "2 min 30 s", "5 feet 11 inches".

In: a quantity and the answer. Out: the amount it is a part of, in the smaller unit, or None. The second unit
must be the smaller, and fill no whole one of the first: "2 days and 90 minutes" stays two amounts.
"""

from __future__ import annotations

import re
from dataclasses import replace

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.rules.binding import Binding

_JOINT = re.compile(r"\s*(?:,|and|,\s*and)?\s*", re.IGNORECASE)
_COMPOSED = frozenset((Dimension.TIME, Dimension.LENGTH, Dimension.MASS))


def whole_of(quantity: Quantity, binding: Binding) -> Quantity | None:
    """The amount in two units that a quantity is a part of."""
    if quantity.dimension not in _COMPOSED:
        return None
    others = [each.what for each in binding.answer.stated if isinstance(each.what, Quantity)]
    place = next((at for at, other in enumerate(others) if other.start == quantity.start), None)
    if place is None:
        return None
    for first, second in zip(
        others[max(0, place - 1) : place + 1], others[max(1, place) : place + 2], strict=False
    ):
        joined = _join(first, second, binding.answer.text)
        if joined is not None:
            return joined
    return None


def _join(first: Quantity, second: Quantity, text: str) -> Quantity | None:
    one, other = first.unit, second.unit
    if one is None or other is None or one.dimension is not other.dimension or one.factor <= other.factor:
        return None
    ratio = one.factor / other.factor
    if not 0 <= second.value < ratio or not _JOINT.fullmatch(text, first.end, second.start):
        return None
    value = first.value * ratio + second.value
    return replace(second, text=text[first.start : second.end], start=first.start, value=value)
