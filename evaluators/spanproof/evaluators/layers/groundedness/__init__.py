"""Groundedness: an answer's claims bound to what execution returned.

Data flows from folder to folder: `sources` → `facts` → `claims` → `solve` → `choose` → `verdict`; `values` are
the typed values that all of them read and compare.
"""  # noqa: E501

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
