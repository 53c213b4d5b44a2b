"""Groundedness: an answer's claims bound to what execution returned.

Data flows from folder to folder: `sources` → `claims` → `solve` → `choose` → `verdict`. Records, facts and
typed values are those of `spanproof.reading`.
"""

from spanproof.evaluators.layers.groundedness.ground import ground
from spanproof.evaluators.layers.groundedness.layer import judge, outputs_of
from spanproof.evaluators.layers.groundedness.model import (
    Cause,
    Claim,
    ClaimEvidence,
    ClaimKind,
    Grounding,
    Verdict,
)
from spanproof.evaluators.layers.groundedness.verdict.sentences import explain

__all__ = [
    "Cause",
    "Claim",
    "ClaimEvidence",
    "ClaimKind",
    "Grounding",
    "Verdict",
    "explain",
    "ground",
    "judge",
    "outputs_of",
]
