"""What a sink sends: a score, under a key that stays the same when its trace is evaluated again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from spanproof.collector.stages.attach import find_amount, find_label, format_evaluation_name
from spanproof.evaluators.scores import is_open
from spanproof.trace import Cause, Cohort, Errored, Score, Scored, Skipped, digest
from spanproof.trace.codec import encode_value

WITHDRAWN = Skipped("a later evaluation of the trace no longer has this score", Cause.WITHDRAWN)


@dataclass(frozen=True, slots=True)
class Item:
    """One score to send.

    Attributes:
        key: 32 hexadecimal digits; the same for the same score of the same span, whatever it is by now.
        score: without its evidence.
        was_sent: whether an earlier state was sent, so that the product may have it.
    """

    key: str
    score: Score
    was_sent: bool = False

    @property
    def name(self) -> str:
        """`spanproof.<layer>`, or `spanproof.<layer>.<name>`."""
        return format_evaluation_name(self.score)

    @property
    def uuid(self) -> str:
        """The key as a UUID."""
        return str(UUID(self.key))

    @property
    def amount(self) -> float | None:
        """The number under the name: a metric's raw amount, else the value.

        None of what is open, skipped or errored.
        """
        return find_amount(self.score)

    @property
    def value(self) -> float | None:
        """The value from 0 to 1; None of what is open, skipped or errored."""
        outcome = self.score.outcome
        if isinstance(outcome, Scored) and not is_open(self.score):
            return float(outcome.value)
        return None

    @property
    def label(self) -> str | None:
        """One of the five states; None of scores without verdicts, such as metrics and advice."""
        match self.score.outcome:
            case Scored():
                return find_label(self.score)
            case Skipped():
                return "skipped"
            case Errored():
                return "errored"

    @property
    def explanation(self) -> str:
        """One sentence, as UTF-8 can hold it."""
        match self.score.outcome:
            case Scored(explanation=text) | Skipped(reason=text):
                pass
            case Errored(error_type=error_type, message=message):
                text = f"{error_type}: {message}"
        return text.encode("utf-8", "replace").decode()

    @property
    def annotator(self) -> str:
        """Who judged: `CODE`, `LLM` or `HUMAN`."""
        evaluator = self.score.evaluator
        if evaluator.startswith("external.human"):
            return "HUMAN"
        return "LLM" if "judge" in evaluator else "CODE"

    @property
    def time(self) -> str:
        """The time of the judged span, as ISO 8601 has it."""
        return datetime.fromtimestamp(self.score.span_time_ns / 1e9, UTC).isoformat()

    @property
    def facts(self) -> dict[str, str]:
        """What else is worth to be known, as strings."""
        score = self.score
        facts = {
            "spanproof.score.key": self.key,
            "spanproof.score.id": score.id,
            "spanproof.evaluator": f"{score.evaluator} {score.version}",
            "spanproof.run_span_id": score.run_span_id,
        }
        if isinstance(score.outcome, Scored) and score.outcome.unit:
            facts["spanproof.unit"] = str(score.outcome.unit)
        if not isinstance(score.outcome, Errored) and score.outcome.cause is not None:
            facts["spanproof.score.cause"] = score.outcome.cause.value
        return {name: value.encode("utf-8", "replace").decode() for name, value in facts.items()}


def build_item(score: Score) -> Item:
    """Return a score as it is sent."""
    # Without the default project, so that keys of before, which had none, stay what they are.
    project = () if score.cohort.project == Cohort().project else (score.cohort.project,)
    key = digest(
        "sink",
        *project,
        score.trace_id,
        score.span_id,
        score.snippet_id or "",
        score.layer,
        score.name,
        score.evaluator,
    )
    if isinstance(score.outcome, Scored):
        score = replace(score, outcome=replace(score.outcome, evidence=()))
    return Item(key, score)


def compute_mark(score: Score) -> str:
    """Return what differs once the score says something else."""
    return digest("mark", encode_value(score.outcome), score.version)
