"""What the store answers with: rows about traces, and counted verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanproof.trace import Layer, Outcome, Score, State, fold_outcomes, fold_states

if TYPE_CHECKING:
    from spanproof.gate.assertion import Comparison


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in a list of traces: `layers` holds the own value of each layer that judged it."""

    run_span_id: str
    agent: str
    model: str
    layers: Mapping[Layer, Outcome]

    @property
    def state(self) -> State:
        """What its layers are together."""
        return fold_outcomes(self.layers.values())


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One trace in a list.

    Attributes:
        start_ns, end_ns: Unix time in nanoseconds, of the first start and the last end.
        spans: how many.
        defects: what is wrong with its shape; see `spanproof.trace.Defect`.
        runs: in order of time.
    """

    project: str
    trace_id: str
    start_ns: int
    end_ns: int
    spans: int
    defects: tuple[str, ...]
    runs: tuple[RunRow, ...]

    @property
    def state(self) -> State:
        """What its runs are together."""
        return fold_states(run.state for run in self.runs)


@dataclass(frozen=True, slots=True)
class FailsWhen:
    """A comparison that decides whether a score fails, in place of its verdict.

    Attributes:
        raw: whether the raw value of a metric is compared, else the value from 0 to 1.
        threshold: in the metric's unit.
    """

    raw: bool
    comparison: Comparison
    threshold: float


@dataclass(frozen=True, slots=True)
class FailRate:
    """The verdicts of a window, counted; exact integers.

    Attributes:
        passed, failed: verdicts.
        errored, skipped: not judged: they never count towards the rate.
        undecided: scored without a verdict (advisory or uncertain); they do not count either.
        failing: the newest of the failed scores, newest first.
    """

    passed: int
    failed: int
    errored: int
    skipped: int
    undecided: int
    failing: tuple[Score, ...] = ()

    @property
    def scores(self) -> int:
        """How many scores there are, judged or not."""
        return self.judged + self.errored + self.skipped + self.undecided

    @property
    def judged(self) -> int:
        """How many verdicts there are."""
        return self.passed + self.failed

    @property
    def rate(self) -> float | None:
        """Share of the verdicts that are fail, from 0 to 1; None where nothing was judged."""
        return self.failed / self.judged if self.judged else None


@dataclass(frozen=True, slots=True)
class Group:
    """One score, counted and measured over a group of its rows.

    Attributes:
        values: of the dimensions the scores are grouped by, in their order.
        start_ns: of the stretch of time, where there are several; else of the whole window.
        verdicts: counted.
        mean: of the values from 0 to 1; None where nothing was scored.
        raw_mean, raw_p50, raw_p95: of the raw amounts; None where the score has none.
        unit: of the raw amounts.
    """

    values: tuple[str, ...]
    start_ns: int
    verdicts: FailRate
    mean: float | None
    raw_mean: float | None
    raw_p50: float | None
    raw_p95: float | None
    unit: str
