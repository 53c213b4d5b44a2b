"""A word of direction in the answer, and the claim that follows once a change is known."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.words import canonical_set
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim
from spanproof.evaluators.layers.groundedness.rules.derive import scaled_value

_OWED = canonical_set("loss losses deficit debt shortfall overdraft")


@dataclass(frozen=True, slots=True)
class Said:
    """A word of direction and where it stands."""

    match: re.Match[str]
    binding: Binding
    upward: bool

    def grown(self, first: Fact, last: Fact) -> float:
        """By how much the thing grew: a loss is the larger the further it lies below zero."""
        one, other = scaled_value(first), scaled_value(last)
        if one < 0 and other < 0 and not _OWED.isdisjoint((*first.words, *last.words)):
            return abs(other) - abs(one)
        return other - one

    def claim(self, change: float, why: str, evidence: ClaimEvidence | None) -> Claim:
        """The claim, given the change the outputs show."""
        right = change > 0 if self.upward else change < 0
        verdict = Verdict.GROUNDED if right else Verdict.CONTRADICTED
        start, end = self.match.start(), self.match.end()
        return claim(self.binding, start, end, ClaimKind.DIRECTION, verdict, why, evidence)
