"""What groundedness says: an answer's claims, each with its verdict, its cause and the evidence behind it.

Values only; nothing here reads text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule


class Verdict(StrEnum):
    """What the sources say about a claim or an answer; `uncertain` is for a judge, never a failure."""

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
    IDENTIFIER = "identifier"
    COMPARISON = "comparison"
    SUPERLATIVE = "superlative"
    QUANTIFIER = "quantifier"
    NAME = "name"
    ROLE = "role"
    STATE = "state"
    FLAG = "flag"
    DOING = "doing"
    NEGATION = "negation"
    RANK = "rank"
    QUOTE = "quote"


class Cause(StrEnum):
    """Why a claim has its verdict."""

    STATED = "stated"
    """A source says it."""
    GIVEN = "given"
    """The task, the system prompt or an argument gives it."""
    DERIVED = "derived"
    """A program over facts gives it."""
    OTHER_VALUE = "other value"
    """The field it names has another value."""
    OTHER_RESULT = "other result"
    """The program it names gives another result."""
    OTHER_STATE = "other state"
    """The record it is about has a state that excludes it."""
    UNKNOWN_IDENTIFIER = "unknown identifier"
    """No source has the identifier, and one has its like."""
    OVERTAKEN = "overtaken"
    """An earlier output said so; a later one of the same field says otherwise."""
    DENIED_STATE = "denied state"
    """It denies a state that the record has."""
    OPEN = "open"
    """What was found settles nothing."""
    NOT_FOUND = "not found"
    """No source has it, and none has another value in its place."""


UNSOURCED: Final = frozenset(
    (Cause.NOT_FOUND, Cause.UNKNOWN_IDENTIFIER, Cause.OTHER_VALUE, Cause.OTHER_RESULT)
)
"""Causes of claims whose value no source has and nothing gives."""


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """What a claim was bound to.

    Attributes:
        output: index of the output it is in, None for another source.
        text: the place in the source, as `key: value`.
        value: the cell's own characters, `source_text[start:end]`.
        derivation: the program (`56.7 - 44.1 = 12.6`), empty where it is simply said there.
        others: further outputs that hold a part of what it is derived from.
        record: the record's number in the fact base.
        source: the kind of source, such as `output` or `task`.
        unit: `cents` where a name says that the value counts them.
    """

    output: int | None
    text: str
    derivation: str = ""
    others: tuple[int, ...] = ()
    start: int = 0
    end: int = 0
    value: str = ""
    record: int | None = None
    source: str = "output"
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing an answer states.

    Attributes:
        text: the words, `answer[start:end]`.
        cause: why the verdict is what it is; `explain` makes a sentence of it.
        evidence: the strongest binding; of a contradicted claim what the source has instead.
        rule: the rule that contradicts it, None of another claim.
    """

    text: str
    start: int
    end: int
    kind: ClaimKind
    verdict: Verdict
    cause: Cause
    evidence: ClaimEvidence | None = None
    rule: GroundednessRule | None = None
