"""The trajectory layer: how the run went, whatever it answered.

In: the evidence about one run. Out: the composite as the layer's judgement, each metric beside it, and the
run's steps, tokens and dollars as metrics. Code inside steps counts as action.
"""

from __future__ import annotations

from collections.abc import Mapping

from spanproof.evaluators.layers.trajectory.ending import Completion
from spanproof.evaluators.layers.trajectory.metrics import measure
from spanproof.evaluators.layers.trajectory.spent import measure_usage
from spanproof.evaluators.layers.trajectory.steps import build_turns, collect_model_input, list_actions
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.outcomes.grounding import explain_origin
from spanproof.evaluators.outcomes.model import State
from spanproof.evaluators.outcomes.recovery import Came
from spanproof.trace import Cause, Ending, Judgement, Layer, Outcome, Skipped, SpanKind

EVALUATOR = "trajectory-rules"
VERSION = "5"
_HIDDEN = Skipped(
    "content is hidden: the producer kept inputs and outputs off the trace", Cause.CONTENT_HIDDEN
)
_NO_ACTION = Skipped("no action on the trace: neither code nor a tool call is recorded", Cause.NO_ACTION)
_NO_AGENT = Skipped("a lone tool call: the agent that made it is not on this trace", Cause.NO_AGENT)


def judge(evidence: RunEvidence) -> list[Judgement]:
    """Judge how one run went."""
    actions, completion = list_actions(evidence), _determine_completion(evidence)
    answer = evidence.run.answer.text if evidence.run.answer else ""
    measured = measure(
        actions,
        completion,
        answer,
        evidence.run.task or "",
        build_turns(evidence),
        collect_model_input(evidence),
        evidence.account.fates,
    )
    if not actions:
        measured = _skip_without_actions(measured, completion)
    outcomes = measured | measure_usage(evidence)
    if (unjudgeable := _find_unjudgeable(evidence)) is not None:
        outcomes = dict.fromkeys(outcomes, unjudgeable)
    return [
        Judgement(Layer.TRAJECTORY, name, evidence.run.span_id, outcome, EVALUATOR, VERSION)
        for name, outcome in outcomes.items()
    ]


def _has_no_success(evidence: RunEvidence) -> bool:
    """Whether some failure was left as it was, or all that worked came back with nothing."""
    account = evidence.account
    if any(fate.came is Came.LOST for fate in account.fates):
        return True
    return any(outcome.state is State.EMPTY for outcome in account.steps.values()) and not any(
        outcome.state is State.OK
        for number, outcome in account.steps.items()
        if number != evidence.run.steps[-1].number
    )


def _skip_without_actions(measured: Mapping[str, Outcome], completion: Completion) -> dict[str, Outcome]:
    """Return the metrics where no action is on the trace: nothing says that the run took none."""
    kept: dict[str, Outcome] = {
        name: _NO_ACTION if isinstance(outcome, Skipped) and name != "answered" else outcome
        for name, outcome in measured.items()
    }
    if completion.answered or not completion.known:
        # An answer alone says nothing about the way to it.
        kept[Layer.TRAJECTORY.value] = _NO_ACTION
    return kept


def _find_unjudgeable(evidence: RunEvidence) -> Skipped | None:
    """Return the outcome of every score where nothing can be said about the way of this run, else None."""
    run = evidence.run
    if run.hidden and not run.snippets:
        # Actions without their content all look alike: neither loops nor safety can be judged.
        return _HIDDEN
    span = evidence.trace.by_id.get(run.span_id)
    return _NO_AGENT if span is not None and span.kind is SpanKind.TOOL else None


def _determine_completion(evidence: RunEvidence) -> Completion:
    run = evidence.run
    answered = run.answer is not None and bool(run.answer.text.strip())
    if run.ending is Ending.MAX_STEPS:
        return Completion(answered=False, how="the run ended at its step limit")
    if run.ending is Ending.FAILED:
        why = f": {run.error.type or 'error'}: {run.error.message}" if run.error else ""
        return Completion(answered=False, how=f"the run failed{why}"[:200])
    made_up = evidence.account.fabricated
    if made_up:
        return Completion(answered=False, how=explain_origin(made_up[0]))
    if evidence.account.reports_failure and _has_no_success(evidence):
        return Completion(answered=False, reported=True, how="the answer reports that the task was not done")
    if answered or run.ending is Ending.ANSWERED:
        return Completion(answered=True)
    if run.hidden:
        return Completion(
            answered=False,
            known=False,
            how="content is hidden by the producer: the answer is not on the trace",
        )
    return Completion(answered=False, known=False)
