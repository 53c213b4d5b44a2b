"""Scoring a stored trace again, by the evaluators of today.

A new version of an evaluator writes its scores beside those of the old; layers that are not called keep
theirs, and the replay they rest on where none of those called needs another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.trace import Layer, trace_of


def evaluate_again(
    engine: Engine,
    stored: TraceEvaluation,
    layers: Collection[Layer],
    parents: Mapping[str, str | None] = MappingProxyType({}),
) -> TraceEvaluation:
    """Evaluate the stored trace again on these layers; of the others, keep what was stored.

    Args:
        engine: judges these layers.
        stored: as the store gave it.
        layers: those scored again.
        parents: by span id, as received: an evaluation of a former version has none where a parent came late.
    """
    before = {run.run.span_id: run for run in stored.runs}
    received = [
        replace(span, parent_id=parents.get(span.span_id, span.parent_id)) for span in stored.trace.spans
    ]
    fresh = engine.evaluate(trace_of(received))
    runs = (_with_kept_scores(run, before.get(run.run.span_id), layers) for run in fresh.runs)
    return replace(fresh, runs=tuple(runs))


def _with_kept_scores(
    run: RunEvaluation, before: RunEvaluation | None, layers: Collection[Layer]
) -> RunEvaluation:
    """Return the run with the other layers' scores, and with their replay where it needed none itself."""
    if before is None:
        return run
    order = list(Layer)
    kept = [score for score in before.scores if score.layer not in layers]
    scores = sorted([*run.scores, *kept], key=lambda score: order.index(score.layer))
    unwanted = isinstance(run.replay, NoReplay) and not run.replay.wanted
    return replace(run, scores=tuple(scores), replay=before.replay if unwanted else run.replay)
