"""The evaluation of a trace that could not be evaluated: every layer of every run is errored.

A trace without scores looks like one that never came; an errored one is counted, found and retried.
"""

from __future__ import annotations

from collections.abc import Collection

from spanproof.evaluators.evaluator import LAYER_RULES
from spanproof.evaluators.model import NoReplay, RunEvaluation, RunEvidence, TraceEvaluation
from spanproof.evaluators.runs import list_runs
from spanproof.evaluators.scoring import build_scores
from spanproof.trace import Errored, Judgement, Layer, Run, Trace


def build_failed_evaluation(
    trace: Trace, error_type: str, message: str, layers: Collection[Layer] = tuple(Layer)
) -> TraceEvaluation:
    """Return an evaluation whose scores are all errored; its code is neither detected nor run.

    Args:
        trace: what could not be evaluated.
        error_type: of the last attempt, as users will read it.
        message: of the last attempt.
        layers: those that are judged.
    """
    outcome = Errored(error_type, message)
    found = []
    for run in _list_runs(trace):
        evidence = RunEvidence(trace, run, {}, NoReplay(message))
        judgements = [
            Judgement(rule.layer, rule.layer.value, run.span_id, outcome, rule.name, rule.version)
            for rule in LAYER_RULES
            if rule.layer in layers
        ]
        found.append(RunEvaluation(run, {}, NoReplay(message), build_scores(evidence, judgements)))
    return TraceEvaluation(trace, tuple(found), ())


def _list_runs(trace: Trace) -> list[Run]:
    """Return the trace's runs; one under its first span where finding them is what fails."""
    try:
        found = list_runs(trace, ())
    except Exception:  # noqa: BLE001 - whatever the spans hold, the failure itself must be recorded
        found = []
    if found:
        return found
    first = trace.spans[0]
    run = Run(
        trace.trace_id,
        first.span_id,
        first.name,
        None,
        None,
        (),
        start_ns=first.start_ns,
        end_ns=first.end_ns,
    )
    return [run]
