"""What the store answers with: rows about traces, and counted verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spanproof.trace import (
    CAUSE_WORDS,
    Cause,
    Layer,
    Outcome,
    Score,
    State,
    describe_cause,
    fold_outcomes,
    fold_states,
)

if TYPE_CHECKING:
    from spanproof.gate.assertion import Comparison


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in a list of traces.

    Attributes:
        layers: the own outcome of each layer, a person's verdict in its place where there is one.
    """

    run_span_id: str
    agent: str
    model: str
    layers: Mapping[Layer, Outcome]

    @property
    def state(self) -> State:
        """What its layers are together."""
        return fold_outcomes(self.layers.values())


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a list shows of a run beside its verdicts: the beginnings of task and answer, tokens and cost."""

    task: str
    answer: str
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One trace in a list.

    Attributes:
        start_ns, end_ns: Unix time in nanoseconds, of the first start and the last end.
        spans: how many.
        defects: what is wrong with its shape; see `spanproof.trace.Defect`.
        runs: in order of time.
        tokens: of all runs.
        cost_usd: of the runs whose price is known; None where none is.
        summaries: task, answer, tokens and cost of its runs, by the id of their span.
        feedback: how many ratings users gave, by their kind.
    """

    project: str
    trace_id: str
    start_ns: int
    end_ns: int
    spans: int
    defects: tuple[str, ...]
    runs: tuple[RunRow, ...]
    tokens: int = 0
    cost_usd: float | None = None
    summaries: Mapping[str, RunSummary] = field(default_factory=dict)
    feedback: Mapping[str, int] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """What its runs are together."""
        return fold_states(run.state for run in self.runs)

    @property
    def place(self) -> tuple[int, str]:
        """Where it is in a list of the newest; several projects may have a trace with its id."""
        return self.start_ns, f"{self.trace_id}/{self.project}"


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
        open: judged in part: neither passed nor failed, and not in the rate.
        advice: scores that have no verdict, such as metrics and advice.
        failing: the newest of the failed scores, newest first.
    """

    passed: int
    failed: int
    errored: int
    skipped: int
    open: int
    advice: int = 0
    failing: tuple[Score, ...] = ()

    @property
    def scores(self) -> int:
        """How many scores there are, judged or not."""
        return self.scored + self.errored + self.skipped

    @property
    def scored(self) -> int:
        """How many scores have an outcome that is neither skipped nor errored."""
        return self.judgeable + self.advice

    @property
    def judged(self) -> int:
        """How many verdicts there are."""
        return self.passed + self.failed

    @property
    def rate(self) -> float | None:
        """Share of the verdicts that are fail, from 0 to 1; None where nothing was judged."""
        return self.failed / self.judged if self.judged else None

    @property
    def judgeable(self) -> int:
        """How many could have a verdict: those that have one, and those that are open."""
        return self.judged + self.open

    @property
    def open_rate(self) -> float | None:
        """Share that is open of what could have a verdict; None where there is none."""
        return self.open / self.judgeable if self.judgeable else None

    @property
    def words(self) -> str:
        """The rate in words: `fails 2 of 143, 57 open`."""
        if not self.judgeable and not self.errored:
            return "nothing judged"
        parts = [f"fails {self.failed:,} of {self.judged:,}"] if self.judged else ["none judged"]
        if self.open:
            parts.append(f"{self.open:,} open")
        if self.errored:
            parts.append(f"{self.errored:,} errored")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class CauseCount:
    """Outcomes without a verdict that have one cause.

    Attributes:
        layer: whose own outcomes they are.
        state: `open`, `skipped` or `errored`.
        cause: None of errors, and of outcomes that an earlier version stored.
        error_type: the class of the error; empty where nothing errored.
        count: how many.
        detail: of the newest: what its cause is about, else its explanation.
        trace_id: of the newest.
    """

    layer: Layer
    state: State
    cause: Cause | None
    error_type: str
    count: int
    detail: str
    trace_id: str

    @property
    def words(self) -> str:
        """The cause with its count: `57 answers hold a value that no source has`."""
        if self.cause is not None:
            return describe_cause(self.cause, self.count)
        return f"{self.count:,} {'outcome' if self.count == 1 else 'outcomes'} {self._ending}"

    @property
    def name(self) -> str:
        """The cause without its count."""
        if self.cause is not None:
            return CAUSE_WORDS[self.cause][0]
        return f"outcome {self._ending}"

    @property
    def _ending(self) -> str:
        if self.state is State.ERRORED:
            return f"errored: {self.error_type}"
        return "without a recorded cause"


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
