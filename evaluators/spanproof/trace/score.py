"""What an evaluation says.

An `Outcome` is one of three: `Scored`, `Skipped` (there is nothing to judge, and the reason says why) or
`Errored` (the evaluator itself failed). Neither of the last two is ever 0, and neither counts towards a fail
rate. A verdict that is scored without a label is *open*: what was checked is known, and something that
decides could not be settled. `spanproof.trace.state` has the five states. A `Score` is an outcome with its
place, its evaluator and its cohort.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Final, TypeAlias

from spanproof.trace.causes import Cause
from spanproof.trace.model import Cohort


class Layer(StrEnum):
    """The five layers; a score named as its layer is the layer's own value."""

    CORRECTNESS = "correctness"
    BOUNDARY = "boundary"
    EXECUTION = "execution"
    GROUNDEDNESS = "groundedness"
    TRAJECTORY = "trajectory"


class Label(StrEnum):
    """The verdict behind a value."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"


OPEN_VALUE: Final = 0.5
"""The value of a verdict that is open: neither of both, and left out of averages."""


class ClaimVerdict(StrEnum):
    """The verdict of the outputs on one claim of an answer."""

    GROUNDED = "grounded"
    CONTRADICTED = "contradicted"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class ClaimMark:
    """A claim within the answer: its characters are `answer[start:end]`.

    Attributes:
        found: the text of the output that it was bound to; None where it was not bound.
        kind: what sort of thing it states: `currency`, `date`, `status`, …; empty where that is not known.
        cell: the characters of that output which it was bound to; None where it was not bound to an output.
    """

    start: int
    end: int
    verdict: ClaimVerdict
    found: str | None = None
    kind: str = ""
    cell: tuple[int, int] | None = None


class SentenceState(StrEnum):
    """The verdict of the sources on a sentence of an answer."""

    CHECKED = "checked"
    CONTRADICTED = "contradicted"
    OPEN = "open"
    NO_ASSERTION = "no assertion"


class Ruling(StrEnum):
    """A judge's ruling on a sentence."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SentenceMark:
    """A sentence of the answer: its characters are `answer[start:end]`.

    Attributes:
        judge: the model or the person that ruled on it; empty where only the sources did.
        ruling: what that judge says. A judge below its bound settles nothing, so `verdict` may differ.
    """

    start: int
    end: int
    verdict: SentenceState
    judge: str = ""
    ruling: Ruling | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact behind a verdict.

    Attributes:
        what: the fact in words.
        span_id: where it is.
        recorded, replayed: what was recorded, beside what the replay gave.
        claim: of groundedness, the claim it is about.
        sentence: of groundedness, the sentence it is about; its words that were not read are `what`.
    """

    what: str
    span_id: str | None = None
    recorded: str | None = None
    replayed: str | None = None
    claim: ClaimMark | None = None
    sentence: SentenceMark | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """A verdict.

    Attributes:
        value: from 0 (worst) to 1 (best).
        label: pass or fail; None where the score is advisory or the verdict open.
        explanation: one sentence, with the strongest evidence first.
        raw, unit: of a metric the amount behind the value, as in 7 steps or 0.031 USD; else None and empty.
        cause: why the verdict is open; None where it is not.
        detail: what the cause is about: the value, the rule, the step; empty where the cause says it all.
    """

    value: float
    label: Label | None
    explanation: str
    evidence: tuple[Evidence, ...] = ()
    raw: float | None = None
    unit: str = ""
    cause: Cause | None = None
    detail: str = ""

    def __post_init__(self) -> None:
        """Refuse values outside 0..1 and amounts that are no number.

        Raises:
            ValueError: the value is not within 0..1, or the raw value is not finite.
        """
        if not 0.0 <= self.value <= 1.0:
            raise ValueError(f"a score is within 0..1, got {self.value!r}")
        if self.raw is not None and not isfinite(self.raw):
            raise ValueError(f"a raw value is a finite number, got {self.raw!r}")


@dataclass(frozen=True, slots=True)
class Skipped:
    """Not judged: there is nothing to judge, or the trace lacks what is needed.

    Attributes:
        reason: a sentence that a user can act on.
        cause: what such outcomes are counted by.
        detail: what the cause is about, as in `Scored`.
    """

    reason: str
    cause: Cause = Cause.EVALUATOR
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Errored:
    """The evaluator failed; says nothing about the agent."""

    error_type: str
    message: str


Outcome: TypeAlias = Scored | Skipped | Errored


@dataclass(frozen=True, slots=True)
class Judgement:
    """An outcome at its place, as an evaluator returns it; the engine makes it a `Score`.

    Attributes:
        name: the layer's name for the layer's own value, else the sub-score's (`compiles`, `recovery`, …).
        span_id: the span that was judged: what the score is attached to.
        snippet_id: the snippet that was judged, None for scores of steps, answers and runs.
        evaluator, version: who judged; a new version writes beside the old, never over it.
    """

    layer: Layer
    name: str
    span_id: str
    outcome: Outcome
    evaluator: str
    version: str = "1"
    snippet_id: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """A judgement as it is stored and attached.

    Attributes:
        id: see `spanproof.trace.ids.score_id`.
        run_span_id: the run it belongs to: the `case` of gates and fail rates.
        span_time_ns: start of the judged span: what time windows are measured on.
        input_digest: digest of what was judged.
    """

    id: str
    trace_id: str
    run_span_id: str
    span_id: str
    snippet_id: str | None
    layer: Layer
    name: str
    evaluator: str
    version: str
    outcome: Outcome
    cohort: Cohort
    span_time_ns: int
    input_digest: str
