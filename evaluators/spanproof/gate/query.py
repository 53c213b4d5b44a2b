"""Which runs are meant: conditions on a score of theirs and on their cohort.

    layer = 'boundary' and label = 'fail' and agent = 'checkout'

A run is meant where one of its scores satisfies all conditions. Without a condition on `name` that is the own
value of a layer: a run that fails a layer, not one whose advice is low.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from spanproof.gate.assertion import Condition, Match
from spanproof.trace import Layer, Score, State, get_state

OF_SCORES: Final = ("layer", "name", "label")
"""The dimensions of a score itself; the others are those of its cohort."""

LABELS: Final = tuple(each.value for each in State)
"""The states; of advice, `open` means that it was scored."""

_KNOWN: Final = {"layer": tuple(each.value for each in Layer), "label": LABELS}


@dataclass(frozen=True, slots=True)
class ScoreQuery:
    """Conditions that a score must satisfy together."""

    conditions: tuple[Condition, ...]

    @property
    def layer(self) -> Layer | None:
        """The one layer that is meant; None where there may be several."""
        for each in self.conditions:
            if each.dimension == "layer" and each.match is Match.EQUAL:
                return Layer(each.values[0])
        return None

    def takes(self, score: Score) -> bool:
        """Whether a score satisfies all conditions."""
        is_own_value = score.name == score.layer.value
        if not is_own_value and not any(each.dimension == "name" for each in self.conditions):
            return False
        values = {
            "layer": score.layer.value,
            "name": "score" if is_own_value else score.name,
            "label": get_label(score),
        }
        return all(
            each.holds(values[each.dimension]) if each.dimension in values else each.holds_for(score.cohort)
            for each in self.conditions
        )


def get_label(score: Score) -> str:
    """Return one of `LABELS`."""
    return get_state(score.outcome).value


def find_condition_refusal(condition: Condition) -> str | None:
    """Return why no score satisfies a condition; None where one may."""
    known = _KNOWN.get(condition.dimension)
    if known is None or condition.match is Match.PATTERN:
        return None
    unknown = next((value for value in condition.values if value not in known), None)
    if unknown is None:
        return None
    near = get_close_matches(unknown, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"there is no {condition.dimension} {unknown!r}; {hint}known: {', '.join(known)}"
