"""Is this safe to ship? Suites, their cases over experiments, gate reports, assertions tried, promotion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import Field

from spanproof.api import pages
from spanproof.api.access import WRITER, Opened
from spanproof.api.gate_pages import build_gate_page, get_report_state
from spanproof.api.gate_reports import UnreadableReportError, find_gate_report, parse_gate_report
from spanproof.api.models import Answer, Nanoseconds
from spanproof.api.models.gates import GatePage
from spanproof.api.models.suites import Promoted, Promotions
from spanproof.api.parameters import Cohort, Hours, Limit, build_not_found_error, compute_window, get_trace_id
from spanproof.api.problems import build_problem
from spanproof.api.run_addresses import build_frozen_reference, build_run_address, build_trial_reference
from spanproof.api.states import (
    count_states,
    describe_trial,
    get_case_state,
    get_frozen_state,
    get_trial_state,
    parse_layer_states,
)
from spanproof.api.workspace import ExperimentFiles, Workspace
from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.experiments import CaseResult, CaseStatus, Trial, TrialVerdict
from spanproof.experiments.comparison import (
    MAJORITY,
    BaselineRates,
    Comparison,
    build_baseline,
    compare_rates,
)
from spanproof.experiments.experiment import find_promoted_result
from spanproof.gate import GateError, NoBaseline, evaluate_assertions, parse_assertion
from spanproof.suites import Case, SuiteError, iter_promotions, load_suite
from spanproof.suites.promote import Promoting
from spanproof.trace import GRAVITY, Layer, State, fold_states

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {404: build_problem("there is none")}
_REFUSED: dict[int | str, dict[str, Any]] = {
    **_MISSING,
    403: build_problem("this request may not write"),
    409: build_problem("the suite cannot be written"),
    415: build_problem("the body is not JSON"),
}
_MOST_SCORES: Final = 300_000


class SuiteRow(Answer):
    """A suite, in a list."""

    name: str
    cases: int
    agents: dict[str, int] = Field(description="Cases by agent.")
    verdicts: dict[str, int] = Field(description="Cases by what their run failed; `none` for no layer.")
    states: dict[State, int] = Field(description="Cases by the state of their frozen run.")
    tags: dict[str, int]
    experiments: int
    problem: str = Field(description="Why it cannot be read; else empty.")


class SuiteList(Answer):
    """Suites of the workspace."""

    workspace: str = Field(description="Empty where the console has none.")
    suites: list[SuiteRow]


class CaseRow(Answer):
    """A case of a suite."""

    id: str
    agent: str
    task: str
    tags: list[str]
    notes: str
    snippets: int
    requirements: list[str]
    expectation: dict[str, str] = Field(description="Verdict by layer of the run it was promoted from.")
    state: State = Field(description="Of that run; `skipped` where people wrote the case.")
    trace_id: str
    run_span_id: str


class Column(Answer):
    """One experiment: a column of the matrix."""

    name: str
    agent: str
    written_ns: Nanoseconds
    trials: int
    state: State = Field(description="What its cases are together.")
    counts: dict[State, int] = Field(description="Cases by state.")
    pass_at_1: float | None
    low: float | None
    high: float | None
    cost_usd: float | None
    wall_s: float | None = Field(description="Mean of a trial.")
    tokens: int
    difference: float | None = Field(description="Of the mean pass rates, to the baseline.")
    difference_low: float | None
    difference_high: float | None
    fixed: int
    regressed: int


class Cell(Answer):
    """One case in one experiment."""

    state: State = Field(description="What its trials are together.")
    status: CaseStatus
    word: str = Field(description="The state, and the status where that says more.")
    passed: int
    trials: int
    layers: dict[str, str] = Field(description="Verdict by layer of the first trial that did not pass.")
    layer_states: dict[Layer, State] = Field(description="The same as states.")
    reason: str
    trace_id: str
    answer: str
    trial: int = Field(description="Number of the trial that is shown.")
    has_trace: bool = Field(description="Whether its trace is kept: `trials/<experiment>/<case>/<trial>`.")
    beside: str = Field(
        default="",
        description=(
            "In a suite: the console's page of that trial, beside the baseline's or the frozen run."
        ),
    )


class MatrixRow(Answer):
    """One case over the experiments, in the order of the columns; null where it was not run."""

    case: CaseRow
    cells: list[Cell | None]
    flipped: bool = Field(description="Whether its trials are not all in one state.")


class SuitePage(Answer):
    """A suite: cases down, experiments across; cases that flipped first."""

    name: str
    cases: int
    baseline: str
    columns: list[Column]
    rows: list[MatrixRow]


class GateRow(Answer):
    """A report of the gate, in a list."""

    name: str
    state: State
    passed: bool
    failed_layers: list[str]
    assertions: int
    written_ns: Nanoseconds


class GateList(Answer):
    """Reports that `spanproof gate --json` wrote into the workspace, the latest first."""

    reports: list[GateRow]
    problems: list[str] = Field(description="Reports that are left out, each with the reason.")


class RunRef(Answer):
    """A run to be promoted."""

    trace_id: Annotated[str, Field(min_length=1, max_length=32)]
    run_span_id: Annotated[str | None, Field(max_length=16)] = None
    project: Annotated[
        str | None,
        Field(max_length=500, description="Of the trace, where several projects have one with this id."),
    ] = None


class NewCases(Answer):
    """Runs to be added to a suite as cases."""

    suite: Annotated[str, Field(min_length=1, max_length=300, description="Of the workspace, or a new name.")]
    runs: Annotated[list[RunRef], Field(min_length=1, max_length=200)]


@router.get("/suites")
def suites(request: Request) -> SuiteList:
    """Return the suites of the workspace."""
    workspace = find_workspace(request)
    if workspace is None:
        return SuiteList(workspace="", suites=[])
    experiments = workspace.list_experiments()
    rows = []
    for name, folder in list(workspace.group_suites().items())[:500]:
        runs = sum(str(experiment.head.get("suite")) == str(folder.resolve()) for experiment in experiments)
        try:
            cases, fault = load_suite(folder), ""
        except SuiteError as problem:
            cases, fault = [], pages.format_text(str(problem))
        tags = [tag for case in cases for tag in case.tags]
        rows.append(
            SuiteRow(
                name=name,
                cases=len(cases),
                agents=_count_texts(case.agent for case in cases),
                verdicts=_count_texts(_get_failed_layer(case) for case in cases),
                states=count_states(map(get_frozen_state, cases)),
                tags=_count_texts(tags),
                experiments=runs,
                problem=fault,
            )
        )
    return SuiteList(workspace=str(workspace.root), suites=rows)


@router.get("/suites/{name:path}", responses=_MISSING)
def suite(
    name: str,
    request: Request,
    baseline: Annotated[str, Query(max_length=500, description="Experiment to compare with.")] = "",
    columns: Annotated[int, Query(ge=1, le=20, description="Experiments at most, the latest.")] = 6,
    limit: Limit = 200,
    offset: Annotated[int, Query(ge=0, le=100_000)] = 0,
) -> SuitePage:
    """Return the cases of a suite over its experiments."""
    workspace, folder = get_suite(request, name)
    cases = load_cases(folder)
    experiments = workspace.list_experiments(folder)
    before = next((experiment for experiment in experiments if experiment.name == baseline), None)
    if baseline and before is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"baseline: no experiment is named {baseline[:200]!r}")
    shown = experiments[:columns]
    base = build_experiment_baseline(cases, before) if before else None
    earlier = group_earlier_results(cases, base)
    # The baseline itself is compared with nothing: "regressed" has one meaning in the whole table.
    results = [group_results(cases, item, {} if item is before else earlier) for item in shown]
    names = [item.name for item in shown]
    rows = []
    for case in cases:
        row = build_case_row(case)
        cells = [find_cell(found.get(case.id)) for found in results]
        addressed = _add_addresses(name, row, names, cells, baseline)
        rows.append(MatrixRow(case=row, cells=addressed, flipped=_has_flipped(cells)))
    rows.sort(key=lambda row: (not row.flipped, row.case.id))
    return SuitePage(
        name=name,
        cases=len(cases),
        baseline=baseline,
        columns=[build_column(result, found, base) for result, found in zip(shown, results, strict=True)],
        rows=rows[offset : offset + limit],
    )


@router.get("/gates")
def gates(request: Request, limit: Limit = 100) -> GateList:
    """Return the reports of the gate in the workspace."""
    workspace = find_workspace(request)
    rows: list[GateRow] = []
    problems: list[str] = []
    for name, path in (workspace.group_gate_reports() if workspace else {}).items():
        try:
            report = find_gate_report(path)
        except UnreadableReportError as problem:
            problems.append(pages.format_text(f"{name}: {problem}"))
            continue
        if report is not None:
            rows.append(
                GateRow(
                    name=name,
                    state=get_report_state(report),
                    passed=report.passed,
                    failed_layers=list(map(pages.format_text, report.failed_layers)),
                    assertions=len(report.assertions),
                    written_ns=path.stat().st_mtime_ns,
                )
            )
    rows.sort(key=lambda row: (-row.written_ns, row.name))
    return GateList(reports=rows[:limit], problems=problems[:limit])


@router.get("/gates/{name:path}", responses=_MISSING)
def gate(name: str, request: Request) -> GatePage:
    """Return a report of the gate as CI wrote it, with the first 50 cases against each assertion."""
    workspace = find_workspace(request)
    path = workspace.group_gate_reports().get(name) if workspace else None
    try:
        report = find_gate_report(path) if path else None
    except UnreadableReportError as problem:
        fault = pages.format_text(f"report {name[:200]!r} cannot be read: {problem}")
        raise HTTPException(HTTPStatus.NOT_FOUND, fault) from problem
    if report is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"no report of the gate is named {name[:200]!r}")
    return build_gate_page(name, report, cut=False)


@router.get("/gate")
def try_assertion(
    store: Opened,
    cohort: Cohort,
    assertion: Annotated[
        str,
        Query(
            min_length=1, max_length=2000, description="groundedness.score >= 0.85 for at_least 90% of cases"
        ),
    ],
    hours: Hours = 24.0,
) -> GatePage:
    """Try an assertion on stored runs, before it is committed."""
    try:
        read = parse_assertion(assertion)
        scores = store.scores(cohort=cohort, start_ns=compute_window(hours)[0])
        found = list(islice(scores, _MOST_SCORES + 1))
        report = evaluate_assertions([read], found[:_MOST_SCORES])
    except NoBaseline as problem:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"assertion: {problem}; stored runs alone have no baseline"
        ) from problem
    except GateError as problem:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, pages.format_text(str(problem))) from problem
    tried = parse_gate_report(report.to_json())
    return build_gate_page("tried on stored runs", tried, cut=len(found) > _MOST_SCORES)


@router.post("/promotions", status_code=201, responses=_REFUSED, dependencies=[WRITER])
def promote(new_cases: NewCases, request: Request, store: Opened) -> Promotions:
    """Add stored runs to a suite as hermetic cases; a run that is there already stays as it is."""
    suite = get_new_suite(request, new_cases.suite)
    runs = []
    for item in new_cases.runs:
        evaluation = store.evaluation(get_trace_id(store, item.trace_id, item.project), item.project)
        if evaluation is None:
            raise build_not_found_error(item.trace_id)
        run_span_ids = [run.run.span_id for run in evaluation.runs]
        wanted = item.run_span_id or (run_span_ids[0] if run_span_ids else "")
        if wanted not in run_span_ids:
            raise HTTPException(
                HTTPStatus.NOT_FOUND, f"trace {item.trace_id[:32]!r} has no run {wanted[:16]!r}"
            )
        runs.append((evaluation, wanted))
    try:
        found = list(iter_promotions(runs, suite, Promoting()))
    except (SuiteError, OSError) as problem:
        raise HTTPException(HTTPStatus.CONFLICT, pages.format_text(str(problem))) from problem
    return Promotions(
        suite=new_cases.suite,
        cases=[
            Promoted(
                case=item.case.id,
                change=item.change.value,
                trace_id=item.case.origin.trace_id if item.case.origin else "",
                same_as=item.same_as,
            )
            for item in found
        ],
    )


def get_new_suite(request: Request, name: str) -> Path:
    """Return the folder of a suite that cases may be added to, which need not be there yet.

    Raises:
        HTTPException: 409: the console has no workspace. 422: this is no name of a suite.
    """
    workspace = find_workspace(request)
    if workspace is None:
        raise HTTPException(
            HTTPStatus.CONFLICT,
            "this console has no folder for suites: set `console.workspace` (--workspace)",
        )
    if name not in workspace.group_suites() and not _is_plain(name):
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "suite: name one of the workspace, or a new one in letters, digits, - and _",
        )
    return workspace.build_suite_path(name)


def find_workspace(request: Request) -> Workspace | None:
    """Return the folder that the console shows; None where it has none."""
    folder: Path | None = request.app.state.settings.workspace
    return Workspace(folder) if folder is not None else None


def get_suite(request: Request, name: str) -> tuple[Workspace, Path]:
    """Return the workspace and the folder of a suite.

    Raises:
        HTTPException: 404: there is none.
    """
    workspace = find_workspace(request)
    folder = workspace.group_suites().get(name) if workspace else None
    if workspace is None or folder is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"the workspace has no suite {name[:200]!r}")
    return workspace, folder


def load_cases(folder: Path) -> list[Case]:
    """Return the cases of a suite.

    Raises:
        HTTPException: 404: it cannot be read.
    """
    try:
        return load_suite(folder)
    except SuiteError as problem:
        raise HTTPException(HTTPStatus.NOT_FOUND, pages.format_text(str(problem))) from problem


def _is_plain(name: str) -> bool:
    return name.replace("-", "").replace("_", "").isalnum() and name.isascii()


def _count_texts(values: Iterable[str]) -> dict[str, int]:
    return {pages.format_text(value): times for value, times in Counter(values).most_common(50)}


def _get_failed_layer(case: Case) -> str:
    """Return the first layer that the run of a case fails, to see whether the suite is balanced."""
    failed = (
        expectation.layer.value
        for expectation in case.expectations
        if expectation.is_of_layer and expectation.verdict == "fail"
    )
    return next(failed, "none")


def build_case_row(case: Case) -> CaseRow:
    """Return a case as it is listed."""
    expectation: dict[str, str] = {
        item.layer.value: item.verdict for item in case.expectations if item.is_of_layer
    }
    trace_id, run_span_id = (case.origin.trace_id, case.origin.run_span_id) if case.origin else ("", "")
    return CaseRow(
        id=case.id,
        agent=pages.format_text(case.agent),
        task=pages.format_text(case.task or ""),
        tags=[pages.format_text(tag) for tag in case.tags],
        notes=pages.format_text(case.notes),
        snippets=len(case.snippets),
        requirements=[pages.format_text(str(item)) for item in case.required],
        expectation=expectation,
        state=get_frozen_state(case),
        trace_id=trace_id,
        run_span_id=run_span_id,
    )


def build_experiment_baseline(cases: Sequence[Case], experiment: ExperimentFiles) -> BaselineRates:
    """Return an experiment as a baseline of others."""
    return build_baseline(experiment.name, group_results(cases, experiment, {}))


def group_earlier_results(cases: Sequence[Case], base: BaselineRates | None) -> dict[str, bool]:
    """Return by case whether it passed in the baseline, or without one in the run it was promoted from."""
    if base is not None:
        return {case: rate >= MAJORITY for case, rate in base.rates.items()}
    promoted = {case.id: find_promoted_result(case) for case in cases}
    return {case: passed for case, passed in promoted.items() if passed is not None}


def group_results(
    cases: Sequence[Case], experiment: ExperimentFiles, earlier: Mapping[str, bool]
) -> dict[str, CaseResult]:
    """Return the results of the cases that an experiment ran, by id.

    Args:
        cases: of the suite.
        experiment: that ran them.
        earlier: by case whether it passed before; other cases are neither fixed, reproduced nor regressed.
    """
    found = {}
    for case in cases:
        trials = tuple(trial for trial in experiment.trials if trial.case == case.id)
        if trials:
            found[case.id] = CaseResult(case, trials, earlier.get(case.id))
    return found


def find_cell(result: CaseResult | None) -> Cell | None:
    """Return a case in one experiment; None where it was not run."""
    if result is None:
        return None
    shown = min(result.trials, key=lambda trial: GRAVITY.index(get_trial_state(trial)))
    return Cell(
        state=get_case_state(result),
        status=result.status,
        word=describe_status(get_case_state(result), result.status),
        passed=result.passed,
        trials=len(result.trials),
        layers=dict(shown.layers),
        layer_states=parse_layer_states(shown.layers),
        reason=pages.format_text(describe_trial(shown)),
        trace_id=shown.trace_id,
        answer=pages.format_text(shown.answer or "")[:500],
        trial=shown.number,
        has_trace=bool(shown.trace_file),
    )


def describe_status(state: State, status: CaseStatus) -> str:
    """Return the word for a case: its state, and its status where that says more.

    A case may pass with a layer open.
    """
    if state in (State.PASS, State.FAIL):
        return status.value
    if status in (CaseStatus.PASSED, CaseStatus.FIXED):
        return f"{state.value} ({status.value})"
    return state.value


def find_frozen_reference(suite: str, case: CaseRow) -> str | None:
    """Return what names the frozen run of a case; None where people wrote it."""
    if case.trace_id:
        return build_frozen_reference(suite, case.id)
    return None


def find_cell_reference(experiment: str, case: str, cell: Cell | None) -> str | None:
    """Return what names the trial that a cell shows; None where its trace is not kept."""
    if cell is None or not cell.has_trace:
        return None
    return build_trial_reference(experiment, case, cell.trial)


def _add_addresses(
    suite: str, case: CaseRow, names: Sequence[str], cells: Sequence[Cell | None], baseline: str
) -> list[Cell | None]:
    """Return the cells of a case with the pages that show their trials beside the baseline's.

    Without a baseline, and for its own cell, it is the frozen run that a trial is shown beside.
    """
    references = [find_cell_reference(name, case.id, cell) for name, cell in zip(names, cells, strict=True)]
    frozen = find_frozen_reference(suite, case)
    base = names.index(baseline) if baseline in names else None
    addressed: list[Cell | None] = []
    for index, (cell, reference) in enumerate(zip(cells, references, strict=True)):
        if base is None or base == index:
            before = frozen
        else:
            before = references[base]
        if cell is not None and reference is not None:
            cell = cell.model_copy(update={"beside": build_run_address(before, reference)})
        addressed.append(cell)
    return addressed


def _has_flipped(cells: Sequence[Cell | None]) -> bool:
    """Return whether a case changed its state from one experiment to another, or within one."""
    found = [cell for cell in cells if cell is not None]
    return len({item.state for item in found}) > 1 or any(item.status is CaseStatus.FLAKY for item in found)


def _compute_mean(values: Collection[float]) -> float | None:
    return fmean(values) if values else None


def build_column(
    experiment: ExperimentFiles, found: Mapping[str, CaseResult], base: BaselineRates | None
) -> Column:
    """Return the whole of an experiment, beside the rates of a baseline where there is one."""
    trials = [trial for result in found.values() for trial in result.trials]
    now = build_baseline(experiment.name, found)
    rates = now.rates
    interval = compute_wilson_interval(sum(rates.values()), len(rates))
    if base is None:
        compared = None
    else:
        compared = compare_rates(rates, base.rates, now.open_shares, base.open_shares)
    low, high = (interval.low, interval.high) if interval else (None, None)
    states = [get_case_state(result) for result in found.values()]
    return Column(
        name=experiment.name,
        agent=_format_agent(experiment),
        written_ns=experiment.written_ns,
        trials=sum(trial.verdict is not TrialVerdict.UNJUDGED for trial in trials),
        state=fold_states(states),
        counts=count_states(states),
        pass_at_1=_compute_mean(rates.values()),
        low=low,
        high=high,
        cost_usd=compute_cost(trials),
        wall_s=_compute_mean([trial.wall_s for trial in trials]),
        tokens=sum(trial.tokens for trial in trials),
        **_compare_with_baseline(compared),
    )


def _compare_with_baseline(compared: Comparison | None) -> dict[str, Any]:
    """Return the fields of a column that compare it with the baseline."""
    if compared is None or compared.difference is None:
        fields: dict[str, Any] = dict.fromkeys(("difference", "difference_low", "difference_high"))
    else:
        low, high = compared.difference.low, compared.difference.high
        fields = {"difference": compared.difference.mean, "difference_low": low, "difference_high": high}
    fixed, regressed = (len(compared.fixed), len(compared.regressed)) if compared else (0, 0)
    return {**fields, "fixed": fixed, "regressed": regressed}


def _format_agent(experiment: ExperimentFiles) -> str:
    agent = experiment.head.get("agent")
    return pages.format_text(str(agent.get("target", "")) if isinstance(agent, dict) else str(agent))


def compute_cost(trials: Sequence[Trial]) -> float | None:
    """Return the cost of all trials, in US dollars; None where no trial has one."""
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    return sum(costs) if costs else None
