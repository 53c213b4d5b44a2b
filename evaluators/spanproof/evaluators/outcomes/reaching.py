"""Whether what recovered from a failure reaches the answer: what the answer does not use recovers nothing.

In: what followed each failure, the actions of the run, its answer and where the answer's values come from.
Out: the same, where a success is none that gave values and the answer states others: lost where a value of
the answer is fabricated, open where it is only not known where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spanproof.evaluators.outcomes.actions import Action
from spanproof.evaluators.outcomes.known import find_numbers, rounds_to
from spanproof.evaluators.outcomes.literals import is_specific
from spanproof.evaluators.outcomes.model import Origin, OriginKind
from spanproof.evaluators.outcomes.recovery import Came, Fate

_MAX_RESULT = 20_000
_CLAIMS = frozenset({OriginKind.ABSENCE, OriginKind.UNDONE})


def weigh_effects(
    fates: Sequence[Fate], actions: Sequence[Action], answer: str, origins: Sequence[Origin]
) -> tuple[Fate, ...]:
    """Return what followed each failure; a success that does not reach the answer mended nothing."""
    made_up = [origin for origin in origins if origin.fabricated]
    denied = {origin.span_id for origin in made_up if origin.kind in _CLAIMS}
    others = {origin.step for origin in made_up if origin.kind is OriginKind.BROADER}
    stated = [number for number in find_numbers(answer) if is_specific(float(number))]
    return tuple(_weigh_effect(fate, actions, stated, bool(made_up), denied, others) for fate in fates)


def _weigh_effect(
    fate: Fate,
    actions: Sequence[Action],
    stated: Sequence[str],
    is_made_up: bool,
    denied: set[str | None],
    others: set[int | None],
) -> Fate:
    if fate.came is Came.LOST or fate.by is None:
        return fate
    if fate.failure.span_id in denied:
        return _mark_lost(fate, "the answer claims what only this step could bear out")
    if fate.by.step in others:
        return _mark_lost(fate, f"step {fate.by.step} was for something else")
    if not stated or fate.by.step <= fate.failure.step:
        return fate
    later = [each for each in actions if each.step >= fate.by.step and each.succeeded]
    gave = frozenset[str]().union(*(find_numbers(each.result[:_MAX_RESULT]) for each in later))
    if not any(is_specific(float(number)) for number in gave):
        return fate  # it gave no values that could be stated
    if any(rounds_to(each, number) for each in gave for number in stated):
        return fate
    why = f"nothing of what step {fate.by.step} gave reaches the answer"
    if is_made_up:
        return _mark_lost(fate, why)
    if fate.came is Came.OPEN:
        return fate
    return replace(fate, came=Came.OPEN, why=f"{fate.why}, but {why} as it is", likely=True)


def _mark_lost(fate: Fate, why: str) -> Fate:
    return replace(fate, came=Came.LOST, why=why, likely=False)
