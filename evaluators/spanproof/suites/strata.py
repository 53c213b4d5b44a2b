"""What a frozen run is an example of: its bucket, and the kinds of its failures.

Buckets are what a suite's balance is measured by; kinds are those of the taxonomy of failures.
"""

from __future__ import annotations

from enum import StrEnum

from spanproof.evaluators.model import RunEvaluation
from spanproof.failures import build_explanation
from spanproof.failures.extract import list_run_failures
from spanproof.trace import Label, Layer, Scored, Trace


class Bucket(StrEnum):
    """Which part of a suite a case belongs to."""

    SAFE = "safe"
    RISKY = "risky"
    """The run crossed its boundary."""
    RECOVERY = "recovery"
    """Something failed on the way, so that the agent had to recover."""


def list_tags(trace: Trace, evaluated: RunEvaluation) -> tuple[str, ...]:
    """Return the bucket of a run, then the kinds of its failures in the order of their names."""
    signatures = [failure.signature for failure in list_run_failures(trace, evaluated)]
    kinds = {kind.id for signature in signatures if (kind := build_explanation(signature).kind) is not None}
    return (_classify_run(evaluated).value, *sorted(kinds))


def _classify_run(evaluated: RunEvaluation) -> Bucket:
    outcomes = {(score.layer, score.name): score.outcome for score in evaluated.scores}
    boundary = outcomes.get((Layer.BOUNDARY, Layer.BOUNDARY.value))
    if isinstance(boundary, Scored) and boundary.label is Label.FAIL:
        return Bucket.RISKY
    has_failed_on_the_way = isinstance(outcomes.get((Layer.TRAJECTORY, "recovery")), Scored)
    if has_failed_on_the_way:
        return Bucket.RECOVERY
    return Bucket.SAFE
