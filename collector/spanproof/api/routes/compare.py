"""Did it get worse? Two cohorts, or two windows, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Query

from spanproof.api import pages
from spanproof.api.access import Opened
from spanproof.api.models.compare import Change, Comparison, Pair, ValuePair
from spanproof.api.parameters import Cohort, Dimension, Hours, compute_window
from spanproof.evaluators.intervals import Interval, compute_difference_interval
from spanproof.store import FailRate
from spanproof.trace import Layer

router = APIRouter()
# What is said of layers whose pair has this value in this field: of one, and of several.
_CHANGE_WORDS = (
    ("change", "worse", "got worse", "got worse"),
    ("change", "better", "got better", "got better"),
    ("open_change", "worse", "has more open", "have more open"),
    ("open_change", "better", "has less open", "have less open"),
)
_NONE = FailRate(0, 0, 0, 0, 0)


@router.get("/compare")
def compare(
    store: Opened,
    cohort: Cohort,
    dimension: Dimension | Literal["window"] = "window",
    before: Annotated[str, Query(max_length=500, description="Value on the one side.")] = "",
    after: Annotated[str, Query(max_length=500, description="Value on the other side.")] = "",
    by: Annotated[Dimension, Query(description="Dimension whose values are compared one by one.")] = "task",
    hours: Hours = 24.0 * 7,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Comparison:
    """Compare fail rates of two values of a dimension, or of a window with the one before it."""
    start, end = compute_window(hours)
    sides: list[tuple[Mapping[str, str], int, int]]
    if dimension == "window":
        sides = [(cohort, max(0, 2 * start - end), start), (cohort, start, end)]
        before, after = f"the {hours:g} h before", f"the last {hours:g} h"
    elif not before or not after:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, f"before, after: give two values of {dimension} to compare"
        )
    else:
        sides = [({**cohort, dimension: item}, start, end) for item in (before, after)]
    found: dict[str, dict[Layer, list[FailRate]]] = {}
    totals = {layer: [_NONE, _NONE] for layer in Layer}
    for side, (chosen, first, last) in enumerate(sides):
        for value, layer, counted in store.verdicts_by(
            by, start_ns=first, end_ns=last, cohort=chosen, limit=limit
        ):
            found.setdefault(value, {}).setdefault(layer, [_NONE, _NONE])[side] = counted
        for layer in Layer:
            totals[layer][side] = store.fail_rate(
                layer, cohort=chosen, start_ns=first, end_ns=last, failing=0
            )
    rows = [_build_value_pair(value, layers) for value, layers in found.items()]
    rows.sort(key=lambda row: (not row.flipped, row.value))
    pairs = {layer: build_pair(*both) for layer, both in totals.items()}
    return Comparison(
        dimension=dimension,
        before=pages.format_text(before),
        after=pages.format_text(after),
        sentence=describe_changes(pairs),
        layers=pairs,
        by=by,
        values=rows[:limit],
    )


def describe_changes(pairs: Mapping[Layer, Pair]) -> str:
    """Return which layers changed, as a person would say it; empty where neither side has a verdict."""
    sides = [rate for pair in pairs.values() for rate in (pair.before, pair.after)]
    if not any(rate.judged or rate.open for rate in sides):
        return ""
    parts = [
        _describe_layers(
            [layer for layer, pair in pairs.items() if getattr(pair, field) == change], one, many
        )
        for field, change, one, many in _CHANGE_WORDS
    ]
    sentence = "; ".join(part for part in parts if part)
    if sentence:
        return f"{sentence[0].upper()}{sentence[1:]}."
    if any(pair.before.judged and pair.after.judged for pair in pairs.values()):
        return "No layer changed beyond its interval."
    return "Only one side has verdicts: there is nothing to compare it with."


def _describe_layers(layers: Sequence[Layer], one: str, many: str) -> str:
    """Return layers with what is said of one or of many of them; empty where there is none."""
    if not layers:
        return ""
    return f"{' and '.join(layers)} {one if len(layers) == 1 else many}"


def _build_value_pair(value: str, layers: Mapping[Layer, list[FailRate]]) -> ValuePair:
    pairs = {layer: build_pair(*both) for layer, both in layers.items()}
    flipped = any({pair.change, pair.open_change} != {"unclear"} for pair in pairs.values())
    return ValuePair(value=pages.format_text(value), layers=pairs, flipped=flipped)


def build_pair(before: FailRate, after: FailRate) -> Pair:
    """Return the verdicts of both sides, and whether they differ beyond chance."""
    failed = compute_difference_interval((before.failed, before.judged), (after.failed, after.judged))
    open_before, open_after = _count_open(before), _count_open(after)
    opened = compute_difference_interval(open_before, open_after)
    low, high = (failed.low, failed.high) if failed else (None, None)
    open_low, open_high = (opened.low, opened.high) if opened else (None, None)
    return Pair(
        before=pages.build_rate(before),
        after=pages.build_rate(after),
        difference=_compute_difference((before.failed, before.judged), (after.failed, after.judged)),
        low=low,
        high=high,
        change=_read_change(failed),
        open_difference=_compute_difference(open_before, open_after),
        open_low=open_low,
        open_high=open_high,
        open_change=_read_change(opened),
    )


def _count_open(counted: FailRate) -> tuple[int, int]:
    """Return how many verdicts are open, and of how many: what was skipped or errored is not among them."""
    return counted.open, counted.judgeable


def _compute_difference(before: tuple[int, int], after: tuple[int, int]) -> float | None:
    """Return the second share less the first; None where one is of nothing."""
    if not before[1] or not after[1]:
        return None
    return after[0] / after[1] - before[0] / before[1]


def _read_change(interval: Interval | None) -> Change:
    """Return whether a difference is beyond chance: more is worse."""
    if interval is not None and interval.low > 0:
        return "worse"
    if interval is not None and interval.high < 0:
        return "better"
    return "unclear"
