"""Flaky snippets: those that come out otherwise under another seed and clock.

Takes two replays of one run that differ in these alone (the seed of string hashes among them); gives the
first, with the steps marked whose class, output or value they decide. Their agreement with the record is
chance, so it is withdrawn.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.evaluators.model import Replay, ReplayedStep
from spanproof.evaluators.replay.compare import first_difference, same_text


def without_flaky(replay: Replay, again: Replay) -> Replay:
    """The replay, with its flaky steps marked.

    Args:
        replay: the one that counts.
        again: of the same run, under another seed and clock.
    """
    steps = tuple(_marked(step, again.step(step.snippet.id)) for step in replay.steps)
    return replace(replay, steps=steps, repeated=True)


def _marked(step: ReplayedStep, again: ReplayedStep | None) -> ReplayedStep:
    difference = _difference(step, again) if again is not None else None
    if difference is None:
        return step
    return replace(
        step, agrees=None, difference=f"flaky: under another seed and clock {difference}", flaky=True
    )


def _difference(step: ReplayedStep, again: ReplayedStep) -> str | None:
    one, other = step.execution, again.execution
    if one.failure_class is not other.failure_class:
        return f"it ended in {other.failure_class}, not in {one.failure_class}"
    for what, left, right in (
        ("it printed", one.stdout, other.stdout),
        ("its value was", one.result_text or "", other.result_text or ""),
    ):
        if not same_text(left, right):
            return first_difference(what, left, right, sides=("first", "then"))
    return None
