"""Verdicts and what the guard stopped, by cohort, for Prometheus: fail rates are then queries of PromQL.

Each run is counted once, when it is first stored; the store has what late spans change.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from spanproof.collector.cohort_labels import OTHER, CohortLabels
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.refusals import iter_blocking_rules
from spanproof.evaluators.runs import list_run_spans
from spanproof.evaluators.scores import find_state, get_score_id
from spanproof.trace import Cohort

COHORT_LABELS: Final = ("agent", "model", "prompt_version", "release")
_LABELS: Final = ("layer", "score", "label", *COHORT_LABELS)
_BUDGETS: Final = frozenset(("budget.tokens", "budget.cost_usd", "budget.steps", "budget.tool"))


class VerdictCounts(Collector):
    """Counts verdicts; thread-safe.

    Args:
        registry: where it is collected.
        max_cohorts: so many have series of their own.
    """

    def __init__(self, registry: CollectorRegistry, max_cohorts: int) -> None:
        self._guard = threading.Lock()
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._blocks: Counter[tuple[str, ...]] = Counter()
        self._labels = CohortLabels(COHORT_LABELS, max_cohorts)
        registry.register(self)

    def add_evaluation(self, evaluation: TraceEvaluation) -> None:
        """Count the verdicts of an evaluation, less those of advice, and what the guard stopped."""
        with self._guard:
            for score in evaluation.scores:
                state = find_state(score.layer, score.name, score.outcome)
                if state is None:
                    continue
                name = get_score_id(score.layer, score.name)
                labels = self._labels.list_labels(score.cohort)
                self._counts[score.layer.value, name, state.value, *labels] += 1
            for cause, cohort in _iter_blocks(evaluation):
                self._blocks[cause, *self._labels.list_labels(cohort)] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield the counters."""
        verdicts = CounterMetricFamily(
            "spanproof_evaluation_verdicts",
            "Stored verdicts, one per run, by score and cohort: pass, fail, open, skipped, errored.",
            labels=_LABELS,
        )
        folded = CounterMetricFamily(
            "spanproof_evaluation_verdicts_folded",
            f"Scores and blocks counted under the cohort {OTHER}, beyond metrics.max_cohorts.",
        )
        blocks = CounterMetricFamily(
            "spanproof_guard_blocks",
            "Actions that the SDK's guard stopped, by cohort and cause: a budget or the scan.",
            labels=("cause", *COHORT_LABELS),
        )
        with self._guard:
            for labels, count in self._blocks.items():
                blocks.add_metric(labels, count)
            for labels, count in self._counts.items():
                verdicts.add_metric(labels, count)
            folded.add_metric((), self._labels.folded)
        yield verdicts
        yield folded
        yield blocks


def _iter_blocks(evaluation: TraceEvaluation) -> Iterator[tuple[str, Cohort]]:
    """Yield the cause of each action that the guard stopped, with the cohort of its run."""
    trace = evaluation.trace
    causes = {span.span_id: rule for span in trace.spans for rule in islice(iter_blocking_rules(span), 1)}
    if not causes:
        return
    runs = [evaluated.run for evaluated in evaluation.runs]
    cohorts = {span.span_id: run.cohort for run in runs for span in list_run_spans(trace, run)}
    # A rail on what a user writes stops it before there is a run.
    otherwise = runs[0].cohort if runs else Cohort()
    for span_id, rule in causes.items():
        # Rules come from traces: those of the scanners are many, and one series.
        yield rule if rule in _BUDGETS else "scan", cohorts.get(span_id, otherwise)
