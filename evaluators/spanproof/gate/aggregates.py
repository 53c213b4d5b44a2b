"""Checks an assertion over one number: an average, a percentile, a rate.

Numbers and rates are over scores, one per score of the name; `presence_rate` is over cases. Skipped scores
are left out. A score that errored makes every aggregate but `error_rate` and `presence_rate` inconclusive.

An open verdict has no number of its own. The aggregate is over the others, and the assertion is decided only
where it comes out the same whether all open verdicts were fail or pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spanproof.evaluators.intervals import Interval, compute_clustered_interval, compute_wilson_interval
from spanproof.evaluators.scores import find_state, is_open
from spanproof.gate.assertion import AggregateAssertion, Bound, Function, is_satisfied
from spanproof.gate.differences import LEVEL, Counts, compute_difference_p_value
from spanproof.gate.judged_share import LEAST_JUDGED_SHARE, describe_shortfall, is_left_unjudged
from spanproof.gate.open_policy import OpenPolicy
from spanproof.gate.outputs import Verdict
from spanproof.gate.report import AssertionReport
from spanproof.gate.sandbox_runs import SandboxEvidence, get_sandbox_evidence
from spanproof.gate.statistics import compute_aggregate
from spanproof.trace import Cause, Errored, Label, Score, Scored, Skipped, State, fold_outcomes

_Cases = Sequence[Sequence[Score]]

# Rates that count what has no verdict.
_OVER_UNJUDGED = (
    Function.OPEN_RATE,
    Function.ERROR_RATE,
    Function.PRESENCE_RATE,
    Function.SANDBOX_PASS_RATE,
    Function.CODE_PRESENCE,
)

_VALUES = {OpenPolicy.FAIL: 0.0, OpenPolicy.PASS: 1.0}


@dataclass(frozen=True, slots=True)
class _Found:
    """An aggregate: its value (None of nothing), over how many, with the interval of a rate.

    Attributes:
        ends: its values if all open verdicts were fail, and if all were pass; the same where none is open.
        remark: what was left out, as a clause.
        counts: of a rate, by case the scores of it and those that it is over.
    """

    value: float | None
    total: int
    noun: str
    errored: int = 0
    interval: Interval | None = None
    remark: str = ""
    open: int = 0
    ends: tuple[float | None, float | None] = (None, None)
    counts: Counts = ()

    @property
    def possible(self) -> tuple[float | None, ...]:
        """The values that it may have, in an order that is the same for every aggregate."""
        return (self.value, *self.ends)


def evaluate_aggregate(
    assertion: AggregateAssertion,
    cases: _Cases,
    before: _Cases | None,
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED,
    least_judged: float = LEAST_JUDGED_SHARE,
) -> AssertionReport:
    """Report on one aggregate.

    Args:
        assertion: what is checked.
        cases: the scores it is about, case by case.
        before: those of the baseline; needed where the assertion compares with it.
        open_policy: what open verdicts count as.
        least_judged: the share of the scores that could be judged that must be.
    """
    found = _compute_result(assertion, cases, open_policy)
    if before is not None:
        baseline = _compute_result(assertion, before, open_policy)
    else:
        baseline = None
    if baseline is not None:
        p_value = compute_difference_p_value(baseline.counts, found.counts)
    else:
        p_value = None
    verdict, reason = _evaluate_limit(assertion, found, baseline)
    if baseline is not None and p_value is not None:
        reason += f"; {_describe_change(assertion, found, baseline, p_value)}"
    if verdict is Verdict.PASSED and assertion.function not in _OVER_UNJUDGED:
        scores = [score for case in cases for score in case]
        if shortfall := _describe_shortfall(scores, open_policy, least_judged):
            verdict, reason = Verdict.INCONCLUSIVE, f"{shortfall}; {reason}"
    return AssertionReport(
        assertion,
        verdict,
        reason,
        value=found.value,
        total=found.total,
        interval=found.interval,
        baseline=baseline.value if baseline else None,
        p_value=p_value,
        open=found.open,
        open_policy=open_policy,
    )


def _describe_change(assertion: AggregateAssertion, found: _Found, baseline: _Found, p_value: float) -> str:
    """Return what the test of the two rates shows; the margin of the assertion decides, whatever it is."""
    if p_value > LEVEL or found.value is None or baseline.value is None:
        return f"no difference shown (p = {p_value:.3g})"
    is_better = (found.value > baseline.value) == assertion.larger_is_better
    return f"{'better' if is_better else 'worse'} (p = {p_value:.3g})"


def _describe_shortfall(scores: Sequence[Score], policy: OpenPolicy, least_judged: float) -> str:
    """Return that too few scores were judged; empty where enough were."""
    open_ones = [] if policy in _VALUES else _select_open(scores)
    skipped = [
        score.outcome.cause
        for score in scores
        if isinstance(score.outcome, Skipped) and is_left_unjudged(score.outcome.cause)
    ]
    scored = sum(isinstance(score.outcome, Scored) for score in scores)
    unjudged = [*_list_causes(open_ones), *skipped]
    return describe_shortfall("scores", scored - len(open_ones), unjudged, least_judged)


def _compute_result(assertion: AggregateAssertion, cases: _Cases, policy: OpenPolicy) -> _Found:
    scores = [score for case in cases for score in case]
    errored = sum(isinstance(score.outcome, Errored) for score in scores)
    match assertion.function:
        case Function.FAIL_RATE:
            found = _compute_fail_rate(scores, errored, policy)
            return _with_fail_counts(found, cases, policy)
        case Function.OPEN_RATE:
            found = _compute_open_rate(scores, errored, policy)
            return _with_counts_by_case(found, cases, [State.OPEN], [State.FAIL, State.PASS, State.OPEN])
        case Function.ERROR_RATE:
            counts_by_case = [_count_errors(case) for case in cases]
            total = sum(counted for _, counted in counts_by_case)
            return _with_counts(_compute_rate(errored, total, "scores that were not skipped"), counts_by_case)
        case Function.PRESENCE_RATE:
            return _compute_case_rate([_has_score(case) for case in cases])
        case Function.CODE_PRESENCE:
            return _compute_case_rate([bool(case) for case in cases])
        case Function.SANDBOX_PASS_RATE:
            return _compute_sandbox_pass_rate(cases, policy)
        case _:
            return _compute_number(assertion, scores, errored, policy)


def _compute_fail_rate(scores: Sequence[Score], errored: int, policy: OpenPolicy) -> _Found:
    open_ones = _select_open(scores)
    labels = [score.outcome.label for score in scores if isinstance(score.outcome, Scored)]
    failed, passed = labels.count(Label.FAIL), labels.count(Label.PASS)
    found = _compute_partly_open_rate(failed, passed, _list_causes(open_ones), policy, OpenPolicy.FAIL)
    if open_ones:
        remark = policy.format_open(len(open_ones), _list_causes(open_ones))
        found = replace(found, remark=f"fails {failed} of {failed + passed}, {remark}")
    return replace(found, noun="verdicts", errored=errored)


def _has_score(case: Sequence[Score]) -> bool:
    return any(isinstance(score.outcome, Scored) for score in case)


def _with_fail_counts(found: _Found, cases: _Cases, policy: OpenPolicy) -> _Found:
    """Return a rate of failures with its counts by case, open ones counted as the policy says."""
    open_of_part = [State.OPEN] if policy is OpenPolicy.FAIL else []
    open_of_total = [State.OPEN] if policy in _VALUES else []
    counts = [State.FAIL, State.PASS, *open_of_total]
    return _with_counts_by_case(found, cases, [State.FAIL, *open_of_part], counts)


def _compute_open_rate(scores: Sequence[Score], errored: int, policy: OpenPolicy) -> _Found:
    open_ones = _select_open(scores)
    outcomes = [score.outcome for score in scores if isinstance(score.outcome, Scored)]
    total = len(open_ones) + sum(outcome.label is not None for outcome in outcomes)
    if open_ones:
        remark = policy.format_open(len(open_ones), _list_causes(open_ones))
    else:
        remark = ""
    found = _compute_rate(len(open_ones), total, "verdicts, open ones among them", errored)
    return replace(found, open=len(open_ones), remark=remark)


def _with_counts_by_case(
    found: _Found, cases: _Cases, parts: Sequence[State], counts: Sequence[State]
) -> _Found:
    """Return a rate with its counts and its interval by case.

    Args:
        found: the rate.
        cases: the scores, case by case.
        parts: the states that the rate is of.
        counts: the states that it is over.
    """
    states = [[find_state(score.layer, score.name, score.outcome) for score in case] for case in cases]
    clusters = [
        (sum(state in parts for state in case), sum(state in counts for state in case)) for case in states
    ]
    return _with_counts(found, clusters)


def _count_errors(case: Sequence[Score]) -> tuple[int, int]:
    """Return how many scores of a case errored, and how many were not skipped."""
    errored = sum(isinstance(score.outcome, Errored) for score in case)
    return errored, errored + sum(isinstance(score.outcome, Scored) for score in case)


def _with_counts(found: _Found, counts: Counts) -> _Found:
    """Return a rate with its counts by case; the interval over scores holds where each case has one."""
    is_by_case = all(total <= 1 for _, total in counts)
    if is_by_case:
        interval = found.interval
    else:
        interval = compute_clustered_interval(counts)
    return replace(found, counts=tuple(counts), interval=interval)


def _compute_case_rate(are_counted: Sequence[bool]) -> _Found:
    """Return the share of the cases that are counted."""
    found = _compute_rate(sum(are_counted), len(are_counted), "cases")
    return _with_counts(found, [(int(is_counted), 1) for is_counted in are_counted])


def _compute_sandbox_pass_rate(cases: _Cases, policy: OpenPolicy) -> _Found:
    """Return the share of the tried cases whose code works; tests that were not run count as errored."""
    tested = [case for case in cases if case]
    judged = [case for case in tested if all(isinstance(score.outcome, Scored) for score in case)]
    states = [fold_outcomes(score.outcome for score in case) for case in judged]
    unsettled = [case for case, state in zip(judged, states, strict=True) if state is State.OPEN]
    causes = _list_causes([_select_open(case)[0] for case in unsettled])
    untested = len(cases) - len(tested)
    by_evidence = Counter(map(get_sandbox_evidence, tested))
    are_tested = set(by_evidence) <= {SandboxEvidence.TESTS}
    remarks = [] if are_tested else [_format_evidence(by_evidence)]
    if untested:
        verb, was = ("bears", "was") if untested == 1 else ("bear", "were")
        remarks.append(f"{untested} more {verb} code and no tests, and {was} not replayed")
    remarks += [policy.format_open(len(causes), causes)] if causes else []
    passed, failed = states.count(State.PASS), states.count(State.FAIL)
    found = _compute_partly_open_rate(passed, failed, causes, policy, OpenPolicy.PASS)
    return replace(
        found,
        noun="cases with code and tests" if are_tested else "cases with code",
        counts=[(int(state is State.PASS), 1) for state in states if state in (State.PASS, State.FAIL)],
        errored=len(tested) - len(judged),
        remark="; ".join(remarks),
    )


def _format_evidence(counts: Mapping[SandboxEvidence, int]) -> str:
    """Return by what the code was tried: `3 by your harness, 5 by replay`."""
    return ", ".join(f"{counts[evidence]} by {evidence}" for evidence in SandboxEvidence if counts[evidence])


def _compute_number(
    assertion: AggregateAssertion, scores: Sequence[Score], errored: int, policy: OpenPolicy
) -> _Found:
    """Return a mean, a percentile or the largest number; open verdicts are left out of it."""
    open_ones = _select_open(scores)
    judged = [score.outcome for score in scores if isinstance(score.outcome, Scored) and not is_open(score)]
    numbers = [number for outcome in judged if (number := assertion.score.find_number(outcome)) is not None]
    if policy in _VALUES:
        numbers += [_VALUES[policy]] * len(open_ones)

    def compute(*more: float) -> float | None:
        if numbers or more:
            return compute_aggregate(assertion.function, [*numbers, *more])
        return None

    is_undecided = policy is OpenPolicy.NOT_PASSED
    fillings = ([value] * len(open_ones) if is_undecided else [] for value in _VALUES.values())
    low, high = (compute(*filling) for filling in fillings)
    if open_ones:
        remark = policy.format_open(len(open_ones), _list_causes(open_ones))
    else:
        remark = ""
    return _Found(
        compute(), len(numbers), "scores", errored, remark=remark, open=len(open_ones), ends=(low, high)
    )


def _select_open(scores: Sequence[Score]) -> list[Score]:
    return [score for score in scores if is_open(score)]


def _list_causes(scores: Sequence[Score]) -> list[Cause | None]:
    return [score.outcome.cause if isinstance(score.outcome, Scored) else None for score in scores]


def _compute_partly_open_rate(
    part: int, rest: int, causes: Sequence[Cause | None], policy: OpenPolicy, joins: OpenPolicy
) -> _Found:
    """Return the rate of a part of what has a verdict.

    Args:
        part: how many verdicts are of it.
        rest: how many are not.
        causes: of what is open, one each.
        policy: what open ones count as.
        joins: by which policy an open one is of the part.
    """
    unsettled = len(causes)
    if policy is OpenPolicy.NOT_PASSED:
        whole = part + rest + unsettled
        ends = (part / whole, (part + unsettled) / whole) if whole else (None, None)
        # The end at which all open ones failed comes first.
        ends = ends if joins is OpenPolicy.PASS else ends[::-1]
        return replace(_compute_rate(part, part + rest, ""), open=unsettled, ends=ends)
    counted = unsettled if policy in (OpenPolicy.PASS, OpenPolicy.FAIL) else 0
    joined = counted if policy is joins else 0
    return replace(_compute_rate(part + joined, part + rest + counted, ""), open=unsettled)


def _compute_rate(part: int, total: int, noun: str, errored: int = 0) -> _Found:
    value = part / total if total else None
    return _Found(value, total, noun, errored, compute_wilson_interval(part, total), ends=(value, value))


def _evaluate_limit(
    assertion: AggregateAssertion, found: _Found, baseline: _Found | None
) -> tuple[Verdict, str]:
    if found.value is None:
        left_out = "".join(
            [f"; {found.remark}" if found.open else "", f"; {found.errored} errored" if found.errored else ""]
        )
        return (
            Verdict.INCONCLUSIVE,
            f"there is nothing to compute {assertion.function} of: no {found.noun}{left_out}",
        )
    text = _format_found(assertion, found)
    limit = assertion.limit
    if isinstance(limit, Bound):
        holds = {
            is_satisfied(value, limit.comparison, limit.threshold)
            for value in found.possible
            if value is not None
        }
    elif baseline is None or baseline.value is None:
        return Verdict.INCONCLUSIVE, f"{text}; the baseline has no {found.noun} of {assertion.score}"
    else:
        text += f"; baseline {_format_found(assertion, baseline)}"
        if baseline.errored:
            return Verdict.INCONCLUSIVE, f"{baseline.errored} scores of the baseline errored; {text}"
        holds = {loss <= limit.by for loss in _compute_losses(assertion, found, baseline)}
    if found.errored:
        return Verdict.INCONCLUSIVE, f"{_format_errored(found)}; {text}"
    if len(holds) > 1:
        return Verdict.INCONCLUSIVE, f"what is open would decide; {text}"
    return (Verdict.PASSED if holds == {True} else Verdict.FAILED), text


def _compute_losses(assertion: AggregateAssertion, found: _Found, baseline: _Found) -> list[float]:
    """Return how much worse it is than the baseline: as it is, and where open ones count alike in both."""
    sign = 1 if assertion.larger_is_better else -1
    # Rounded: 0.81 is not worse than 0.83 by more than 0.02, whatever binary fractions make of it.
    return [
        round(sign * (before - now), 12)
        for now, before in zip(found.possible, baseline.possible, strict=True)
        if now is not None and before is not None
    ]


def _format_errored(found: _Found) -> str:
    if found.errored == 1:
        return "1 score errored"
    return f"{found.errored} scores errored"


def _format_found(assertion: AggregateAssertion, found: _Found) -> str:
    value = 0.0 if found.value is None else found.value
    if assertion.function.is_rate:
        shown = f"{value:.1%}"
    else:
        shown = f"{value:.4g} {assertion.unit.value}".rstrip()
    interval = f", {found.interval}" if found.interval else ""
    remark = f"; {found.remark}" if found.remark else ""
    return f"{assertion.function} is {shown} over {found.total} {found.noun}{interval}{remark}"
