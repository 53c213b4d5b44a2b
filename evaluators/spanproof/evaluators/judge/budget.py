"""What asking may cost: a budget by the hour and by cohort, a pace.

A question is reserved at its highest price before it is sent and settled at its true one after, so that
several threads together never spend more than allowed. Time is handed in; nothing here sleeps but `Pace`.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from spanproof.evaluators.judge.errors import OverBudget

HOUR_S = 3600.0
MAX_REPLY_TOKENS = 700
"""Tokens a reply may have: reasoning of three sentences, some quotes, a number."""


class Budget:
    """Dollars by the hour, in all and by cohort. Thread-safe.

    Args:
        per_hour: at most so much within any hour; None is no limit.
        per_cohort: the same for each cohort.
        now: seconds of a clock that never goes back.
    """

    def __init__(
        self,
        per_hour: float | None,
        per_cohort: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = {"hour": per_hour, "cohort": per_cohort}
        self._now = now
        self._spent: deque[tuple[float, str, float]] = deque()
        self._lock = threading.Lock()

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return any(limit is not None for limit in self._limits.values())

    def reserve(self, cohort: str, dollars: float) -> None:
        """Take this much from the budget.

        Raises:
            OverBudget: it is not there; says which limit stands in the way.
        """
        with self._lock:
            began = self._now() - HOUR_S
            while self._spent and self._spent[0][0] <= began:
                self._spent.popleft()
            of_cohort = sum(cost for _, whose, cost in self._spent if whose == cohort)
            self._check("hour", sum(cost for _, _, cost in self._spent), dollars, "an hour")
            self._check("cohort", of_cohort, dollars, f"an hour for the cohort {cohort}")
            self._spent.append((self._now(), cohort, dollars))

    def settle(self, cohort: str, reserved: float, dollars: float) -> None:
        """Put the true cost in the place of what was reserved."""
        with self._lock:
            self._spent.append((self._now(), cohort, dollars - reserved))

    def _check(self, limit: str, spent: float, dollars: float, words: str) -> None:
        allowed = self._limits[limit]
        if allowed is None or spent + dollars <= allowed:
            return
        budget = f"the judge's budget of ${_plain(allowed)} {words}"
        if dollars > allowed:
            raise OverBudget(f"one question may cost ${_plain(dollars)}, more than {budget}")
        raise OverBudget(f"{budget} is used up")


def _plain(dollars: float) -> str:
    """Without an exponent, however little it is."""
    return f"{dollars:.6f}".rstrip("0").rstrip(".")


class Pace:
    """How many questions at once, and how many a minute. Thread-safe."""

    def __init__(self, at_once: int, per_minute: int | None) -> None:
        self._room = threading.BoundedSemaphore(at_once)
        self._gap_s = 60.0 / per_minute if per_minute else 0.0
        self._next_s = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and hold it."""
        with self._room:
            with self._lock:
                starts = max(self._next_s, time.monotonic())
                self._next_s = starts + self._gap_s
            time.sleep(max(0.0, starts - time.monotonic()))
            yield
