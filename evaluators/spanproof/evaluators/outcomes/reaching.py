"""Whether what recovered from a failure reaches the answer: what the answer does not use recovers nothing.

In: what followed each failure, the actions of the run, its answer and where the answer's values come from.
Out: the same, except that a success is none where it gave values and the answer states others: the failure
is unrecovered where a value of the answer is fabricated, and open where only its origin is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spanproof.evaluators.actions import Action
from spanproof.evaluators.outcomes.literals import is_specific
from spanproof.evaluators.outcomes.model import Origin, OriginKind
from spanproof.evaluators.outcomes.recovery import Recovery, RecoveryStatus
from spanproof.reading.numerals import list_numbers, rounds_to

_MAX_RESULT = 20_000
_CLAIMS = frozenset({OriginKind.ABSENCE, OriginKind.UNDONE})


def list_evaluated_recoveries(
    recoveries: Sequence[Recovery], actions: Sequence[Action], answer: str, origins: Sequence[Origin]
) -> tuple[Recovery, ...]:
    """Return what followed each failure; a success that does not reach the answer mended nothing."""
    made_up = [origin for origin in origins if origin.fabricated]
    denied = {origin.span_id for origin in made_up if origin.kind in _CLAIMS}
    others = {origin.step for origin in made_up if origin.kind is OriginKind.BROADER}
    stated = [number for number in list_numbers(answer) if is_specific(float(number))]
    return tuple(
        _evaluate_effect(recovery, actions, stated, bool(made_up), denied, others) for recovery in recoveries
    )


def _evaluate_effect(
    recovery: Recovery,
    actions: Sequence[Action],
    stated: Sequence[str],
    is_made_up: bool,
    denied: set[str | None],
    others: set[int | None],
) -> Recovery:
    decided_by = recovery.decided_by
    if recovery.status is RecoveryStatus.UNRECOVERED or decided_by is None:
        return recovery
    if recovery.failure.span_id in denied:
        return _build_unrecovered(recovery, "the answer claims what only this step could bear out")
    if decided_by.step in others:
        return _build_unrecovered(recovery, f"step {decided_by.step} was for something else")
    if decided_by.step <= recovery.failure.step or _reaches_answer(decided_by.step, actions, stated):
        return recovery
    why = f"nothing of what step {decided_by.step} gave reaches the answer"
    if is_made_up:
        return _build_unrecovered(recovery, why)
    if recovery.status is RecoveryStatus.OPEN:
        return recovery
    return replace(
        recovery,
        status=RecoveryStatus.OPEN,
        explanation=f"{recovery.explanation}, but {why} as it is",
        is_likely=True,
    )


def _reaches_answer(step: int, actions: Sequence[Action], stated: Sequence[str]) -> bool:
    """Whether the answer may state a value that a step or a later one gave, or there is none to state."""
    if not stated:
        return True
    later = [action for action in actions if action.step >= step and action.succeeded]
    numbers = frozenset[str]().union(*(list_numbers(action.result[:_MAX_RESULT]) for action in later))
    if not any(is_specific(float(number)) for number in numbers):
        return True
    return any(rounds_to(number, written) for number in numbers for written in stated)


def _build_unrecovered(recovery: Recovery, why: str) -> Recovery:
    return replace(recovery, status=RecoveryStatus.UNRECOVERED, explanation=why, is_likely=False)
