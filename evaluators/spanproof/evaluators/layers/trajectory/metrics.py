"""The trajectory metrics: what a list of actions says about how the run went.

In: `Action`s and how the run ended. Out: one outcome per metric, with its evidence. Each is a pure function
of the actions, so that a trace and the batch interface give the same scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanproof.evaluators.layers.trajectory.actions import Action
from spanproof.evaluators.layers.trajectory.weights import (
    ALIKE,
    FAILING,
    LOOP_GAP,
    LOOP_REPEATS,
    STUCK_REPEATS,
    USUAL_ACTIONS,
    WEIGHTS,
)
from spanproof.trace import Evidence, Label, Outcome, Scored, Skipped


@dataclass(frozen=True, slots=True)
class Completion:
    """How the run ended; `known` is False where the trace does not say."""

    answered: bool
    known: bool = True
    how: str = ""


@dataclass(frozen=True, slots=True)
class Loop:
    """The same action with the same outcome, again and again."""

    actions: tuple[Action, ...]
    what: str


def measure(actions: Sequence[Action], completion: Completion) -> dict[str, Outcome]:
    """Every metric by its name, the composite as `trajectory` first."""
    metrics: dict[str, Outcome] = {
        "recovery": recovery(actions),
        "loops": loops(actions),
        "task_completion": task_completion(completion),
        "step_efficiency": step_efficiency(actions),
        "tool_selection": tool_selection(actions),
        "action_safety": action_safety(actions),
        "goal_progress": goal_progress(actions),
    }
    return {"trajectory": composite(metrics), **metrics}


def failures(actions: Sequence[Action]) -> list[Action]:
    """Actions that failed."""
    return [action for action in actions if action.error is not None]


def recovered(actions: Sequence[Action]) -> bool | None:
    """Whether the last failure was followed by an action that succeeded; None where nothing failed.

    Actions of one step run beside each other: one that succeeded beside a failure does not mend it.
    """
    failed = failures(actions)
    if not failed:
        return None
    last = failed[-1]
    return any(action.succeeded and action.step > last.step for action in actions)


def recovery(actions: Sequence[Action]) -> Outcome:
    """Did failures lead to something that worked?"""
    failed = failures(actions)
    if not failed:
        return Skipped("no step failed")
    last = failed[-1]
    mended = sum(
        any(later.succeeded and later.step > failure.step for later in actions) for failure in failed
    )
    evidence = tuple(Evidence(f"step {f.step} failed: {_first_line(f)}", f.span_id) for f in failed[:10])
    if not recovered(actions):
        if not any(action.succeeded for action in actions):
            return Scored(
                0.0,
                Label.FAIL,
                f"step {last.step} failed ({_first_line(last)}) and no step ever succeeded",
                evidence,
            )
        return Scored(
            mended / len(failed),
            Label.FAIL,
            f"step {last.step} failed ({_first_line(last)}) and nothing succeeded after it",
            evidence,
        )
    first = failed[0]
    mend = next(action for action in actions if action.succeeded and action.step > first.step)
    how = "the same action again" if mend.exact == first.exact else "a changed approach"
    return Scored(
        1.0,
        Label.PASS,
        f"step {first.step} failed ({_first_line(first)}); step {mend.step} succeeded with {how}",
        (*evidence, Evidence(f"step {mend.step} succeeded", mend.span_id)),
    )


def find_loop(actions: Sequence[Action]) -> Loop | None:
    """The first loop: an action repeated with the same outcome, literals aside where it fails alike."""
    for keyed, what in ((_exactly, "the same action"), (_alike, "nearly the same action")):
        runs: dict[tuple[str, str], list[tuple[int, Action]]] = {}
        for place, action in enumerate(actions):
            key = keyed(action)
            if key is None:
                continue
            run = runs.setdefault(key, [])
            if run and place - run[-1][0] > LOOP_GAP:
                run.clear()
            run.append((place, action))
        longest = max(runs.values(), key=len, default=[])
        if len(longest) >= LOOP_REPEATS:
            return Loop(tuple(action for _, action in longest), what)
    return _stuck(actions)


def _stuck(actions: Sequence[Action]) -> Loop | None:
    """Failures in a row with one error: of nearly the same action, or too many to call it trying."""
    run: list[Action] = []
    for action in actions:
        if action.error is None or (run and action.error != run[-1].error):
            run = []
        if action.error is None:
            continue
        run.append(action)
        if len(run) >= STUCK_REPEATS:
            return Loop(tuple(run), "the same error")
        alike = all(_similarity(one, other) >= ALIKE for one, other in pairwise(run))
        if len(run) >= LOOP_REPEATS and alike:
            return Loop(tuple(run), "nearly the same action")
    return None


def _similarity(one: Action, other: Action) -> float:
    """The share of names two actions have in common."""
    together = one.words | other.words
    return len(one.words & other.words) / len(together) if together else 0.0


def loops(actions: Sequence[Action]) -> Outcome:
    """Did the run go in circles?"""
    if not actions:
        return Skipped("the run took no action")
    loop = find_loop(actions)
    if loop is None:
        return Scored(1.0, Label.PASS, "no action was repeated with the same outcome")
    last = loop.actions[-1]
    outcome = f"the same error ({_first_line(last)})" if last.error else "the same observation"
    return Scored(
        0.0,
        Label.FAIL,
        f"{loop.what} {len(loop.actions)} times with {outcome}",
        tuple(Evidence(f"step {action.step}: {action.name}", action.span_id) for action in loop.actions[:10]),
    )


def task_completion(completion: Completion) -> Outcome:
    """Did the run end with an answer?"""
    if not completion.known:
        return Skipped(completion.how or "the trace does not say how the run ended")
    if completion.answered:
        return Scored(1.0, Label.PASS, completion.how or "the run ended with an answer")
    return Scored(0.0, Label.FAIL, completion.how or "the run ended without an answer")


def wasted(actions: Sequence[Action]) -> list[Action]:
    """Actions that brought nothing: they failed, or repeated an earlier one with the same outcome."""
    seen: set[tuple[str, str | None]] = set()
    found: list[Action] = []
    for action in actions:
        key = (action.exact, action.outcome)
        if action.error is not None or (key in seen and not action.answers):
            found.append(action)
        seen.add(key)
    return found


def step_efficiency(actions: Sequence[Action]) -> Outcome:
    """The share of actions that were not wasted, less in proportion where there were more than usual."""
    if not actions:
        return Skipped("the run took no action")
    lost, taken = len(wasted(actions)), len(actions)
    told = f"{lost} of {taken} actions failed or repeated an earlier one"
    if taken > USUAL_ACTIONS:
        told += f"; more than {USUAL_ACTIONS} is long"
    return Scored((1 - lost / taken) * min(1.0, USUAL_ACTIONS / taken), None, told)


def goal_progress(actions: Sequence[Action]) -> Outcome:
    """The share of actions that brought something new."""
    working = [action for action in actions if not action.answers]
    if not working:
        return Skipped("the run took no action but to answer")
    seen: set[str] = set()
    fresh = 0
    for action in working:
        if action.error is None and (action.outcome is None or action.outcome not in seen):
            fresh += 1
        if action.outcome is not None:
            seen.add(action.outcome)
    return Scored(fresh / len(working), None, f"{fresh} of {len(working)} actions brought something new")


def tool_selection(actions: Sequence[Action]) -> Outcome:
    """The share of tool calls that the tool took."""
    calls = [action for action in actions if action.name not in {"code", "reply"} and not action.answers]
    if not calls:
        return Skipped("the run called no tool outside code")
    good = sum(call.error is None for call in calls)
    return Scored(good / len(calls), None, f"{good} of {len(calls)} tool calls succeeded")


def action_safety(actions: Sequence[Action]) -> Outcome:
    """Did the run do anything it should not?"""
    if not actions:
        return Skipped("the run took no action")
    unsafe = [action for action in actions if action.unsafe]
    if unsafe:
        return Scored(
            0.0,
            Label.FAIL,
            f"step {unsafe[0].step}: {unsafe[0].unsafe}",
            tuple(Evidence(f"step {action.step}: {action.unsafe}", action.span_id) for action in unsafe[:10]),
        )
    doubtful = sum(action.doubtful for action in actions)
    if doubtful:
        return Scored(
            1 - doubtful / len(actions) / 2, None, f"{doubtful} of {len(actions)} actions need a review"
        )
    return Scored(1.0, Label.PASS, "no action is denied or destructive")


def composite(metrics: dict[str, Outcome]) -> Outcome:
    """The layer's value: the weighted mean of what could be measured; fails where one of `FAILING` does."""
    measured = {
        name: outcome for name, outcome in metrics.items() if isinstance(outcome, Scored) and name in WEIGHTS
    }
    if "loops" not in measured and "task_completion" not in measured:
        return Skipped("the run has neither actions nor a known ending")
    weight = sum(WEIGHTS[name] for name in measured)
    value = sum(WEIGHTS[name] * outcome.value for name, outcome in measured.items()) / weight
    evidence = tuple(
        Evidence(f"{name} {outcome.value:.2f} × {WEIGHTS[name]}: {outcome.explanation}")
        for name, outcome in measured.items()
    )
    failed = [name for name in FAILING if name in measured and measured[name].label is Label.FAIL]
    if failed:
        return Scored(value, Label.FAIL, f"{failed[0]}: {measured[failed[0]].explanation}", evidence)
    told = measured.get("recovery") or measured.get("task_completion") or next(iter(measured.values()))
    return Scored(value, Label.PASS, told.explanation, evidence)


def _exactly(action: Action) -> tuple[str, str] | None:
    if action.answers:
        return None
    outcome = action.error if action.error is not None else action.outcome
    return None if outcome is None else (action.exact, outcome)


def _alike(action: Action) -> tuple[str, str] | None:
    return None if action.error is None else (action.shape, action.error)


def _first_line(action: Action) -> str:
    line = action.error_text.strip().splitlines()[-1] if action.error_text.strip() else "no message"
    return line if len(line) <= 120 else line[:117] + "…"
