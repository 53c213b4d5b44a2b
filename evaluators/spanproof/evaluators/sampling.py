"""Sampling: which layers of which runs are judged, where judging all of them costs too much.

The choice follows from the trace's id alone, so the same trace is always chosen or always left out, wherever
and however often it is evaluated. What is left out is skipped with the reason, never silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b

from spanproof.trace import Layer, Run

_WHOLE = 2**64


class SampleBy(StrEnum):
    """What is drawn: whole traces, or each layer of a trace for itself."""

    TRACE = "trace"
    LAYER = "layer"


@dataclass(frozen=True, slots=True)
class SamplingRule:
    """How much of what is judged.

    Attributes:
        share: from 0 (nothing) to 1 (all).
        layer: only this one; None is every layer.
        cohort: only runs with these values, by dimension; see `spanproof.trace.Cohort`.
        by: with `trace`, rules of the same share choose the same traces, so that a trace has all its scores.
    """

    share: float
    layer: Layer | None = None
    cohort: Mapping[str, str] = field(default_factory=dict)
    by: SampleBy = SampleBy.TRACE

    def concerns(self, layer: Layer, run: Run) -> bool:
        """Whether this rule decides about this layer of this run."""
        fits = all(getattr(run.cohort, dimension) == value for dimension, value in self.cohort.items())
        return fits and self.layer in (None, layer)


@dataclass(frozen=True, slots=True)
class Sampling:
    """The rules in order; the first that concerns a layer of a run decides. Without one, it is judged."""

    rules: tuple[SamplingRule, ...] = ()

    def get_left_out(self, run: Run) -> dict[Layer, str]:
        """Return the layers of a run that are not judged, with the reason."""
        found: dict[Layer, str] = {}
        for layer in Layer:
            rule = next((rule for rule in self.rules if rule.concerns(layer, run)), None)
            if rule is not None and _compute_share(run.trace_id, layer, rule.by) >= rule.share:
                found[layer] = f"not sampled: {rule.share:.2%} of such runs are judged on {layer}"
        return found


def _compute_share(trace_id: str, layer: Layer, by: SampleBy) -> float:
    return compute_hash_share(f"{trace_id} {layer}" if by is SampleBy.LAYER else trace_id)


def compute_hash_share(drawn: str) -> float:
    """Return a number from 0 to below 1 that follows from this text, as a trace's id."""
    return int.from_bytes(blake2b(drawn.encode(), digest_size=8).digest()) / _WHOLE
