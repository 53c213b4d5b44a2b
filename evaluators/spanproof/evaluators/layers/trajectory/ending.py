"""How a run ended, and whether that completes its task.

In: what the trace says of the run's end. Out: one outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.trace import Label, Outcome, Scored, Skipped


@dataclass(frozen=True, slots=True)
class Completion:
    """How the run ended; `known` is False where the trace does not say."""

    answered: bool
    known: bool = True
    how: str = ""


def task_completion(completion: Completion) -> Outcome:
    """Did the run end with an answer?"""
    if not completion.known:
        return Skipped(completion.how or "the trace does not say how the run ended")
    if completion.answered:
        return Scored(1.0, Label.PASS, completion.how or "the run ended with an answer")
    return Scored(0.0, Label.FAIL, completion.how or "the run ended without an answer")
