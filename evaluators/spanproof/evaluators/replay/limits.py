"""Bounds of the code that is replayed.

In: what the user configures, and a run. Out: the `Limits` of its steps, and the key that raises the one a
step reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from spanproof.sandbox import Execution, Limits
from spanproof.sandbox.limits import find_reached_limit
from spanproof.trace import Run

MAX_STEP_S: Final = 30.0
"""No step of a replay gets more seconds than this by its record, however long it took."""


@dataclass(frozen=True, slots=True)
class ReplayLimits:
    """Bounds of replayed code.

    Attributes:
        base: all bounds but those of time.
        step_s: seconds that a step may take; None: 10, or twice what the slowest step took on record, up to
            `MAX_STEP_S`.
    """

    base: Limits = field(default_factory=Limits)
    step_s: float | None = None

    def build_limits(self, run: Run) -> Limits:
        """Return the limits of one run: an interpreter of its own may have run it at another pace."""
        seconds = self.step_s
        if seconds is None:
            slowest_ns = max((step.end_ns - step.start_ns for step in run.steps if step.snippets), default=0)
            seconds = min(max(self.base.wall_s, 2 * slowest_ns / 1e9), MAX_STEP_S)
        return replace(self.base, wall_s=seconds, cpu_s=seconds)


DEFAULT_LIMITS: Final = ReplayLimits()


def format_remedy(execution: Execution) -> str:
    """Return which key of the configuration raises the limit that a step reached; empty where none does."""
    reached = find_reached_limit(execution, Limits())
    if reached is not None:
        return f"; raise sandbox.limits.{reached.name}"
    return ""
