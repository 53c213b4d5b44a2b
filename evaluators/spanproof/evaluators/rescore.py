"""Scoring a stored trace again, by the evaluators of today.

A new version of an evaluator writes its scores beside those of the old; layers not asked keep theirs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.trace import Layer, Score


def rescored(engine: Engine, stored: TraceEvaluation, layers: Collection[Layer]) -> TraceEvaluation:
    """The stored trace evaluated again on these layers; of the others, what was stored.

    Args:
        engine: judges these layers.
        stored: as the store gave it.
        layers: those scored again.
    """
    kept = {
        run.run.span_id: [score for score in run.scores if score.layer not in layers] for run in stored.runs
    }
    fresh = engine.evaluate(stored.trace)
    return replace(fresh, runs=tuple(_with(run, kept.get(run.run.span_id, [])) for run in fresh.runs))


def _with(run: RunEvaluation, kept: list[Score]) -> RunEvaluation:
    order = list(Layer)
    scores = sorted([*run.scores, *kept], key=lambda score: order.index(score.layer))
    return replace(run, scores=tuple(scores))
