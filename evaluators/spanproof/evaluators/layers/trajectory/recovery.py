"""Recovery as a score: whether failures led to what the failed steps were after.

In: the actions of a run and what followed each failure. Out: one outcome, without a label where that is open.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.evaluators.outcomes.actions import Action
from spanproof.evaluators.outcomes.causes import describe_cause
from spanproof.evaluators.outcomes.recovery import Came, Fate, compute_mended_share
from spanproof.trace import Cause, Evidence, Label, Outcome, Scored, Skipped


def score_recovery(actions: Sequence[Action], found: Sequence[Fate]) -> Outcome:
    """Judge whether failures led to something that worked; without a label where that is open."""
    if not found:
        return Skipped("no step failed", Cause.NOTHING_OF_THE_KIND)
    worst = min(found, key=lambda fate: fate.came)
    if worst.came is Came.LOST and not any(action.succeeded for action in actions):
        last = found[-1].failure
        sentence = f"step {last.step} failed ({describe_cause(last.error_text)}) and no step ever succeeded"
    else:
        sentence = (
            f"step {worst.failure.step} failed ({describe_cause(worst.failure.error_text)}); {worst.why}"
        )
    label = {Came.MENDED: Label.PASS, Came.OPEN: None, Came.LOST: Label.FAIL}[worst.came]
    return Scored(
        compute_mended_share(found),
        label,
        sentence,
        tuple(evidence for fate in found[:10] for evidence in _build_evidence(fate)),
        cause=Cause.RECOVERY_NOT_CERTAIN if label is None else None,
    )


def _build_evidence(fate: Fate) -> list[Evidence]:
    shown = [
        Evidence(
            f"step {fate.failure.step} failed: {describe_cause(fate.failure.error_text)}",
            fate.failure.span_id,
        )
    ]
    if fate.by is not None:
        shown.append(Evidence(f"step {fate.by.step}: {fate.why}", fate.by.span_id))
    return shown
