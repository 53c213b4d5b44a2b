"""What two layers say of one run that cannot both be so, or that the account of the run denies."""

from __future__ import annotations

from collections.abc import Iterator

from spanproof.evaluators.outcomes.account import build_account
from spanproof.evaluators.outcomes.model import FAILING
from spanproof.evaluators.outcomes.recovery import RecoveryStatus
from spanproof.trace import Label, Layer, Scored


def contradictions(evaluation) -> Iterator[str]:
    """What one layer says of a run and another, or the account, denies."""
    for run in evaluation.runs:
        account = build_account(evaluation.trace, run.run, run.scans, run.replay)
        of_run = {(s.layer, s.name): s.outcome for s in run.scores if s.snippet_id is None}
        for score in run.scores:
            known = account.snippets.get(score.snippet_id or "")
            judged = score.name == "outcome" and isinstance(score.outcome, Scored)
            if judged and known is not None and (score.outcome.label is Label.PASS) is not known.ok:
                yield f"the outcome of a snippet is {score.outcome.label}, the account says {known.state}"
        recovery = of_run.get((Layer.TRAJECTORY, "recovery"))
        lost = isinstance(recovery, Scored) and recovery.label is Label.FAIL
        judged = isinstance(of_run.get((Layer.TRAJECTORY, "trajectory")), Scored)
        if (judged or lost) and lost is not any(
            recovery.status is RecoveryStatus.UNRECOVERED for recovery in account.recoveries
        ):
            yield "recovery denies the account"
        if lost and _passed(of_run.get((Layer.EXECUTION, "execution"))):
            yield "execution passes what recovery calls lost"
        failed_code = {s.span_id for s in run.run.snippets if account.get_snippet_outcome(s).state in FAILING}
        lost_code = any(
            f.status is RecoveryStatus.UNRECOVERED and f.failure.span_id in failed_code
            for f in account.recoveries
        )
        if lost_code and _passed(of_run.get((Layer.CORRECTNESS, "correctness"))):
            yield "correctness passes code that recovery calls lost"
        if isinstance(recovery, Scored) and not account.recoveries:
            yield "recovery speaks of a failure that the account does not know"
        if account.fabricated and _passed(of_run.get((Layer.GROUNDEDNESS, "groundedness"))):
            yield "groundedness passes a fabricated value"
        if account.fabricated and _passed(of_run.get((Layer.TRAJECTORY, "answered"))):
            yield "answered passes a fabricated answer"
        grounded = of_run.get((Layer.GROUNDEDNESS, "groundedness"))
        if account.nothing_worked and not account.reports_failure and _passed(grounded):
            yield "groundedness passes an answer that nothing supports and that does not say so"
        if account.reports_failure and not account.origins and _failed(grounded):
            yield "groundedness fails an answer that only reports what happened"
        code_failed = any(account.get_snippet_outcome(each).state in FAILING for each in run.run.snippets)
        execution = of_run.get((Layer.EXECUTION, "execution"))
        if code_failed and isinstance(execution, Scored) and execution.value == 1.0:
            yield "execution counts no failure where the account has one"


def _failed(outcome) -> bool:
    return isinstance(outcome, Scored) and outcome.label is Label.FAIL


def _passed(outcome) -> bool:
    return isinstance(outcome, Scored) and outcome.label is Label.PASS
