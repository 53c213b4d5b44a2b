"""Search in facts for those that hold a stated value, without comparing it with each.

In: a base of facts and a stated value. Out: the facts that agree with it, by `agreement.is_agreeing`, which
decides alone: what is left out here could not agree.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from spanproof.reading.agreement import PLAIN_KINDS, Hedge, is_agreeing
from spanproof.reading.records import Fact, FactBase
from spanproof.reading.values import Kind, Value

# Far above how binary fractions err, so that no number is missed that `values.is_same_number` takes.
_MARGIN: Final = 1e-9


class ValueIndex:
    """Finds facts by their values."""

    def __init__(self, base: FactBase) -> None:
        self._base = base
        self._amounts: dict[Kind, _AmountIndex] = {}

    def list_agreeing(self, stated: Value, hedge: Hedge, text: str, kinds: Iterable[Kind]) -> list[Fact]:
        """Return the facts of some kinds that agree with a stated value, whose characters are `text`."""
        return [
            fact
            for kind in kinds
            for fact in self._list_candidates(stated, hedge, text, kind)
            if is_agreeing(stated, hedge, fact, text)
        ]

    def list_numbers(self, number: float) -> Sequence[Fact]:
        """Return the plain numbers that are exactly a number."""
        found = self._get_amount_index(Kind.NUMBER).list_within(number, number)
        return [fact for fact in found if fact.value.number == number]

    def _list_candidates(self, stated: Value, hedge: Hedge, text: str, kind: Kind) -> Sequence[Fact]:
        facts = self._base.by_kind[kind]
        if kind is Kind.NUMBER and stated.kind is Kind.ID:
            if stated.text.isdecimal():
                return self.list_numbers(float(stated.text))
            return ()
        if kind is Kind.ID and stated.kind is not Kind.ID:
            last = text.lstrip("#").lower()
            return [fact for fact in facts if fact.value.text.endswith(last)]
        is_plain = stated.kind in PLAIN_KINDS and stated.other is None and hedge is Hedge.NONE
        if not is_plain or kind not in PLAIN_KINDS:
            return facts
        margin = stated.step / 2 + _MARGIN * max(1.0, abs(stated.number))
        return self._get_amount_index(kind).list_within(stated.number - margin, stated.number + margin)

    def _get_amount_index(self, kind: Kind) -> _AmountIndex:
        if kind not in self._amounts:
            self._amounts[kind] = _AmountIndex(self._base.by_kind[kind])
        return self._amounts[kind]


class _AmountIndex:
    """Finds amounts by their size; those of more than one reading are always found."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = facts
        self._ambiguous: list[int] = []
        plain = [(fact.value.number, at) for at, fact in enumerate(facts) if _has_one_reading(fact)]
        if len(plain) < len(facts):
            self._ambiguous = [at for at, fact in enumerate(facts) if not _has_one_reading(fact)]
        plain.sort()
        self._numbers = [number for number, _ in plain]
        self._places = [at for _, at in plain]

    def list_within(self, low: float, high: float) -> list[Fact]:
        """Return the amounts between two numbers, in their order in the texts."""
        first, last = bisect_left(self._numbers, low), bisect_right(self._numbers, high)
        return [self._facts[at] for at in sorted((*self._places[first:last], *self._ambiguous))]


def _has_one_reading(fact: Fact) -> bool:
    return fact.factor == 1.0 and fact.value.other is None
