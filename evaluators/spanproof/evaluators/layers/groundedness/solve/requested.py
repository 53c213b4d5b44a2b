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
from itertools import accumulate, combinations
from typing import NamedTuple

from spanproof.evaluators.layers.groundedness.claims.frames import AnswerFrames, Bound, Frame
from spanproof.evaluators.layers.groundedness.facts.base import Fact, FactBase
from spanproof.evaluators.layers.groundedness.solve.bind import Binding
from spanproof.evaluators.layers.groundedness.solve.match import Match
from spanproof.evaluators.layers.groundedness.values.model import NUMERIC, Kind, is_year
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
    r"\b(?:total(?:s|l?ing)?|altogether|in all|overall|combined|together|sum|adds? up|(?:amounts?|comes?) to)\b",
    re.I,
)
_LEFT = re.compile(r"\b(?:left|leaves?|leaving|remain(?:s|ing|der)?|headroom|to spare)\b", re.I)
_MOVED = re.compile(
    rf"\b(?:{_MOVES}|grew|rose|fell|increased|decreased|declined|dropped|up|down|more|less|fewer|higher|lower)\b",
    re.I,  # noqa: E501
)
_ABOUT = r"(?:about|around|roughly|approximately|some|nearly|almost|just (?:over|under)|ca\.?|~|≈)?\s*"
_OF = re.compile(r"\s+(?:[a-z]+\s+){0,2}?(?:out\s+)?of\s+(?:(?:the|all|its|our)\s+)?|\s*/\s*")
_SO = rf"(?:\(|[,;]\s*(?:which is|that is|i\.e\.,?|or|=)|\s(?:which is|that is|i\.e\.,?|or|=))\s*{_ABOUT}"
_SHARED = re.compile(rf"[^.;,()\d%]{{0,60}}{_SO}", re.I)
_DECLINED = re.compile(rf"[^.;()\d%]{{0,60}}(?:\(\s*[-+−–]?|[,;–—]\s*(?:an?\s+(?:{_MOVES})\s+of|(?:up|down)(?:\s+by)?)\s){_ABOUT}", re.I)  # fmt: skip  # noqa: E501
_BEHIND_SHARE = re.compile(r"\s*(?:[).,;]|\Z)")
_MOST_STATED, _MOST_PARTS, _MOST_LINES = 40, 6, 12
_SURELY_OTHER = 0.1
"""A change that differs by so much of it from the one stated is another, however it was rounded."""
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

    @property
    def program(self) -> str:
        """Return the program as text."""
        if self.op in (Op.SUM, Op.DIFFERENCE, Op.SHARE):
            sign = {Op.SUM: " + ", Op.DIFFERENCE: " - "}.get(self.op, " of ")
            return f"{sign.join(self.said)} = {self.value:.10g}"
        return f"{self.op}({', '.join(self.said)}) = {self.value:.10g}"


def find_worked(binding: Binding, stated: Sequence[Binding], read: AnswerFrames) -> Worked | None:
    """Return what the answer's own values give where a claim's words ask for it: first what holds.

    Args:
        binding: of the claim.
        stated: of all claims of the answer, in their order.
        read: the answer.
    """
    frame = binding.frame
    said = frame.mention.value
    if said.kind not in NUMERIC or frame.mention.spelled or frame.soft or frame.negated or is_year(said):
        return None
    results = (
        _of_percent(binding, stated, read) if said.kind is Kind.PERCENT else _of_amount(binding, stated, read)
    )  # noqa: E501
    return max(results, key=lambda each: (each.holds, each.surely), default=None)


def _of_percent(binding: Binding, stated: Sequence[Binding], read: AnswerFrames) -> Iterator[Worked]:
    """Yield the share of two values that are "A of B", and changes between values of one field."""
    frame, answer = binding.frame, read.answer
    low, high = read.sentence_at(frame.line, frame.mention.start)
    inside = [
        each
        for each in stated
        if low <= each.frame.mention.start < high and _is_amount(each.frame) and each.frame is not frame
    ]
    before = [each for each in inside if each.frame.mention.end <= frame.mention.start]
    if len(before) >= 2:
        one, two = before[-2:]
        between = answer[one.frame.mention.end : two.frame.mention.start]
        behind = answer[two.frame.mention.end : frame.mention.start]
        closed = _BEHIND_SHARE.match(answer, frame.mention.end)
        if _OF.fullmatch(between) and _SHARED.fullmatch(behind) and closed:
            yield from _share(frame, one, two, surely=True)
        moved = answer[low : one.frame.mention.start].rstrip().lower().endswith("from")
        if moved and re.search(r"\bto\b", between) and _DECLINED.fullmatch(behind) and closed:
            yield from _change(frame, one, two, surely=True)
    if _MOVED.search(answer[max(low, frame.mention.start - 40) : frame.mention.end + 25]):
        for one, two in combinations(inside[-_MOST_PARTS:], 2):
            if _are_of_one_field(one, two):
                yield from _change(frame, one, two)
    if before and re.fullmatch(
        rf"\s*\(\s*{_ABOUT}", answer[before[-1].frame.mention.end : frame.mention.start]
    ):  # noqa: E501
        # "1,036.30 (57 %)" is a share of what the answer calls the total.
        totals = [each for each in stated if _is_total(each.frame, read) and _are_alike(each, before[-1])]
        for total in totals[:_MOST_PARTS]:
            yield from _share(frame, before[-1], total)


def _share(frame: Frame, part: Binding, whole: Binding, *, surely: bool = False) -> Iterator[Worked]:
    (one, one_half), (two, two_half) = _precisely(part), _precisely(whole)
    if not two or part is whole or not _are_alike(part, whole):
        return
    value = 100 * one / two
    said = frame.mention.value
    # Half a place of what is stated moves the share as well.
    slack = abs(value) * (one_half / abs(one or 1.0) + two_half / abs(two))
    holds = abs(said.number - value) <= _half(frame) + slack + 1e-9
    far = min(abs(said.number - value), abs(said.number - (100 - value))) > 2 * said.step + slack
    yield Worked(
        Op.SHARE,
        value,
        (part.frame.text, whole.frame.text),
        holds,
        surely and far and frame.bound is Bound.EXACT,
    )


def _change(frame: Frame, first: Binding, last: Binding, *, surely: bool = False) -> Iterator[Worked]:
    one, two = first.frame.mention.value, last.frame.mention.value
    if not one.number or not two.number or not _are_alike(first, last):
        return
    target = abs(frame.mention.value.number)
    said = first.frame.text, last.frame.text
    values = [abs(two.number - one.number) / abs(base) * 100 for base in (one.number, two.number)]
    ratios = [100 * one.number / two.number, 100 * two.number / one.number]
    margin = max(2 * frame.mention.value.step, _SURELY_OTHER * values[0])
    far = all(abs(target - value) > margin for value in (*values, *ratios))
    for value in values[:1] if surely else values:
        near = max(_half(frame), 0.05 * value if frame.bound is Bound.ABOUT else 0.0)
        yield Worked(Op.CHANGE, value, said, abs(target - value) <= near + 1e-9, surely and far)


def _of_amount(binding: Binding, stated: Sequence[Binding], read: AnswerFrames) -> Iterator[Worked]:
    """Yield the sum of values before or behind one that is called a total, and what is left of the first."""
    frame, answer = binding.frame, read.answer
    said = frame.mention.value
    low, high = read.sentence_at(frame.line, frame.mention.start)
    digits = sum(character.isdigit() for character in frame.text)
    if digits < 3 or frame.bound in (Bound.MORE, Bound.LESS):
        return
    alike = [
        each
        for each in stated
        if each is not binding and _is_amount(each.frame) and _are_alike(each, binding)
        and abs(each.frame.line - frame.line) <= _MOST_LINES
    ]  # fmt: skip
    before = [each for each in alike if each.frame.mention.end <= frame.mention.start][::-1][:_MOST_STATED]
    behind = [each for each in alike if each.frame.mention.start >= frame.mention.end][:_MOST_STATED]
    if _is_total(frame, read):
        for run in (before, behind):
            sums = accumulate(each.frame.mention.value.number for each in run)
            for count, value in enumerate(sums, 1):
                if count > 1:
                    holds = abs(said.number - value) <= _half(frame) + 1e-9 * abs(value)
                    texts = tuple(each.frame.text for each in run[:count])
                    # All of one sentence or list, and none before: no other values may be meant.
                    whole = count == len(run) or _parted(run[count - 1], run[count], read)
                    yield Worked(Op.SUM, value, texts, holds, surely=whole and not holds)
    if _LEFT.search(answer[low:high]):
        yield from _left_of_the_largest(frame, before[:_MOST_PARTS])


def _left_of_the_largest(frame: Frame, near: Sequence[Binding]) -> Iterator[Worked]:
    """Yield what the largest of some values less others of them is, where that is a frame's value."""
    values = sorted(near, key=lambda each: each.frame.mention.value.number)
    for size in range(1, len(values)):
        for taken in combinations(values[:-1], size):
            parts = values[-1], *taken
            rest = sum(each.frame.mention.value.number for each in taken)
            value = values[-1].frame.mention.value.number - rest
            if abs(frame.mention.value.number - value) <= _rounded(frame) + 1e-9 * abs(value):
                yield Worked(Op.DIFFERENCE, value, tuple(each.frame.text for each in parts), holds=True)


def _parted(one: Binding, two: Binding, read: AnswerFrames) -> bool:
    """Return whether two values are of different sentences of one line, or of lines that are no list."""
    places = [read.sentence_at(each.frame.line, each.frame.mention.start) for each in (one, two)]
    listed = read.lines[one.frame.line].parents == read.lines[two.frame.line].parents
    return places[0] != places[1] and (one.frame.line == two.frame.line or not listed)


def _is_total(frame: Frame, read: AnswerFrames) -> bool:
    return (
        _TOTALLED.search(read.answer[slice(*read.sentence_at(frame.line, frame.mention.start))]) is not None
    )


def _is_amount(frame: Frame) -> bool:
    value = frame.mention.value
    return value.kind in NUMERIC and value.kind is not Kind.PERCENT and not is_year(value)


def _are_alike(one: Binding, two: Binding) -> bool:
    values = one.frame.mention.value, two.frame.mention.value
    return (values[0].kind, values[0].unit) == (values[1].kind, values[1].unit)


def _are_of_one_field(one: Binding, two: Binding) -> bool:
    """Return whether two values are stated in one field of two records."""
    return any(
        first.fact.path and first.fact.path == last.fact.path and first.fact.record != last.fact.record
        for first in one.equal[:3]
        for last in two.equal[:3]
    )


def _precisely(binding: Binding) -> tuple[float, float]:
    """Return the value that a stated one rounds, and how far it may be off: not at all where it is known."""
    for each in binding.equal[:1]:
        if each.match in (Match.EXACT, Match.ROUNDED):
            return each.fact.value.number * each.fact.factor, 0.0
    return binding.frame.mention.value.number, _half(binding.frame)


def _half(frame: Frame) -> float:
    """Return half of the last place that a value writes."""
    return frame.mention.value.step / 2


def _rounded(frame: Frame) -> float:
    """Return half of the place that a value is rounded to: of `roughly 25,400` half a hundred."""
    value = frame.mention.value
    digits = f"{abs(value.amount):.0f}"
    zeros = len(digits) - len(digits.rstrip("0")) if value.step / value.factor == 1 else 0
    return value.step / 2 * (10**zeros if frame.bound is Bound.ABOUT else 1)
