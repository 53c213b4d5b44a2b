"""Recovery as a score: whether failures led to what the failed steps were after.

In: the actions of a run and what followed each failure. Out: one outcome, without a label where that is open.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.evaluators.actions import Action
from spanproof.evaluators.outcomes.recovery import Recovery, RecoveryStatus, compute_recovered_share
from spanproof.reading.error_causes import describe_cause
from spanproof.trace import Cause, Evidence, Label, Outcome, Scored, Skipped


def evaluate_recovery(actions: Sequence[Action], found: Sequence[Recovery]) -> Outcome:
    """Judge whether failures led to something that worked; without a label where that is open."""
    if not found:
        return Skipped("no step failed", Cause.NOTHING_OF_THE_KIND)
    worst = min(found, key=lambda recovery: recovery.status)
    if worst.status is RecoveryStatus.UNRECOVERED and not any(action.succeeded for action in actions):
        last = found[-1].failure
        sentence = f"step {last.step} failed ({describe_cause(last.error_text)}) and no step ever succeeded"
    else:
        cause = describe_cause(worst.failure.error_text)
        sentence = f"step {worst.failure.step} failed ({cause}); {worst.explanation}"
    label = {
        RecoveryStatus.RECOVERED: Label.PASS,
        RecoveryStatus.OPEN: None,
        RecoveryStatus.UNRECOVERED: Label.FAIL,
    }[worst.status]
    return Scored(
        compute_recovered_share(found),
        label,
        sentence,
        tuple(evidence for recovery in found[:10] for evidence in _build_evidence(recovery)),
        cause=Cause.RECOVERY_NOT_CERTAIN if label is None else None,
    )


def _build_evidence(recovery: Recovery) -> list[Evidence]:
    shown = [
        Evidence(
            f"step {recovery.failure.step} failed: {describe_cause(recovery.failure.error_text)}",
            recovery.failure.span_id,
        )
    ]
    if recovery.decided_by is not None:
        shown.append(
            Evidence(f"step {recovery.decided_by.step}: {recovery.explanation}", recovery.decided_by.span_id)
        )
    return shown
