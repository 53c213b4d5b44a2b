"""Which of two answers is better, judged in both orders: a preference that turns with the order is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib import resources

from spanproof.evaluators.judge.client import Judge
from spanproof.evaluators.judge.question import build_question
from spanproof.evaluators.judge.rubric import Rubric, parse_rubric


class Preference(StrEnum):
    """Which one is better; `tie` also where the order decided."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class Compared:
    """The outcome; `consistent` is whether both orders said the same."""

    preference: Preference
    consistent: bool
    reasoning: str


_HALF = 0.5


def load_preference_rubric() -> Rubric:
    """Return the shipped rubric of a comparison."""
    resource = resources.files(__package__) / "preference.md"
    return parse_rubric(resource.read_text("utf-8"), resource.name)


def compare_answers(judge: Judge, rubric: Rubric, task: str, first: str, second: str) -> Compared:
    """Compare two answers to a task.

    Args:
        judge: called twice.
        rubric: its instructions must ask for 1 where answer A is better, 0 where B is, 0.5 for neither.
        task: what both answer.
        first: one answer.
        second: the other.

    Raises:
        OverBudget, JudgeFailed, JudgeUnavailable: see `Judge.ask`.
    """
    ahead = judge.fetch_reply(
        build_question(rubric, (("task", task), ("answer A", first), ("answer B", second)))
    )
    second_first = judge.fetch_reply(
        build_question(rubric, (("task", task), ("answer A", second), ("answer B", first)))
    )
    one, other = _to_preference(ahead.score), _to_preference(1.0 - second_first.score)
    return Compared(one if one is other else Preference.TIE, one is other, ahead.reasoning)


def _to_preference(score: float) -> Preference:
    if score == _HALF:
        return Preference.TIE
    if score > _HALF:
        return Preference.FIRST
    return Preference.SECOND
