"""Runs of an agent with and without instrumentation, taken in turns, and what they tell of its cost."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field

FLEETS = 4
"""Sets of processes, one after the other: where one's memory happens to lie makes it faster or slower."""


@dataclass
class Turn:
    """Seconds of runs without and with instrumentation, each the whole run's and then its steps'."""

    plain: list[list[float]] = field(default_factory=list)
    instrumented: list[list[float]] = field(default_factory=list)
    spans: int = 0
    bytes: int = 0


def added_per_span(turns: list[Turn], spans_of_a_step: int) -> tuple[float, float]:
    """Microseconds that steps take longer, per span of a step: of the median and of the 99th percentile."""
    plain, instrumented = list[float](), list[float]()
    for turn in turns:
        usual = [statistics.median(times) for times in zip(*turn.plain, strict=True)]
        for runs, found in ((turn.plain, plain), (turn.instrumented, instrumented)):
            # Later steps take longer: each is compared with the same one.
            found += [time - base for run in runs for time, base in list(zip(run, usual, strict=True))[1:]]
    median, high = (
        1e6 * (quantile(instrumented) - quantile(plain)) / spans_of_a_step
        for quantile in (statistics.median, lambda values: statistics.quantiles(values, n=100)[98])
    )
    return median, high


def in_quiet_moments(turns: list[Turn], spans_of_a_step: int) -> float:
    """Microseconds that the fastest tenth of a step's runs take longer, per span: the median of the steps."""
    added = list[float]()
    for fleet in fleets_of(turns):
        plain = [run for turn in fleet for run in turn.plain]
        instrumented = [run for turn in fleet for run in turn.instrumented]
        fastest = [
            [sorted(times)[len(times) // 10] for times in zip(*runs, strict=True)]
            for runs in (plain, instrumented)
        ]
        added += [after - before for before, after in list(zip(*fastest, strict=True))[1:]]
    return 1e6 * statistics.median(added) / spans_of_a_step


def fleets_of(turns: list[Turn]) -> list[list[Turn]]:
    """The turns of each set of processes."""
    size = len(turns) // FLEETS
    return [turns[at : at + size] for at in range(0, size * FLEETS, size)]


def ratios_of_fleets(ours: list[Turn], theirs: list[Turn], spans_of_a_step: int) -> list[float]:
    """What one way's spans take of another's, in each fleet: they tell how well the whole is known."""
    both = [
        [added_per_span(fleet, spans_of_a_step)[0] for fleet in fleets_of(turns)] for turns in (ours, theirs)
    ]
    return [one / other for one, other in zip(*both, strict=True)]


def overhead(turns: list[Turn]) -> tuple[float, float, float]:
    """Per cent that a run takes longer: the median of the turns, and the interval that holds it."""
    shares = [
        100 * (statistics.median(run[0] for run in turn.instrumented) / base - 1)
        for turn in turns
        for base in [statistics.median(run[0] for run in turn.plain)]
    ]
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(shares, k=len(shares))) for _ in range(1000))
    return statistics.median(shares), medians[25], medians[975]
