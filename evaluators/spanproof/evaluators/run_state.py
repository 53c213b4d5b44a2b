"""The state of a run: what its layers say, and what a person said of them.

In: the scores of one run, those from elsewhere among them. Out: one outcome a layer, the state that they
fold to, and the layer that says why. A person's verdict on a layer settles it: it takes the place of what the
evaluators said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from spanproof.trace import GRAVITY, Layer, Outcome, Score, State, get_state

REASON_ORDER: Final = (
    Layer.BOUNDARY,
    Layer.GROUNDEDNESS,
    Layer.EXECUTION,
    Layer.CORRECTNESS,
    Layer.TRAJECTORY,
)
"""The layers, the one first whose reason a person wants first where several are in one state.

Harm comes before a wrong answer, and that before how the run went. A step that failed says what `correctness`
says of its code, and says where. `trajectory` is a mean of many things and names none of them well.
"""

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


def list_by_gravity(layers: Mapping[Layer, Outcome]) -> list[Layer]:
    """Return the layers of a run, the gravest first.

    Of those that fail, errored or are open the order is `REASON_ORDER`, of the others that of `Layer`.
    """
    in_order = list(Layer)

    def rank(layer: Layer) -> tuple[int, int]:
        state = get_state(layers[layer])
        places = in_order if state in (State.PASS, State.SKIPPED) else REASON_ORDER
        return GRAVITY.index(state), places.index(layer)

    return sorted(layers, key=rank)


def find_reason(layers: Mapping[Layer, Outcome]) -> tuple[Layer, Outcome] | None:
    """Return the layer that says why a run is in its state, and its outcome; None where no layer judged."""
    ranked = list_by_gravity(layers)
    return (ranked[0], layers[ranked[0]]) if ranked else None
