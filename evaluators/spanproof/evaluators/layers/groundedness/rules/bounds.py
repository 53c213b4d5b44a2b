"""The rule for numbers that bound: "over 1,300 units", "above the $100 minimum".

True of a fact that lies on that side of a round number near it; a threshold that neither the outputs nor the
task give is made up.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.words import canonical_set
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, Verdict
from spanproof.evaluators.layers.groundedness.rules.asked import (
    Asked,
    in_unit,
    same_value,
    subject_of,
    subjects,
)
from spanproof.evaluators.layers.groundedness.rules.binding import evidence_of
from spanproof.evaluators.layers.groundedness.rules.matching import binds, fits, number_text
from spanproof.evaluators.layers.groundedness.rules.norms import names_a_norm
from spanproof.evaluators.layers.groundedness.rules.told_periods import kept_for, told_for

_ROUND_DIGITS = 2
_STAYS_WITHIN = re.compile(
    r"\b(?:stay(?:s|ed|ing)?|kept|keep(?:s|ing)?|remain(?:s|ed|ing)?|var(?:y|ies|ied|ying)|mov(?:es|ed|ing)"
    r"|fluctuat\w+|all|are|were|lie|lies|lay)\s+within\s+$",
    re.IGNORECASE,
)
"""What stands before how far values are apart, which bounds none of them."""
_CHOOSES = re.compile(
    r"\b(?:values?|rows?|points?|entries|records|observations|samples|items|those|anything|everything)\s+[a-z]+"
    r"(?:\s+than)?\s+$",
    re.IGNORECASE,
)
"""What stands before a bound that only says which values are spoken of: "values above 88.5 were left out"."""
_OVER_ALL = re.compile(
    r"\b(?:averaged|average|mean|median|summed|sum|total(?:led|ed)?|aggregated|taken|measured|computed|spread)\b"
    r"[^.;\d]{0,30}\bover\s+(?:the\s+|all\s+|these\s+|those\s+)?$",
    re.IGNORECASE,
)
"""What stands before the number of what a result goes over, which bounds nothing."""
_MAX_TEXT = 100_000

_NORM = canonical_set(
    "threshold minimum maximum limit required requirement target quota cap budget benchmark standard"
    " goal baseline allowance"
)


def bound_claim(asked: Asked) -> Claim | None:
    """A bound is true of a fact that rounds to it ("over 1,300 units"); one nobody gave is made up."""
    if (not asked.over and not asked.under) or _OVER_ALL.search(asked.before):
        return None
    given = any(same_value(asked, quantity) for quantity in asked.binding.task_quantities)
    if not given and not _NORM.isdisjoint(asked.stated.noun) and not _names_a_norm(asked):
        return asked.claim(
            Verdict.CONTRADICTED, f"neither the outputs nor the task give a bound of {asked.quantity.text}"
        )
    written = _written(asked)
    if written is not None:
        return asked.claim(Verdict.GROUNDED, "an output gives the bound", written)
    wrong = _comparison_fails(asked)
    if wrong is not None or given:
        return wrong
    if names_a_norm(asked):
        return None
    subject = subject_of(asked)
    stated = [
        fact
        for fact in asked.binding.numbers
        if fact is not subject and binds(asked.quantity, fact) is not None
    ]
    if subject is not None and stated:
        return asked.claim(
            Verdict.GROUNDED, f"`{subject.text}` is on that side of it", evidence_of(stated[0])
        )
    if (
        len(asked.quantity.text.strip("$€£ ").replace(",", "").rstrip("0")) > _ROUND_DIGITS
        and asked.quantity.unit is None
    ):
        return None  # "over 40,400 requests" gives a number, not a bound
    counted = [fact for fact in asked.binding.numbers if not fact.weak and fact.key == asked.stated.noun[:1]]
    for fact in counted or subjects(asked):
        value = in_unit(asked.quantity, fact)
        near = value and abs(value - asked.quantity.value) <= abs(value) / 4
        if near and (value > asked.quantity.value) == asked.over:
            sign = ">" if asked.over else "<"
            return asked.claim(
                Verdict.GROUNDED,
                "the outputs' value is on that side of it",
                evidence_of(fact, f"{number_text(value)} {sign} {number_text(asked.quantity.value)}"),
            )
    return None


def _written(asked: Asked) -> ClaimEvidence | None:
    """The output that writes the bound with its sign: `ref: <130`."""
    pattern = re.compile(rf"[<>≤≥]=?\s?{re.escape(asked.quantity.text)}(?![\d.,]*\d)")
    for index, text in enumerate(asked.binding.facts.texts):
        found = pattern.search(text[:_MAX_TEXT])
        if found is not None:
            return ClaimEvidence(index, found.group())
    return None


def _comparison_fails(asked: Asked) -> Claim | None:
    subject = subject_of(asked)
    if subject is None or subject.dimension is not asked.quantity.dimension:
        return None
    if _STAYS_WITHIN.search(asked.before) or _CHOOSES.search(asked.before):
        return None
    if told_for(asked) is not None and told_for(asked) != kept_for(subject):
        return None  # "under 8 kWh a day" of what a year took
    value = in_unit(asked.quantity, subject)
    if fits(asked.quantity, value) or (value > asked.quantity.value) == asked.over:
        return None
    return asked.claim(
        Verdict.CONTRADICTED,
        f"`{subject.text}` is not {'over' if asked.over else 'under'} it",
        evidence_of(subject),
    )


def _names_a_norm(asked: Asked) -> bool:
    """Whether an output holds the bound itself (`min_balance: 100`)."""
    return any(
        not _NORM.isdisjoint(fact.key) and binds(asked.quantity, fact) is not None
        for fact in asked.binding.numbers
    )
