"""The trajectory metrics: what a list of actions says about how the run went.

In: `Action`s, how the run ended and what it answered. Out: one outcome per metric, with its evidence. Each is
a pure function of the actions, so that a trace and the batch interface give the same scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spanproof.evaluators.actions import CODE, Action, select_allowed
from spanproof.evaluators.layers.trajectory.calling import evaluate_tool_calling
from spanproof.evaluators.layers.trajectory.ending import ENDING_UNKNOWN, Completion, evaluate_answered
from spanproof.evaluators.layers.trajectory.loops import evaluate_loops
from spanproof.evaluators.layers.trajectory.mistake import evaluate_first_mistake
from spanproof.evaluators.layers.trajectory.reasoning import evaluate_reasoning_quality
from spanproof.evaluators.layers.trajectory.recovery import evaluate_recovery
from spanproof.evaluators.layers.trajectory.steps import list_turns_of_actions
from spanproof.evaluators.layers.trajectory.unsourced import Turn
from spanproof.evaluators.layers.trajectory.weights import FAILING, USUAL_ACTIONS, WEIGHTS
from spanproof.evaluators.outcomes.recovery import Recovery, list_recoveries
from spanproof.trace import Cause, Evidence, Label, Outcome, Scored, Skipped


def compute_metrics(
    actions: Sequence[Action],
    completion: Completion,
    answer: str = "",
    task: str = "",
    turns: Sequence[Turn] | None = None,
    model_input: str = "",
    found: Sequence[Recovery] | None = None,
    *,
    judges_code: bool = True,
) -> dict[str, Outcome]:
    """Return every metric by its name, the composite as `trajectory` first.

    Refused actions count only in `loops`: that it repeats one is the agent's own doing.

    Args:
        actions: what the run did, in order.
        completion: how it ended.
        answer: what it answered.
        task: of the user, in words.
        turns: its steps, those without an action included; None takes them from the actions.
        model_input: all that the model read apart from the task and its steps' outputs.
        found: what followed each failure; None follows them up here.
        judges_code: whether code that the scan denies fails `action_safety`; not where the boundary layer
            judges the same code, as one cause counts in one layer.
    """
    found = list_recoveries(actions, task) if found is None else found
    allowed = select_allowed(actions)
    metrics: dict[str, Outcome] = {
        "recovery": evaluate_recovery(allowed, found),
        "loops": evaluate_loops(actions),
        "answered": evaluate_answered(completion),
        "step_efficiency": evaluate_step_efficiency(allowed),
        "action_safety": evaluate_action_safety(allowed, judges_code=judges_code),
        "goal_progress": evaluate_goal_progress(allowed),
        "reasoning_quality": evaluate_reasoning_quality(allowed),
        **evaluate_tool_calling(allowed, answer, found),
        "first_mistake": evaluate_first_mistake(
            actions,
            completion,
            found,
            list_turns_of_actions(actions) if turns is None else turns,
            f"{task}\n{model_input}",
        ),
    }
    return {"trajectory": compute_composite(metrics), **metrics}


def list_wasted(actions: Sequence[Action]) -> list[Action]:
    """Return the actions without a new result: failed, or repeated an earlier one with the same outcome."""
    seen: set[tuple[str, str | None]] = set()
    found: list[Action] = []
    for action in actions:
        key = (action.exact, action.outcome)
        if action.error is not None or (key in seen and not action.answers):
            found.append(action)
        seen.add(key)
    return found


def evaluate_step_efficiency(actions: Sequence[Action]) -> Outcome:
    """Score the share of actions that were not wasted, less in proportion beyond the usual number."""
    if not actions:
        return Skipped("the run took no action", Cause.NO_ACTION)
    wasted, taken = len(list_wasted(actions)), len(actions)
    sentence = f"{wasted} of {taken} actions failed or repeated an earlier one"
    if taken > USUAL_ACTIONS:
        sentence += f"; more than {USUAL_ACTIONS} is long"
    return Scored((1 - wasted / taken) * min(1.0, USUAL_ACTIONS / taken), None, sentence)


def evaluate_goal_progress(actions: Sequence[Action]) -> Outcome:
    """Score the share of actions that brought something new."""
    working = [action for action in actions if not action.answers]
    if not working:
        return Skipped("the run took no action but to answer", Cause.NO_ACTION)
    seen: set[str] = set()
    fresh = 0
    for action in working:
        if action.error is None and (action.outcome is None or action.outcome not in seen):
            fresh += 1
        if action.outcome is not None:
            seen.add(action.outcome)
    return Scored(fresh / len(working), None, f"{fresh} of {len(working)} actions brought something new")


def evaluate_action_safety(actions: Sequence[Action], *, judges_code: bool = True) -> Outcome:
    """Judge whether the run did anything it should not; of code only where `judges_code`."""
    if not actions:
        return Skipped("the run took no action", Cause.NO_ACTION)
    judged = [action for action in actions if judges_code or action.name != CODE]
    if not judged:
        return Scored(1.0, Label.PASS, "no tool call destroys anything; the boundary layer judges the code")
    unsafe = [action for action in judged if action.unsafe]
    if unsafe:
        return Scored(
            0.0,
            Label.FAIL,
            f"step {unsafe[0].step}: {unsafe[0].unsafe}",
            tuple(Evidence(f"step {action.step}: {action.unsafe}", action.span_id) for action in unsafe[:10]),
        )
    doubtful = sum(action.doubtful for action in judged)
    if doubtful:
        sentence = f"{doubtful} of {len(judged)} actions need a review"
        return Scored(1 - doubtful / len(judged) / 2, None, sentence, cause=Cause.CODE_UNDER_REVIEW)
    return Scored(1.0, Label.PASS, "no action is denied or destructive")


def compute_composite(metrics: dict[str, Outcome]) -> Outcome:
    """Return the layer's value: the weighted mean of what was measured; fails if one of `FAILING` does.

    Open where the run ended with nothing in place of an answer.
    """
    measured = {
        name: outcome for name, outcome in metrics.items() if isinstance(outcome, Scored) and name in WEIGHTS
    }
    if "loops" not in measured and "answered" not in measured:
        return Skipped("the run has neither actions nor a known ending", Cause.NO_ACTION)
    weight = sum(WEIGHTS[name] for name in measured)
    value = sum(WEIGHTS[name] * outcome.value for name, outcome in measured.items()) / weight
    evidence = tuple(
        Evidence(f"{name} {outcome.value:.2f} × {WEIGHTS[name]}: {outcome.explanation}")
        for name, outcome in measured.items()
    )
    failed = [name for name in FAILING if name in measured and measured[name].label is Label.FAIL]
    if failed:
        return Scored(value, Label.FAIL, f"{failed[0]}: {measured[failed[0]].explanation}", evidence)
    answered = metrics.get("answered")
    if isinstance(answered, Scored) and answered.cause is Cause.NO_ANSWER:
        return Scored(value, None, answered.explanation, evidence, cause=Cause.NO_ANSWER)
    if isinstance(answered, Skipped):
        ending = answered.reason
    else:
        ending = ENDING_UNKNOWN
    return Scored(value, Label.PASS, _describe_a_pass(measured, ending), evidence)


def _describe_a_pass(measured: Mapping[str, Scored], ending: str) -> str:
    """Return how the run ended, and what cost its value most."""
    how = measured.get("recovery") or measured.get("answered")
    if how:
        sentence = how.explanation
    else:
        sentence = f"no loop and nothing unsafe; {ending}"
    worst = min(measured, key=lambda name: WEIGHTS[name] * (measured[name].value - 1))
    lowered = measured[worst]
    if lowered.value == 1.0 or lowered is how:
        return sentence
    return f"{sentence}; {worst} {lowered.value:.2f}: {lowered.explanation}"
