"""What an optimiser works with: candidates, the split of the cases, measurements, and the result."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from statistics import fmean
from typing import Any

from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.experiment import Experiment
from spanproof.experiments.statistics import FEWEST_HELD_OUT, Change, PairedDifference, compare_pairs
from spanproof.trace import Layer, State

_LEAST_CASES = 6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prompt, and where it is from; `examples` are appended to `instruction`."""

    instruction: str
    examples: str = ""
    strategy: str = "start"
    parent: str = ""

    @property
    def text(self) -> str:
        """What the agent gets."""
        if self.examples:
            return f"{self.instruction}\n\n{self.examples}"
        return self.instruction

    @property
    def id(self) -> str:
        """The same for the same text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Split:
    """Ids of cases: `train` is shown to the model, `validation` chooses, `held_out` is run at the end."""

    train: frozenset[str]
    validation: frozenset[str]
    held_out: frozenset[str]


def build_split(ids: Sequence[str], seed: int, *, few_allowed: bool = False) -> Split:
    """Return half of the cases to train on, a quarter to choose by and a quarter held out.

    Where there are fewer than 48 cases, more than a quarter is held out: as many as can show a gain.

    Args:
        ids: of all cases.
        seed: of their order.
        few_allowed: whether fewer cases may be held out than can show a gain.

    Raises:
        ExperimentError: there are too few cases.
    """
    if len(ids) < _LEAST_CASES or (len(ids) < 2 * FEWEST_HELD_OUT and not few_allowed):
        raise ExperimentError(
            f"the suite has {len(ids)} cases, and to show a gain takes {2 * FEWEST_HELD_OUT}:"
            f" {FEWEST_HELD_OUT} of them are held out, and fewer show none; promote more runs, or search on"
            f" {_LEAST_CASES} or more with --few-cases, which promises no gain"
        )
    order = sorted(ids)
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    quarter = max(1, len(order) // 4)
    held_out = quarter if few_allowed else max(quarter, FEWEST_HELD_OUT)
    return Split(
        train=frozenset(order[held_out + quarter :]),
        validation=frozenset(order[held_out : held_out + quarter]),
        held_out=frozenset(order[:held_out]),
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """How a candidate did on some cases.

    Attributes:
        rates: share of the trials that passed, by case, open ones counted as not passed; a case without a
            verdict and without an open trial is left out.
        layers: by layer the share of the trials with a verdict whose verdict is not fail.
        open: how many trials are open.
        open_layers: by layer how many trials left it open.
        steps, tokens, cost_usd: means over trials; the cost is None where a model has no known price.
    """

    candidate: Candidate
    rates: Mapping[str, float]
    layers: Mapping[Layer, Mapping[str, float]]
    steps: float
    tokens: float
    cost_usd: float | None
    open: int = 0
    open_layers: Mapping[Layer, int] = field(default_factory=dict)

    @property
    def score(self) -> float | None:
        """The mean over judged cases; None where none could be judged."""
        return fmean(self.rates.values()) if self.rates else None


def evaluate_candidate(candidate: Candidate, experiment: Experiment) -> Measured:
    """Return a candidate's measurements in an experiment."""
    trials = experiment.trials
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    has_all_costs = bool(costs) and len(costs) == len(trials)
    steps = [trial.steps for trial in trials]
    tokens = [trial.tokens for trial in trials]
    return Measured(
        candidate,
        experiment.rates,
        _compute_layer_rates(experiment),
        steps=_compute_mean(steps),
        tokens=_compute_mean(tokens),
        cost_usd=fmean(costs) if has_all_costs else None,
        open=experiment.open_trials,
        open_layers={Layer(name): counts.open for name, counts in experiment.count_by_layer().items()},
    )


def _compute_layer_rates(experiment: Experiment) -> dict[Layer, dict[str, float]]:
    """Return by layer and case the share of judged trials that did not fail, where any was judged."""
    rates: dict[Layer, dict[str, float]] = {}
    for layer in Layer:
        for result in experiment.cases:
            states = [trial.layers.get(layer.value, State.SKIPPED) for trial in result.trials]
            judged = [state is not State.FAIL for state in states if state.is_judged]
            if judged:
                rates.setdefault(layer, {})[result.case.id] = fmean(judged)
    return rates


def _compute_mean(numbers: Sequence[float]) -> float:
    """Return the mean, 0 of none."""
    return fmean(numbers) if numbers else 0.0


def compare_measured(before: Mapping[str, float], now: Mapping[str, float]) -> PairedDifference | None:
    """Return the paired difference; None where no case is in both."""
    shared = sorted(before.keys() & now.keys())
    if not shared:
        return None
    return compare_pairs([before[key] for key in shared], [now[key] for key in shared])


def select_front(measured: Sequence[Measured]) -> tuple[Measured, ...]:
    """Return the Pareto front: those that no other beats in score, tokens and steps at once."""

    def aims(measured: Measured) -> tuple[float, float, float]:
        return (measured.score or 0.0, -measured.tokens, -measured.steps)

    def beats(one: Measured, other: Measured) -> bool:
        ours, theirs = aims(one), aims(other)
        return all(a >= b for a, b in zip(ours, theirs, strict=True)) and ours != theirs

    scored = [candidate for candidate in measured if candidate.score is not None]
    return tuple(candidate for candidate in scored if not any(beats(other, candidate) for other in scored))


@dataclass(frozen=True, slots=True)
class Optimised:
    """The result: the best candidate, and what it did to cases that nothing was chosen by.

    Attributes:
        validation: every candidate on the validation cases, in the order of their proposals.
        before, after: the start and the best, on the held-out cases.
        stopped: why the search ended.
        rejected: candidates that lost on the regression suite, with what they lost.
    """

    best: Candidate
    validation: tuple[Measured, ...]
    before: Measured
    after: Measured
    stopped: str
    rejected: Mapping[str, str]

    @property
    def gain(self) -> PairedDifference | None:
        """The difference on the held-out cases."""
        return compare_measured(self.before.rates, self.after.rates)

    @property
    def is_gain_shown(self) -> bool:
        """Whether the test shows a gain, on enough held-out cases to promise one."""
        gain = self.gain
        return gain is not None and gain.pairs >= FEWEST_HELD_OUT and gain.change is Change.BETTER

    @property
    def change(self) -> tuple[str, ...]:
        """The lines that the best prompt has changed of the start, as a unified diff without its head."""
        before, after = (measured.candidate.text.splitlines() for measured in (self.before, self.after))
        return tuple(unified_diff(before, after, lineterm="", n=1))[2:]

    @property
    def front(self) -> tuple[Measured, ...]:
        """The Pareto front of score, tokens and steps, on the validation cases."""
        return select_front(
            [measured for measured in self.validation if measured.candidate.id not in self.rejected]
        )

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        return {
            "best": {"id": self.best.id, "strategy": self.best.strategy, "text": self.best.text},
            "change": list(self.change),
            "stopped": self.stopped,
            "held_out": {
                "before": self.before.score,
                "after": self.after.score,
                "gain": _compute_difference_row(self.gain),
                "gain_shown": self.is_gain_shown,
                "open_before": self.before.open,
                "open_after": self.after.open,
                "layers": {
                    layer.value: _compute_difference_row(
                        compare_measured(self.before.layers.get(layer, {}), self.after.layers.get(layer, {}))
                    )
                    for layer in Layer
                },
            },
            "front": [measured.candidate.id for measured in self.front],
            "candidates": [
                {
                    "id": measured.candidate.id,
                    "strategy": measured.candidate.strategy,
                    "parent": measured.candidate.parent,
                    "validation": measured.score,
                    "open": measured.open,
                    "tokens": measured.tokens,
                    "steps": measured.steps,
                    "cost_usd": measured.cost_usd,
                    "rejected": self.rejected.get(measured.candidate.id),
                }
                for measured in self.validation
            ],
        }


def _compute_difference_row(found: PairedDifference | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "p_value": found.p_value,
        "cases": found.pairs,
    }
