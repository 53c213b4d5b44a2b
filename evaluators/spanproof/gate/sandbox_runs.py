"""What shows whether the code of a run works in a sandbox.

In: the scores of one run. Out: those that decide `sandbox_pass_rate`, from the strongest evidence there is:
the tests of its case; results of one's own harness, which came by `/v1/scores`; a replay that agrees with the
record. And the facts that a report lists of a run that does not pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from spanproof.trace import JsonValue, Label, Layer, Score, Scored, Skipped

FAILURE_FIELDS: Final = ("tests_passed", "exit_code", "stderr_class", "execution_seconds")
"""What may be listed of a run that does not pass; names of results of a harness."""

_Name = tuple[Layer, str]

_TESTS: Final = (Layer.CORRECTNESS, "tests_pass")
_HARNESS: Final[Mapping[str, _Name]] = {
    "tests_passed": (Layer.CORRECTNESS, "tests_passed"),
    "exit_code": (Layer.EXECUTION, "exit_code"),
    "stderr_class": (Layer.EXECUTION, "stderr_class"),
    "execution_seconds": (Layer.EXECUTION, "execution_seconds"),
}
_REPRODUCED: Final = (Layer.EXECUTION, "reproduced")
_AGREES: Final = (Layer.CORRECTNESS, "replay_agrees")
_EXECUTION: Final = (Layer.EXECUTION, Layer.EXECUTION.value)
_WALL: Final = (Layer.EXECUTION, "wall_s")

SANDBOX_SCORES: Final = frozenset((_TESTS, *_HARNESS.values(), _REPRODUCED, _AGREES, _EXECUTION, _WALL))
"""All scores that are read for it."""


class SandboxEvidence(StrEnum):
    """By what the code of a run was tried; the strongest first."""

    TESTS = "tests of its case"
    HARNESS = "your harness"
    REPLAY = "replay"


def has_harness_results(scores: Mapping[_Name, Sequence[Score]]) -> bool:
    """Whether a harness ran the code of a run."""
    return any(name in scores for name in _HARNESS.values())


def select_sandbox_scores(scores: Mapping[_Name, Sequence[Score]]) -> Sequence[Score]:
    """Return the scores that decide whether the code of a run works; empty where nothing tried it."""
    if _TESTS in scores:
        return scores[_TESTS]
    by_harness = [*scores.get(_HARNESS["tests_passed"], ()), *scores.get(_HARNESS["exit_code"], ())]
    if by_harness:
        return [_with_label(score) for score in by_harness]
    replayed = [score for score in scores.get(_REPRODUCED, ()) if not isinstance(score.outcome, Skipped)]
    if not replayed:
        return ()
    # What ended as on record may have given another output, and a replay that agrees with a record of failure
    # shows that the code fails.
    others = [*scores.get(_AGREES, ()), *scores.get(_EXECUTION, ())]
    return [*replayed, *(score for score in others if not isinstance(score.outcome, Skipped))]


def _with_label(score: Score) -> Score:
    """Return a result of a harness with a verdict: without one it passed where its value is 1."""
    outcome = score.outcome
    if not isinstance(outcome, Scored) or outcome.label is not None:
        return score
    return replace(score, outcome=replace(outcome, label=Label.PASS if outcome.value >= 1 else Label.FAIL))


def get_sandbox_evidence(deciding: Sequence[Score]) -> SandboxEvidence:
    """Return by what the code was tried, from the scores that decide."""
    name = (deciding[0].layer, deciding[0].name)
    if name == _TESTS:
        return SandboxEvidence.TESTS
    if name in _HARNESS.values():
        return SandboxEvidence.HARNESS
    return SandboxEvidence.REPLAY


def get_failure_fields(
    scores: Mapping[_Name, Sequence[Score]], fields: Sequence[str]
) -> Mapping[str, JsonValue]:
    """Return the named facts of a run, None where nothing has one."""
    return {field: _read_field(scores, field) for field in fields}


def _read_field(scores: Mapping[_Name, Sequence[Score]], field: str) -> JsonValue:
    outcomes = [
        score.outcome for score in scores.get(_HARNESS[field], ()) if isinstance(score.outcome, Scored)
    ]
    if not outcomes and field == "execution_seconds":
        outcomes = [score.outcome for score in scores.get(_WALL, ()) if isinstance(score.outcome, Scored)]
    if not outcomes and field == "tests_passed":
        outcomes = [score.outcome for score in scores.get(_TESTS, ()) if isinstance(score.outcome, Scored)]
    if not outcomes:
        return None
    worst = min(outcomes, key=lambda outcome: outcome.value)
    if field == "stderr_class":
        return worst.explanation
    return worst.value if worst.raw is None else worst.raw
