"""Derive an amount that no source holds from those that the sentence names.

In: a stated amount, the reading and the world. Out: a `Derived` with its program. The clause has to name
the operation, and the operands are values that the sentence states, one field of the rows that it names,
fields of one row that it names, or a whole column. A direction that the clause states has to be that of the
change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from spanproof.evaluators.layers.groundedness.bind import ValueBinder
from spanproof.evaluators.layers.groundedness.reader import Reading, Stated
from spanproof.evaluators.layers.groundedness.world import FieldName, World
from spanproof.reading.agreement import are_comparable, is_hedged_number
from spanproof.reading.lexicon import list_cues
from spanproof.reading.operations import (
    Derived,
    are_alike,
    build_derived,
    compute_amount,
    find_time,
    is_total_row,
    iter_differences,
    iter_shares,
    show_amount,
)
from spanproof.reading.records import Fact, Role
from spanproof.reading.sentences import Word
from spanproof.reading.values import NUMERIC, Kind, Value
from spanproof.reading.words import base_form, expand

_MAX_ROWS: Final = 60
_MAX_OPERANDS: Final = 8
_SIGNS: Final = {frozenset(("up",)): 1, frozenset(("down",)): -1}


def derive(stated: Stated, reading: Reading, binder: ValueBinder) -> Derived | None:
    """Return how an amount follows from the facts that the sentence names."""
    value = stated.mention.value
    if value.kind not in NUMERIC:
        return None
    cues = list_cues(reading.list_clause_words(stated)) | list_cues(_read_header(stated, reading))
    derived = _iter_derived(stated, reading, binder, cues)
    return next((result for result in derived if is_hedged_number(value, stated.hedge, result.result)), None)


def _iter_derived(
    stated: Stated, reading: Reading, binder: ValueBinder, cues: frozenset[str]
) -> Iterator[Derived]:
    value = stated.mention.value
    is_percent = value.kind is Kind.PERCENT
    pairs = list(iter_pairs(stated, reading, binder))
    if is_percent or "share" in cues:
        for one, two in pairs:
            yield from iter_shares(one, two, is_percent)
        yield from _iter_shares_of_columns(reading, binder, is_percent)
    yield from _iter_changes(stated, pairs, reading, binder, cues)
    is_total = stated.is_precise and not is_percent and not binder.list_subjects(stated, reading)
    if "sum" in cues or is_total:
        for facts in iter_groups(stated, reading, binder):
            yield build_derived(sum(map(compute_amount, facts)), facts, "+")
    if "mean" in cues:
        for facts in iter_groups(stated, reading, binder):
            total = sum(map(compute_amount, facts)) / len(facts)
            yield Derived(total, tuple(facts), f"mean of {len(facts)} values = {total:g}")
    if "multiple" in cues:
        for one, two in pairs:
            for above, below in ((one, two), (two, one)):
                if compute_amount(below):
                    yield build_derived(compute_amount(above) / compute_amount(below), (above, below), "/")


def _iter_changes(
    stated: Stated,
    pairs: Sequence[tuple[Fact, Fact]],
    reading: Reading,
    binder: ValueBinder,
    cues: frozenset[str],
) -> Iterator[Derived]:
    """Yield the changes between facts, where the words or the sign of a value say that it is one."""
    value, directions = stated.mention.value, cues & {"up", "down"}
    # "+3,767" and "−0.2" are changes, whatever the words beside them.
    is_signed = stated.text[:1] in "+-−–"
    if not is_signed and not directions and "difference" not in cues:
        return
    sign = 0 if is_signed else _SIGNS.get(directions, 0)
    for one, two in pairs:
        yield from iter_differences(one, two, value, sign, is_signed=is_signed)
    for one, two in _iter_row_pairs(stated, reading, binder):
        # Two fields of one row are in no order: "short of" says no direction in time.
        yield from iter_differences(one, two, value, 0, is_signed=is_signed)


def _iter_shares_of_columns(reading: Reading, binder: ValueBinder, is_percent: bool) -> Iterator[Derived]:
    """Yield the share that the one row of a sentence has of a whole column."""
    world = binder.world
    rows = find_rows(reading, world)
    if len(rows) != 1:
        return
    for facts in iter_columns(None, reading, binder):
        own = [fact for fact in facts if world.get_row(fact.record) == rows[0]]
        total = sum(map(compute_amount, facts))
        if len(own) == 1 and total > 0 and all(compute_amount(fact) >= 0 for fact in facts):
            result = compute_amount(own[0]) / total * (100 if is_percent else 1)
            yield Derived(
                result,
                (own[0],),
                f"{show_amount(own[0])} / {total:g} = {compute_amount(own[0]) / total:.4g}",
            )


def _iter_row_pairs(stated: Stated, reading: Reading, binder: ValueBinder) -> Iterator[tuple[Fact, Fact]]:
    """Yield the only pair of amounts of a clause's row whose difference a value is."""
    rows = {row for rows in binder.list_subjects(stated, reading) if len(rows) == 1 for row in rows}
    if len(rows) != 1 or not any(character.isdigit() for character in stated.text):
        return
    amounts = [
        fact
        for fact in binder.world.list_facts(rows.pop())
        if fact.value.kind in NUMERIC and fact.role is Role.CELL and fact.value.kind is not Kind.PERCENT
    ]
    fitting = [
        (one, two)
        for one, two in combinations(amounts[:_MAX_OPERANDS], 2)
        if are_alike(one, two) and _is_change(stated, *put_in_order(one, two, binder.world))
    ]
    if len(fitting) == 1:
        yield put_in_order(*fitting[0], binder.world)


def _is_change(stated: Stated, one: Fact, two: Fact) -> bool:
    """Return whether a value is how two facts differ that are not 0: of a percentage the relative change."""
    if not compute_amount(one) or not compute_amount(two):
        return False
    change = abs(compute_amount(two) - compute_amount(one))
    if stated.mention.value.kind is Kind.PERCENT:
        change = change / abs(compute_amount(one)) * 100
    value = replace(stated.mention.value, number=abs(stated.mention.value.number))
    return is_hedged_number(value, stated.hedge, change)


def _read_header(stated: Stated, reading: Reading) -> list[Word]:
    """Return the words of the header above a cell of the answer's table."""
    header = reading.get_header(stated).split()
    return [Word(word, base_form(word), word.lower(), "", "", "", 0, 0, 0) for word in header]


def iter_pairs(
    stated: Stated | None, reading: Reading, binder: ValueBinder, fields: frozenset[str] = frozenset()
) -> Iterator[tuple[Fact, Fact]]:
    """Yield pairs of facts that a sentence names, the earlier first; `fields` name what is compared."""
    world = binder.world
    value = stated.mention.value if stated is not None else None
    bound = _list_bound(reading)
    seen = set()
    for one, two in combinations(bound[:_MAX_OPERANDS], 2):
        if are_alike(one, two):
            seen.add((one.start, two.start))
            yield put_in_order(one, two, world)
    for facts in _iter_named_columns(value, reading, binder, fields):
        if len(facts) == 2 and are_alike(*facts):
            yield put_in_order(facts[0], facts[1], world)


def iter_groups(stated: Stated, reading: Reading, binder: ValueBinder) -> Iterator[list[Fact]]:
    """Yield groups of facts that a sentence names: stated values, rows that it names, whole columns."""
    value = stated.mention.value
    bound = [fact for fact in _list_bound(reading) if fact is not reading.by_stated.get(stated.start)]
    alike = [fact for fact in bound if bound and are_alike(fact, bound[0])]
    if len(alike) > 1:
        yield alike
    for facts in _iter_named_columns(value, reading, binder):
        if len(facts) > 1:
            yield facts
    yield from iter_columns(stated, reading, binder)


def iter_columns(stated: Stated | None, reading: Reading, binder: ValueBinder) -> Iterator[list[Fact]]:
    """Yield columns without rows of totals: those that the sentence or the task names, else the only one."""
    world = binder.world
    value = stated.mention.value if stated is not None else None
    words = frozenset(word.form for word in reading.words)
    for group in world.base.groups.values():
        if not 2 <= len(group) <= _MAX_ROWS or not world.list_facts(group[0]):
            continue
        columns = _group_amounts(_iter_facts(group, world), world)
        usable = {
            name: facts
            for name, facts in columns.items()
            if len(facts) >= 2 and (value is None or are_comparable(value, facts[0]))
        }
        for context in (words | reading.scope_words, binder.task_words):
            groups = expand(context)
            named = [facts for facts in usable.values() if binder.score(facts[0], context, groups) > 0]
            if named:
                yield from named
                break
        else:
            # Without a name of a column, only a number of many digits says which one is meant.
            is_sure = len(usable) == 1 or (stated is not None and stated.is_precise)
            if is_sure:
                yield from usable.values()


def _iter_facts(rows: Sequence[int], world: World) -> Iterator[Fact]:
    """Yield the facts of the rows of outputs, but of those that sum the others up."""
    for facts in map(world.list_facts, rows):
        if facts and world.is_output(facts[0]) and not is_total_row(facts):
            yield from facts


def _group_amounts(facts: Iterable[Fact], world: World) -> dict[FieldName, list[Fact]]:
    columns: dict[FieldName, list[Fact]] = {}
    for fact in facts:
        if fact.value.kind in NUMERIC and fact.path:
            columns.setdefault(world.get_field(fact), []).append(fact)
    return columns


def _list_bound(reading: Reading) -> list[Fact]:
    return [
        fact
        for fact in reading.by_stated.values()
        if fact.value.kind in NUMERIC and fact.role in (Role.CELL, Role.PROSE)
    ]


def find_rows(reading: Reading, world: World) -> list[int]:
    """Return the rows that a sentence or what is above it names alone; else the lone rows of the outputs."""
    names = [*reading.names, *reading.scope]
    rows = [row for name in names if len(name.rows) <= 2 for row in sorted(name.rows)]
    bound = [world.get_row(fact.record) for fact in reading.by_stated.values()]
    return list(dict.fromkeys([*bound, *rows]))[:6]


def _iter_named_columns(
    value: Value | None, reading: Reading, binder: ValueBinder, fields: frozenset[str] = frozenset()
) -> Iterator[list[Fact]]:
    """Yield, for each field that the rows named by a sentence share, its facts in the order of the names."""
    world = binder.world
    rows = _list_named_rows(reading)
    if len(rows) < 2:
        return
    words = frozenset(word.form for word in reading.words) | reading.scope_words
    facts = [fact for row in rows for fact in world.list_facts(row)]
    if value is not None and value.kind is not Kind.PERCENT:
        facts = [fact for fact in facts if are_comparable(value, fact)]
    columns = _group_amounts(facts, world)
    shared = {name: facts for name, facts in columns.items() if len(facts) == len(rows)}
    bound = {world.get_field(fact) for fact in reading.by_stated.values()}
    for context in (fields, words, binder.task_words):
        groups = expand(context)
        named = [
            facts
            for name, facts in shared.items()
            if name in bound or binder.score(facts[0], context, groups) > 0
        ]
        if named:
            yield from named
            return
    if len(shared) == 1:
        yield from shared.values()


def _list_named_rows(reading: Reading) -> list[int]:
    """Return the rows that a sentence or what is above it names alone, in the order of the names."""
    names = sorted((*reading.names, *reading.scope), key=lambda name: name.start)
    return list(dict.fromkeys(row for name in names if len(name.rows) == 1 for row in name.rows))


def put_in_order(one: Fact, two: Fact, world: World) -> tuple[Fact, Fact]:
    """Return two facts in the order of time where their fields or rows have one, else as printed."""
    first, second = (find_time(fact, world.list_facts(world.get_row(fact.record))) for fact in (one, two))
    if first is not None and second is not None and first != second:
        return (one, two) if first < second else (two, one)
    return (one, two) if (one.source, one.start) <= (two.source, two.start) else (two, one)
