"""The five states of everything that is judged, and the one way in which they fold.

A score, a run, a trial, a case and a trace are in one of five states. Not judged is not passed: only `pass`
is green. What folds is folded by `fold_states` alone: the layers of a run into the run's state, and the runs
of a trace or of a case into theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, assert_never

from spanproof.trace.score import Errored, Label, Outcome, Scored, Skipped


class State(StrEnum):
    """What is known; see docs/layers.md."""

    PASS = "pass"  # noqa: S105 - a verdict
    """Judged, and right."""
    FAIL = "fail"
    """Judged, and wrong."""
    OPEN = "open"
    """Judged in part: what was checked is known, and something that decides could not be settled."""
    SKIPPED = "skipped"
    """There was nothing to judge, or what is needed for it is not on the trace."""
    ERRORED = "errored"
    """The evaluation itself failed, which says nothing about the agent."""

    @property
    def is_judged(self) -> bool:
        """Whether there is a verdict: pass or fail."""
        return self in (State.PASS, State.FAIL)


GRAVITY: Final = (State.FAIL, State.ERRORED, State.OPEN, State.PASS, State.SKIPPED)
"""The states, the gravest first: the gravest of several decides what they are together."""


def get_state(outcome: Outcome | None) -> State:
    """Return the state of an outcome that can have a verdict; None, no outcome at all, is skipped.

    Scores without verdicts (metrics and advice: `ScoreSpec.advisory`) have no state.
    """
    match outcome:
        case Scored(label=Label.PASS):
            return State.PASS
        case Scored(label=Label.FAIL):
            return State.FAIL
        case Scored():
            return State.OPEN
        case Errored():
            return State.ERRORED
        case Skipped() | None:
            return State.SKIPPED
        case _:
            assert_never(outcome)


def fold_states(states: Iterable[State]) -> State:
    """Return what these states are together: the gravest of them; skipped where there is none."""
    return min(states, key=GRAVITY.index, default=State.SKIPPED)


def fold_outcomes(outcomes: Iterable[Outcome | None]) -> State:
    """Return the state of a run from the own outcomes of its layers."""
    return fold_states(map(get_state, outcomes))
