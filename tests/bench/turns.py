"""Runs of an agent with and without instrumentation, taken in turns, and what they show of its cost."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field

from stopwatch import Times


@dataclass
class Turn:
    """Seconds of runs: one without instrumentation, then two with and one without, and so on."""

    plain: list[Times] = field(default_factory=list)
    instrumented: list[Times] = field(default_factory=list)
    spans: int = 0
    bytes: int = 0

    def compared(self) -> Iterator[tuple[Times, Times]]:
        """Each instrumented run beside the plain run before it, and beside the one after.

        Not beside the mean of both: times have a long tail on one side, so the mean of two lies above the
        median of one, and what costs nothing would seem to save some 2 µs per span.
        """
        for number, run in enumerate(self.instrumented):
            yield run, self.plain[number // 2]
            yield run, self.plain[number // 2 + 1]


def added_per_span(turns: list[Turn], spans_of_a_step: int) -> list[float]:
    """Microseconds that each step of each instrumented run took longer, per span of a step.

    A step lies between two calls of the model: neither what comes before the first nor after the last is one.
    """
    return [
        1e6 * (time - base) / spans_of_a_step
        for turn in turns
        for run, plain in turn.compared()
        for time, base in _both_known(run[1:-1], plain[1:-1])
    ]


def _both_known(run: Times, plain: Times) -> list[tuple[float, float]]:
    """Later steps take longer: each beside the same one."""
    pairs = zip(run, plain, strict=True)
    return [(time, base) for time, base in pairs if time is not None and base is not None]


def share_known(turns: list[Turn]) -> float:
    """Of the steps of all runs, per cent of which it is known what they took."""
    steps = [time for turn in turns for run in (*turn.plain, *turn.instrumented) for time in run]
    return 100 * sum(time is not None for time in steps) / len(steps)


def seconds(runs: list[Times]) -> float:
    """Of a run, each of whose steps takes what it does in the median."""
    known = [[time for time in step if time is not None] for step in zip(*runs, strict=True)]
    return sum(map(statistics.median, known))


def high(added: list[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(added, n=100)[98]


def ratios_of_quarters(ours: list[Turn], theirs: list[Turn], spans_of_a_step: int) -> list[float]:
    """What one way's spans take of another's, in each quarter of the turns: how well the whole is known."""
    both = [
        [statistics.median(added_per_span(quarter, spans_of_a_step)) for quarter in _quarters(turns)]
        for turns in (ours, theirs)
    ]
    return [one / other for one, other in zip(*both, strict=True)]


def _quarters(turns: list[Turn]) -> list[list[Turn]]:
    size = len(turns) // 4
    return [turns[at : at + size] for at in range(0, 4 * size, size)]


def overhead(turns: list[Turn]) -> tuple[float, float, float]:
    """Per cent that a run takes longer: the median of the turns, and the interval that holds it."""
    shares = [100 * (statistics.median(ratios) - 1) for turn in turns if (ratios := _ratios(turn))]
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(shares, k=len(shares))) for _ in range(1000))
    return statistics.median(shares), medians[25], medians[975]


def _ratios(turn: Turn) -> list[float]:
    """Of each instrumented run to a plain one, by what is known of both, if that is more than half of it."""
    ratios = []
    for run, plain in turn.compared():
        known = _both_known(run, plain)
        if 2 * len(known) > len(run):
            ratios.append(sum(time for time, _ in known) / sum(base for _, base in known))
    return ratios
