"""Checks an assertion over one number: an average, a percentile, a rate.

Numbers and rates are over scores, one per score of the name; `presence_rate` is over cases. Skipped scores
are left out. A score that errored makes every aggregate but `error_rate` and `presence_rate` inconclusive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spanproof.evaluators.intervals import Interval, compute_wilson_interval
from spanproof.gate.assertion import AggregateAssertion, Bound, Function, compare
from spanproof.gate.outputs import Verdict
from spanproof.gate.report import AssertionReport
from spanproof.gate.statistics import aggregate
from spanproof.trace import Errored, Label, Score, Scored

_Cases = Sequence[Sequence[Score]]


@dataclass(frozen=True, slots=True)
class _Found:
    """An aggregate: its value (None of nothing), over how many, with the interval of a rate.

    Attributes:
        remark: what was left out, as a clause.
    """

    value: float | None
    total: int
    noun: str
    errored: int = 0
    interval: Interval | None = None
    remark: str = ""


def report_aggregate(assertion: AggregateAssertion, cases: _Cases, before: _Cases | None) -> AssertionReport:
    """Report on one aggregate.

    Args:
        assertion: what is checked.
        cases: the scores it is about, case by case.
        before: those of the baseline; needed where the assertion compares with it.
    """
    found = _compute(assertion, cases)
    baseline = _compute(assertion, before) if before is not None else None
    verdict, reason = _conclude(assertion, found, baseline)
    return AssertionReport(
        assertion,
        verdict,
        reason,
        value=found.value,
        total=found.total,
        interval=found.interval,
        baseline=baseline.value if baseline else None,
    )


def _compute(assertion: AggregateAssertion, cases: _Cases) -> _Found:
    scores = [score for case in cases for score in case]
    scored = [score.outcome for score in scores if isinstance(score.outcome, Scored)]
    errored = sum(isinstance(score.outcome, Errored) for score in scores)
    match assertion.function:
        case Function.FAIL_RATE:
            failed = sum(outcome.label is Label.FAIL for outcome in scored)
            judged = sum(outcome.label is not None for outcome in scored)
            return _compute_rate(failed, judged, "verdicts", errored)
        case Function.ERROR_RATE:
            return _compute_rate(errored, errored + len(scored), "scores that were not skipped")
        case Function.PRESENCE_RATE:
            present = sum(any(isinstance(score.outcome, Scored) for score in case) for case in cases)
            return _compute_rate(present, len(cases), "cases")
        case Function.SANDBOX_PASS_RATE:
            return _compute_sandbox_pass_rate(cases)
        case _:
            numbers = [
                number for outcome in scored if (number := assertion.score.number_of(outcome)) is not None
            ]
            value = aggregate(assertion.function, numbers) if numbers else None
            return _Found(value, len(numbers), "scores", errored)


def _compute_sandbox_pass_rate(cases: _Cases) -> _Found:
    """Return the share of the tested cases whose tests passed; tests that were not run count as errored."""
    tested = [case for case in cases if case]
    judged = [case for case in tested if all(isinstance(score.outcome, Scored) for score in case)]
    passed = sum(all(_passes(score) for score in case) for case in judged)
    untested = len(cases) - len(tested)
    remark = f"{untested} more {'bears' if untested == 1 else 'bear'} code and no tests" if untested else ""
    found = _compute_rate(passed, len(judged), "cases with code and tests", len(tested) - len(judged))
    return replace(found, remark=remark)


def _passes(score: Score) -> bool:
    return isinstance(score.outcome, Scored) and score.outcome.label is Label.PASS


def _compute_rate(part: int, total: int, noun: str, errored: int = 0) -> _Found:
    return _Found(part / total if total else None, total, noun, errored, compute_wilson_interval(part, total))


def _conclude(assertion: AggregateAssertion, found: _Found, baseline: _Found | None) -> tuple[Verdict, str]:
    limit = assertion.limit
    if found.value is None:
        errors = f"; {found.errored} errored" if found.errored else ""
        return (
            Verdict.INCONCLUSIVE,
            f"there is nothing to compute {assertion.function} of: no {found.noun}{errors}",
        )
    text = _format_found(assertion, found)
    if isinstance(limit, Bound):
        holds = compare(found.value, limit.comparison, limit.threshold)
    elif baseline is None or baseline.value is None:
        return Verdict.INCONCLUSIVE, f"{text}; the baseline has no {found.noun} of {assertion.score}"
    else:
        text += f"; baseline {_format_found(assertion, baseline)}"
        if baseline.errored:
            return Verdict.INCONCLUSIVE, f"{baseline.errored} scores of the baseline errored; {text}"
        # Rounded: 0.81 is not worse than 0.83 by more than 0.02, whatever binary fractions make of it.
        loss = baseline.value - found.value if assertion.larger_is_better else found.value - baseline.value
        holds = round(loss, 12) <= limit.by
    if found.errored:
        return Verdict.INCONCLUSIVE, f"{_count_errored(found)}; {text}"
    return (Verdict.PASSED if holds else Verdict.FAILED), text


def _count_errored(found: _Found) -> str:
    return "1 score errored" if found.errored == 1 else f"{found.errored} scores errored"


def _format_found(assertion: AggregateAssertion, found: _Found) -> str:
    value = 0.0 if found.value is None else found.value
    shown = f"{value:.1%}" if assertion.function.is_rate else f"{value:.4g} {assertion.unit.value}".rstrip()
    interval = f", {found.interval}" if found.interval else ""
    remark = f"; {found.remark}" if found.remark else ""
    return f"{assertion.function} is {shown} over {found.total} {found.noun}{interval}{remark}"
