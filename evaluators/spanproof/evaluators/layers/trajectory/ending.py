"""How a run ended, and whether that is an answer which it can give.

In: what the trace says of the run's end. Out: one outcome. Whether the answer is what the user wanted is for
a judge, for tests or for labels: it does not follow from a trace.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.trace import OPEN_VALUE, Cause, Label, Outcome, Scored, Skipped

REPORTED = 0.5
"""What an honest report of failure counts: no answer to the task, and better than one out of nowhere."""


ENDING_UNKNOWN = "the trace does not say how the run ended"


@dataclass(frozen=True, slots=True)
class Completion:
    """How the run ended.

    Attributes:
        is_recorded: False where the trace does not say.
        empty: it ended with nothing in place of an answer: whether that was the task is open.
        reported: it ended with an honest report that the task was not done.
        how: a clause for people.
    """

    answered: bool
    is_recorded: bool = True
    empty: bool = False
    reported: bool = False
    how: str = ""


def evaluate_answered(completion: Completion) -> Outcome:
    """Judge whether the run ended with an answer that it can give."""
    if completion.empty:
        return Scored(OPEN_VALUE, None, completion.how, cause=Cause.NO_ANSWER)
    if not completion.is_recorded:
        return Skipped(completion.how or ENDING_UNKNOWN, Cause.NO_ANSWER)
    if completion.answered:
        return Scored(1.0, Label.PASS, completion.how or "the run ended with an answer")
    if completion.reported:
        return Scored(REPORTED, Label.FAIL, completion.how)
    return Scored(0.0, Label.FAIL, completion.how or "the run ended without an answer")
