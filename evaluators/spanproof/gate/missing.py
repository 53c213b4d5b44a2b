"""Why no case has the score that an assertion is about: misspelt, of another layer, or not configured.

Takes the score and the names of the scores there are; gives one sentence with the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from spanproof.evaluators.scores import find_nearest
from spanproof.gate.assertion import ScoreRef
from spanproof.trace import Layer


def describe_missing(score: ScoreRef, names: Mapping[Layer, AbstractSet[str]]) -> str:
    """Return one sentence; `names` are those of the scores that are there, by layer."""
    article = "an" if score.layer.value[0] in "aeiou" else "a"
    missing = f"no case has {article} {score} score"
    if score.spec is not None:
        if score.spec.given:
            return f"{missing}: {score.spec.given}"
        return missing
    there = [(layer, name) for layer, of_layer in names.items() for name in of_layer]
    meant = find_nearest(score.layer, score.name, there)
    if meant:
        return f"{missing}; did you mean {meant}?"
    return missing
