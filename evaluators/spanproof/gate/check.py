"""Checks assertions over scores.

A case is a run. It satisfies an assertion when every score of that name it has satisfies it; so a run whose
snippets are judged one by one must have them all right. What could not be judged is never counted as right
or as wrong: skipped cases are shown and left out of the count, errored ones make the assertion inconclusive,
and an assertion over no judged case does not pass. What every case must have, the own value of a layer,
counts as wrong where it is missing; a sub-score that no case has fails the assertion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.gate.aggregates import report_aggregate
from spanproof.gate.assertion import (
    AggregateAssertion,
    Assertion,
    AtLeastShare,
    CaseAssertion,
    Function,
    NoWorse,
    ScoreAssertion,
    TrialsAssertion,
    is_about,
)
from spanproof.gate.errors import NoBaseline
from spanproof.gate.missing import explain_missing
from spanproof.gate.outputs import Verdict
from spanproof.gate.report import AssertionReport, CaseResult, CaseState, GateReport
from spanproof.gate.trials import CaseTrials, report_trials
from spanproof.trace import Errored, Label, Layer, Score, Scored, Skipped

_Case = tuple[str, str]
_Name = tuple[Layer, str]

# Every snippet has it: scores that were read from an older file do not name their snippet.
_OF_SNIPPETS = (Layer.CORRECTNESS, "compiles")

# Which of a case's scores decides: one that is wrong settles it, one that errored leaves it open.
_PRECEDENCE = (CaseState.VIOLATED, CaseState.ERRORED, CaseState.SATISFIED, CaseState.SKIPPED)


@dataclass(slots=True)
class CaseScores:
    """The scores of one case that some assertion needs; `first` has its ids and its cohort."""

    first: Score
    bears_code: bool = False
    scores: dict[_Name, list[Score]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Gathered:
    """All cases, the names of all scores by layer, and the trials of cases where there are."""

    cases: Sequence[CaseScores]
    names: Mapping[Layer, AbstractSet[str]]
    trials: Sequence[CaseTrials]


def check(
    assertions: Sequence[Assertion],
    scores: Iterable[Score | CaseTrials],
    baseline: Iterable[Score | CaseTrials] | None = None,
) -> GateReport:
    """Check every assertion over these scores, which are read once.

    Args:
        assertions: what is checked.
        scores: of the runs that are judged, with the trials of cases where an agent was run on a suite.
        baseline: scores to compare with, for assertions with `no_worse_than baseline`.

    Raises:
        NoBaseline: an assertion needs one and there is none.
    """
    compared = [each for each in assertions if _needs_baseline(each)]
    if compared and baseline is None:
        raise NoBaseline(f"assertion {str(compared[0])!r} compares with a baseline, and none is given")
    found = _gather(assertions, scores)
    before = _gather(compared, baseline) if compared and baseline is not None else None
    return GateReport(tuple(_report(assertion, found, before) for assertion in assertions))


def _needs_baseline(assertion: Assertion) -> bool:
    return not isinstance(assertion, CaseAssertion) and isinstance(assertion.limit, NoWorse)


def _gather(assertions: Sequence[Assertion], scores: Iterable[Score | CaseTrials]) -> _Gathered:
    wanted = {
        (assertion.score.layer, assertion.score.row_name)
        for assertion in assertions
        if not isinstance(assertion, TrialsAssertion)
    }
    trials: list[CaseTrials] = []
    cases: dict[_Case, CaseScores] = {}
    names: dict[Layer, set[str]] = {layer: set() for layer in Layer}
    for score in scores:
        if isinstance(score, CaseTrials):
            trials.append(score)
            continue
        case = cases.setdefault((score.trace_id, score.run_span_id), CaseScores(score))
        name = (score.layer, score.name)
        names[score.layer].add(score.name)
        case.bears_code |= score.snippet_id is not None or name == _OF_SNIPPETS
        if name in wanted:
            case.scores.setdefault(name, []).append(score)
    return _Gathered(tuple(cases.values()), names, trials)


def _report(assertion: Assertion, found: _Gathered, before: _Gathered | None) -> AssertionReport:
    if isinstance(assertion, TrialsAssertion):
        return report_trials(assertion, found.trials, before.trials if before else None)
    cases = _select_cases(assertion, found)
    if not cases:
        code = " that bears code" if _needs_code(assertion) else ""
        cohort = " with this cohort" if assertion.where else ""
        return AssertionReport(assertion, Verdict.FAILED, f"there is no case{code} to check{cohort}")
    if not any(cases):
        return AssertionReport(assertion, Verdict.FAILED, explain_missing(assertion.score, found.names))
    if isinstance(assertion, AggregateAssertion):
        return report_aggregate(assertion, cases, _select_cases(assertion, before) if before else None)
    firsts = [case.first for case in found.cases if is_about(assertion, case.first.cohort)]
    return _report_cases(
        assertion,
        tuple(_judge_case(assertion, first, scores) for first, scores in zip(firsts, cases, strict=True)),
    )


def _select_cases(assertion: ScoreAssertion, gathered: _Gathered) -> list[Sequence[Score]]:
    """Return the scores that the assertion is about, case by case; empty for a case that has none."""
    name = (assertion.score.layer, assertion.score.row_name)
    about = (case for case in gathered.cases if is_about(assertion, case.first.cohort))
    needs_code = _needs_code(assertion)
    return [case.scores.get(name, ()) for case in about if case.bears_code or not needs_code]


def _needs_code(assertion: Assertion) -> bool:
    return isinstance(assertion, AggregateAssertion) and assertion.function is Function.SANDBOX_PASS_RATE


def _judge_case(assertion: CaseAssertion, first: Score, scores: Sequence[Score]) -> CaseResult:
    answers = sorted(
        (_judge_score(assertion, score) for score in scores), key=lambda answer: _PRECEDENCE.index(answer[0])
    )
    lacking = CaseState.MISSING if assertion.score.is_own_value else CaseState.SKIPPED
    state, value, explanation = answers[0] if answers else (lacking, None, f"no {assertion.score} score")
    return CaseResult(
        first.trace_id,
        first.run_span_id,
        first.cohort.agent,
        state,
        value,
        explanation,
        tuple(score.id for score in scores),
    )


def _judge_score(assertion: CaseAssertion, score: Score) -> tuple[CaseState, float | None, str]:
    """Return state, compared number and explanation of one score."""
    match score.outcome:
        case Scored(explanation=explanation):
            number = assertion.score.number_of(score.outcome)
            satisfies = assertion.satisfied_by(score.outcome)
            if satisfies is None and number is None:
                return CaseState.SKIPPED, None, "stored without its raw value: evaluate the trace again"
            if satisfies is None:
                return CaseState.SKIPPED, number, f"no verdict: {explanation}"
            return (CaseState.SATISFIED if satisfies else CaseState.VIOLATED), number, explanation
        case Skipped(reason):
            return CaseState.SKIPPED, None, reason
        case Errored(error_type, message):
            return CaseState.ERRORED, None, f"{error_type}: {message}"


def _report_cases(assertion: CaseAssertion, cases: tuple[CaseResult, ...]) -> AssertionReport:
    states = [case.state for case in cases]
    satisfied, errored = states.count(CaseState.SATISFIED), states.count(CaseState.ERRORED)
    judged = sum(state not in (CaseState.SKIPPED, CaseState.ERRORED) for state in states)
    verdict, reason = _conclude(assertion, cases, satisfied, errored, judged)
    return AssertionReport(
        assertion,
        verdict,
        reason,
        needed=assertion.quantifier.needed(judged),
        cases=cases,
        share=satisfied / judged if judged else None,
        interval=compute_wilson_interval(satisfied, judged),
    )


def _conclude(
    assertion: CaseAssertion, cases: Sequence[CaseResult], satisfied: int, errored: int, judged: int
) -> tuple[Verdict, str]:
    needed = assertion.quantifier.needed
    counted = f"{satisfied} of {judged} judged cases satisfy it, {needed(judged)} must"
    interval = compute_wilson_interval(satisfied, judged)
    details = [f"{satisfied / judged:.1%}, {interval}" if interval else "", _explain_share(assertion, judged)]
    left_out = _format_left_out(cases) + ("" if judged else _advise(assertion, cases))
    counted = "; ".join(filter(None, [counted, *details, left_out]))
    # Though every errored case were right it would not pass: so it fails for certain.
    if satisfied + errored < needed(judged + errored):
        return Verdict.FAILED, counted + (f"; {errored} errored" if errored else "")
    if errored:
        return Verdict.INCONCLUSIVE, f"{errored} of {len(cases)} cases errored; {counted}"
    if not judged:
        return Verdict.INCONCLUSIVE, f"no case could be judged: {left_out}"
    return Verdict.PASSED, counted


def _explain_share(assertion: CaseAssertion, judged: int) -> str:
    """Return a remark where a share below 100 % of so few cases is all, and from how many it is not."""
    quantifier = assertion.quantifier
    if not isinstance(quantifier, AtLeastShare) or not judged or quantifier.needed(judged) < judged:
        return ""
    slack = quantifier.first_with_slack
    if slack is None:
        return ""
    return f"{float(quantifier.percent):g}% of {judged} is all of them: one may fail from {slack} cases on"


def _has_no_verdict(case: CaseResult) -> bool:
    """Whether it is left out of the count though it has a value."""
    return case.state is CaseState.SKIPPED and case.value is not None


def _format_left_out(cases: Sequence[CaseResult]) -> str:
    without = sum(_has_no_verdict(case) for case in cases)
    skipped = sum(case.state is CaseState.SKIPPED for case in cases) - without
    parts = [f"{skipped} skipped"] if skipped else []
    if without:
        parts.append(f"{without} {'has' if without == 1 else 'have'} a value and no verdict")
    return ", ".join(parts)


def _advise(assertion: CaseAssertion, cases: Sequence[CaseResult]) -> str:
    """Return what to write where a user's score never has a verdict; a layer's value may be open today."""
    if assertion.score.is_own_value or not isinstance(assertion.threshold, Label):
        return ""
    if not any(_has_no_verdict(case) for case in cases):
        return ""
    return f"; {assertion.score} is advice, so compare its value, as in {assertion.score} >= 1"
