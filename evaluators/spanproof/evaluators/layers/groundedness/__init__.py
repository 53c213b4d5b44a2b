"""Groundedness: an answer's claims bound to what execution returned."""

from spanproof.evaluators.layers.groundedness.ground import ground
from spanproof.evaluators.layers.groundedness.layer import judge, outputs_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Grounding, Verdict

__all__ = ["Claim", "ClaimEvidence", "ClaimKind", "Grounding", "Verdict", "ground", "judge", "outputs_of"]
