"""Amounts of which a stated one has two neighbouring digits exchanged: 4,180.90 for 4108.9.

In: a value and the facts that it may be of. Out: the one fact that it is a slip of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spanproof.reading.agreement import are_comparable, is_exchange
from spanproof.reading.records import Fact
from spanproof.reading.values import NUMERIC, Value

_DIGIT_STEP: Final = 1e-9
# Digits without zeros at the ends from which an exchange of two is no chance.
_FEWEST_DIGITS: Final = 4


def find_exchanged(value: Value, facts: Sequence[Fact]) -> Fact | None:
    """Return the one amount of some facts of which a value has two neighbouring digits exchanged."""
    step = value.step / value.factor
    digits = _format_digits(value.amount, step)
    if value.kind not in NUMERIC or len(digits.strip("0")) < _FEWEST_DIGITS:
        return None
    alike = {
        fact.value.number: fact
        for fact in facts
        if are_comparable(value, fact)
        and is_exchange(digits, _format_digits(fact.value.amount, step))
        and _has_no_more_digits(fact.value.amount, step)
    }
    return next(iter(alike.values())) if len(alike) == 1 else None


def _has_no_more_digits(amount: float, step: float) -> bool:
    """Return whether an amount is written in full with so small a last place."""
    return abs(round(amount / step) * step - amount) < _DIGIT_STEP * max(1.0, abs(amount))


def _format_digits(amount: float, step: float) -> str:
    """Return the digits of an amount up to a last place."""
    return str(round(abs(amount) / step)) if step else ""
