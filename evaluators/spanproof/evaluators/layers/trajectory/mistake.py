"""The first mistake: the step that is to blame, as far as the actions show it.

In: the actions of a run and how it ended. Out: one advisory outcome with the step as evidence. Blamed is the
earliest of: an action that should not have been done, a failure that nothing mended, the first turn of a
loop; in a run without an answer and without any of these the first failure, else the last action. A mistake
that raises nothing (a wrong fact, a wrong reading) is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spanproof.evaluators.layers.trajectory.actions import Action
from spanproof.evaluators.layers.trajectory.causes import in_words
from spanproof.evaluators.layers.trajectory.ending import Completion
from spanproof.evaluators.layers.trajectory.loops import find_loop
from spanproof.evaluators.layers.trajectory.recovery import Came, Fate, failures
from spanproof.trace import Evidence, Outcome, Scored, Skipped


def blamed(
    actions: Sequence[Action], completion: Completion, fates: Sequence[Fate]
) -> tuple[Action, str] | None:
    """The action to blame, and why; None where nothing speaks against any."""
    found = sorted(_suspects(actions, fates), key=lambda suspect: actions.index(suspect[0]))
    if found:
        return found[0]
    if not actions or completion.answered or not completion.known:
        return None
    failed = failures(actions)
    if failed:
        return failed[0], f"the first failure of a run without an answer ({in_words(failed[0].error_text)})"
    return actions[-1], "the last action of a run without an answer"


def first_mistake(actions: Sequence[Action], completion: Completion, fates: Sequence[Fate]) -> Outcome:
    """The share of actions before the one to blame, 1 where none is; advisory."""
    if not actions:
        return Skipped("the run took no action")
    found = blamed(actions, completion, fates)
    if found is None:
        return Scored(1.0, None, "no step is to blame")
    action, why = found
    told = f"step {action.step}: {why}"
    return Scored(actions.index(action) / len(actions), None, told, (Evidence(told, action.span_id),))


def _suspects(actions: Sequence[Action], fates: Sequence[Fate]) -> Iterator[tuple[Action, str]]:
    for action in actions:
        if action.unsafe:
            yield action, action.unsafe
    for fate in fates:
        if fate.came is Came.LOST:
            yield fate.failure, f"it failed ({in_words(fate.failure.error_text)}), and {fate.why}"
    loop = find_loop(actions)
    if loop is not None:
        yield loop.actions[0], f"{loop.what} {len(loop.actions)} times from here on"
