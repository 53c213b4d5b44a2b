"""The result of checking assertions, as values, as JSON and as the rows of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from spanproof.evaluators.intervals import Interval
from spanproof.gate.assertion import Assertion, TrialsAssertion
from spanproof.gate.outputs import ResultRow, ResultTable, RunRow, Verdict, count, mark_code
from spanproof.trace import Layer

RunRows: TypeAlias = Mapping[tuple[str, str], RunRow]
"""Runs in the form of `spanproof eval --json`, by the ids of their trace and their span."""

# Cases of one assertion whose code is pointed into.
_MAX_MARKED = 50


class CaseState(StrEnum):
    """Whether one case satisfies one assertion."""

    SATISFIED = "satisfied"
    VIOLATED = "violated"
    SKIPPED = "skipped"
    ERRORED = "errored"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of one assertion.

    Attributes:
        value: the compared number of the deciding score, None where there is none.
        explanation: why, in the words of the evaluator.
        score_ids: the scores behind it.
    """

    trace_id: str
    run_span_id: str
    agent: str
    state: CaseState
    value: float | None
    explanation: str
    score_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssertionReport:
    """The result of one assertion.

    Attributes:
        reason: why the verdict is what it is, in one sentence.
        needed: how many cases must satisfy it; 0 of an aggregate.
        cases: every case it is about, in the order of the scores; none of an aggregate.
        share: of the judged cases that satisfy it, from 0 to 1; None where none was judged.
        interval: of the share, or of an aggregate that is a rate.
        value, total: of an aggregate, and over how many scores or cases it is.
        baseline: the aggregate over the baseline, where the assertion compares with it.
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

    @property
    def layer(self) -> Layer | None:
        """The layer of the assertion's score; None of an assertion over trials."""
        return None if isinstance(self.assertion, TrialsAssertion) else self.assertion.score.layer

    def count(self, *states: CaseState) -> int:
        """Return how many cases are in one of these states."""
        return sum(case.state in states for case in self.cases)

    @property
    def satisfied(self) -> int:
        """How many cases satisfy it."""
        return self.count(CaseState.SATISFIED)

    @property
    def judged(self) -> int:
        """How many cases count: those that satisfy it, violate it, or lack what every case must have."""
        return self.count(CaseState.SATISFIED, CaseState.VIOLATED, CaseState.MISSING)

    @property
    def failing(self) -> tuple[CaseResult, ...]:
        """The cases that speak against it."""
        against = (CaseState.VIOLATED, CaseState.MISSING, CaseState.ERRORED)
        return tuple(case for case in self.cases if case.state in against)


@dataclass(frozen=True, slots=True)
class GateReport:
    """The results of all assertions."""

    assertions: tuple[AssertionReport, ...]

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
            "assertions": [_build_assertion_json(report) for report in self.assertions],
        }

    def to_table(self, runs: RunRows = MappingProxyType({})) -> ResultTable:
        """Return the report as rows: one per assertion, the cases against it in the details.

        Args:
            runs: runs with their code, so that rows point into it.
        """
        passed = sum(each.verdict is Verdict.PASSED for each in self.assertions)
        layers = f"; failing layers: {', '.join(self.failed_layers)}" if self.failed_layers else ""
        assertions = count(len(self.assertions), "assertion")
        headline = f"{passed} of {assertions} {'holds' if passed == 1 else 'hold'}{layers}"
        rows = tuple(_build_row(each, runs) for each in self.assertions)
        return ResultTable("spanproof gate", self.passed, headline, rows)


def _build_row(report: AssertionReport, runs: RunRows) -> ResultRow:
    layer = report.layer
    failed = () if report.verdict is Verdict.PASSED else report.failing
    keys = [(case.trace_id, case.run_span_id) for case in failed[:_MAX_MARKED]]
    return ResultRow(
        group=f"spanproof.gate.{layer.value if layer else 'trials'}",
        name=str(report.assertion),
        verdict=report.verdict,
        reason=report.reason,
        details=tuple(_format_case(case) for case in failed),
        layer=layer.value if layer else "",
        marks=tuple(
            mark
            for key in dict.fromkeys(keys)
            if key in runs and layer is not None
            for mark in mark_code(runs[key], layer, f"traces/{key[0]}/{key[1]}")
        ),
    )


def _format_case(case: CaseResult) -> str:
    value = "" if case.value is None else f" {case.value:.4g}"
    run = f"{case.agent} trace {case.trace_id} run {case.run_span_id}"
    return f"{case.state.value}{value}  {run}: {case.explanation}"


def _build_assertion_json(report: AssertionReport) -> dict[str, object]:
    assertion = report.assertion
    return {
        "assertion": str(assertion),
        "layer": report.layer.value if report.layer else None,
        "score": assertion.subject if isinstance(assertion, TrialsAssertion) else str(assertion.score),
        "unit": "" if isinstance(assertion, TrialsAssertion) else assertion.score.unit.value,
        "verdict": report.verdict.value,
        "reason": report.reason,
        "needed": report.needed,
        "judged": report.judged,
        **{state.value: report.count(state) for state in CaseState},
        "share": report.share,
        "interval": [report.interval.low, report.interval.high] if report.interval else None,
        "value": report.value,
        "total": report.total,
        "baseline": report.baseline,
        "failing": [
            {
                "trace_id": case.trace_id,
                "run_span_id": case.run_span_id,
                "agent": case.agent,
                "state": case.state.value,
                "value": case.value,
                "explanation": case.explanation,
                "score_ids": list(case.score_ids),
            }
            for case in report.failing
        ],
    }
