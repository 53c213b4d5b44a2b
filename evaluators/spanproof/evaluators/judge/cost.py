"""What judging a run cost, by all judges and for all layers: the metric `trajectory.judge_usd`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spanproof.evaluators.evaluator import Evaluator
from spanproof.evaluators.scores import Unit
from spanproof.trace import Judgement, Layer, Run, Scored

COST_NAME: Final = "judge_usd"
"""Name of the metric."""

_LAYER: Final = Layer.TRAJECTORY

DOLLARS_AT_HALF: Final = 0.01
"""A hundred judged runs for a dollar: where the value from 0 to 1 is one half."""


def build_cost_judgement(
    judge: Evaluator, run: Run, dollars: float, so_far: Sequence[Judgement]
) -> list[Judgement]:
    """Return the metric with what the judges before cost; nothing where this one cost nothing.

    Args:
        judge: the evaluator that was called.
        run: that it judged.
        dollars: what its prompts cost.
        so_far: what other evaluators gave.
    """
    if dollars <= 0.0:
        return []
    for judgement in so_far:
        is_cost = (
            judgement.layer is _LAYER and judgement.name == COST_NAME and judgement.span_id == run.span_id
        )
        if is_cost and isinstance(judgement.outcome, Scored):
            dollars += judgement.outcome.raw or 0.0
    value = DOLLARS_AT_HALF / (DOLLARS_AT_HALF + dollars)
    outcome = Scored(value, None, f"judging this run cost ${dollars:.6f}", raw=dollars, unit=Unit.USD)
    return [Judgement(_LAYER, COST_NAME, run.span_id, outcome, judge.name, judge.version)]
