"""Checks an assertion over trials: `pass@5 >= 0.8`, `pass^3 >= 0.5`.

In: the trials of each case, as `spanproof suite run --agent` counts them. Out: a report. A trial without a
verdict counts as failed; where the assertion came out otherwise had it passed, it is inconclusive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.gate.assertion import Bound, TrialsAssertion, compare
from spanproof.gate.outputs import Verdict, count
from spanproof.gate.pass_rates import pass_at_k, pass_hat_k
from spanproof.gate.report import AssertionReport
from spanproof.trace import Cohort


@dataclass(frozen=True, slots=True)
class CaseTrials:
    """How often one case was run, and how often it passed.

    Attributes:
        passed, unjudged: of the trials.
        cohort: of its runs; None of a case that left none, which counts under every condition.
    """

    case: str
    trials: int
    passed: int
    unjudged: int = 0
    cohort: Cohort | None = None

    def is_about(self, assertion: TrialsAssertion) -> bool:
        """Whether it is one of the assertion's cases."""
        return self.cohort is None or all(each.holds_for(self.cohort) for each in assertion.where)


def report_trials(
    assertion: TrialsAssertion, cases: Sequence[CaseTrials], before: Sequence[CaseTrials] | None
) -> AssertionReport:
    """Report on one assertion over trials.

    Args:
        assertion: what is checked.
        cases: the trials of every case there is.
        before: those of the baseline; needed where the assertion compares with it.
    """
    meant = [case for case in cases if case.is_about(assertion)]
    if problem := _refuse(assertion, cases, meant):
        return AssertionReport(assertion, Verdict.FAILED, problem)
    low, high = _compute_rates(assertion, meant)
    interval = compute_wilson_interval(low * len(meant), len(meant))
    text = f"{assertion.subject} is {low:.1%} over {_describe(meant)}, {interval}"
    limit, compared = assertion.limit, None
    if isinstance(limit, Bound):
        ends = {compare(each, limit.comparison, limit.threshold) for each in (low, high)}
    else:
        old = [case for case in before or () if case.is_about(assertion)]
        if problem := _refuse(assertion, before or (), old):
            return AssertionReport(assertion, Verdict.INCONCLUSIVE, f"{text}; of the baseline: {problem}")
        compared, best = _compute_rates(assertion, old)
        text += f"; baseline {compared:.1%} over {_describe(old)}"
        # Rounded: 0.81 is not worse than 0.83 by more than 0.02, whatever binary fractions make of it.
        ends = {round(loss, 12) <= limit.by for loss in (best - low, compared - high)}
    verdict = Verdict.INCONCLUSIVE
    if len(ends) == 1:
        verdict = Verdict.PASSED if ends.pop() else Verdict.FAILED
    return AssertionReport(
        assertion, verdict, text, value=low, total=len(meant), interval=interval, baseline=compared
    )


def _refuse(assertion: TrialsAssertion, cases: Sequence[CaseTrials], meant: Sequence[CaseTrials]) -> str:
    """Return why nothing can be computed; empty where it can."""
    k = assertion.k
    remedy = f"`spanproof suite run SUITE --agent … --trials {k} --json` gives them"
    if not cases:
        return f"there are no trials: {assertion.subject} is over an agent's trials of each case; {remedy}"
    if not meant:
        return "there is no case to check with this cohort"
    if few := sum(case.trials < k for case in meant):
        have = f"{few} of {count(len(meant), 'case')} {'has' if few == 1 else 'have'} fewer"
        return f"{assertion.subject} needs {count(k, 'trial')} of every case, and {have}; {remedy}"
    return ""


def _compute_rates(assertion: TrialsAssertion, cases: Sequence[CaseTrials]) -> tuple[float, float]:
    """Return the mean over cases where every trial without a verdict failed, and where every one passed."""
    estimate, k = pass_hat_k if assertion.all_of else pass_at_k, assertion.k
    low = fsum(estimate(case.trials, case.passed, k) for case in cases)
    high = fsum(estimate(case.trials, case.passed + case.unjudged, k) for case in cases)
    return low / len(cases), high / len(cases)


def _describe(cases: Sequence[CaseTrials]) -> str:
    unjudged = sum(case.unjudged for case in cases)
    left = f" ({count(unjudged, 'trial')} without a verdict counted as failed)" if unjudged else ""
    return f"{count(len(cases), 'case')}{left}"
