"""The operation that a claim names, and what it gives: "the average price in 2018 and 2019 is 61.5".

In: a frame, and the results of all programs over its facts. Out: an `Requested`: the best result of that
operation that is the stated value, and the best that is not. Without them a misprinted mean is only
unfound, and an operand in the mean's place is simply stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from spanproof.evaluators.layers.groundedness.claims.frames import AnswerFrames, Frame
from spanproof.evaluators.layers.groundedness.facts.base import Fact, FactBase
from spanproof.evaluators.layers.groundedness.values.model import Kind
from spanproof.evaluators.layers.groundedness.values.words import base_form

_MAX_SENTENCE = 400
_MOVES = r"change|increase|decrease|decline|growth|drop|rise|reduction|gain"


class Op(StrEnum):
    """A step of a program."""

    SUM = "sum"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    SHARE = "share"
    CHANGE = "percentage change"
    PRODUCT = "product"
    MEAN = "mean"
    MIN = "min"
    MAX = "max"
    COUNT = "count"
    LISTED = "listed"
    SPAN = "time between"


_PERCENT = (
    (re.compile(rf"\bpercent(?:age)?\s+(?:{_MOVES})\b|\b%\s*(?:{_MOVES})\b|\b(?:growth|change)\s+rate\b", re.I), frozenset((Op.CHANGE,))),  # noqa: E501
    (re.compile(r"\b(?:average|mean)\b", re.I), frozenset((Op.MEAN,))),
    (re.compile(r"\b(?:percent(?:age)?|proportion|share|ratio)\s+of\b|\bas\s+a\s+percent", re.I), frozenset((Op.RATIO, Op.SHARE))),  # noqa: E501
    (re.compile(rf"\b(?:{_MOVES}|difference)\b|\b(?:grew|rose|fell|increased|decreased|declined|dropped)\b", re.I), frozenset((Op.CHANGE, Op.DIFFERENCE))),  # noqa: E501
)  # fmt: skip
_PLAIN = (
    (re.compile(r"\b(?:average|mean)\b", re.I), frozenset((Op.MEAN,))),
    (re.compile(r"\b(?:ratio|proportion)\s+of\b", re.I), frozenset((Op.RATIO,))),
    (re.compile(rf"\b(?:{_MOVES}|difference)\s*(?:/\s*\(?\w+\)?)?\s+(?:in|of|between|from)\b|\b(?:grew|rose|fell|increased|decreased|declined|dropped)\s+by\s+\Z", re.I), frozenset((Op.DIFFERENCE,))),  # noqa: E501
    (re.compile(r"\b(?:sum\s+of|combined|altogether)\b", re.I), frozenset((Op.SUM,))),
)  # fmt: skip
_IN_PERCENT = re.compile(r"\bpercent(?:age)?\s+(?:change|increase|decrease|growth)\b", re.I)
_NAMES = {
    Op.MEAN: ("average", "mean"),
    Op.CHANGE: ("change", "increase", "decrease", "growth", "variance", "%"),
    Op.DIFFERENCE: ("change", "increase", "decrease", "difference", "growth", "variance"),
    Op.RATIO: ("ratio", "rate", "proportion", "share", "percent", "percentage", "margin", "%"),
    Op.SHARE: ("share", "proportion", "percent", "percentage", "%"),
    Op.SUM: ("sum", "total", "combined"),
}
_SIGNS = {Op.SUM: " + ", Op.DIFFERENCE: " - ", Op.PRODUCT: " × ", Op.RATIO: " / "}
_NAME_FORMS = {op: frozenset(map(base_form, words)) for op, words in _NAMES.items()}


class Derived(NamedTuple):
    """A program's result.

    Attributes:
        fit: how well its operands fit the frame, on the scale of `Scored.total`.
        cued: whether the frame's words ask for its operation.
        alike: whether the operands are of one field or of one record; `named` the least share of a name said.
        year: the least agreement of an operand's year with the frame's, see `Scored`.
    """

    value: float
    op: Op
    operands: tuple[Fact, ...]
    fit: float
    cued: bool
    said: tuple[str, ...] = ()
    alike: bool = False
    named: float = 0.0
    year: int = 0

    def program(self, base: FactBase) -> str:
        """Return the program as text: `56.7 - 44.1 = 12.6`, or `mean(3, 4, 5) = 4`."""
        inside = self.said or tuple(
            base.texts[fact.source][fact.start : fact.end] for fact in self.operands[:6]
        )
        if self.op in _SIGNS and len(inside) > 1:
            dots = f"{_SIGNS[self.op]}…" if len(self.operands) > 6 else ""
            return f"{_SIGNS[self.op].join(inside)}{dots} = {self.value:.10g}"
        dots = ", …" if len(self.operands) > 6 else ""
        return f"{self.op}({', '.join(inside)}{dots}) = {self.value:.10g}"


@dataclass(frozen=True, slots=True)
class Requested:
    """What the operation that a claim names gives.

    Attributes:
        hit: the best result that is the stated value, with how well it fits; `other` the best that is not.
    """

    ops: frozenset[Op] = frozenset()
    hit: Derived | None = None
    hit_fit: float = 0.0
    other: Derived | None = None
    other_fit: float = 0.0


NOT_REQUESTED = Requested()


def find_requested(frame: Frame, read: AnswerFrames) -> frozenset[Op]:
    """Return the operations that a claim's sentence names before its value; of a short answer, the question."""  # noqa: E501
    low, _ = read.sentence_at(frame.line, frame.mention.start)
    text = read.answer[max(low, frame.mention.start - _MAX_SENTENCE) : frame.mention.start]
    for said in (text, read.question.text):
        percent = frame.mention.value.kind is Kind.PERCENT or _IN_PERCENT.search(said)
        for pattern, ops in _PERCENT if percent else _PLAIN:
            if pattern.search(said):
                return ops
    return frozenset()


def names_operation(fact: Fact, ops: Iterable[Op]) -> bool:
    """Return whether a field is named by an operation: of a column `Change` the difference is a plain value."""  # noqa: E501
    return any(_NAME_FORMS[op] & fact.words for op in ops) or any("%" in name for name in fact.path[-2:])


def weigh(result: Derived, frame: Frame) -> float:
    """Return how well a result fits what is requested: operands that belong together, in the years that are named."""  # noqa: E501
    said = frame.years
    fit = result.fit
    if len(said) >= 2 and result.operands:
        low, high = min(said), max(said)
        years = [fact.years for fact in result.operands]
        inside = all(any(low <= year <= high for year in each) for each in years)
        covered = said <= frozenset().union(*years)
        fit += 1.0 if inside and covered else -0.5 if all(years) else 0.0
    return fit + (0.3 if result.alike else -0.3)


def choose_requested(
    ops: frozenset[Op], results: Mapping[bool, Sequence[tuple[float, Derived]]]
) -> Requested:
    """Return the best results of the operations that are requested: of those that hit, and of the others.

    What is worked out from the same operands as a hit, only the other way round, is no other result.
    """
    hit_fit, hit = max(results[True], key=lambda each: each[0], default=(0.0, None))
    same = frozenset(map(id, hit.operands)) if hit is not None else None
    others = [each for each in results[False] if frozenset(map(id, each[1].operands)) != same]
    other_fit, other = max(others, key=lambda each: each[0], default=(0.0, None))
    return Requested(ops, hit, hit_fit, other, other_fit)
