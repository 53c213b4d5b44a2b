"""CPU time of an agent's run, step by step, where the processor's core was this process's own.

A core's second thread may belong to another guest of the machine. While it works, all that happens here
takes half as long again, for some ten milliseconds or a second. A sum, which needs no memory, shows it: it
is timed at each mark, and what lies beside a slow one is not known.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import pairwise
from time import monotonic, process_time, sleep

Times = list[float | None]
"""Seconds of a run up to its first mark, from there to the next, and so on to its end; None if not known."""

_ADDENDS = 1_500
_SLOW = 1.2
"""Of the fastest sum: alone on its core it is seldom slower by a tenth, beside another guest by half."""
_PATIENCE_S = 0.1


class Stopwatch:
    """Times runs, each of which marks where its steps begin."""

    def __init__(self) -> None:
        self._fastest = float("inf")
        self._marks: list[tuple[float, float]] = []
        self._sums: list[float] = []

    def mark(self) -> None:
        """A step is over and the next one begins; what this takes belongs to neither."""
        stopped = process_time()
        _sum()  # so that the next one is in the caches
        self._sums.append(_sum())
        self._marks.append((stopped, process_time()))

    def timed(self, run: Callable[[], object]) -> Times:
        """What a run took; it begins when the core is this process's own, or after some time all the same."""
        self._marks.clear()
        self._sums.clear()
        self._wait()
        self.mark()
        run()
        self.mark()
        self._fastest = min(self._fastest, statistics.median(self._sums))
        slow = [seconds > _SLOW * self._fastest for seconds in self._sums]
        spent = [later[0] - earlier[1] for earlier, later in pairwise(self._marks)]
        return [None if any(beside) else time for time, beside in zip(spent, pairwise(slow), strict=True)]

    def _wait(self) -> None:
        until = monotonic() + _PATIENCE_S
        while _sum() > _SLOW * self._fastest and monotonic() < until:
            sleep(0.005)


def _sum() -> float:
    """How long it takes."""
    began, total = process_time(), 0
    for addend in range(_ADDENDS):
        total += addend & 3
    return process_time() - began
