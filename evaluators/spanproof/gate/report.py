"""The result of checking assertions, as values, as JSON and as the rows of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from spanproof.evaluators.intervals import Interval
from spanproof.gate.assertion import Assertion, TrialsAssertion
from spanproof.gate.open_policy import OpenPolicy
from spanproof.gate.outputs import ResultRow, ResultTable, RunRow, Verdict, format_count, list_code_marks
from spanproof.gate.outputs.code import CodeMark
from spanproof.trace import Cause, JsonValue, Layer

RunRows: TypeAlias = Mapping[tuple[str, str], RunRow]
"""Runs in the form of `spanproof eval --json`, by the ids of their trace and their span."""

# Cases of one assertion whose code is pointed into.
_MAX_MARKED = 50


class CaseState(StrEnum):
    """Whether one case satisfies one assertion."""

    SATISFIED = "satisfied"
    VIOLATED = "violated"
    OPEN = "open"
    SKIPPED = "skipped"
    ERRORED = "errored"
    MISSING = "missing"


_WRONG: Final = (CaseState.VIOLATED, CaseState.MISSING, CaseState.ERRORED)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of one assertion.

    Attributes:
        value: the compared number of the deciding score, None where there is none.
        explanation: why, in the words of the evaluator.
        score_ids: the scores behind it.
        cause: why it is open or was skipped; None of others, and where the scores do not state it.
        fields: of a case whose code does not work, what its harness or replay says of that.
    """

    trace_id: str
    run_span_id: str
    agent: str
    state: CaseState
    value: float | None
    explanation: str
    score_ids: tuple[str, ...] = ()
    cause: Cause | None = None
    fields: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AssertionReport:
    """The result of one assertion.

    Attributes:
        reason: why the verdict is what it is, in one sentence.
        needed: how many cases must satisfy it; 0 of an aggregate.
        cases: every case it is about, in the order of the scores; of an aggregate none but those of
            `sandbox_pass_rate` whose code was tried.
        share: of the cases that count, those that satisfy it, from 0 to 1; None where none counts.
        interval: of the share, or of an aggregate that is a rate.
        value, total: of an aggregate, and over how many scores or cases it is.
        baseline: the aggregate over the baseline, where the assertion compares with it.
        p_value: of rates, that the two do not differ; None of other aggregates and without a baseline.
        open: how many cases, scores or trials are open.
        open_policy: what those count as.
    """

    assertion: Assertion
    verdict: Verdict
    reason: str
    needed: int = 0
    cases: tuple[CaseResult, ...] = ()
    share: float | None = None
    interval: Interval | None = None
    value: float | None = None
    total: int | None = None
    baseline: float | None = None
    p_value: float | None = None
    open: int = 0
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED

    @property
    def layer(self) -> Layer | None:
        """The layer of the assertion's score; None of an assertion over trials."""
        if isinstance(self.assertion, TrialsAssertion):
            return None
        return self.assertion.score.layer

    def count(self, *states: CaseState) -> int:
        """Return how many cases are in one of these states."""
        return sum(case.state in states for case in self.cases)

    @property
    def satisfied(self) -> int:
        """How many cases satisfy it."""
        return self.count(CaseState.SATISFIED)

    @property
    def judged(self) -> int:
        """How many cases have a verdict: they satisfy it, violate it, or lack what every case must have."""
        return self.count(CaseState.SATISFIED, CaseState.VIOLATED, CaseState.MISSING)

    @property
    def failing(self) -> tuple[CaseResult, ...]:
        """The cases that speak against it; open ones come last."""
        wrong = [case for case in self.cases if case.state in _WRONG]
        return (*wrong, *(case for case in self.cases if self._counts_as_open(case)))

    def _counts_as_open(self, case: CaseResult) -> bool:
        """Whether a case is open, and so not passed."""
        is_against = self.open_policy in (OpenPolicy.NOT_PASSED, OpenPolicy.FAIL)
        return is_against and case.state is CaseState.OPEN


@dataclass(frozen=True, slots=True)
class GateReport:
    """The results of all assertions."""

    assertions: tuple[AssertionReport, ...]
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED

    @property
    def open(self) -> int:
        """How many runs are open by some assertion over cases, each counted once."""
        runs = {
            (case.trace_id, case.run_span_id)
            for report in self.assertions
            for case in report.cases
            if case.state is CaseState.OPEN
        }
        return len(runs)

    @property
    def passed(self) -> bool:
        """Whether every assertion passed."""
        return all(report.verdict is Verdict.PASSED for report in self.assertions)

    @property
    def failed_layers(self) -> tuple[str, ...]:
        """The layers of assertions that did not pass, each once."""
        failed = [report.layer for report in self.assertions if report.verdict is not Verdict.PASSED]
        return tuple(dict.fromkeys(layer.value for layer in failed if layer is not None))

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON data; docs/gate.md describes it."""
        return {
            "passed": self.passed,
            "failed_layers": list(self.failed_layers),
            "open": self.open,
            "open_counts_as": self.open_policy.value,
            "assertions": [_build_assertion_json(report) for report in self.assertions],
        }

    def to_table(self, runs: RunRows = MappingProxyType({})) -> ResultTable:
        """Return the report as rows: one per assertion, the cases against it in the details.

        Args:
            runs: runs with their code, so that rows point into it.
        """
        passed = sum(report.verdict is Verdict.PASSED for report in self.assertions)
        if self.failed_layers:
            layers = f"; failing layers: {', '.join(self.failed_layers)}"
        else:
            layers = ""
        assertions = format_count(len(self.assertions), "assertion")
        headline = f"{passed} of {assertions} {'holds' if passed == 1 else 'hold'}{layers}"
        rows = tuple(_build_row(report, runs) for report in self.assertions)
        return ResultTable(
            "spanproof gate", self.passed, headline, rows, open=self.open, open_remark=self.open_policy.remark
        )


def _build_row(report: AssertionReport, runs: RunRows) -> ResultRow:
    layer = report.layer
    failed = () if report.verdict is Verdict.PASSED else report.failing
    # No code is to blame for what is open.
    blamed = [case for case in failed if case.state is not CaseState.OPEN]
    keys = dict.fromkeys((case.trace_id, case.run_span_id) for case in blamed[:_MAX_MARKED])
    marks: list[CodeMark] = []
    if layer is not None:
        for trace_id, span_id in keys:
            if (trace_id, span_id) in runs:
                marks += list_code_marks(runs[trace_id, span_id], layer, f"traces/{trace_id}/{span_id}")
    return ResultRow(
        group=f"spanproof.gate.{layer.value if layer else 'trials'}",
        name=str(report.assertion),
        verdict=report.verdict,
        reason=report.reason,
        details=tuple(_format_case(case) for case in failed),
        layer=layer.value if layer else "",
        open=report.open,
        marks=tuple(marks),
    )


def _format_case(case: CaseResult) -> str:
    value = "" if case.value is None else f" {case.value:.4g}"
    run = f"{case.agent} trace {case.trace_id} run {case.run_span_id}"
    return f"{case.state.value}{value}  {run}: {case.explanation}"


def _build_assertion_json(report: AssertionReport) -> dict[str, object]:
    assertion = report.assertion
    if isinstance(assertion, TrialsAssertion):
        score, unit = assertion.subject, ""
    else:
        score, unit = str(assertion.score), assertion.score.unit.value
    interval = report.interval
    by_state = {state.value: report.count(state) for state in CaseState}
    return {
        "assertion": str(assertion),
        "layer": report.layer.value if report.layer else None,
        "score": score,
        "unit": unit,
        "verdict": report.verdict.value,
        "reason": report.reason,
        "needed": report.needed,
        "judged": report.judged,
        **by_state,
        "open": report.open,
        "share": report.share,
        "interval": [interval.low, interval.high] if interval else None,
        "value": report.value,
        "total": report.total,
        "baseline": report.baseline,
        "p_value": report.p_value,
        "failing": [_build_case_json(case) for case in report.failing],
    }


def _build_case_json(case: CaseResult) -> dict[str, object]:
    fields = {"failure_fields": dict(case.fields)} if case.fields else {}
    return {
        "trace_id": case.trace_id,
        "run_span_id": case.run_span_id,
        "agent": case.agent,
        "state": case.state.value,
        "value": case.value,
        "explanation": case.explanation,
        "cause": case.cause.value if case.cause else None,
        **fields,
        "score_ids": list(case.score_ids),
    }
