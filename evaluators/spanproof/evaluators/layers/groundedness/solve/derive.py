"""Enumerate small programs over the facts a frame may mean: sums, differences, ratios, changes, means, counts.

In: a frame with its binding. Out: `Derived` results, each with the program, how well its operands fit the
frame, and the chance to hit the stated value by accident, which is the density of all results about it times
the width of what its written precision allows. Work is bounded by the size of the operands' pool.
"""  # noqa: E501

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from math import exp

from spanproof.evaluators.layers.groundedness.claims.frames import AnswerFrames, Bound, Frame
from spanproof.evaluators.layers.groundedness.solve.bind import Binder, Binding, Scored
from spanproof.evaluators.layers.groundedness.solve.match import is_in_minor_units
from spanproof.evaluators.layers.groundedness.solve.requested import (
    NOT_REQUESTED,
    Derived,
    Op,
    Requested,
    choose_requested,
    find_requested,
    names_operation,
    weigh,
)
from spanproof.reading.records import Fact, Role
from spanproof.reading.values import NUMERIC, Kind, is_same_number, is_year
from spanproof.reading.words import base_form, base_forms_of

POOL = 16
_ROWS = 6
_CUED = 0.1
_CELLS = 40
_BACKWARDS = 0.15
_NAMED = 0.4
_UNITS = frozenset((Kind.MONEY, Kind.QUANTITY))
MAX_COUNT = 5000
_CUES = {
    Op.SUM: "total sum combined altogether overall together all add aggregate entire",
    Op.DIFFERENCE: "difference more less change increase decrease decline rise fall drop grow gap left remain save refund exceed higher lower reduce additional extra short fewer",  # noqa: E501
    Op.RATIO: "ratio times per proportion rate percent percentage twice fold",
    Op.SHARE: "percent percentage share proportion of portion",
    Op.CHANGE: "percent percentage change increase decrease growth grow rise decline fall drop",
    Op.PRODUCT: "total each per cost times multiply product",
    Op.MEAN: "average mean per typical",
    Op.MIN: "lowest minimum least min smallest cheapest earliest fewest",
    Op.MAX: "highest maximum most max largest top greatest expensive latest best",
    Op.COUNT: "number count many there",
    Op.LISTED: "following here these",
    Op.SPAN: "duration long take last between day hour minute",
}  # fmt: skip
_CUE_FORMS = {op: frozenset(map(base_form, words.split())) for op, words in _CUES.items()}
_PERCENT_OPS = frozenset((Op.RATIO, Op.SHARE, Op.CHANGE))


@dataclass(frozen=True, slots=True)
class Derivation:
    """What the programs of a frame give.

    Attributes:
        hits: results that are the stated value, the best first; `misses` the others that are cued.
        chance: the probability that some result hits the stated value by accident.
        fair_chance: that of the results which fit as well as the best hit.
    """

    hits: tuple[Derived, ...]
    misses: tuple[Derived, ...]
    chance: float
    requested: Requested = NOT_REQUESTED
    fair_chance: float = 0.0


def derive(binding: Binding, read: AnswerFrames, binder: Binder, scopes: dict[int, float]) -> Derivation:
    """Return what programs over a binding's facts give of its stated value."""
    frame = binding.frame
    if frame.mention.value.kind not in NUMERIC:
        return Derivation((), (), 0.0)
    ops = find_requested(frame, read)
    # "A mean depth of 8.35" names the column `mean_depth`: no mean is to be worked out.
    named = (each.fact for each in (*binding.equal, *binding.other) if each.name >= _NAMED)
    if ops == {Op.MEAN} and any(names_operation(fact, ops) for fact in named):
        ops = frozenset()
    results = list(_enumerate_results(binding, read, binder, scopes, ops))
    target = frame.mention.value.number
    plain = frame.mention.value.amount
    step = frame.mention.value.step
    width = max(step, 0.1 * abs(target)) if frame.bound is Bound.ABOUT else step
    # "The highest weight_kg is 29.3": a number without a unit is in the field's own.
    bare = frame.mention.value.kind is Kind.NUMBER and frame.mention.value.factor == 1.0
    hits, misses = [], []
    requested: dict[bool, list[tuple[float, Derived]]] = {True: [], False: []}
    near: list[float] = []
    low, high = 0.6 * abs(target), 1.5 * abs(target)
    for result in results:
        value = abs(result.value)
        if low <= value <= high:
            near.append(result.fit + result.cued)
        # A decrease of 5 is -5; a minus that no program gives makes another value.
        hit = (target >= 0 or result.value < 0) and (
            is_same_number(abs(target), value, width)
            or (
                plain != target
                and not _names_unit(result, frame)
                and is_same_number(abs(plain), value, width / frame.mention.value.factor)
            )
            or (
                is_in_minor_units(frame.mention.value, value)
                and result.operands
                and all(fact.value.kind is Kind.NUMBER and fact.factor == 1.0 for fact in result.operands)
            )
            or (bare and is_same_number(abs(target), value / _find_factor(result), width))
        )
        if hit:
            hits.append(result)
        elif result.cued:
            misses.append(result)
        if result.op in ops and result.operands:
            requested[hit].append((weigh(result, frame), result))
    hits.sort(key=lambda each: (-each.fit - each.cued, len(each.operands)))
    misses.sort(key=lambda each: -each.fit)
    each_hits = max(width, 1e-12) / max(high - low, 1e-9) if target else 1.0
    fair = sum(fit >= hits[0].fit + hits[0].cued - 1e-9 for fit in near) if hits else 0
    chances = [
        1.0 - exp(-min(count * each_hits, 50.0)) for count in (len(near) if target else len(results), fair)
    ]
    return Derivation(
        tuple(hits[:5]), tuple(misses[:5]), chances[0], choose_requested(ops, requested), chances[1]
    )


def _names_unit(result: Derived, frame: Frame) -> bool:
    """Return whether a result and a stated value are both in units: 95 seconds are no 95 minutes."""
    kinds = {fact.value.kind for fact in result.operands}
    return frame.mention.value.kind is Kind.QUANTITY and kinds == {Kind.QUANTITY}


def _find_factor(result: Derived) -> float:
    """Return what the unit of a result's first operand multiplied by, 1 where it does not carry over."""
    kept = result.op in (Op.SUM, Op.DIFFERENCE, Op.MEAN, Op.MIN, Op.MAX) and bool(result.operands)
    first = result.operands[0].value if kept else None
    return first.factor if first is not None and first.kind is Kind.QUANTITY else 1.0


def _enumerate_results(
    binding: Binding, read: AnswerFrames, binder: Binder, scopes: dict[int, float], ops: Collection[Op]
) -> Iterator[Derived]:
    frame = binding.frame
    said = frame.mention.value
    percent = said.kind is Kind.PERCENT or Op.CHANGE in ops
    cues = {op: any(frame.near.get(word, 0.0) >= _CUED for word in forms) for op, forms in _CUE_FORMS.items()}
    pool = _build_pool(binding)
    pairs = [(pool[i], pool[j]) for i in range(len(pool)) for j in range(i + 1, len(pool))]
    for one, two in pairs:
        yield from _combine_pair(one, two, percent, cues, said.kind)
    yield from _aggregate_columns(binding, binder, scopes, percent, cues)
    yield from _aggregate_rows(binding, binder, percent, cues)
    if not percent:
        yield from _combine_stated(frame, read, cues)
        yield from _combine_with_stated(frame, read, pool[:8], cues)
    whole = said.factor == 1.0 and said.step in (0.0, 1.0) and abs(said.number) <= MAX_COUNT
    if whole and said.kind in (Kind.NUMBER, Kind.QUANTITY):
        yield from _count_rows(frame, read, binder, scopes)
    if (said.kind is Kind.QUANTITY and said.unit == "time") or said.kind is Kind.NUMBER:
        yield from _compute_spans(binder, scopes, cues)


def _build_pool(binding: Binding) -> list[Scored]:
    """Return the facts that fit the frame best, numbers of identifiers and dates aside."""
    seen: set[tuple[float, str, int]] = set()
    pool = []
    ranked = sorted([*binding.other, *binding.equal, *binding.operands], key=lambda each: -each.total)
    for each in ranked:
        key = (each.fact.value.number, each.fact.value.unit, each.fact.record)
        if each.fact.value.kind in NUMERIC and each.fact.role is not Role.HEADER and key not in seen:
            seen.add(key)
            pool.append(each)
        if len(pool) == POOL:
            break
    return pool


def _combine_pair(
    one: Scored, two: Scored, percent: bool, cues: dict[Op, bool], kind: Kind
) -> Iterator[Derived]:
    a, b = one.fact.value.number * one.fact.factor, two.fact.value.number * two.fact.factor
    units = one.fact.value.unit, two.fact.value.unit
    fit = (one.total + two.total) / 2
    # Operands of one field or of one record belong together.
    alike = one.fact.field == two.fact.field or one.fact.record == two.fact.record
    fit += 0.4 * alike - (0.0 if one.fact.source == two.fact.source else 0.2)
    later, earlier = (one, two) if _is_later(one.fact, two.fact) else (two, one)
    x, y = later.fact.value.number * later.fact.factor, earlier.fact.value.number * earlier.fact.factor
    facts = (later.fact, earlier.fact)
    named, year = min(one.name, two.name), min(one.year, two.year)

    def result(value: float, op: Op, operands: tuple[Fact, ...]) -> Derived:
        return Derived(value, op, operands, fit, cues[op], (), alike, named, year)

    # Two values of one field have one unit: neither their ratio nor their product is an amount of money.
    may_be_money = kind is Kind.MONEY and one.fact.field != two.fact.field
    compatible = units[0] == units[1] or ("%" not in units and not (units[0] and units[1]))
    if compatible and (not percent or "%" in units):
        yield result(x - y, Op.DIFFERENCE, facts)
        if x < 0 and y < 0:
            yield result(y - x, Op.DIFFERENCE, facts)  # of amounts: costs that accounts put in brackets
        yield result(a + b, Op.SUM, facts)
        yield result((a + b) / 2, Op.MEAN, facts)
    if percent and compatible:
        for high, low, pair in ((x, y, facts), (y, x, facts[::-1])):
            if low:
                change = result((high - low) / abs(low) * 100, Op.CHANGE, pair)
                # A change goes from the earlier value to the later one.
                change = change if pair is facts else change._replace(fit=fit - _BACKWARDS)
                yield change
                if low < 0:
                    yield change._replace(value=-change.value)  # as the plain formula has it, or of amounts
                yield result(high / low * 100, Op.RATIO, pair)
    # Fields seldom say their currency: 15000 raised from 240 donors is £62.50 each.
    elif compatible and (kind is Kind.NUMBER or (may_be_money and units == ("", ""))):
        for high, low, pair in ((x, y, facts), (y, x, facts[::-1])):
            if low:
                yield result(high / low, Op.RATIO, pair)
    if percent:
        return
    # A price each is a ratio of money to a count; a share of a count is a count.
    for per, plain in ((one, two), (two, one)):
        amount = plain.fact.value.number * plain.fact.factor
        if (
            kind is not Kind.NUMBER
            and per.fact.value.kind in _UNITS
            and plain.fact.value.kind is Kind.NUMBER
            and amount
        ):
            yield result(per.fact.value.number * per.fact.factor / amount, Op.RATIO, (per.fact, plain.fact))
        if per.fact.value.kind is Kind.PERCENT and plain.fact.value.kind is not Kind.PERCENT:
            yield result(per.fact.value.number / 100 * amount, Op.SHARE, (per.fact, plain.fact))
    counted = float(min(abs(a), abs(b))).is_integer() or one.fact.record == two.fact.record
    if counted and (kind is Kind.NUMBER or may_be_money):
        yield result(a * b, Op.PRODUCT, facts)


def _is_later(one: Fact, two: Fact) -> bool:
    """Whether the first of two facts is of a later year by its path, else the first written."""
    years = _find_year(one.words), _find_year(two.words)
    if years[0] != years[1]:
        return years[0] > years[1]
    return (one.source, one.start) < (two.source, two.start)


@lru_cache(maxsize=8192)
def _find_year(words: frozenset[str]) -> int:
    return max([int(word) for word in words if len(word) == 4 and word.isdigit()], default=0)


def _aggregate_columns(
    binding: Binding, binder: Binder, scopes: dict[int, float], percent: bool, cues: dict[Op, bool]
) -> Iterator[Derived]:
    """Yield sums, means and extremes of whole columns, and of their rows about the frame's records."""
    columns: dict[tuple[int | None, str], list[Scored]] = {}
    for each in [*binding.other[:12], *binding.equal[:6], *binding.operands[:12]]:
        group = binder.base.records[each.fact.record].group
        if each.fact.value.kind in NUMERIC and each.fact.path and group is not None:
            columns.setdefault((group, each.fact.field), []).append(each)
    for (group, name), named in list(columns.items())[:10]:
        facts = [
            fact
            for record in binder.base.groups[group or 0][:500]
            for fact in binder.base.by_record[record]
            if fact.field == name and fact.value.kind in NUMERIC and fact.role is Role.CELL
        ]
        naming = max(each.name + 0.5 * each.label for each in named)
        scoped = [fact for fact in facts if binder.scope(fact.record, scopes) >= 0.55]
        within = _filter_by_years(facts, binding.frame, binder)
        for chosen, bonus in ((facts, 0.6), (scoped, 0.8), (within, 0.8)):
            if len(chosen) < 2 or (chosen is not facts and len(chosen) == len(facts)):
                continue
            numbers = [fact.value.number * fact.factor for fact in chosen]
            total = sum(numbers)
            operands = tuple(chosen)
            fit = naming + bonus

            def result(value: float, op: Op) -> Derived:
                return Derived(value * times, op, operands, fit, cues[op], alike=True, named=naming)  # noqa: B023

            if not percent or chosen[0].value.kind is Kind.PERCENT or abs(total) / len(numbers) <= 1:
                times = 100.0 if percent and chosen[0].value.kind is not Kind.PERCENT else 1.0
                yield result(total, Op.SUM)
                yield result(total / len(numbers), Op.MEAN)
                yield result(max(numbers), Op.MAX)
                yield result(min(numbers), Op.MIN)
                yield result(max(numbers) - min(numbers), Op.DIFFERENCE)
            if percent and total:
                for each in named[:6]:
                    share = each.fact.value.number * each.fact.factor / total * 100
                    yield Derived(share, Op.SHARE, (each.fact, *operands), each.total + 0.3, cues[Op.SHARE])


def _filter_by_years(facts: Sequence[Fact], frame: Frame, binder: Binder) -> list[Fact]:
    """Return a column's facts in the rows of the years that the frame names, those between included."""
    if len(frame.years) < 2:
        return []
    low, high = min(frame.years), max(frame.years)
    return [
        fact
        for fact in facts
        if any(
            is_year(each.value) and low <= each.value.number <= high
            for each in binder.base.by_record[fact.record]
            if each.value.kind is Kind.NUMBER
        )
    ]


def _aggregate_rows(
    binding: Binding, binder: Binder, percent: bool, cues: dict[Op, bool]
) -> Iterator[Derived]:
    """Yield sums, means and extremes of a row's cells, and of those whose years or names the frame has."""
    said = binding.frame.years
    # A row may have amounts of several kinds: prices of three years, and how they changed in percent.
    rows: dict[tuple[int, Kind], Scored] = {}
    for each in [*binding.other[:12], *binding.equal[:6], *binding.operands[:12]]:
        if each.fact.role is Role.CELL and len(rows) < _ROWS:
            rows.setdefault((each.fact.record, each.fact.value.kind), each)
    for (record, _), best in rows.items():
        alike = [
            fact
            for fact in binder.base.by_record[record]
            if fact.value.kind is best.fact.value.kind
            and fact.role is Role.CELL
            and fact.path[:-1] == best.fact.path[:-1]
        ]
        # "From 2017 to 2019" names the years between as well.
        within = [
            fact for fact in alike if said and any(min(said) <= year <= max(said) for year in fact.years)
        ]
        named = [fact for fact in alike if fact.words and fact.words <= binding.frame.near.keys()]
        for facts in (alike, within, named):
            if not 3 <= len(facts) <= _CELLS or (facts is not alike and len(facts) == len(alike)):
                continue
            numbers = [fact.value.number * fact.factor for fact in facts]
            times = 100.0 if percent and best.fact.value.kind is not Kind.PERCENT else 1.0
            fit = best.total + (0.4 if facts is alike else 0.8)
            for op, value in (
                (Op.SUM, sum(numbers)),
                (Op.MEAN, sum(numbers) / len(numbers)),
                (Op.MAX, max(numbers)),
                (Op.MIN, min(numbers)),
            ):
                year = 1 if facts is within else 0
                yield Derived(
                    value * times, op, tuple(facts), fit, cues[op], (), alike=True, named=best.name, year=year
                )


def _combine_stated(frame: Frame, read: AnswerFrames, cues: dict[Op, bool]) -> Iterator[Derived]:
    """Yield sums, differences and products of the values that the answer itself states before or after."""
    kind, unit = frame.mention.value.kind, frame.mention.value.unit
    others = [
        each
        for each in read.frames
        if each is not frame and each.mention.value.kind is kind and each.mention.value.unit == unit
    ][:40]
    numbers = [each.mention.value.number for each in others]
    for i, a in enumerate(numbers):
        total, used = a, [others[i].text]
        for j in range(i + 1, min(len(numbers), i + 12)):
            b = numbers[j]
            total += b
            used.append(others[j].text)
            yield Derived(total, Op.SUM, (), 1.0, cues[Op.SUM], tuple(used))
            if j - i <= 6:
                pair = (others[i].text, others[j].text)
                yield Derived(a - b, Op.DIFFERENCE, (), 0.9, cues[Op.DIFFERENCE], pair)
    for each in read.frames[:40]:
        value = each.mention.value
        if value.kind is Kind.NUMBER and 2 <= value.number <= 50 and value.number == int(value.number):
            for other, number in zip(others, numbers, strict=True):
                if abs(each.line - other.line) <= 3:
                    yield Derived(
                        number * value.number, Op.PRODUCT, (), 0.8, cues[Op.PRODUCT], (other.text, each.text)
                    )


def _combine_with_stated(
    frame: Frame, read: AnswerFrames, pool: list[Scored], cues: dict[Op, bool]
) -> Iterator[Derived]:
    """Yield sums and differences of a fact and a value that the answer states near by: 500 less a price of 299."""  # noqa: E501
    kind = frame.mention.value.kind
    near = [
        each
        for each in read.frames
        if each is not frame and each.mention.value.kind is kind and abs(each.line - frame.line) <= 8
    ]
    for scored in pool:
        fact = scored.fact
        known = fact.value.number * fact.factor
        for each in near[:8]:
            stated = each.mention.value.number
            if stated == known:
                continue
            text = (f"{fact.field} {known:.10g}".strip(), each.text)
            fit = (scored.total + 1.0) / 2
            yield Derived(known - stated, Op.DIFFERENCE, (fact,), fit, cues[Op.DIFFERENCE], text)
            yield Derived(known + stated, Op.SUM, (fact,), fit, cues[Op.SUM], text)


def _count_rows(
    frame: Frame, read: AnswerFrames, binder: Binder, scopes: dict[int, float]
) -> Iterator[Derived]:
    """Yield how many rows a group has, how many of them the frame's words choose, and how many items follow."""  # noqa: E501
    base = binder.base
    below: dict[int, int] = defaultdict(int)
    for line in read.lines:
        if line.parents:
            below[line.parents[0]] += 1
    if below.get(frame.line):
        yield Derived(float(below[frame.line]), Op.LISTED, (), 1.0, cued=True, said=("items below",))
    nouns = {frame.noun} | set(frame.label)
    chosen = [
        anchor.records for anchor, weight in frame.anchors if weight >= 0.45 and anchor.kind is Kind.TEXT
    ]
    for group, records in list(base.groups.items())[:200]:
        named = bool(base_forms_of(base.group_names[group]) & nouns)
        first = base.by_record.get(records[0], [])
        in_fields = any(fact.words & nouns for fact in first)
        fit, cued = 0.6 + 0.8 * named + 0.3 * in_fields, named or in_fields
        rows = base.group_names[group] or "rows"
        parents = defaultdict(list)
        for record in records:
            parents[base.records[record].parent].append(record)
        for parent, members in parents.items():
            scope = binder.scope(parent, scopes) if parent is not None else 0.3
            facts = tuple(fact for record in members[:1] for fact in base.by_record[record][:1])
            yield Derived(float(len(members)), Op.COUNT, facts, fit + scope, cued, (rows,))
        for anchored in chosen:
            hit = sum(any(outer in anchored for outer in base.chain(record)) for record in records)
            if hit:
                yield Derived(float(hit), Op.COUNT, tuple(first[:1]), fit + 0.5, cued, (rows, "filtered"))
        if len(chosen) >= 2:
            both = frozenset.intersection(*chosen[:3])
            hit = sum(record in both for record in records)
            if hit:
                yield Derived(float(hit), Op.COUNT, (), fit + 0.6, cued=True, said=(rows, "filtered"))


def _compute_spans(binder: Binder, scopes: dict[int, float], cues: dict[Op, bool]) -> Iterator[Derived]:
    """Yield days between dates and seconds between times of the records that the frame is about."""
    base = binder.base
    dates = [fact for fact in base.by_kind[Kind.DATE] if binder.scope(fact.record, scopes) >= 0.5][:10]
    for i, one in enumerate(dates):
        for two in dates[i + 1 :]:
            days = _count_days(one, two)
            if days:
                yield Derived(days * 86400.0, Op.SPAN, (one, two), 1.0, cues[Op.SPAN])
                yield Derived(float(days), Op.SPAN, (one, two), 0.8, cues[Op.SPAN])
    lone = len({fact.record for fact in base.by_kind[Kind.TIME]}) == 1
    times = [fact for fact in base.by_kind[Kind.TIME] if lone or binder.scope(fact.record, scopes) >= 0.5][
        :10
    ]
    for i, one in enumerate(times):
        for two in times[i + 1 :]:
            if one.record == two.record and one.value.time and two.value.time:
                seconds = [
                    hour * 3600 + minute * 60 + (second or 0)
                    for hour, minute, second in (one.value.time, two.value.time)
                ]
                yield Derived(
                    float((seconds[1] - seconds[0]) % 86400), Op.SPAN, (one, two), 1.0, cues[Op.SPAN]
                )


def _count_days(one: Fact, two: Fact) -> int:
    try:
        first, second = (
            date(*(part or 1 for part in fact.value.date or (None, None, None))) for fact in (one, two)
        )
    except ValueError:
        return 0
    return abs((second - first).days)
