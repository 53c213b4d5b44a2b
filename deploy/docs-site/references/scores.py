"""The reference of scores, from their registry."""

from __future__ import annotations

from math import isinf

from tables import table

from spanproof.evaluators.scores import NORMALISED_SUFFIX, ScoreSpec, list_layer_scores
from spanproof.trace import Layer

_HEAD = f"""\
# Scores

For those who name scores in gates, alerts, queries and calls of the API. The page lists every score of the
registry (`evaluators/spanproof/evaluators/scores.py`). [Layer by layer](../layers.md) says what each score
measures and when it is skipped.

*Kind*: a verdict is the value of the layer; a metric is an amount in a unit, and its value from 0 to 1 has
the suffix `{NORMALISED_SUFFIX}`. *Weight*: its share in the mean that it is part of. *Label*: advice has no
`fail` and fails nothing. *Needs*: what must be configured or available for a run to have the score.

This page is written by `make reference`.
"""


def render() -> str:
    """Return the page."""
    head = ("name", "kind", "unit", "range", "weight", "label", "needs")
    parts = [_HEAD]
    for layer in Layer:
        specs = list_layer_scores(layer)
        link = specs[0].anchor.removeprefix("docs/")
        parts.append(f"\n## {layer.value.capitalize()}\n\n[What each measures](../{link}).\n\n")
        parts.append(table(head, (_row(spec) for spec in specs)))
    return "".join(parts)


def _row(spec: ScoreSpec) -> tuple[str, ...]:
    most = "" if isinf(spec.high) else f"{spec.high:g}"
    weight = f"{spec.weight:g} of `{spec.part_of}`" if spec.part_of else ""
    label = "advice" if spec.advisory else "pass, fail, open"
    needs = spec.given or (f"derived from `{spec.normalises}`" if spec.normalises else "")
    range_ = f"{spec.low:g} to {most}" if most else f"from {spec.low:g}"
    return f"`{spec.id}`", spec.kind.value, spec.unit.value, range_, weight, label, needs
