"""Where the replay of a run left its record, in one line."""

from __future__ import annotations

from spanproof.evaluators.layers.common import find_first_divergence
from spanproof.evaluators.model import RunEvaluation


def find_divergence(run: RunEvaluation) -> str | None:
    """Return at which step the replay left the record first, and how; None where it kept to it."""
    first = find_first_divergence(run.run, run.replay)
    if first is None:
        return None
    number, step = first
    off_tape = [f"its call of {call.tool} is not on the tape ({call.reason})" for call in step.divergences]
    if step.agrees is False or not off_tape:
        how = step.difference
    else:
        how = off_tape[0]
    return f"step {number}: {how}"
