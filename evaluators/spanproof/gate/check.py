"""Scores against assertions.

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

from spanproof.gate.assertion import Assertion
from spanproof.gate.missing import why_missing
from spanproof.gate.report import AssertionReport, CaseResult, CaseState, GateReport, Verdict
from spanproof.trace import Errored, Layer, Score, Scored, Skipped

_Case = tuple[str, str]
_Metric = tuple[Layer, str]

_PRECEDENCE = (CaseState.VIOLATED, CaseState.ERRORED, CaseState.SATISFIED, CaseState.SKIPPED)
"""Which of a case's scores speaks for it: one that is wrong settles it, one that broke leaves it open."""


@dataclass(slots=True)
class _Gathered:
    """The scores of one case that some assertion asks for; `first` tells whose case it is."""

    first: Score
    scores: dict[_Metric, list[Score]] = field(default_factory=dict)


def check(assertions: Sequence[Assertion], scores: Iterable[Score]) -> GateReport:
    """Check every assertion over these scores, which are read once."""
    wanted = {(assertion.layer, assertion.name) for assertion in assertions}
    cases: dict[_Case, _Gathered] = {}
    names: dict[Layer, set[str]] = {layer: set() for layer in Layer}
    for score in scores:
        case = cases.setdefault((score.trace_id, score.run_span_id), _Gathered(score))
        metric = (score.layer, score.name)
        names[score.layer].add(score.name)
        if metric in wanted:
            case.scores.setdefault(metric, []).append(score)
    return GateReport(tuple(_report(assertion, cases.values(), names) for assertion in assertions))


def _report(
    assertion: Assertion, cases: Iterable[_Gathered], names: Mapping[Layer, AbstractSet[str]]
) -> AssertionReport:
    results = tuple(
        _case_result(assertion, case.first, case.scores.get((assertion.layer, assertion.name), ()))
        for case in cases
        if assertion.is_about(case.first.cohort)
    )
    needed = assertion.quantifier.needed(_judged(results))
    verdict, reason = _verdict(assertion, results, names)
    return AssertionReport(assertion, verdict, needed, reason, results)


def _case_result(assertion: Assertion, first: Score, scores: Sequence[Score]) -> CaseResult:
    answers = sorted(
        (_answer(assertion, score) for score in scores), key=lambda answer: _PRECEDENCE.index(answer[0])
    )
    lacking = CaseState.MISSING if assertion.is_own_value else CaseState.SKIPPED
    state, value, explanation = answers[0] if answers else (lacking, None, f"no {assertion.metric} score")
    return CaseResult(
        first.trace_id,
        first.run_span_id,
        first.cohort.agent,
        state,
        value,
        explanation,
        tuple(score.id for score in scores),
    )


def _answer(assertion: Assertion, score: Score) -> tuple[CaseState, float | None, str]:
    """What one score says: state, value, explanation."""
    match score.outcome:
        case Scored(value=value, explanation=explanation):
            satisfies = assertion.satisfied_by(score.outcome)
            if satisfies is None:
                return CaseState.SKIPPED, value, f"no verdict: {explanation}"
            return (CaseState.SATISFIED if satisfies else CaseState.VIOLATED), value, explanation
        case Skipped(reason):
            return CaseState.SKIPPED, None, reason
        case Errored(error_type, message):
            return CaseState.ERRORED, None, f"{error_type}: {message}"


def _judged(cases: Sequence[CaseResult]) -> int:
    return sum(case.state not in (CaseState.SKIPPED, CaseState.ERRORED) for case in cases)


def _verdict(
    assertion: Assertion, cases: Sequence[CaseResult], names: Mapping[Layer, AbstractSet[str]]
) -> tuple[Verdict, str]:
    states = [case.state for case in cases]
    satisfied, errored = states.count(CaseState.SATISFIED), states.count(CaseState.ERRORED)
    judged = _judged(cases)
    needed = assertion.quantifier.needed
    counted = f"{satisfied} of {judged} judged cases satisfy it, {needed(judged)} must"
    left_out = _left_out(cases) + ("" if judged else _advice(assertion, cases))
    if left_out:
        counted += f"; {left_out}"
    if not cases:
        cohort = " with this cohort" if assertion.where else ""
        return Verdict.FAILED, f"there is no case to check{cohort}"
    if not any(case.score_ids for case in cases):
        return Verdict.FAILED, why_missing(assertion, names)
    # Though every errored case were right it would not pass: so it fails for certain.
    if satisfied + errored < needed(judged + errored):
        return Verdict.FAILED, counted + (f"; {errored} errored" if errored else "")
    if errored:
        return Verdict.INCONCLUSIVE, f"{errored} of {len(cases)} cases errored; {counted}"
    if not judged:
        return Verdict.INCONCLUSIVE, f"no case could be judged: {left_out}"
    return Verdict.PASSED, counted


def _without_verdict(case: CaseResult) -> bool:
    """Whether it is left out of the count though it has a value."""
    return case.state is CaseState.SKIPPED and case.value is not None


def _left_out(cases: Sequence[CaseResult]) -> str:
    without = sum(_without_verdict(case) for case in cases)
    skipped = sum(case.state is CaseState.SKIPPED for case in cases) - without
    told = [f"{skipped} skipped"] if skipped else []
    if without:
        told.append(f"{without} {'has' if without == 1 else 'have'} a value and no verdict")
    return ", ".join(told)


def _advice(assertion: Assertion, cases: Sequence[CaseResult]) -> str:
    """What to write where a sub-score never has a verdict; a layer's own value may be open today."""
    if assertion.is_own_value or not any(_without_verdict(case) for case in cases):
        return ""
    return f"; {assertion.metric} is advice, so compare its value, as in {assertion.metric} >= 1"
