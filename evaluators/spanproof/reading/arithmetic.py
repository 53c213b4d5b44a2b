"""What one operation on two amounts gives: sums, differences, products, ratios, percentages.

In: numbers. Out: the results of all operations, in any order; none divides by zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations


def list_results(one: float, other: float, is_percentage: bool = False) -> list[float]:
    """Return the other amount, and what one operation on both gives.

    Of a percentage that is what it is of the one, and the one with it added, taken off or taken out again.
    """
    results = [other, one + other, one - other, one * other, *_list_ratios(one, other)]
    if is_percentage:
        factor = 1 + other / 100
        results += [one * (factor - 1), one * factor, one * (2 - factor), *([one / factor] if factor else [])]
    return results


def is_result(fits: Callable[[float], bool], amounts: Sequence[float], factors: Sequence[float]) -> bool:
    """Return whether one operation on two amounts, or on an amount and a factor, gives what fits.

    Args:
        fits: whether a result is the one in question.
        amounts: each may go with each other.
        factors: what an amount may be multiplied or divided by; none of them is 0.
    """
    if any(fits(amount * factor) or fits(amount / factor) for amount in amounts for factor in factors):
        return True
    return any(fits(result) for pair in combinations(amounts, 2) for result in list_results(*pair)[1:])


def list_joint_results(amounts: Sequence[float]) -> list[float]:
    """Return the sum of all amounts, and what one operation on each two of them gives."""
    if len(amounts) < 2:
        return []
    return [sum(amounts), *(result for pair in combinations(amounts, 2) for result in list_results(*pair))]


def _list_ratios(one: float, other: float) -> list[float]:
    """Return the ratios of two amounts, each way round, and by how much they are above or below one."""
    ratios = [above / below for above, below in ((one, other), (other, one)) if below]
    return [*ratios, *(ratio - 1 for ratio in ratios)]
