"""Checks assertions over scores.

A case is a run. It satisfies an assertion when every score of that name it has satisfies it; so a run whose
snippets are judged one by one must have them all right. What could not be judged is never counted as right
or as wrong: open cases count as not passed, skipped ones are shown and left out of the count, errored ones
make the assertion inconclusive, and an assertion over no judged case does not pass. What every case must
have, the own value of a layer, counts as wrong where it is missing; a sub-score that no case has fails the
assertion. A person's verdict on a layer takes the place of the layer's own value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.evaluators.run_state import is_person_verdict
from spanproof.evaluators.scores import is_open
from spanproof.gate.aggregates import evaluate_aggregate
from spanproof.gate.assertion import (
    AggregateAssertion,
    Assertion,
    AtLeastShare,
    CaseAssertion,
    Function,
    NoWorse,
    ScoreAssertion,
    ScoreRef,
    TrialsAssertion,
    is_about,
)
from spanproof.gate.errors import NoBaseline
from spanproof.gate.judged_share import LEAST_JUDGED_SHARE, describe_shortfall, is_left_unjudged
from spanproof.gate.missing import describe_missing
from spanproof.gate.open_policy import OpenPolicy
from spanproof.gate.outputs import Verdict
from spanproof.gate.report import AssertionReport, CaseResult, CaseState, GateReport
from spanproof.gate.sandbox_runs import (
    FAILURE_FIELDS,
    SANDBOX_SCORES,
    get_failure_fields,
    has_harness_results,
    select_sandbox_scores,
)
from spanproof.gate.trials import CaseTrials, evaluate_trials
from spanproof.trace import (
    Cause,
    Errored,
    JsonValue,
    Label,
    Layer,
    Score,
    Scored,
    Skipped,
    State,
    fold_outcomes,
    get_state,
)

_Case = tuple[str, str]
_Name = tuple[Layer, str]

# Every snippet has it: scores that were read from an older file do not name their snippet.
_OF_SNIPPETS = (Layer.CORRECTNESS, "compiles")

# Which of a case's scores decides: one that is wrong settles it, as `spanproof.trace.state.GRAVITY` has it.
_PRECEDENCE = (
    CaseState.VIOLATED,
    CaseState.ERRORED,
    CaseState.OPEN,
    CaseState.SATISFIED,
    CaseState.SKIPPED,
)

# The same where open scores are left out: another score of the case comes first.
_PRECEDENCE_WITHOUT_OPEN = (
    CaseState.VIOLATED,
    CaseState.ERRORED,
    CaseState.SATISFIED,
    CaseState.OPEN,
    CaseState.SKIPPED,
)


@dataclass(slots=True)
class CaseScores:
    """The scores of one case that some assertion needs; `first` has its ids and its cohort.

    Attributes:
        by_person: the last verdict of a person on each layer.
    """

    first: Score
    bears_code: bool = False
    scores: dict[_Name, list[Score]] = field(default_factory=dict)
    by_person: dict[Layer, Score] = field(default_factory=dict)

    @property
    def has_code(self) -> bool:
        """Whether the case bears code, or a harness ran some of it."""
        return self.bears_code or has_harness_results(self.scores)

    def select_sandbox_scores(self) -> Sequence[Score]:
        """Return the scores that decide whether its code works; empty where nothing tried it."""
        own = (Layer.EXECUTION, Layer.EXECUTION.value)
        person = {own: [self.by_person[Layer.EXECUTION]]} if Layer.EXECUTION in self.by_person else {}
        return select_sandbox_scores({**self.scores, **person})

    def select_scores(self, score: ScoreRef) -> Sequence[Score]:
        """Return the scores that an assertion is about; a person's verdict settles a layer's own value."""
        if score.is_own_value and score.layer in self.by_person:
            return (self.by_person[score.layer],)
        return self.scores.get((score.layer, score.row_name), ())


@dataclass(frozen=True, slots=True)
class _Gathered:
    """All cases, the names of all scores by layer, and the trials of cases where there are."""

    cases: Sequence[CaseScores]
    names: Mapping[Layer, AbstractSet[str]]
    trials: Sequence[CaseTrials]


def evaluate_assertions(
    assertions: Sequence[Assertion],
    scores: Iterable[Score | CaseTrials],
    baseline: Iterable[Score | CaseTrials] | None = None,
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED,
    least_judged: float = LEAST_JUDGED_SHARE,
    failure_fields: Sequence[str] = FAILURE_FIELDS,
) -> GateReport:
    """Check every assertion over these scores, which are read once.

    Args:
        assertions: what is checked.
        scores: of the runs that are judged, with the trials of cases where an agent was run on a suite.
        baseline: scores to compare with, for assertions with `no_worse_than baseline`.
        open_policy: what open verdicts count as.
        least_judged: the share of what could be judged that must be, from 0 to 1; below it an assertion that
            would pass is inconclusive.
        failure_fields: what is listed of runs whose code does not work; any of `FAILURE_FIELDS`.

    Raises:
        NoBaseline: an assertion needs one and there is none.
    """
    compared = [assertion for assertion in assertions if _needs_baseline(assertion)]
    if compared and baseline is None:
        raise NoBaseline(f"assertion {str(compared[0])!r} compares with a baseline, and none is given")
    found = _read_needed_scores(assertions, scores)
    before = _read_needed_scores(compared, baseline) if compared and baseline is not None else None
    reports = (
        _evaluate_assertion(assertion, found, before, open_policy, least_judged, failure_fields)
        for assertion in assertions
    )
    return GateReport(tuple(reports), open_policy)


def _needs_baseline(assertion: Assertion) -> bool:
    return not isinstance(assertion, CaseAssertion) and isinstance(assertion.limit, NoWorse)


def _read_needed_scores(assertions: Sequence[Assertion], scores: Iterable[Score | CaseTrials]) -> _Gathered:
    wanted = {
        (assertion.score.layer, assertion.score.row_name)
        for assertion in assertions
        if not isinstance(assertion, TrialsAssertion)
    }
    if any(
        isinstance(assertion, AggregateAssertion) and not assertion.function.has_score
        for assertion in assertions
    ):
        wanted |= SANDBOX_SCORES
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
        if is_person_verdict(score):
            case.by_person[score.layer] = score
    return _Gathered(tuple(cases.values()), names, trials)


def _evaluate_assertion(
    assertion: Assertion,
    found: _Gathered,
    before: _Gathered | None,
    policy: OpenPolicy,
    least_judged: float,
    failure_fields: Sequence[str],
) -> AssertionReport:
    if isinstance(assertion, TrialsAssertion):
        return evaluate_trials(assertion, found.trials, before.trials if before else None, policy)
    cases = _select_cases(assertion, found)
    if not cases:
        code = " that bears code" if _is_about_sandbox(assertion) else ""
        cohort = " with this cohort" if assertion.where else ""
        return AssertionReport(assertion, Verdict.FAILED, f"there is no case{code} to check{cohort}")
    is_presence = isinstance(assertion, AggregateAssertion) and assertion.function is Function.CODE_PRESENCE
    if not any(cases) and not is_presence:
        return AssertionReport(assertion, Verdict.FAILED, describe_missing(assertion.score, found.names))
    if isinstance(assertion, AggregateAssertion):
        report = evaluate_aggregate(
            assertion, cases, _select_cases(assertion, before) if before else None, policy, least_judged
        )
        if _is_about_sandbox(assertion):
            report = replace(report, cases=_list_tried_cases(assertion, found, failure_fields))
        return report
    firsts = [case.first for case in found.cases if is_about(assertion, case.first.cohort)]
    return _evaluate_cases(
        assertion,
        tuple(
            _evaluate_case(assertion, first, scores, policy)
            for first, scores in zip(firsts, cases, strict=True)
        ),
        policy,
        least_judged,
    )


def _select_cases(assertion: ScoreAssertion, gathered: _Gathered) -> list[Sequence[Score]]:
    """Return the scores that the assertion is about, case by case; empty for a case that has none."""
    about = [case for case in gathered.cases if is_about(assertion, case.first.cohort)]
    if _is_about_sandbox(assertion):
        return [case.select_sandbox_scores() for case in about if case.has_code]
    if isinstance(assertion, AggregateAssertion) and assertion.function is Function.CODE_PRESENCE:
        return [(case.first,) if case.has_code else () for case in about]
    return [case.select_scores(assertion.score) for case in about]


def _is_about_sandbox(assertion: Assertion) -> bool:
    return isinstance(assertion, AggregateAssertion) and assertion.function is Function.SANDBOX_PASS_RATE


# Of a case whose code was tried: tests that were skipped did not run.
_STATES = {
    State.FAIL: CaseState.VIOLATED,
    State.ERRORED: CaseState.ERRORED,
    State.OPEN: CaseState.OPEN,
    State.PASS: CaseState.SATISFIED,
    State.SKIPPED: CaseState.ERRORED,
}


def _list_tried_cases(
    assertion: ScoreAssertion, found: _Gathered, failure_fields: Sequence[str]
) -> tuple[CaseResult, ...]:
    """Return the cases whose code was tried, with the facts that are listed of those that do not pass."""
    listed = []
    for case in found.cases:
        deciding = case.select_sandbox_scores() if case.has_code else ()
        if not deciding or not is_about(assertion, case.first.cohort):
            continue
        state = _STATES[fold_outcomes(score.outcome for score in deciding)]
        against = [score for score in deciding if _STATES[get_state(score.outcome)] is state]
        values = [score.outcome.value for score in deciding if isinstance(score.outcome, Scored)]
        fields = {} if state is CaseState.SATISFIED else get_failure_fields(case.scores, failure_fields)
        listed.append(
            CaseResult(
                case.first.trace_id,
                case.first.run_span_id,
                case.first.cohort.agent,
                state,
                min(values, default=None),
                "; ".join([_describe_score(against[0]), *_list_field_texts(fields)]),
                tuple(score.id for score in deciding),
                _find_cause(against[0]) if state is CaseState.OPEN else None,
                fields,
            )
        )
    return tuple(listed)


def _describe_score(score: Score) -> str:
    match score.outcome:
        case Scored(explanation=explanation):
            return explanation or f"{score.layer.value}.{score.name}"
        case Skipped(reason):
            return reason
        case Errored(error_type, message):
            return f"{error_type}: {message}"


def _list_field_texts(fields: Mapping[str, JsonValue]) -> list[str]:
    return [
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in fields.items()
        if value is not None
    ]


def _evaluate_case(
    assertion: CaseAssertion, first: Score, scores: Sequence[Score], policy: OpenPolicy
) -> CaseResult:
    order = _PRECEDENCE_WITHOUT_OPEN if policy is OpenPolicy.IGNORE else _PRECEDENCE
    judged = sorted(
        ((*_evaluate_score(assertion, score), score) for score in scores),
        key=lambda judged_score: order.index(judged_score[0]),
    )
    lacking = CaseState.MISSING if assertion.score.is_own_value else CaseState.SKIPPED
    state, value, explanation = judged[0][:3] if judged else (lacking, None, f"no {assertion.score} score")
    return CaseResult(
        first.trace_id,
        first.run_span_id,
        first.cohort.agent,
        state,
        value,
        explanation,
        tuple(score.id for score in scores),
        _find_cause(judged[0][3]) if judged and state in (CaseState.OPEN, CaseState.SKIPPED) else None,
    )


def _find_cause(score: Score) -> Cause | None:
    if isinstance(score.outcome, Scored | Skipped):
        return score.outcome.cause
    return None


def _evaluate_score(assertion: CaseAssertion, score: Score) -> tuple[CaseState, float | None, str]:
    """Return state, compared number and explanation of one score."""
    match score.outcome:
        case Scored(explanation=explanation):
            number = assertion.score.find_number(score.outcome)
            # The number of an open verdict says nothing, whatever it is compared with.
            if is_open(score):
                return CaseState.OPEN, number, explanation
            satisfies = assertion.evaluate(score.outcome)
            if satisfies is None and number is None:
                return CaseState.SKIPPED, None, "stored without its raw value: evaluate the trace again"
            if satisfies is None:
                return CaseState.SKIPPED, number, f"no verdict: {explanation}"
            return (CaseState.SATISFIED if satisfies else CaseState.VIOLATED), number, explanation
        case Skipped(reason):
            return CaseState.SKIPPED, None, reason
        case Errored(error_type, message):
            return CaseState.ERRORED, None, f"{error_type}: {message}"


@dataclass(frozen=True, slots=True)
class _Tally:
    """How many cases of an assertion satisfy it, do not, and may turn out either way.

    Attributes:
        unsettled: open ones that count as neither.
    """

    satisfied: int
    violated: int
    unsettled: int
    errored: int

    @property
    def counted(self) -> int:
        """How many cases the share is of."""
        return self.satisfied + self.violated + self.unsettled


def _compute_tally(report: AssertionReport) -> _Tally:
    """Return the tally of a report's cases, open ones counted as its policy says."""
    satisfied, unsettled = report.satisfied, report.open
    violated = report.judged - satisfied
    errored = report.count(CaseState.ERRORED)
    match report.open_policy:
        case OpenPolicy.NOT_PASSED:
            return _Tally(satisfied, violated, unsettled, errored)
        case OpenPolicy.PASS:
            return _Tally(satisfied + unsettled, violated, 0, errored)
        case OpenPolicy.FAIL:
            return _Tally(satisfied, violated + unsettled, 0, errored)
        case OpenPolicy.IGNORE:
            return _Tally(satisfied, violated, 0, errored)


def _evaluate_cases(
    assertion: CaseAssertion, cases: tuple[CaseResult, ...], policy: OpenPolicy, least_judged: float
) -> AssertionReport:
    unsettled = sum(case.state is CaseState.OPEN for case in cases)
    blank = AssertionReport(
        assertion, Verdict.INCONCLUSIVE, "", cases=cases, open=unsettled, open_policy=policy
    )
    tally = _compute_tally(blank)
    verdict = _evaluate_tally(assertion, tally)
    reason = _describe_verdict(blank, assertion, tally, verdict)
    if verdict is Verdict.PASSED and (shortfall := _describe_shortfall(blank, least_judged)):
        verdict, reason = Verdict.INCONCLUSIVE, f"{shortfall}; {reason}"
    return replace(
        blank,
        verdict=verdict,
        reason=reason,
        needed=assertion.quantifier.count_needed(tally.counted),
        share=tally.satisfied / tally.counted if tally.counted else None,
        interval=compute_wilson_interval(tally.satisfied, tally.counted),
    )


def _describe_shortfall(report: AssertionReport, least_judged: float) -> str:
    """Return that too few cases were judged; empty where enough were."""
    judged = report.judged
    skipped = [case.cause for case in report.cases if case.state is CaseState.SKIPPED]
    unjudged = [cause for cause in skipped if is_left_unjudged(cause)]
    if report.open_policy in (OpenPolicy.PASS, OpenPolicy.FAIL):
        judged += report.open
    else:
        unjudged += [case.cause for case in report.cases if case.state is CaseState.OPEN]
    return describe_shortfall("cases", judged, unjudged, least_judged)


def _evaluate_tally(assertion: CaseAssertion, tally: _Tally) -> Verdict:
    needed = assertion.quantifier.count_needed
    may_satisfy = tally.satisfied + tally.unsettled + tally.errored
    if may_satisfy < needed(tally.counted + tally.errored):
        return Verdict.FAILED
    is_judged = tally.satisfied + tally.violated > 0
    if tally.errored or not is_judged or tally.satisfied < needed(tally.counted):
        return Verdict.INCONCLUSIVE
    return Verdict.PASSED


def _describe_verdict(
    report: AssertionReport, assertion: CaseAssertion, tally: _Tally, verdict: Verdict
) -> str:
    """Return why the verdict is what it is, what decides first."""
    counted, errored = tally.counted, tally.errored
    unsettled = _format_open(report)
    left_out = "; ".join(filter(None, [unsettled, _format_left_out(report.cases)]))
    is_judged = tally.satisfied + tally.violated > 0
    if verdict is Verdict.INCONCLUSIVE and not (errored or is_judged):
        return f"no case could be judged: {left_out}{_describe_advice(assertion, report.cases)}"
    of = "cases" if report.open and report.open_policy is not OpenPolicy.IGNORE else "judged cases"
    interval = compute_wilson_interval(tally.satisfied, counted)
    parts = [
        f"{tally.satisfied} of {counted} {of} satisfy it, {assertion.quantifier.count_needed(counted)} must",
        f"{tally.satisfied / counted:.1%}, {interval}" if interval else "",
        _describe_share(assertion, counted),
    ]
    if verdict is Verdict.INCONCLUSIVE and not errored:
        parts = [unsettled, *parts, _format_left_out(report.cases)]
    else:
        parts.append(left_out + ("" if is_judged else _describe_advice(assertion, report.cases)))
    text = "; ".join(filter(None, parts))
    if verdict is Verdict.INCONCLUSIVE and errored:
        return f"{errored} of {len(report.cases)} cases errored; {text}"
    return text + (f"; {errored} errored" if errored else "")


def _format_open(report: AssertionReport) -> str:
    """Return how many cases are open and why; empty where none is."""
    causes = [case.cause for case in report.cases if case.state is CaseState.OPEN]
    if causes:
        return report.open_policy.format_open(len(causes), causes)
    return ""


def _describe_share(assertion: CaseAssertion, counted: int) -> str:
    """Return a remark where so few cases leave no room for a failure, and how many would; else ''."""
    quantifier = assertion.quantifier
    if not isinstance(quantifier, AtLeastShare) or not counted or quantifier.count_needed(counted) < counted:
        return ""
    slack = quantifier.first_with_slack
    if slack is None:
        return ""
    percent = f"{float(quantifier.percent):g}%"
    return f"with {counted} cases, {percent} leaves no room for a failure; with {slack}, one may fail"


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


def _describe_advice(assertion: CaseAssertion, cases: Sequence[CaseResult]) -> str:
    """Return what to write where a user's score never has a verdict."""
    if assertion.score.is_own_value or not isinstance(assertion.threshold, Label):
        return ""
    if not any(_has_no_verdict(case) for case in cases):
        return ""
    return f"; {assertion.score} is advice, so compare its value, as in {assertion.score} >= 1"
