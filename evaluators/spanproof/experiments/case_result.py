"""A case of an experiment with its trials: how it came out, as JSON, and as a row of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum
from typing import Any, Final

from spanproof.evaluators.intervals import Interval, compute_wilson_interval
from spanproof.experiments.trial import Trial, TrialVerdict
from spanproof.gate import OpenPolicy
from spanproof.gate.outputs import CodeMark, ResultRow, Verdict, format_count, list_code_marks
from spanproof.suites import Case
from spanproof.suites.requirements import Finding
from spanproof.trace import Cause


class CaseStatus(StrEnum):
    """The status of a case."""

    PASSED = "passed"
    FIXED = "fixed"
    FLAKY = "flaky"
    REPRODUCED = "reproduced"
    REGRESSED = "regressed"
    FAILED = "failed"
    ERRORED = "errored"
    OPEN = "open"
    INCONCLUSIVE = "inconclusive"


GOOD_STATUSES: Final = frozenset((CaseStatus.PASSED, CaseStatus.FIXED))
FAILED_STATUSES: Final = frozenset(
    (CaseStatus.FLAKY, CaseStatus.REPRODUCED, CaseStatus.REGRESSED, CaseStatus.FAILED)
)

# What a report says of a case that did not fail, and did not pass.
_UNDECIDED = {
    CaseStatus.ERRORED: Verdict.ERRORED,
    CaseStatus.OPEN: Verdict.INCONCLUSIVE,
    CaseStatus.INCONCLUSIVE: Verdict.INCONCLUSIVE,
}


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case with its trials, in the order of their numbers.

    Attributes:
        before: whether it passed before, by the baseline or by the frozen run; None where that is not known.
        quarantined: it was flaky in the baseline, too, its rate did not fall, and it does not decide.
        fell: it was flaky in the baseline, too, and its rate fell: a regression, quarantine or not.
        open_policy: what open trials count as.
    """

    case: Case
    trials: tuple[Trial, ...]
    before: bool | None = None
    quarantined: bool = False
    fell: bool = False
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED

    @property
    def judged(self) -> tuple[Trial, ...]:
        """The trials with a verdict: passed or failed."""
        return tuple(trial for trial in self.trials if trial.verdict.is_judged)

    @property
    def passed(self) -> int:
        """How many trials passed; open ones are not among them."""
        return sum(trial.passed for trial in self.trials)

    @property
    def errored(self) -> int:
        """How many trials could not be tested, by no fault of the agent."""
        return sum(trial.verdict is TrialVerdict.ERRORED for trial in self.trials)

    @property
    def open(self) -> int:
        """How many trials are open."""
        return sum(trial.verdict is TrialVerdict.OPEN for trial in self.trials)

    @property
    def counted(self) -> int:
        """How many trials rates are over: all but unjudged ones, and open ones where they are left out."""
        ignored = self.open_policy is OpenPolicy.IGNORE
        return len(self.judged) + self.errored + (0 if ignored else self.open)

    @property
    def counted_passed(self) -> int:
        """How many of the counted trials count as passed."""
        return self.passed + (self.open if self.open_policy is OpenPolicy.PASS else 0)

    @property
    def rate(self) -> float | None:
        """The share of the counted trials that count as passed, None where none counts."""
        return self.counted_passed / self.counted if self.counted else None

    @property
    def open_share(self) -> float:
        """The share of the counted trials that may still turn out either way."""
        is_undecided = self.open_policy is OpenPolicy.NOT_PASSED and self.open > 0
        return self.open / self.counted if is_undecided else 0.0

    @property
    def status(self) -> CaseStatus:
        """The status of the case."""
        failed = len(self.judged) - self.passed
        failed += self.open if self.open_policy is OpenPolicy.FAIL else 0
        if self.counted_passed and failed:
            if self.fell:
                return CaseStatus.REGRESSED
            return CaseStatus.FLAKY
        if failed:
            by_before = {True: CaseStatus.REGRESSED, False: CaseStatus.REPRODUCED, None: CaseStatus.FAILED}
            return by_before[self.before]
        if self.errored:
            return CaseStatus.ERRORED
        if len(self.judged) + self.open < len(self.trials) or not self.counted:
            return CaseStatus.INCONCLUSIVE
        if self.open and self.open_policy is OpenPolicy.NOT_PASSED:
            return CaseStatus.OPEN
        if self.before is False:
            return CaseStatus.FIXED
        return CaseStatus.PASSED

    @property
    def wall_s(self) -> float:
        """How long all its trials took."""
        return fsum(trial.wall_s for trial in self.trials)

    @property
    def cost_usd(self) -> float | None:
        """What all its trials cost in US dollars; None where no model's price is known."""
        costs = [trial.cost_usd for trial in self.trials if trial.cost_usd is not None]
        return fsum(costs) if costs else None

    @property
    def first_failure(self) -> Trial | None:
        """The first trial that did not pass; one that failed comes before one that is open."""
        others = (verdict for verdict in TrialVerdict if verdict is not TrialVerdict.FAILED)
        order = (TrialVerdict.FAILED, *others)
        missed = [trial for trial in self.trials if not trial.passed]
        return min(missed, key=lambda trial: order.index(trial.verdict), default=None)

    @property
    def open_causes(self) -> tuple[Cause | None, ...]:
        """Why its open trials are open: of each the causes of the findings that are."""
        return tuple(
            finding.cause
            for trial in self.trials
            if trial.verdict is TrialVerdict.OPEN
            for finding in trial.findings
            if finding.is_open
        )


def compute_ends(interval: Interval | None) -> list[float] | None:
    """Return the ends of an interval as JSON data; None where there is no interval."""
    return [interval.low, interval.high] if interval else None


def encode_case(result: CaseResult, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a case as JSON data.

    Args:
        result: the case.
        rows: the runs of its trials, in the form of `spanproof eval --json`.
    """
    return {
        "id": result.case.id,
        "status": result.status.value,
        "quarantined": result.quarantined,
        "passed": result.passed,
        "open": result.open,
        "judged": len(result.judged),
        "errored": result.errored,
        "counted": result.counted,
        "interval": compute_ends(compute_wilson_interval(result.counted_passed, result.counted)),
        "wall_s": result.wall_s,
        "judge_s": fsum(trial.judge_s for trial in result.trials),
        "cost_usd": result.cost_usd,
        "tags": list(result.case.tags),
        "trials": [_encode_trial(trial) for trial in result.trials],
        "runs": [],
        "cases": [dict(row) for row in rows],
    }


def _encode_trial(trial: Trial) -> dict[str, Any]:
    return {
        "trial": trial.number,
        "verdict": trial.verdict.value,
        "reason": trial.reason,
        "layer": trial.layer.value if trial.layer else None,
        "layers": dict(trial.layers),
        "answer": trial.answer,
        "wall_s": trial.wall_s,
        "judge_s": trial.judge_s,
        "tokens": trial.tokens,
        "cost_usd": trial.cost_usd,
        "steps": trial.steps,
        "unknown_calls": [dict(call) for call in trial.unknown_calls],
        "trace_id": trial.trace_id,
        "requirements": [_encode_finding(finding) for finding in trial.findings],
    }


def _encode_finding(finding: Finding) -> dict[str, Any]:
    return {
        "requirement": finding.requirement,
        "holds": finding.holds,
        "errored": finding.errored,
        "open": finding.is_open,
        "cause": finding.cause.value if finding.cause else None,
        "reason": finding.reason,
    }


def build_result_row(result: CaseResult, suite: str, row: Mapping[str, Any] | None) -> ResultRow:
    """Return a case as a row of a report.

    Args:
        result: the case.
        suite: folder of the suite; empty where it is not known.
        row: the run of the case's first failure, in the form of `spanproof eval --json`.
    """
    verdict = classify_result(result)
    failure = None if result.status in GOOD_STATUSES else result.first_failure
    layer = failure.layer if failure else None
    is_marked = failure is not None and verdict is Verdict.FAILED
    return ResultRow(
        group="spanproof.experiment",
        name=result.case.id,
        verdict=verdict,
        reason=_describe_result(result),
        details=tuple(_iter_trial_lines(result)),
        layer=layer.value if layer else "",
        file=f"{suite}/cases/{result.case.id}/case.yaml" if suite else "",
        wall_s=result.wall_s,
        open=result.open,
        marks=_list_code_marks(result, row) if is_marked else (),
    )


def classify_result(result: CaseResult) -> Verdict:
    """Return what a report says of a case; one in quarantine fails nothing."""
    if result.quarantined or result.status in GOOD_STATUSES:
        return Verdict.PASSED
    return _UNDECIDED.get(result.status, Verdict.FAILED)


def _describe_result(result: CaseResult) -> str:
    if result.quarantined:
        return "quarantined: flaky here and in the baseline"
    if result.status in GOOD_STATUSES:
        return ""
    failure = result.first_failure
    return f"{result.status.value}: {failure.reason if failure else 'no trial was run'}"


def _list_code_marks(result: CaseResult, row: Mapping[str, Any] | None) -> tuple[CodeMark, ...]:
    failure, runs = result.first_failure, (row or {}).get("runs")
    if failure is None or not runs:
        return ()
    return list_code_marks(runs[0], failure.layer, f"traces/{result.case.id}-{failure.number:03d}")


def _iter_trial_lines(result: CaseResult) -> Iterator[str]:
    unsettled = f", {result.open} open" if result.open else ""
    yield f"{result.passed} of {format_count(len(result.trials), 'trial')} passed{unsettled}"
    for trial in result.trials:
        trace = f"trace {trial.trace_id}" if trial.trace_id else "no trace"
        yield f"trial {trial.number}: {trial.verdict.value} {trial.reason}".rstrip() + f"; {trace}"
