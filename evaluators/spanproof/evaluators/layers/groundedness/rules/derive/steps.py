"""What may follow in a further step: found where no rule gives a number, and never enough to ground it.

In: a `Search`. Out: a derivation that nothing in the words asks for, or that takes two steps. It only keeps a
number from being called contradicted: somebody has to look whether the answer means it.
"""

from __future__ import annotations

from collections.abc import Iterator

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.derive.cues import DIFFERENCE_CUES, SUM_CUES
from spanproof.evaluators.layers.groundedness.rules.derive.search import (
    Derived,
    Search,
    agrees,
    fits_operand,
    operands,
    scaled_value,
)
from spanproof.evaluators.layers.groundedness.rules.matching import number_text

_FEW_OPERANDS = 8
_LEAST_DIGITS = 2
"""Digits below which chance finds a derivation for anything."""


def further_steps(search: Search) -> Derived | None:
    """A derivation in one step that no word asks for, or in two, from the few values that the words name."""
    quantity = search.quantity
    if quantity.digits < _LEAST_DIGITS or quantity.spelled:
        return None
    numbers = [fact for fact in operands(search) if fact.number]
    named = [fact for fact in numbers if not _words(fact).isdisjoint(search.words)]
    used = numbers if len(numbers) <= _FEW_OPERANDS else named
    if not 2 <= len(used) <= _FEW_OPERANDS:
        return None
    for text, value, one in _values(used, search):
        if value and value != scaled_value(one) and _is_of(search, one) and fits_operand(search, value, one):
            return Derived(f"{text} = {number_text(value)}", (one,), value)
    return None


def _is_of(search: Search, operand: Fact) -> bool:
    """Whether the operand measures what the quantity does: a length does not follow from two durations."""
    wanted = search.quantity.dimension
    if wanted in (None, Dimension.FRACTION, Dimension.MONEY):
        return agrees(search, operand)
    return operand.dimension is wanted


def _words(fact: Fact) -> frozenset[str]:
    return fact.clause if fact.weak else fact.words


def _values(facts: list[Fact], search: Search) -> Iterator[tuple[str, float, Fact]]:
    asks_a_change = not DIFFERENCE_CUES.isdisjoint(search.cues)
    if search.quantity.dimension is Dimension.FRACTION:
        if not asks_a_change or "point" in search.words:
            yield from _shares(facts, 1 / search.quantity.unit.factor if search.quantity.unit else 100.0)
        return
    settled = asks_a_change or not SUM_CUES.isdisjoint(search.cues)
    for one in facts:
        for other in facts:
            if one is not other:
                yield from _of_two(one, other, settled=settled)
        for given in search.given:
            if given > 1:
                value = scaled_value(one)
                yield f"{number_text(given)} × {number_text(value)}", given * value, one


def _of_two(one: Fact, other: Fact, *, settled: bool) -> Iterator[tuple[str, float, Fact]]:
    """One step from two values; sums and differences are settled where the words ask for one."""
    first, second = scaled_value(one), scaled_value(other)
    told = number_text(first), number_text(second)
    if one.dimension is not other.dimension:
        yield f"{told[0]} × {told[1]}", first * second, one
    elif not settled:
        yield f"{told[0]} + {told[1]}", first + second, one
        yield f"{told[0]} - {told[1]}", first - second, one
    if second and one.dimension is not other.dimension:
        yield f"{told[0]} / {told[1]}", first / second, one


def _shares(facts: list[Fact], scale: float) -> Iterator[tuple[str, float, Fact]]:
    """Parts of wholes, what remains of them, and how far two such parts are apart."""
    parts: list[tuple[str, float, Fact, Fact]] = []
    for one in facts:
        for other in facts:
            first, second = scaled_value(one), scaled_value(other)
            kin = one.dimension is other.dimension or {one.dimension, other.dimension} == {
                None,
                Dimension.MONEY,
            }
            if one is other or not kin or not second or not 0 < first / second < 1:
                continue
            text, value = f"{number_text(first)} / {number_text(second)}", first / second * scale
            parts.append((text, value, one, other))
            yield text, value, one
            yield f"1 - {text}", scale - value, one
    for text, value, one, whole in parts:
        for other_text, other_value, other, other_whole in parts:
            if value > other_value and (one.key, whole.key) == (other.key, other_whole.key):
                yield f"{text} - {other_text}", value - other_value, one
