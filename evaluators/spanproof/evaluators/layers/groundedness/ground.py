"""Claim binding: an answer against what execution returned.

In: the outputs, in the order of the turns, the answer, and the task it answers. Out: a `Grounding` with each
claim's verdict and evidence. Deterministic, no model, nothing executed. What cannot be bound is `uncertain`,
never contradicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from spanproof.evaluators.layers.groundedness.language.dates import DateMention
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.relative import todays
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimKind, Grounding, Verdict
from spanproof.evaluators.layers.groundedness.outputs.reading import read_outputs
from spanproof.evaluators.layers.groundedness.rules.absences import absence_claims
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, bind, claim
from spanproof.evaluators.layers.groundedness.rules.cells import cell_claims
from spanproof.evaluators.layers.groundedness.rules.comparisons import comparison_claims
from spanproof.evaluators.layers.groundedness.rules.days import date_claim
from spanproof.evaluators.layers.groundedness.rules.directions import direction_claims
from spanproof.evaluators.layers.groundedness.rules.entities import entity_claims
from spanproof.evaluators.layers.groundedness.rules.exchanged import exchanged_claims
from spanproof.evaluators.layers.groundedness.rules.names import named_claims
from spanproof.evaluators.layers.groundedness.rules.numbers import number_claim
from spanproof.evaluators.layers.groundedness.rules.polar import polar_claims
from spanproof.evaluators.layers.groundedness.rules.quantifiers import all_claims
from spanproof.evaluators.layers.groundedness.rules.ranking import ranking_claims
from spanproof.evaluators.layers.groundedness.rules.ratios import ratio_claims
from spanproof.evaluators.layers.groundedness.rules.statuses import status_claims
from spanproof.evaluators.layers.groundedness.rules.superlatives import superlative_claims
from spanproof.evaluators.layers.groundedness.rules.times import time_claim

_MAX_COMPARISONS = 100_000
"""Stated values times numbers of the outputs that are looked at: hostile input ends, in seconds."""

_FEW_CLAIMS = 6
"""So many stated values are always looked at."""

_SOFT = frozenset((ClaimKind.ENTITY, ClaimKind.PROSE))
"""Kinds whose uncertainty does not make a bound answer uncertain."""


def ground(
    outputs: Sequence[str],
    answer: str,
    task: str | None = None,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    now: datetime | None = None,
) -> Grounding:
    """Bind every claim of an answer to the outputs.

    Args:
        outputs: what execution returned, as text, in the order of the turns.
        answer: what the agent says.
        task: what it was asked; its numbers and dates count as given.
        synonyms: a user's own words for states, by the state's usual name.
        now: when the answer was given, for "yesterday" and "in three days". In UTC, or without a zone, it may
            be a neighbouring day where the user lives; any other zone is taken to be the user's own.
    """
    binding = bind(answer, read_outputs(outputs, _todays(now)), task, synonyms or {})
    claims = sorted(_claims(binding), key=lambda claim: (claim.start, claim.end))
    if binding.facts.cut:
        claims = [_as_far_as_read(found) for found in claims]
    return Grounding(_overall(claims), _value(claims), tuple(claims))


def _todays(now: datetime | None) -> Sequence[date]:
    if now is None:
        return ()
    return (now.date(),) if now.utcoffset() else todays(now.hour, now.date())


def _claims(binding: Binding) -> list[Claim]:
    claims: list[Claim] = []
    most = max(_FEW_CLAIMS, _MAX_COMPARISONS // max(1, len(binding.numbers)))
    left_out = f"not looked at: the outputs hold {len(binding.numbers)} numbers, and of the answer's values"
    left_out += f" the first {most} are held against them"
    for stated in binding.answer.stated[most:]:
        place = (stated.what.start, stated.what.end, ClaimKind.NUMBER, Verdict.UNCERTAIN)
        claims.append(claim(binding, *place, left_out))
    for stated in binding.answer.stated[:most]:
        if isinstance(stated.what, Quantity):
            found = number_claim(stated, binding)
        elif isinstance(stated.what, DateMention):
            found = date_claim(stated, binding)
        else:
            found = time_claim(stated, binding)
        if found is not None:
            claims.append(found)
    claims.extend(exchanged_claims(binding))
    claims.extend(status_claims(binding))
    claims.extend(direction_claims(binding))
    compared = comparison_claims(binding)
    claims = [_as_compared(found, compared) for found in claims] + compared
    claims.extend(ratio_claims(binding))
    claims.extend(superlative_claims(binding))
    claims.extend(absence_claims(binding))
    claims.extend(entity_claims(binding))
    claims.extend(named_claims(binding))
    claims.extend(polar_claims(binding))
    claims.extend(ranking_claims(binding))
    claims.extend(all_claims(binding))
    claims.extend(cell_claims(binding))
    return claims


def _as_far_as_read(found: Claim) -> Claim:
    """What a cut output contradicts, the rest of it may bear out."""
    if found.verdict is not Verdict.CONTRADICTED:
        return found
    reason = f"{found.reason}, in the part of the outputs that was read"
    return replace(found, verdict=Verdict.UNCERTAIN, reason=reason)


def _as_compared(found: Claim, compared: Sequence[Claim]) -> Claim:
    """A number of a pair that bears its comparison out: "costs more than the lamp: 85 against 39"."""
    if found.verdict is not Verdict.CONTRADICTED:
        return found
    for pair in compared:
        within = pair.start <= found.start and found.end <= pair.end and pair.verdict is Verdict.GROUNDED
        if within and pair.evidence is not None and f": {found.text}`" in pair.reason:
            return replace(found, verdict=Verdict.GROUNDED, reason=pair.reason, evidence=pair.evidence)
    return found


def _overall(claims: Sequence[Claim]) -> Verdict:
    verdicts = {claim.verdict for claim in claims}
    if Verdict.CONTRADICTED in verdicts:
        return Verdict.CONTRADICTED
    if any(claim.verdict is Verdict.UNCERTAIN and _matters(claim) for claim in claims):
        return Verdict.UNCERTAIN
    return Verdict.GROUNDED if Verdict.GROUNDED in verdicts else Verdict.UNCERTAIN


def _matters(claim: Claim) -> bool:
    """Whether an uncertain claim leaves the answer open: it is no name, or an output gives another value."""
    return claim.kind not in _SOFT or claim.evidence is not None


def _value(claims: Sequence[Claim]) -> float:
    settled = [claim for claim in claims if claim.verdict is not Verdict.UNCERTAIN]
    if not settled:
        return 0.5
    return sum(claim.verdict is Verdict.GROUNDED for claim in settled) / len(settled)
