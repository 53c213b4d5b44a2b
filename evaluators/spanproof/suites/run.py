"""Cases evaluated again, offline, by today's engine.

A case passes when its run gets every verdict that was frozen: a run that failed in production must be found
failing again, in the same way. Anything else has a status of its own: judged better, worse, differently, or
not judged at all (where this machine has no sandbox, or what decides is open now), which never counts as a
pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.evaluators.score_rows import build_run_row
from spanproof.evaluators.scores import BUILT_IN
from spanproof.gate import OpenPolicy
from spanproof.gate.outputs import ResultRow, ResultTable, Verdict, format_count, list_code_marks
from spanproof.gate.outputs.code import CodeMark
from spanproof.suites.case import Case, Expectation, to_expectation
from spanproof.suites.errors import SuiteError
from spanproof.suites.files import load_suite
from spanproof.trace import Layer, State, get_state

MISSING = "missing"
"""How a verdict is written that is no longer there."""


class CaseStatus(StrEnum):
    """How a case's verdicts of today compare with the frozen ones."""

    REPRODUCED = "reproduced"
    FIXED = "fixed"
    REGRESSED = "regressed"
    CHANGED = "changed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Difference:
    """One verdict that is not the frozen one.

    Attributes:
        found: today's verdict; None where there is none.
        explanation: today's, in the words of the evaluator.
    """

    expected: Expectation
    found: State | None
    explanation: str

    @property
    def found_word(self) -> str:
        """Today's verdict as it is written."""
        return self.found or MISSING


@dataclass(frozen=True, slots=True)
class CaseReport:
    """The result of one case; `evaluation` is today's, which took `wall_s` seconds."""

    case: Case
    status: CaseStatus
    differences: tuple[Difference, ...]
    evaluation: TraceEvaluation
    wall_s: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every frozen verdict was found again."""
        return self.status is CaseStatus.REPRODUCED

    @property
    def opened(self) -> int:
        """How many verdicts are open now that were not."""
        return sum(difference.found is State.OPEN for difference in self.differences)

    @property
    def is_open(self) -> bool:
        """Whether a layer of the run is open today."""
        run = find_run(self.evaluation, self.case.origin.run_span_id) if self.case.origin else None
        return run is not None and any(get_state(outcome) is State.OPEN for outcome in run.layers.values())


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """The results of all cases that hold a frozen run.

    Attributes:
        suite: its name.
        unfrozen: ids of the cases without a frozen run.
        folder: of the suite, as it was given.
        open_policy: what a verdict counts as that is open now.
    """

    suite: str
    cases: tuple[CaseReport, ...]
    unfrozen: tuple[str, ...] = ()
    folder: str = ""
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED

    @property
    def passed(self) -> bool:
        """Whether there are cases and every one is reproduced."""
        return bool(self.cases) and all(report.passed for report in self.cases)

    def count(self, status: CaseStatus) -> int:
        """Return how many cases have this status."""
        return sum(report.status is status for report in self.cases)

    @property
    def open(self) -> int:
        """How many cases have a layer that is open today."""
        return sum(report.is_open for report in self.cases)

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON data; docs/suites.md describes it."""
        return {
            "suite": self.suite,
            "passed": self.passed,
            "open": self.open,
            "open_counts_as": self.open_policy.value,
            "unfrozen": list(self.unfrozen),
            "counts": {status.value: self.count(status) for status in CaseStatus},
            "cases": [_encode_case(report) for report in self.cases],
        }

    def to_table(self) -> ResultTable:
        """Return the report as rows, one per case."""
        counts = [f"{self.count(status)} {status.value}" for status in CaseStatus if self.count(status)]
        headline = (
            f"{format_count(len(self.cases), 'frozen run')} judged again: {', '.join(counts) or 'none'}"
        )
        rows = tuple(_build_row(report, self.folder) for report in self.cases)
        return ResultTable(
            f"spanproof suite {self.suite}",
            self.passed,
            headline,
            rows,
            open=self.open,
            open_remark=self.open_policy.remark,
        )


def run_suite(
    suite: Path,
    engine: Engine,
    track: Callable[[Sequence[Case]], Iterable[Case]] = iter,
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED,
) -> SuiteReport:
    """Evaluate every case of a suite again.

    Args:
        suite: its folder.
        engine: today's.
        track: gives the cases on as they are taken, so that progress can be shown.
        open_policy: what a verdict counts as that is open now.

    Raises:
        SuiteError: no suite, or a case that cannot be read; nothing is run then.
    """
    cases = load_suite(suite)
    frozen = [case for case in cases if case.trace is not None]
    unfrozen = tuple(case.id for case in cases if case.trace is None)
    reports = tuple(run_case(case, engine, open_policy) for case in track(frozen))
    return SuiteReport(suite.resolve().name, reports, unfrozen, str(suite), open_policy)


def run_case(case: Case, engine: Engine, open_policy: OpenPolicy = OpenPolicy.NOT_PASSED) -> CaseReport:
    """Evaluate the frozen run of one case again.

    Raises:
        SuiteError: the case holds no run.
    """
    if case.trace is None or case.origin is None:
        raise SuiteError(f"case {case.id} holds no frozen run; run the agent on it, with --agent")
    tests = {case.origin.run_span_id: case.tests} if case.tests is not None else None
    started = time.monotonic()
    evaluation = engine.evaluate(case.trace, tests, case.fixtures)
    wall_s = time.monotonic() - started
    run = find_run(evaluation, case.origin.run_span_id)
    found = [to_expectation(score, case.snippets) for score in run.scores] if run else []
    by_key = {difference.key: difference for difference in found}
    differences = []
    for expected in case.expectations:
        now = by_key.get(expected.key)
        if now is None:
            differences.append(Difference(expected, None, _describe_missing(expected)))
        elif now.verdict is not expected.verdict and not _is_renamed(expected, now):
            differences.append(Difference(expected, now.verdict, now.explanation))
    status = _compute_status(differences, open_policy)
    return CaseReport(case, status, tuple(differences), evaluation, wall_s)


def _is_renamed(expected: Expectation, now: Expectation) -> bool:
    """Whether an older Spanproof froze as skipped what is called open today: an answer that needs a judge.

    It froze no cause with it, which each skipped verdict has since.
    """
    is_old = expected.verdict is State.SKIPPED and expected.cause is None
    is_of_groundedness = expected.layer is Layer.GROUNDEDNESS and expected.is_of_layer
    return is_old and is_of_groundedness and now.verdict is State.OPEN


def find_run(evaluation: TraceEvaluation, span_id: str) -> RunEvaluation | None:
    """Return the run of this span, None where the trace has none."""
    return next((run for run in evaluation.runs if run.run.span_id == span_id), None)


def _describe_missing(expected: Expectation) -> str:
    missing = f"no {expected.name} score any more"
    if expected.name in BUILT_IN:
        return missing
    return f"{missing}: nothing that is configured here gives it"


def _compute_status(differences: Sequence[Difference], open_policy: OpenPolicy) -> CaseStatus:
    moves = {(difference.expected.verdict, difference.found) for difference in differences}
    if open_policy in (OpenPolicy.PASS, OpenPolicy.IGNORE):
        moves = {(expected, found) for expected, found in moves if found is not State.OPEN}
    if not moves:
        return CaseStatus.REPRODUCED
    worse = (State.FAIL, State.OPEN) if open_policy is OpenPolicy.FAIL else (State.FAIL,)
    if any(found in worse for _, found in moves):
        return CaseStatus.REGRESSED
    if any(expected.is_judged and not _is_judged(found) for expected, found in moves):
        return CaseStatus.INCONCLUSIVE
    if moves == {(State.FAIL, State.PASS)}:
        return CaseStatus.FIXED
    return CaseStatus.CHANGED


def _is_judged(found: State | None) -> bool:
    return found is not None and found.is_judged


def _build_row(report: CaseReport, suite: str) -> ResultRow:
    folder = f"{suite}/cases/{report.case.id}"
    verdict, reason = Verdict.PASSED, ""
    if not report.passed:
        unjudged = report.status is CaseStatus.INCONCLUSIVE
        verdict = Verdict.INCONCLUSIVE if unjudged else Verdict.FAILED
        differ = "verdict differs" if len(report.differences) == 1 else "verdicts differ"
        opened = f", {report.opened} open now" if report.opened else ""
        reason = f"{report.status.value}: {len(report.differences)} {differ}{opened}"
    layer = report.differences[0].expected.layer if report.differences else None
    run = find_run(report.evaluation, report.case.origin.run_span_id) if report.case.origin else None
    marks: tuple[CodeMark, ...] = ()
    if run is not None and layer is not None:
        marks = list_code_marks(build_run_row(run), layer, f"{folder}/snippets")
    return ResultRow(
        group="spanproof.suite",
        name=report.case.id,
        verdict=verdict,
        reason=reason,
        details=tuple(_format_difference(difference) for difference in report.differences),
        layer=layer.value if layer else "",
        file=f"{folder}/case.yaml",
        wall_s=report.wall_s,
        open=report.opened,
        marks=marks,
    )


def _format_difference(difference: Difference) -> str:
    expected = difference.expected
    snippet = f" of snippet {expected.snippet}" if expected.snippet else ""
    return (
        f"{expected.layer.value}.{expected.name}{snippet}: {expected.verdict} frozen"
        f" ({expected.explanation}), {difference.found_word} now ({difference.explanation})"
    )


def _encode_case(report: CaseReport) -> dict[str, object]:
    origin = report.case.origin
    assert origin is not None, "only frozen runs are judged again"
    run = find_run(report.evaluation, origin.run_span_id)
    return {
        "id": report.case.id,
        "status": report.status.value,
        "agent": report.case.agent,
        "trace_id": origin.trace_id,
        "runs": [build_run_row(run)] if run else [],
        "run_span_id": origin.run_span_id,
        "frozen": {
            expectation.layer.value: expectation.verdict
            for expectation in report.case.expectations
            if expectation.is_of_layer
        },
        "differences": [
            {
                "layer": difference.expected.layer.value,
                "name": difference.expected.name,
                "snippet": difference.expected.snippet,
                "expected": difference.expected.verdict,
                "found": difference.found_word,
                "explanation": difference.explanation,
            }
            for difference in report.differences
        ],
    }
