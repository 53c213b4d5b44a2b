"""Derived values: a number that no output holds but that follows from what they hold.

In: a quantity, the words around it, the facts. Out: the derivation as text, or None. A derivation is looked
for only where the answer's words ask for it ("total", "difference", "by 12 %"), because among many numbers
some pair always gives any sum.
"""

from __future__ import annotations

from collections.abc import Callable

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set
from spanproof.evaluators.layers.groundedness.rules.derive.changes import (
    differences,
    per_each,
    portions,
    ratios,
    shares,
)
from spanproof.evaluators.layers.groundedness.rules.derive.cues import (
    AVERAGE_CUES,
    DIFFERENCE_CUES,
    EACH_CUES,
    EITHER_CUES,
    PRODUCT_CUES,
    RATIO_CUES,
    SHARE_CUES,
    SUM_CUES,
    WITH_CUES,
)
from spanproof.evaluators.layers.groundedness.rules.derive.natural import natural
from spanproof.evaluators.layers.groundedness.rules.derive.products import (
    conversions,
    given_products,
    products,
)
from spanproof.evaluators.layers.groundedness.rules.derive.rates import (
    MULTIPLE_CUES,
    PERIOD_CUES,
    multiples,
    per_time,
    periods,
)
from spanproof.evaluators.layers.groundedness.rules.derive.search import (
    Derived,
    Search,
    measured_value,
    scaled_value,
)
from spanproof.evaluators.layers.groundedness.rules.derive.spans import (
    clock_differences,
    day_differences,
    year_differences,
)
from spanproof.evaluators.layers.groundedness.rules.derive.steps import further_steps
from spanproof.evaluators.layers.groundedness.rules.derive.sums import (
    averages,
    deviations,
    named_pair_sums,
    named_sums,
    pair_sums,
    sums,
    told_sums,
)


def derive(search: Search) -> Derived | None:
    """The first derivation that gives the quantity."""
    measured = search.quantity.dimension
    for wanted, dimensions, attempt in _ATTEMPTS:
        cues = search.near if attempt is pair_sums else search.cues
        if measured not in dimensions and wanted.isdisjoint(cues):
            continue
        found = attempt(search)
        if found is not None:
            return found
    return None


_Measured = tuple[Dimension | None, ...]
_NO_SHARE: _Measured = (None, *(each for each in Dimension if each is not Dimension.FRACTION))
_ATTEMPTS: tuple[tuple[frozenset[str], _Measured, Callable[[Search], Derived | None]], ...] = (
    (SUM_CUES, (), sums),
    (WITH_CUES, (), pair_sums),
    (EITHER_CUES, (), named_pair_sums),
    (EITHER_CUES, (Dimension.MONEY,), portions),
    (AVERAGE_CUES, (), averages),
    (canonical_set("std"), (), deviations),
    (SHARE_CUES, (Dimension.FRACTION,), shares),
    (DIFFERENCE_CUES, (), differences),
    (DIFFERENCE_CUES, (Dimension.TIME,), day_differences),
    (DIFFERENCE_CUES, (Dimension.TIME,), year_differences),
    (DIFFERENCE_CUES, (Dimension.TIME,), clock_differences),
    (PERIOD_CUES, (), periods),
    (MULTIPLE_CUES, (), multiples),
    (canonical_set("per"), (), per_time),
    (RATIO_CUES, (), ratios),
    (EACH_CUES, (), per_each),
    (PRODUCT_CUES, (), products),
    (PRODUCT_CUES, (), given_products),
    (SUM_CUES | WITH_CUES, (), told_sums),
    (frozenset(), (Dimension.MONEY,), conversions),
    (frozenset(), _NO_SHARE, named_sums),
)
"""What is tried in turn: the words that ask for it, and the measures that do by themselves."""

__all__ = ["Derived", "Search", "derive", "further_steps", "measured_value", "natural", "scaled_value"]
