"""Loops: the same action with the same outcome, again and again.

In: the actions of a run. Out: the first loop, and the outcome that reports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanproof.evaluators.actions import Action
from spanproof.evaluators.layers.trajectory.weights import ALIKE, LOOP_GAP, LOOP_REPEATS, STUCK_REPEATS
from spanproof.evaluators.refusals import format_refuser
from spanproof.reading.error_causes import describe_cause
from spanproof.trace import Cause, Evidence, Label, Outcome, Scored, Skipped


@dataclass(frozen=True, slots=True)
class Loop:
    """The same action with the same outcome, again and again."""

    actions: tuple[Action, ...]
    what: str


def evaluate_loops(actions: Sequence[Action]) -> Outcome:
    """Judge whether the run went in circles."""
    if not actions:
        return Skipped("the run took no action", Cause.NO_ACTION)
    loop = find_loop(actions)
    if loop is None:
        return Scored(1.0, Label.PASS, "no action was repeated with the same outcome")
    last = loop.actions[-1]
    outcome = f"the same error ({describe_cause(last.error_text)})" if last.error else "the same observation"
    if last.refusal is not None:
        outcome = f"the same refusal by {format_refuser(last.refusal)}"
    return Scored(
        0.0,
        Label.FAIL,
        f"{loop.what} {len(loop.actions)} times with {outcome}",
        tuple(Evidence(f"step {action.step}: {action.name}", action.span_id) for action in loop.actions[:10]),
    )


def find_loop(actions: Sequence[Action]) -> Loop | None:
    """Return the first loop: an action repeated with the same outcome, literals aside where it fails."""
    for keyed, what in (
        (_find_exact_key, "the same action"),
        (_find_failure_key, "nearly the same action"),
    ):
        runs: dict[tuple[str, str], list[tuple[int, Action]]] = {}
        for position, action in enumerate(actions):
            key = keyed(action)
            if key is None:
                continue
            run = runs.setdefault(key, [])
            if run and position - run[-1][0] > LOOP_GAP:
                run.clear()
            run.append((position, action))
        longest = max(runs.values(), key=len, default=[])
        if len(longest) >= LOOP_REPEATS:
            return Loop(tuple(action for _, action in longest), what)
    return _find_repeated_error(actions) or _find_alternation(actions)


def _find_alternation(actions: Sequence[Action]) -> Loop | None:
    """Return two actions in turn, a failing one among them, gone through twice with the same outcomes."""
    for at in range(len(actions) - 3):
        turn, again = actions[at : at + 2], actions[at + 2 : at + 4]
        same = [
            _find_exact_key(one) is not None and _find_exact_key(one) == _find_exact_key(other)
            for one, other in zip(turn, again, strict=True)
        ]
        if all(same) and any(action.error is not None or action.refusal is not None for action in turn):
            return Loop((*turn, *again), "the same two actions in turn")
    return None


def _find_repeated_error(actions: Sequence[Action]) -> Loop | None:
    """Return failures in a row with one error: of nearly the same action, or too many to call it trying."""
    run: list[Action] = []
    for action in actions:
        if action.error is None or (run and action.error != run[-1].error):
            run = []
        if action.error is None:
            continue
        run.append(action)
        if len(run) >= STUCK_REPEATS:
            return Loop(tuple(run), "the same error")
        alike = all(_compute_similarity(one, other) >= ALIKE for one, other in pairwise(run))
        if len(run) >= LOOP_REPEATS and alike:
            return Loop(tuple(run), "nearly the same action")
    return None


def _compute_similarity(one: Action, other: Action) -> float:
    """Return the share of names two actions have in common."""
    together = one.words | other.words
    if together:
        return len(one.words & other.words) / len(together)
    return 0.0


def _find_exact_key(action: Action) -> tuple[str, str] | None:
    if action.answers:
        return None
    outcome = action.error if action.error is not None else action.outcome
    return None if outcome is None else (action.exact, outcome)


def _find_failure_key(action: Action) -> tuple[str, str] | None:
    return None if action.error is None else (action.shape, action.error)
