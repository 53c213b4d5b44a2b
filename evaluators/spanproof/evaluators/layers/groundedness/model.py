"""What claim binding says: an answer's claims, each with its verdict and the evidence that settled it.

Values only; nothing here reads text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What the outputs say about a claim or an answer; `uncertain` is for a judge, never a failure."""

    GROUNDED = "grounded"
    CONTRADICTED = "contradicted"
    UNCERTAIN = "uncertain"


class ClaimKind(StrEnum):
    """What sort of thing a claim states."""

    NUMBER = "number"
    CURRENCY = "currency"
    PERCENT = "percent"
    QUANTITY = "quantity"
    COUNT = "count"
    DATE = "date"
    TIME = "time"
    ENTITY = "entity"
    IDENTIFIER = "identifier"
    STATUS = "status"
    DIRECTION = "direction"
    COMPARISON = "comparison"
    SUPERLATIVE = "superlative"
    ABSENCE = "absence"
    PROSE = "prose"


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """What a claim was bound to.

    Attributes:
        output: index of the output it stands in, None for the task's text and for the answer itself.
        text: the place in the output, as `key: value`, or the task's words.
        derivation: how the claim follows from it (`4500 / 100 = 45`, `sum of qty = 1379`), empty where it
            is simply said there.
        others: further outputs that say the same, or hold a part of what it is derived from.
    """

    output: int | None
    text: str
    derivation: str = ""
    others: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing an answer states.

    Attributes:
        text: the words, `answer[start:end]`.
        reason: one sentence, why the verdict is what it is.
        evidence: the strongest binding; for a contradicted claim what the outputs say instead, if known.
    """

    text: str
    start: int
    end: int
    kind: ClaimKind
    verdict: Verdict
    reason: str
    evidence: ClaimEvidence | None = None


@dataclass(frozen=True, slots=True)
class Grounding:
    """The verdict on an answer.

    Attributes:
        value: the share of settled claims that are grounded; 0.5 where no claim could be settled.
        claims: in order of their place in the answer.
    """

    verdict: Verdict
    value: float
    claims: tuple[Claim, ...]
