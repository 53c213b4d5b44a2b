"""Claim binding: an answer against what execution returned.

In: the outputs, in the order of the turns, the answer, and the task it answers. Out: a `Grounding` with each
claim's verdict and evidence. Deterministic, no model, nothing executed. What cannot be bound is `uncertain`,
never contradicted.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.evaluators.layers.groundedness.absences import absence_claims
from spanproof.evaluators.layers.groundedness.binding import Binding, bind
from spanproof.evaluators.layers.groundedness.comparisons import comparison_claims
from spanproof.evaluators.layers.groundedness.dates import DateMention
from spanproof.evaluators.layers.groundedness.days import date_claim, time_claim
from spanproof.evaluators.layers.groundedness.directions import direction_claims
from spanproof.evaluators.layers.groundedness.entities import entity_claims
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimKind, Grounding, Verdict
from spanproof.evaluators.layers.groundedness.numbers import number_claim
from spanproof.evaluators.layers.groundedness.quantities import Quantity
from spanproof.evaluators.layers.groundedness.reading import read_outputs
from spanproof.evaluators.layers.groundedness.statuses import status_claims
from spanproof.evaluators.layers.groundedness.superlatives import superlative_claims

_SOFT = frozenset((ClaimKind.ENTITY, ClaimKind.PROSE))
"""Kinds whose uncertainty does not make a bound answer uncertain."""


def ground(outputs: Sequence[str], answer: str, task: str | None = None) -> Grounding:
    """Bind every claim of an answer to the outputs.

    Args:
        outputs: what execution returned, as text, in the order of the turns.
        answer: what the agent says.
        task: what it was asked; its numbers and dates count as given.
    """
    binding = bind(answer, read_outputs(outputs), task)
    claims = sorted(_claims(binding), key=lambda claim: (claim.start, claim.end))
    return Grounding(_overall(claims), _value(claims), tuple(claims))


def _claims(binding: Binding) -> list[Claim]:
    claims: list[Claim] = []
    for stated in binding.answer.stated:
        if isinstance(stated.what, Quantity):
            found = number_claim(stated, binding)
        elif isinstance(stated.what, DateMention):
            found = date_claim(stated, binding)
        else:
            found = time_claim(stated, binding)
        if found is not None:
            claims.append(found)
    claims.extend(status_claims(binding))
    claims.extend(direction_claims(binding))
    claims.extend(comparison_claims(binding))
    claims.extend(superlative_claims(binding))
    claims.extend(absence_claims(binding))
    claims.extend(entity_claims(binding))
    return claims


def _overall(claims: Sequence[Claim]) -> Verdict:
    verdicts = {claim.verdict for claim in claims}
    if Verdict.CONTRADICTED in verdicts:
        return Verdict.CONTRADICTED
    if any(claim.verdict is Verdict.UNCERTAIN and claim.kind not in _SOFT for claim in claims):
        return Verdict.UNCERTAIN
    return Verdict.GROUNDED if Verdict.GROUNDED in verdicts else Verdict.UNCERTAIN


def _value(claims: Sequence[Claim]) -> float:
    settled = [claim for claim in claims if claim.verdict is not Verdict.UNCERTAIN]
    if not settled:
        return 0.5
    return sum(claim.verdict is Verdict.GROUNDED for claim in settled) / len(settled)
