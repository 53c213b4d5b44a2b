"""The trajectory layer: how the run went, whatever it answered.

In: the evidence about one run. Out: the composite as the layer's judgement, each metric next to it, and the
run's steps, tokens and dollars as metrics. Code inside steps counts as action.
"""

from __future__ import annotations

from collections.abc import Mapping

from spanproof.evaluators.actions import select_allowed
from spanproof.evaluators.layers.common import add_refusals, find_all_refused, list_refusal_clauses
from spanproof.evaluators.layers.trajectory.ending import Completion
from spanproof.evaluators.layers.trajectory.metrics import compute_metrics
from spanproof.evaluators.layers.trajectory.spent import compute_run_usage
from spanproof.evaluators.layers.trajectory.steps import build_turns, get_model_input, list_actions
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.outcomes.grounding import describe_origin
from spanproof.evaluators.outcomes.model import State
from spanproof.evaluators.outcomes.recovery import RecoveryStatus
from spanproof.evaluators.refusals import format_refuser, is_budget_used_up
from spanproof.trace import (
    Cause,
    Ending,
    Judgement,
    Layer,
    Outcome,
    Refusal,
    Run,
    Skipped,
    SpanKind,
    get_state,
)
from spanproof.trace import State as Verdict

EVALUATOR = "trajectory-rules"
VERSION = "8"
_HIDDEN = Skipped(
    "content is hidden: the producer kept inputs and outputs off the trace", Cause.CONTENT_HIDDEN
)
_NO_ACTION = Skipped("no action on the trace: neither code nor a tool call is recorded", Cause.NO_ACTION)
_NO_AGENT = Skipped("a lone tool call: the agent that made it is not on this trace", Cause.NO_AGENT)


def evaluate_trajectory(evidence: RunEvidence) -> list[Judgement]:
    """Judge how one run went."""
    actions, completion = list_actions(evidence), _classify_completion(evidence)
    answer = evidence.run.answer.text if evidence.run.answer else ""
    measured = compute_metrics(
        actions,
        completion,
        answer,
        evidence.run.task or "",
        build_turns(evidence),
        get_model_input(evidence),
        evidence.account.recoveries,
        # The boundary layer judges the same code by the same scan: one cause counts in one layer.
        judges_code=False,
    )
    if not actions:
        measured = _select_without_actions(measured, completion)
    elif not select_allowed(actions):
        measured = _select_all_refused(evidence, measured)
    name = Layer.TRAJECTORY.value
    outcomes = (
        measured | {name: add_refusals(evidence, measured[name], stop="")} | compute_run_usage(evidence)
    )
    if (unjudgeable := _find_unjudgeable(evidence)) is not None:
        outcomes = dict.fromkeys(outcomes, unjudgeable)
    return [
        Judgement(Layer.TRAJECTORY, name, evidence.run.span_id, outcome, EVALUATOR, VERSION)
        for name, outcome in outcomes.items()
    ]


def _has_no_success(evidence: RunEvidence) -> bool:
    """Whether some failure was left as it was, or all that worked came back with nothing."""
    account = evidence.account
    if any(recovery.status is RecoveryStatus.UNRECOVERED for recovery in account.recoveries):
        return True
    return any(outcome.state is State.EMPTY for outcome in account.steps.values()) and not any(
        outcome.state is State.OK
        for number, outcome in account.steps.items()
        if number != evidence.run.steps[-1].number
    )


def _select_without_actions(measured: Mapping[str, Outcome], completion: Completion) -> dict[str, Outcome]:
    """Return the metrics where no action is on the trace: nothing says that the run took none."""
    kept: dict[str, Outcome] = {
        name: _NO_ACTION if isinstance(outcome, Skipped) and name != "answered" else outcome
        for name, outcome in measured.items()
    }
    if completion.answered or not completion.is_recorded:
        # An answer alone says nothing about the way to it.
        kept[Layer.TRAJECTORY.value] = _NO_ACTION
    return kept


def _select_all_refused(evidence: RunEvidence, measured: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return the metrics where every action was refused, with that as the reason for what is not measured."""
    reason = find_all_refused(evidence) or _NO_ACTION
    kept: dict[str, Outcome] = {
        name: reason if isinstance(outcome, Skipped) and name != "answered" else outcome
        for name, outcome in measured.items()
    }
    if isinstance(kept["answered"], Skipped) and not _has_failed(kept["loops"]):
        # That one refused action is no loop says nothing of how the run went.
        kept[Layer.TRAJECTORY.value] = reason
    return kept


def _has_failed(outcome: Outcome) -> bool:
    return get_state(outcome) is Verdict.FAIL


def _find_unjudgeable(evidence: RunEvidence) -> Skipped | None:
    """Return the outcome of every score where nothing can be said about the way of this run, else None."""
    run = evidence.run
    if run.hidden and not run.snippets:
        # Actions without their content all look alike: neither loops nor safety can be judged.
        return _HIDDEN
    span = evidence.trace.by_id.get(run.span_id)
    if span is not None and span.kind is SpanKind.TOOL:
        return _NO_AGENT
    return None


def _classify_completion(evidence: RunEvidence) -> Completion:
    run, account = evidence.run, evidence.account
    ended_by = _find_ending_refusal(evidence)
    if ended_by is not None:
        return Completion(answered=False, is_recorded=False, how=f"{format_refuser(ended_by)} ended the run")
    if run.ending in (Ending.MAX_STEPS, Ending.FAILED):
        return Completion(answered=False, how=_describe_bad_ending(run))
    if account.fabricated:
        return Completion(answered=False, how=describe_origin(account.fabricated[0]))
    if account.reports_failure:
        # That there is none is the answer, where a look-up found none.
        if not account.reports_absence and _has_no_success(evidence):
            how = "the answer reports that the task was not done"
            return Completion(answered=False, reported=True, how=how)
        if _did_nothing_else(evidence):
            why = "; ".join(list_refusal_clauses(evidence))
            how = f"the answer reports that the task was not done, and {why}"
            return Completion(answered=False, is_recorded=False, how=how)
    has_answer = run.answer is not None and bool(run.answer.text.strip())
    if has_answer or run.ending is Ending.ANSWERED:
        return Completion(answered=True)
    if run.hidden:
        how = "content is hidden by the producer: the answer is not on the trace"
        return Completion(answered=False, is_recorded=False, how=how)
    is_empty = run.answer is None and any(step.is_final for step in run.steps[-1:])
    if is_empty:
        how = "the run ended with a final answer of nothing: None, or a number that is none"
    else:
        how = ""
    return Completion(answered=False, is_recorded=False, empty=is_empty, how=how)


def _describe_bad_ending(run: Run) -> str:
    if run.ending is Ending.MAX_STEPS:
        return "the run ended at its step limit"
    why = f": {run.error.type or 'error'}: {run.error.message}" if run.error else ""
    return f"the run failed{why}"[:200]


def _did_nothing_else(evidence: RunEvidence) -> bool:
    """Whether something was refused, and nothing that ran did anything for the task."""
    account = evidence.account
    return bool(account.refused) and not any(
        outcome.state is State.OK
        for number, outcome in account.steps.items()
        if number != evidence.run.steps[-1].number
    )


def _find_ending_refusal(evidence: RunEvidence) -> Refusal | None:
    """Return the refusal that ended the run, None where none did.

    A refusal that was raised through the whole run ended it. So did a budget that is used up: it refuses
    every later step, until the framework's own limit or the end of the record.
    """
    run = evidence.run
    last = next((action for action in reversed(evidence.account.actions) if not action.answers), None)
    refusal = last.refusal if last is not None else None
    if run.ending is Ending.FAILED:
        raised = {step.error.type for step in run.steps if step.refusal == refusal and step.error is not None}
        through = run.error is not None and run.error.type in raised
        return run.refusal or (refusal if through else None)
    ended = run.ending is Ending.MAX_STEPS or (run.ending is Ending.UNKNOWN and run.answer is None)
    return refusal if ended and is_budget_used_up(refusal) else None
