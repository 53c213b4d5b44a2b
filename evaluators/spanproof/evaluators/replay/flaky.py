"""Flaky snippets: those that come out otherwise under another seed and clock.

Takes two replays of one run that differ in these alone (the seed of string hashes among them); gives the
first, with the steps marked whose class, output or value they decide. Their agreement with the record is
chance, so it is withdrawn.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.evaluators.model import Replay, ReplayedStep
from spanproof.evaluators.replay.compare import describe_difference, is_same_text


def with_flaky_steps(replay: Replay, again: Replay) -> Replay:
    """Return the replay, with its flaky steps marked.

    Args:
        replay: the one that counts.
        again: of the same run, under another seed and clock.
    """
    steps = tuple(_with_flakiness(step, again.find_step(step.snippet.id)) for step in replay.steps)
    return replace(replay, steps=steps, repeated=True)


def _with_flakiness(step: ReplayedStep, again: ReplayedStep | None) -> ReplayedStep:
    difference = _find_difference(step, again) if again is not None else None
    if difference is None:
        return step
    return replace(
        step, agrees=None, difference=f"flaky: under another seed and clock {difference}", flaky=True
    )


def _find_difference(step: ReplayedStep, again: ReplayedStep) -> str | None:
    one, other = step.execution, again.execution
    if one.failure_class is not other.failure_class:
        return f"it ended in {other.failure_class}, not in {one.failure_class}"
    for what, left, right in (
        ("it printed", one.stdout, other.stdout),
        ("its value was", one.result_text or "", other.result_text or ""),
    ):
        if not is_same_text(left, right):
            return describe_difference(what, left, right, sides=("first", "then"))
    return None
