"""The state of a run: what its layers say, and what a person said of them.

In: the scores of one run, those from elsewhere among them. Out: one outcome a layer, and the state that they
fold to. A person's verdict on a layer settles it: it takes the place of what the evaluators said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from spanproof.trace import Layer, Outcome, Score, State, fold_outcomes

EXTERNAL_PREFIX: Final = "external."
"""What the evaluator's name of a score from elsewhere begins with; its source follows."""

PERSON_VERDICT: Final = "verdict"
"""The name of a score that is a person's verdict on a layer of a run."""


def is_person_verdict(score: Score) -> bool:
    """Whether a person gave this verdict on a layer."""
    return score.name == PERSON_VERDICT and score.evaluator.startswith(EXTERNAL_PREFIX)


def select_layer_outcomes(run_span_id: str, scores: Iterable[Score]) -> dict[Layer, Outcome]:
    """Return each layer's own outcome of a run, a person's verdict in its place where there is one."""
    own: dict[Layer, Outcome] = {}
    by_person: dict[Layer, Outcome] = {}
    for score in scores:
        if is_person_verdict(score):
            by_person[score.layer] = score.outcome
        elif score.name == score.layer.value and score.span_id == run_span_id:
            own[score.layer] = score.outcome
    return own | by_person


def compute_run_state(run_span_id: str, scores: Iterable[Score]) -> State:
    """Return the state of a run."""
    return fold_outcomes(select_layer_outcomes(run_span_id, scores).values())
