"""The operation that a claim names, and what it gives: "the average price in 2018 and 2019 is 61.5".

In: a frame, and the results of all programs over its facts. Out: an `Requested`: the best result of that
operation that is the stated value, and the best that is not. Without them a misprinted mean is only
unfound, and an operand in the mean's place is simply stated. Where the answer states the operands as well
("3 of 12, which is 25 %"), a `Worked`: what these give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from spanproof.evaluators.layers.groundedness.claims.frames import AnswerFrames, Bound, Frame
from spanproof.evaluators.layers.groundedness.solve.bind import Binding
from spanproof.evaluators.layers.groundedness.solve.match import Match
from spanproof.reading.records import Fact, FactBase
from spanproof.reading.values import NUMERIC, Kind, is_year
from spanproof.reading.words import base_form

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
    (re.compile(r"\b(?:averag(?:es?|ed|ing)|mean)\b", re.I), frozenset((Op.MEAN,))),
    (re.compile(r"\b(?:percent(?:age)?|proportion|share|ratio)\s+of\b|\bas\s+a\s+percent", re.I), frozenset((Op.RATIO, Op.SHARE))),  # noqa: E501
    (re.compile(rf"\b(?:{_MOVES}|difference)\b|\b(?:grew|rose|fell|increased|decreased|declined|dropped)\b", re.I), frozenset((Op.CHANGE, Op.DIFFERENCE))),  # noqa: E501
)  # fmt: skip
_PLAIN = (
    (re.compile(r"\b(?:averag(?:es?|ed|ing)|mean)\b", re.I), frozenset((Op.MEAN,))),
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
_TOTALLED = re.compile(
    r"\b(?:total(?:s|l?ing)?|altogether|in all|overall|combined|together|sum|adds? up|comes? to)\b", re.I
)
_MOVED = re.compile(rf"\b(?:{_MOVES}|grew|rose|fell|increased|decreased|declined|dropped|up|down|more|less|fewer|higher|lower)\b", re.I)  # fmt: skip  # noqa: E501
_ABOUT = r"(?:about|around|roughly|approximately|nearly|almost|~|≈)?\s*"
_OF = re.compile(r"\s+(?:[a-z]+\s+){0,2}?(?:out\s+)?of\s+(?:(?:the|all|its|our)\s+)?|\s*/\s*")
_WHICH_IS = re.compile(
    rf"[^.;,()\d%]{{0,60}}(?:\(|[,;]?\s(?:which is|that is|i\.e\.,?|or|=)\s*){_ABOUT}", re.I
)
_A_MOVE_OF = re.compile(rf"[^.;()\d%]{{0,60}}(?:\(\s*[-+−–]?|[,;–—]\s*(?:an?\s+(?:{_MOVES})\s+of|up|down)\s){_ABOUT}", re.I)  # fmt: skip  # noqa: E501
_BRACKET = re.compile(rf"\s*\(\s*{_ABOUT}")
_CLOSED = re.compile(r"\s*(?:[).,;]|\Z)")
_MOST_STATED, _MOST_LINES = 12, 12
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


@dataclass(frozen=True, slots=True)
class Worked:
    """What values that the answer states give in a claim's place.

    Attributes:
        said: those values, as the answer writes them.
        holds: whether the claim's value is the result, as precisely as it is written.
        surely: whether the words leave no other operation or operands, so that another value is wrong.
    """

    op: Op
    value: float
    said: tuple[str, ...]
    holds: bool
    surely: bool = False


def find_worked(binding: Binding, stated: Sequence[Binding], read: AnswerFrames) -> Worked | None:
    """Return what the values of an answer's claims give where one's words ask for it: first what holds."""
    frame = binding.frame
    said = frame.mention.value
    if said.kind not in NUMERIC or frame.mention.spelled or frame.soft or frame.negated or is_year(said):
        return None
    others = [each for each in stated if each is not binding and _is_amount(each.frame)]
    found = (_derive_percent if said.kind is Kind.PERCENT else _derive_totals)(frame, others, read)
    return max(found, key=lambda each: (each.holds, each.surely), default=None)


def _derive_percent(frame: Frame, others: Sequence[Binding], read: AnswerFrames) -> Iterator[Worked]:
    """Yield the share of "A of B", changes between values of one field, and shares of a total."""
    start, end = frame.mention.start, frame.mention.end
    low, high = read.sentence_at(frame.line, start)
    inside = [each for each in others if low <= each.frame.mention.start < high]
    before = [each for each in inside if each.frame.mention.end <= start]
    if len(before) >= 2 and _CLOSED.match(read.answer, end):
        one, two = before[-2:]
        between = read.answer[one.frame.mention.end : two.frame.mention.start]
        behind = read.answer[two.frame.mention.end : start]
        if _OF.fullmatch(between) and _WHICH_IS.fullmatch(behind):
            yield from _derive_shares(frame, one, two, surely=True)
        is_from = read.answer[low : one.frame.mention.start].rstrip().lower().endswith("from")
        if is_from and re.search(r"\bto\b", between) and _A_MOVE_OF.fullmatch(behind):
            yield from _derive_changes(frame, one, two, surely=True)
    if _MOVED.search(read.answer[max(low, start - 40) : end + 25]):
        for one, two in combinations(inside[:_MOST_STATED], 2):
            if _are_of_one_field(one, two):
                yield from _derive_changes(frame, one, two)
    if before and _BRACKET.fullmatch(read.answer[before[-1].frame.mention.end : start]):
        # "1,036.30 (57 %)" is a share of what the answer calls the total.
        for total in (each for each in others[: 3 * _MOST_STATED] if _is_total(each.frame, read)):
            yield from _derive_shares(frame, before[-1], total)


def _derive_shares(frame: Frame, part: Binding, whole: Binding, *, surely: bool = False) -> Iterator[Worked]:
    # "22.8 of 24 hours" leaves out the unit of the first.
    bare = part.frame.mention.value.kind is Kind.NUMBER
    (one, one_half), (two, two_half) = _find_precise_value(part, bare), _find_precise_value(whole, bare)
    if one and two and part is not whole and (bare or _are_alike(part.frame, whole.frame)):
        value, said = 100 * one / two, frame.mention.value
        # Half a place of what is stated moves the share as well.
        slack = abs(value) * (one_half / abs(one) + two_half / abs(two)) + 1e-9
        off = min(abs(said.number - value), abs(said.number - (100 - value)))
        holds = abs(said.number - value) <= said.step / 2 + slack
        slack += 0.2 * value if frame.bound is not Bound.EXACT else 0.0
        yield Worked(Op.SHARE, value, (part.frame.text, whole.frame.text), holds, surely and off > 2 * said.step + slack)  # fmt: skip  # noqa: E501


def _derive_changes(frame: Frame, first: Binding, last: Binding, *, surely: bool = False) -> Iterator[Worked]:
    one, two = first.frame.mention.value.number, last.frame.mention.value.number
    if one and two and _are_alike(first.frame, last.frame):
        said = abs(frame.mention.value.number)
        values = [abs(two - one) / abs(base) * 100 for base in (one, two)]
        margin = max(2 * frame.mention.value.step, 0.1 * values[0])
        far = all(abs(said - value) > margin for value in (*values, 100 * one / two, 100 * two / one))
        for value in values[:1] if surely else values:
            near = max(frame.mention.value.step / 2, 0.05 * value if frame.bound is Bound.ABOUT else 0.0)
            holds = abs(said - value) <= near + 1e-9
            yield Worked(Op.CHANGE, value, (first.frame.text, last.frame.text), holds, surely and far)


def _derive_totals(frame: Frame, others: Sequence[Binding], read: AnswerFrames) -> Iterator[Worked]:
    """Yield the sums of the values right before or right behind one that is called a total."""
    said = frame.mention.value
    if sum(each.isdigit() for each in frame.text) < 3 or not _is_total(frame, read):
        return
    alike = [each for each in others if _are_alike(each.frame, frame) and abs(each.frame.line - frame.line) <= _MOST_LINES]  # fmt: skip  # noqa: E501
    before = [each for each in alike if each.frame.mention.end <= frame.mention.start]
    behind = [each for each in alike if each.frame.mention.start >= frame.mention.end]
    for run in (before[::-1][:_MOST_STATED], behind[:_MOST_STATED]):
        for count in range(2, len(run) + 1):
            value = sum(each.frame.mention.value.number for each in run[:count])
            holds = abs(said.number - value) <= said.step / 2 + 1e-9 * abs(value)
            whole = count == len(run) and frame.bound is Bound.EXACT
            yield Worked(Op.SUM, value, tuple(each.frame.text for each in run[:count]), holds, whole)


def _is_total(frame: Frame, read: AnswerFrames) -> bool:
    low, high = read.sentence_at(frame.line, frame.mention.start)
    return _TOTALLED.search(read.answer, low, high) is not None


def _is_amount(frame: Frame) -> bool:
    value = frame.mention.value
    return value.kind in NUMERIC and value.kind is not Kind.PERCENT and not is_year(value)


def _are_alike(one: Frame, two: Frame) -> bool:
    values = one.mention.value, two.mention.value
    return (values[0].kind, values[0].unit) == (values[1].kind, values[1].unit)


def _are_of_one_field(one: Binding, two: Binding) -> bool:
    """Return whether two values are stated in one field of two records."""
    pairs = ((first.fact, last.fact) for first in one.equal[:3] for last in two.equal[:3])
    return any(a.path and a.path == b.path and a.record != b.record for a, b in pairs)


def _find_precise_value(binding: Binding, bare: bool) -> tuple[float, float]:
    """Return the value that a stated one rounds, and how far it may be off: not at all where it is known."""
    said = binding.frame.mention.value
    times = 1.0 / said.factor if bare else 1.0
    for each in binding.equal[:1]:
        if each.match in (Match.EXACT, Match.ROUNDED):
            return each.fact.value.number * each.fact.factor * times, 0.0
        if each.match is Match.UNSCALED and bare:
            return each.fact.value.amount, 0.0
    return said.number * times, said.step / 2 * times
