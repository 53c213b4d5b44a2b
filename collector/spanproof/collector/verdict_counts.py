"""Verdicts, and what the guard stopped, counted by cohort, for Prometheus: fail rates are then queries of PromQL.

Each run is counted once, when it is first stored; the store has what late spans change. Cohorts come from
traces, so their number is bounded: beyond it the verdicts of a new cohort are counted as those of `(other)`,
all of them, so that no rate has its fails in one series and its passes in another.
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

from spanproof.evaluators.layers.blocks import blocking_rules
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.runs import spans_of
from spanproof.evaluators.scores import find, score_id
from spanproof.trace import Cohort, Errored, Outcome, Skipped

OTHER: Final = "(other)"
COHORT_LABELS: Final = ("agent", "model", "prompt_version", "release")
_LABELS: Final = ("layer", "score", "label", *COHORT_LABELS)
_MOST_CHARACTERS: Final = 200
_BUDGETS: Final = frozenset(("budget.tokens", "budget.cost_usd", "budget.steps", "budget.tool"))


class VerdictCounts(Collector):
    """Counts verdicts; thread-safe.

    Args:
        registry: where it is collected.
        max_cohorts: so many have series of their own.
    """

    def __init__(self, registry: CollectorRegistry, max_cohorts: int) -> None:
        self._max_cohorts = max_cohorts
        self._guard = threading.Lock()
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._cohorts: set[tuple[str, ...]] = set()
        self._blocks: Counter[tuple[str, ...]] = Counter()
        self._folded = 0
        registry.register(self)

    def count(self, evaluation: TraceEvaluation) -> None:
        """Count the verdicts of an evaluation, and what the guard stopped; scores that only advise have none."""
        with self._guard:
            for score in evaluation.scores:
                spec = find(score.layer, score.name)
                if spec is not None and spec.advisory:
                    continue
                name = score_id(score.layer, score.name)
                cohort = self._cohort_labels(score.cohort)
                self._counts[score.layer.value, name, _label(score.outcome), *cohort] += 1
            for each in evaluation.runs:
                for span in spans_of(evaluation.trace, each.run):
                    for rule in islice(blocking_rules(span), 1):
                        # Rules come from traces: those of the scanners are many, and one series.
                        cause = rule if rule in _BUDGETS else "scan"
                        self._blocks[cause, *self._cohort_labels(each.run.cohort)] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield the counters."""
        verdicts = CounterMetricFamily(
            "spanproof_evaluation_verdicts",
            "Verdicts stored, each run once, by score and cohort.",
            labels=_LABELS,
        )
        folded = CounterMetricFamily(
            "spanproof_evaluation_verdicts_folded",
            f"Scores counted under the cohort {OTHER}, beyond metrics.max_cohorts.",
        )
        blocks = CounterMetricFamily(
            "spanproof_guard_blocks",
            "Actions that the SDK's guard stopped, by the budget or the scan that did, and cohort.",
            labels=("cause", *COHORT_LABELS),
        )
        with self._guard:
            for labels, count in self._blocks.items():
                blocks.add_metric(labels, count)
            for labels, count in self._counts.items():
                verdicts.add_metric(labels, count)
            folded.add_metric((), self._folded)
        yield verdicts
        yield folded
        yield blocks

    def _cohort_labels(self, cohort: Cohort) -> tuple[str, ...]:
        labels = tuple(_clean(getattr(cohort, name)) for name in COHORT_LABELS)
        if labels not in self._cohorts:
            if len(self._cohorts) >= self._max_cohorts:
                self._folded += 1
                return (OTHER,) * len(COHORT_LABELS)
            self._cohorts.add(labels)
        return labels


def _label(outcome: Outcome) -> str:
    if isinstance(outcome, Errored):
        return "errored"
    if isinstance(outcome, Skipped):
        return "skipped"
    return outcome.label.value if outcome.label else "open"


def _clean(text: str) -> str:
    """Return text of a trace as a label can hold it."""
    return text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
