"""What runs cost and how they loop, for Prometheus: dollars, tokens, cached tokens, steps, errors, blocks.

Each run is counted once, when it is first stored. Of each amount there is the sum, and the number of runs
that have it: the mean of an hour is the increase of one divided by that of the other.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from spanproof.collector.cohort_labels import OTHER, CohortLabels
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.evaluators.runs import list_run_spans
from spanproof.trace import Layer, Scored, Span, Trace

RUN_LABELS: Final = ("project", "agent", "model", "task")

AMOUNTS: Final = {
    "spanproof_run_cost_usd": "Cost in US dollars of runs whose tokens are known.",
    "spanproof_run_tokens": "Input and output tokens of runs whose tokens are known.",
    "spanproof_run_cached_tokens": "Prompt tokens read from a cache, of runs whose traces record it.",
    "spanproof_run_steps": "Steps of runs.",
    "spanproof_run_consecutive_errors": "The longest series of consecutive errors in each run.",
    "spanproof_run_guard_blocks": "Actions that a guardrail stopped, of runs that have a guardrail.",
}
"""The metrics with their meanings."""

_SCORES: Final = {
    (Layer.TRAJECTORY, "cost_usd"): "spanproof_run_cost_usd",
    (Layer.TRAJECTORY, "tokens"): "spanproof_run_tokens",
    (Layer.TRAJECTORY, "steps"): "spanproof_run_steps",
    (Layer.TRAJECTORY, "consecutive_errors"): "spanproof_run_consecutive_errors",
    (Layer.BOUNDARY, "blocks"): "spanproof_run_guard_blocks",
}

# In the conventions of OpenTelemetry GenAI, OpenInference and the Vercel AI SDK.
_CACHED_TOKENS: Final = (
    "gen_ai.usage.cache_read.input_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.cachedInputTokens",
)


@dataclass(slots=True)
class _Summary:
    count: int = 0
    total: float = 0.0


class RunAmounts(Collector):
    """Sums the amounts of runs; thread-safe.

    Args:
        registry: where it is collected.
        max_cohorts: so many have series of their own.
    """

    def __init__(self, registry: CollectorRegistry, max_cohorts: int) -> None:
        self._guard = threading.Lock()
        self._labels = CohortLabels(RUN_LABELS, max_cohorts)
        self._summaries: dict[str, dict[tuple[str, ...], _Summary]] = {name: {} for name in AMOUNTS}
        registry.register(self)

    def add_evaluation(self, evaluation: TraceEvaluation) -> None:
        """Add the runs of an evaluation."""
        with self._guard:
            for evaluated in evaluation.runs:
                labels = self._labels.list_labels(evaluated.run.cohort)
                for name, amount in _iter_amounts(evaluation.trace, evaluated):
                    summary = self._summaries[name].setdefault(labels, _Summary())
                    summary.count += 1
                    summary.total += amount

    def collect(self) -> Iterator[Metric]:
        """Yield the summaries, and how many runs have no series of their own."""
        folded = CounterMetricFamily(
            "spanproof_run_folded", f"Runs summed under the cohort {OTHER}, beyond metrics.max_cohorts."
        )
        with self._guard:
            folded.add_metric((), self._labels.folded)
            for name, meaning in AMOUNTS.items():
                family = SummaryMetricFamily(name, meaning, labels=RUN_LABELS)
                for labels, summary in self._summaries[name].items():
                    family.add_metric(labels, summary.count, summary.total)
                yield family
        yield folded


def _iter_amounts(trace: Trace, evaluated: RunEvaluation) -> Iterator[tuple[str, float]]:
    """Yield the amounts of a run with the names of their metrics."""
    for score in evaluated.scores:
        name = _SCORES.get((score.layer, score.name))
        if name is not None and isinstance(score.outcome, Scored) and score.outcome.raw is not None:
            yield name, score.outcome.raw
    cached = [
        tokens
        for span in list_run_spans(trace, evaluated.run)
        if (tokens := _find_cached_tokens(span)) is not None
    ]
    if cached:
        yield "spanproof_run_cached_tokens", float(sum(cached))


def _find_cached_tokens(span: Span) -> int | None:
    # A span that repeats the sum of its children has no usage of its own.
    if span.usage is None:
        return None
    for key in _CACHED_TOKENS:
        tokens = span.attributes.get(key)
        if isinstance(tokens, int) and tokens >= 0:
            return tokens
    return None
