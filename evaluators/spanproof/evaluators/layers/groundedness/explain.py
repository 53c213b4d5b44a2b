"""Sentences for people, made of causes at the edge: nothing reads them again."""

from __future__ import annotations

import re
from typing import Final

from spanproof.evaluators.layers.groundedness.model import (
    UNSOURCED,
    Cause,
    Claim,
    ClaimEvidence,
    ClaimKind,
    Verdict,
)
from spanproof.reading.field_units import format_in_currency

_WITH_UNITS: Final = frozenset({ClaimKind.QUANTITY, ClaimKind.CURRENCY})
_WORD: Final = re.compile(r"[^\W\d_]{2}")


def explain(claim: Claim, step: str = "", *, printed: bool = False) -> str:
    """Return one sentence for a claim's verdict.

    Args:
        claim: the claim.
        step: where its output came from ("step 3").
        printed: code printed that output; else a tool returned it.
    """
    bound = claim.evidence
    verb = "the code printed" if printed else "the tool returned"
    where = f" ({step})" if step else ""
    statement = f"The answer says {claim.text}"
    if bound is None:
        # A source may have the bare number.
        in_unit = " in that unit" if claim.kind in _WITH_UNITS and _WORD.search(claim.text) else ""
        nothing = {
            Cause.NOT_FOUND: f"no source has it{in_unit} or gives it",
            Cause.UNKNOWN_IDENTIFIER: "no source has this identifier",
        }
        return f"{statement}; {nothing.get(claim.cause, 'what was found settles nothing')}"
    source = verb if bound.output is not None else f"the {bound.source} gives"
    if claim.verdict is Verdict.UNCERTAIN:
        return f"{statement}; {_describe_unsettled(claim.cause, bound, source)}{where}"
    found = f"{source} {format_in_currency(bound.text, bound.unit, claim.text)}"
    why = {
        Cause.GIVEN: f"the {bound.source} gives {bound.text}",
        Cause.DERIVED: f"what {source} comes to that: {bound.derivation}",
        Cause.OTHER_RESULT: f"what {source} comes to {bound.derivation}",
        Cause.UNKNOWN_IDENTIFIER: f"no source has it; {found}",
        Cause.OVERTAKEN: f"a later output returned {bound.text}",
    }.get(claim.cause, found)
    return f"{statement}; {why}{where}"


def _describe_unsettled(cause: Cause, bound: ClaimEvidence, source: str) -> str:
    """Return what speaks against a claim, or for it, and does not suffice."""
    nearest = f"{source} {bound.derivation or bound.text}"
    if cause in UNSOURCED:
        return f"no source has it; the nearest is that {nearest}"
    return f"{nearest}, and whether that is what the answer means is not certain"
