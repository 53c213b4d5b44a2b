"""Checks an assertion over trials: `pass@5 >= 0.8`, `pass^3 >= 0.5`.

In: the trials of each case, as `spanproof suite run --agent` counts them. Out: a report. A trial that is open
or without a verdict counts as not passed; where the assertion came out otherwise had it passed, it is
inconclusive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TypeAlias

from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.gate.assertion import Bound, TrialsAssertion, is_satisfied
from spanproof.gate.open_policy import OpenPolicy
from spanproof.gate.outputs import Verdict, format_count
from spanproof.gate.pass_rates import pass_at_k, pass_hat_k
from spanproof.gate.report import AssertionReport
from spanproof.trace import Cohort

# The lowest and the highest rate that trials without a verdict allow, for each reading of open trials.
_Rates: TypeAlias = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class CaseTrials:
    """How often one case was run, and how often it passed.

    Attributes:
        passed, unjudged, open: of the trials.
        cohort: of its runs; None of a case that left none, which counts under every condition.
    """

    case: str
    trials: int
    passed: int
    unjudged: int = 0
    cohort: Cohort | None = None
    open: int = 0

    def is_about(self, assertion: TrialsAssertion) -> bool:
        """Whether it is one of the assertion's cases."""
        return self.cohort is None or all(condition.holds_for(self.cohort) for condition in assertion.where)

    def with_open_counted(self, policy: OpenPolicy) -> CaseTrials:
        """Return the trials, open ones counted as the policy says; those it leaves undecided stay open."""
        match policy:
            case OpenPolicy.NOT_PASSED:
                return self
            case OpenPolicy.PASS:
                return replace(self, passed=self.passed + self.open, open=0)
            case OpenPolicy.FAIL:
                return replace(self, open=0)
            case OpenPolicy.IGNORE:
                return replace(self, trials=self.trials - self.open, open=0)


def evaluate_trials(
    assertion: TrialsAssertion,
    cases: Sequence[CaseTrials],
    before: Sequence[CaseTrials] | None,
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED,
) -> AssertionReport:
    """Report on one assertion over trials.

    Args:
        assertion: what is checked.
        cases: the trials of every case there is.
        before: those of the baseline; needed where the assertion compares with it.
        open_policy: what open trials count as.
    """
    about = _select_about(assertion, cases)
    meant = [case.with_open_counted(open_policy) for case in about]
    unsettled = sum(case.open for case in about)
    blank = AssertionReport(assertion, Verdict.INCONCLUSIVE, "", open=unsettled, open_policy=open_policy)
    if problem := _describe_refusal(assertion, cases, meant):
        return replace(blank, verdict=Verdict.FAILED, reason=problem)
    rates = _compute_rates(assertion, meant)
    low = rates[0][0]
    interval = compute_wilson_interval(low * len(meant), len(meant))
    text = f"{assertion.subject} is {low:.1%} over {_describe_trials(about, open_policy)}, {interval}"
    limit, compared = assertion.limit, None
    if isinstance(limit, Bound):
        ends = {is_satisfied(rate, limit.comparison, limit.threshold) for pair in rates for rate in pair}
    else:
        old = _select_about(assertion, before or ())
        then = [case.with_open_counted(open_policy) for case in old]
        if problem := _describe_refusal(assertion, before or (), then):
            return replace(blank, reason=f"{text}; of the baseline: {problem}")
        rates_then = _compute_rates(assertion, then)
        compared = rates_then[0][0]
        text += f"; baseline {compared:.1%} over {_describe_trials(old, open_policy)}"
        ends = {loss <= limit.by for loss in _iter_losses(rates, rates_then)}
    verdict = Verdict.INCONCLUSIVE
    if len(ends) == 1:
        verdict = Verdict.PASSED if ends.pop() else Verdict.FAILED
    return replace(
        blank,
        verdict=verdict,
        reason=text,
        value=low,
        total=len(meant),
        interval=interval,
        baseline=compared,
    )


def _select_about(assertion: TrialsAssertion, cases: Sequence[CaseTrials]) -> list[CaseTrials]:
    return [case for case in cases if case.is_about(assertion)]


def _iter_losses(now: _Rates, before: _Rates) -> Iterator[float]:
    """Yield the largest and the smallest loss, open trials counted as not passed and then as passed."""
    for (worst, best), (worst_before, best_before) in zip(now, before, strict=True):
        # Rounded: 0.81 is not worse than 0.83 by more than 0.02, whatever binary fractions make of it.
        yield round(best_before - worst, 12)
        yield round(worst_before - best, 12)


def _describe_refusal(
    assertion: TrialsAssertion, cases: Sequence[CaseTrials], meant: Sequence[CaseTrials]
) -> str:
    """Return why nothing can be computed; empty where it can."""
    k = assertion.k
    remedy = f"`spanproof suite run SUITE --agent … --trials {k} --json` gives them"
    if not cases:
        return f"there are no trials: {assertion.subject} is over an agent's trials of each case; {remedy}"
    if not meant:
        return "there is no case to check with this cohort"
    if few := sum(case.trials < k for case in meant):
        have = f"{few} of {format_count(len(meant), 'case')} {'has' if few == 1 else 'have'} fewer"
        return f"{assertion.subject} needs {format_count(k, 'trial')} of every case, and {have}; {remedy}"
    return ""


def _compute_rates(assertion: TrialsAssertion, cases: Sequence[CaseTrials]) -> _Rates:
    """Return the mean over cases where every trial without a verdict failed, and where every one passed.

    The first pair counts open trials as not passed, the second as passed: an open trial of the baseline
    counts as one of today does.
    """
    estimate, k = pass_hat_k if assertion.all_of else pass_at_k, assertion.k

    def average(*, unjudged_pass: bool, open_pass: bool) -> float:
        passed = (case.passed + case.unjudged * unjudged_pass + case.open * open_pass for case in cases)
        rates = (estimate(case.trials, passes, k) for case, passes in zip(cases, passed, strict=True))
        return fsum(rates) / len(cases)

    return (
        (average(unjudged_pass=False, open_pass=False), average(unjudged_pass=True, open_pass=False)),
        (average(unjudged_pass=False, open_pass=True), average(unjudged_pass=True, open_pass=True)),
    )


def _describe_trials(cases: Sequence[CaseTrials], policy: OpenPolicy) -> str:
    unjudged = sum(case.unjudged for case in cases)
    unsettled = sum(case.open for case in cases)
    if unjudged:
        remarks = [f"{format_count(unjudged, 'trial')} without a verdict counted as failed"]
    else:
        remarks = []
    if unsettled:
        counted = " counted as not passed" if policy is OpenPolicy.NOT_PASSED else ""
        remarks.append(f"{policy.format_open(unsettled)}{counted}")
    left = f" ({'; '.join(remarks)})" if remarks else ""
    return f"{format_count(len(cases), 'case')}{left}"
