"""What a case says of the code apart from the record: its tests and its budget.

Takes the evidence of a run whose case has tests; gives `tests_pass`, `inputs_unchanged` and `within_budget`.
Explanations hold counts and the name of the first test that failed: what a test expects is never revealed.
"""

from __future__ import annotations

import math

from spanproof.evaluators.layers.common import format_count
from spanproof.evaluators.model import NoReplay, RunEvidence, TestReport, UnrunCause
from spanproof.trace import Cause, Errored, Evidence, Label, Outcome, Scored, Skipped

_MB = 1024 * 1024
_MAX_FAILED = 20
_SHARED = (
    "tests_apart: false: the tests share the code's interpreter, or the code decides a comparison: hostile"
    " code may forge them"
)


def evaluate_case_tests(evidence: RunEvidence) -> dict[str, Outcome]:
    """Return the sub-scores of the case, by name; none where the run is no case with tests."""
    report = evidence.tests
    if report is None:
        return {}
    found: dict[str, Outcome] = {}
    if report.results or report.unrun is not None:
        found["tests_pass"] = _evaluate_tests(report)
    if report.changed_inputs or (report.inputs_must_stay and "tests_pass" in found):
        found["inputs_unchanged"] = _evaluate_inputs(report)
    if report.budget is not None:
        found["within_budget"] = _evaluate_budget(evidence, report)
    return found


def _evaluate_tests(report: TestReport) -> Outcome:
    if report.unrun is not None:
        return _build_unrun_outcome(report.unrun, report.unrun_cause)
    total = len(report.results)
    value = report.passed / total
    remarks = _list_remarks(report)
    if report.first_failure is None:
        all_pass = (
            "The one test of the case passes." if total == 1 else f"All {total} tests of the case pass."
        )
        return Scored(value, Label.PASS, all_pass, remarks)
    why = f" ({report.why})" if report.why is not None else ""
    sentence = (
        f"{report.passed} of {format_count(total, 'test')} of the case {'passes' if total == 1 else 'pass'}"
    )
    failed = [name for name, passed in report.results if not passed]
    facts = tuple(Evidence(f"a test of the case failed: {name}") for name in failed[:_MAX_FAILED])
    return Scored(
        value, Label.FAIL, f"{sentence}; first to fail: {report.first_failure}{why}.", (*facts, *remarks)
    )


def _list_remarks(report: TestReport) -> tuple[Evidence, ...]:
    """Return what a reader of the result must know: what was skipped, and what the code had a part in."""
    skipped = tuple(
        Evidence(f"a test of the case is skipped: {name}") for name in report.skipped[:_MAX_FAILED]
    )
    shared = () if report.apart else (Evidence(_SHARED),)
    return (*shared, *skipped)


def _build_unrun_outcome(reason: str, cause: UnrunCause) -> Scored | Errored:
    """Return a failure where the agent's work is missing, an error where ours is; never a skip.

    A run whose tests did not run has not passed them.
    """
    sentence = f"the case's tests could not be run: {reason}"
    if cause is UnrunCause.WORK_MISSING:
        return Scored(0.0, Label.FAIL, f"{sentence[0].upper()}{sentence[1:]}.")
    return Errored(cause.value, sentence)


def _evaluate_inputs(report: TestReport) -> Outcome:
    """Return a verdict where the case demands it, else advice: functions may mean to change arguments."""
    if report.unrun is not None:
        return _build_unrun_outcome(report.unrun, report.unrun_cause)
    if not report.changed_inputs:
        return Scored(1.0, Label.PASS, "It changes no argument it is given.")
    sentence = f"It changes an argument it is given, seen in {', '.join(report.changed_inputs[:3])}."
    return Scored(0.0, Label.FAIL if report.inputs_must_stay else None, sentence)


def _evaluate_budget(evidence: RunEvidence, report: TestReport) -> Outcome:
    budget, replay = report.budget, evidence.replay
    assert budget is not None
    if isinstance(replay, NoReplay):
        return Skipped(f"nothing was measured: {replay.reason}", Cause.NOT_REPLAYED)
    if replay.breaks:
        return Errored("ReplayBroken", replay.unreplayed[next(iter(replay.breaks))])
    if not replay.steps:
        return Skipped("nothing was measured: no step was replayed", Cause.NOT_REPLAYED)
    used_s = sum(step.execution.wall_s for step in replay.steps)
    used_mb = max(step.execution.peak_memory_bytes for step in replay.steps) / _MB
    shares, words = [0.0], []
    if budget.wall_s is not None:
        shares.append(used_s / budget.wall_s)
        words.append(_format_usage(used_s, budget.wall_s, "s"))
    if budget.memory_mb is not None:
        if not used_mb:
            return Skipped("the sandbox does not measure the memory its programs take", Cause.NOT_SUPPORTED)
        shares.append(used_mb / budget.memory_mb)
        words.append(_format_usage(used_mb, budget.memory_mb, "MB"))
    worst = max(shares)
    sentence = f"The replay took {' and '.join(words)}."
    return Scored(min(1.0, 1 / worst) if worst else 1.0, Label.PASS if worst <= 1 else Label.FAIL, sentence)


def _format_usage(used: float, allowed: float, unit: str) -> str:
    """Return `4 s of 2 s allowed`: three significant digits, or as many as distinguish the two."""
    limit = _format_digits(allowed, 9)
    sentence = next(
        (text for digits in range(3, 9) if (text := _format_digits(used, digits)) != limit), limit
    )
    return f"{limit if used == allowed else sentence} {unit} of {limit} {unit} allowed"


def _format_digits(value: float, digits: int) -> str:
    """Return a value from 0 up with so many digits that count, never with an exponent."""
    places = max(0, digits - 1 - math.floor(math.log10(value))) if value > 0 else 0
    text = f"{value:.{places}f}"
    if "." in text:
        return text.rstrip("0").rstrip(".")
    return text
