"""The first mistake: the step that is to blame, as far as the run shows it.

In: the actions of a run, its turns, and how it ended. Out: one advisory outcome with the step as evidence.
Blamed is the earlier of an action that should not have been done and a turn that states facts out of nowhere;
where there is neither, the earlier of a failure that nothing mended and the first turn of a loop. In a run
without an answer it is the earliest of all these and of the first action that failed or came back with
nothing, else the last action. A mistake that shows in none of these (a misread page, a wrong plan) is not
seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spanproof.evaluators.actions import CODE, Action, select_allowed
from spanproof.evaluators.detect.observation import split_observation
from spanproof.evaluators.layers.trajectory.ending import Completion
from spanproof.evaluators.layers.trajectory.loops import find_loop
from spanproof.evaluators.layers.trajectory.unsourced import Turn, find_unsourced
from spanproof.evaluators.outcomes.recovery import Recovery, RecoveryStatus
from spanproof.reading.error_causes import describe_cause
from spanproof.trace import Cause, Evidence, Outcome, Scored, Skipped

_PRINTS = re.compile(r"\bprint\s*\(|\becho\b|console\.log")
_NOTHING = frozenset({"", "None", "[]", "{}", "()", "set()", "null"})
_QUOTED = 5


@dataclass(frozen=True, slots=True)
class Blame:
    """The step to blame.

    Attributes:
        before: actions that came before it.
        why: in words.
    """

    step: int
    span_id: str
    before: int
    why: str


def find_blame(
    actions: Sequence[Action],
    completion: Completion,
    recoveries: Sequence[Recovery],
    turns: Sequence[Turn],
    model_input: str = "",
) -> Blame | None:
    """Return the step to blame, None where nothing speaks against any.

    Args:
        actions: what the run did, in order.
        completion: how it ended.
        recoveries: what became of each failure.
        turns: its steps, those in which the model only spoke included.
        model_input: the task, and all else that the model read before it began.
    """
    wrong, stuck = list(_iter_wrong(actions, turns, model_input)), list(_iter_stuck(actions, recoveries))
    if completion.answered or not completion.is_recorded:
        return _find_earliest(wrong) or _find_earliest(stuck)
    found = _find_earliest([*wrong, *stuck, *_iter_fruitless(select_allowed(actions), actions)])
    allowed = select_allowed(actions)
    if found is None and allowed:
        return _build_blame(actions, allowed[-1], "the last action of a run without an answer")
    return found


def evaluate_first_mistake(
    actions: Sequence[Action],
    completion: Completion,
    recoveries: Sequence[Recovery],
    turns: Sequence[Turn],
    model_input: str = "",
) -> Outcome:
    """Score the share of actions before the one to blame, 1 where none is; advisory."""
    if not actions:
        return Skipped("the run took no action", Cause.NO_ACTION)
    found = find_blame(actions, completion, recoveries, turns, model_input)
    if found is None:
        return Scored(1.0, None, "no step is to blame")
    sentence = f"step {found.step}: {found.why}"
    return Scored(found.before / len(actions), None, sentence, (Evidence(sentence, found.span_id),))


def _iter_wrong(actions: Sequence[Action], turns: Sequence[Turn], model_input: str) -> Iterator[Blame]:
    """Yield what is wrong in itself, whatever it led to."""
    for position, action in enumerate(actions):
        if action.unsafe and action.refusal is None:
            yield Blame(action.step, action.span_id, position, action.unsafe)
    invention = find_unsourced(turns, model_input)
    if invention is not None:
        turn, numbers = invention
        shown = ", ".join(numbers[:_QUOTED]) + (", …" if len(numbers) > _QUOTED else "")
        why = f"it states {len(numbers)} numbers that neither the task nor any output holds ({shown})"
        yield Blame(turn.step, turn.span_id, sum(action.step < turn.step for action in actions), why)


def _iter_stuck(actions: Sequence[Action], recoveries: Sequence[Recovery]) -> Iterator[Blame]:
    """Yield where the run came no further."""
    for recovery in recoveries:
        if recovery.status is RecoveryStatus.UNRECOVERED:
            why = f"it failed ({describe_cause(recovery.failure.error_text)}), and {recovery.explanation}"
            yield _build_blame(actions, recovery.failure, why)
    loop = find_loop(actions)
    if loop is not None:
        yield _build_blame(actions, loop.actions[0], f"{loop.what} {len(loop.actions)} times from here on")


def _iter_fruitless(allowed: Sequence[Action], actions: Sequence[Action]) -> Iterator[Blame]:
    """Yield the first action that failed, and the first that came back with nothing."""
    for action in allowed:
        if action.error is not None:
            why = f"the first failure of a run without an answer ({describe_cause(action.error_text)})"
            yield _build_blame(actions, action, why)
            break
    for action in allowed:
        if action.error is None and _shows_nothing(action):
            yield _build_blame(
                actions, action, "the first that came back with nothing, in a run without an answer"
            )
            break


def _find_earliest(suspects: Sequence[Blame]) -> Blame | None:
    """Return the earliest; of two about the same action, the one named first."""
    return min(suspects, key=lambda blame: (blame.step, blame.before), default=None)


def _shows_nothing(action: Action) -> bool:
    """Whether it was to show something, and showed nothing."""
    if action.name != CODE or not _PRINTS.search(action.text):
        return False
    logs = split_observation(action.result).logs
    return (action.result if logs is None else logs).strip() in _NOTHING


def _build_blame(actions: Sequence[Action], action: Action, why: str) -> Blame:
    return Blame(action.step, action.span_id, actions.index(action), why)
