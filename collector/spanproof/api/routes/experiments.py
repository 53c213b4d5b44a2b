"""Did the agent do what its suite requires? Experiments, and one of them as a grid of cases by trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import Field

from spanproof.api import pages
from spanproof.api.models import Answer
from spanproof.api.parameters import Limit
from spanproof.api.problems import build_problem
from spanproof.api.result_pages import (
    ResultPage,
    ResultRun,
    build_result_page,
    build_result_run,
    format_command,
)
from spanproof.api.routes.suites import (
    CaseRow,
    Cell,
    Column,
    build_case_row,
    build_column,
    build_experiment_baseline,
    compute_cost,
    describe_status,
    find_cell,
    find_cell_reference,
    find_frozen_reference,
    find_workspace,
    group_earlier_results,
    group_results,
    load_cases,
)
from spanproof.api.run_addresses import build_run_address, build_trial_reference
from spanproof.api.states import (
    add_undecided,
    describe_trial,
    get_case_state,
    get_trial_state,
    parse_layer_states,
)
from spanproof.api.workspace import ExperimentFiles, Workspace
from spanproof.experiments import CaseResult, CaseStatus, Experiment, Trial
from spanproof.experiments.comparison import BaselineRates
from spanproof.suites import Case, SuiteError, load_suite
from spanproof.trace import GRAVITY, Layer, State

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {404: build_problem("there is none")}
_MOST_ROWS: Final = 500
_LONGEST_ANSWER: Final = 500


class ExperimentRow(Answer):
    """An experiment, in a list."""

    suite: str
    baseline: str = Field(description="The experiment before it, of the same suite; else empty.")
    column: Column


class ExperimentList(Answer):
    """Experiments of the workspace, the latest first."""

    experiments: list[ExperimentRow]
    problems: list[str] = Field(description="Experiments that are left out, each with the reason.")


class TrialCell(Answer):
    """One trial of a case."""

    number: int
    state: State
    layer_states: dict[Layer, State]
    reason: str = Field(description="Why it did not pass, or what of it has no verdict; else empty.")
    answer: str
    cost_usd: float | None
    wall_s: float
    tokens: int
    has_trace: bool = Field(description="Whether its trace is kept: `trials/<experiment>/<case>/<number>`.")
    beside: str = Field(
        description=(
            "The console's page of it, beside the baseline's trial or the frozen run; empty without a trace."
        )
    )


class GridRow(Answer):
    """One case of an experiment, with its trials in the order of their numbers."""

    case: CaseRow
    state: State
    status: CaseStatus
    word: str = Field(description="The state, and the status where that says more.")
    trials: list[TrialCell]
    cost_usd: float | None = Field(description="Of all trials; null where no price is known.")
    wall_s: float = Field(description="Of all trials.")
    before: Cell | None = Field(description="The case in the baseline; null where it was not run there.")
    flipped: bool = Field(
        description="Whether its state is another than in the baseline, or its trials differ."
    )


class ExperimentPage(ResultPage):
    """An experiment as a grid of cases by trials, flipped cases first, and as its report has it."""

    name: str
    suite: str
    column: Column = Field(description="The whole of it, beside the baseline.")
    baseline: str
    baselines: list[str] = Field(description="The other experiments of the suite, the latest first.")
    rows: list[GridRow]


@router.get("/experiments")
def experiments(request: Request, limit: Limit = 200) -> ExperimentList:
    """Return the experiments of the workspace, each beside the one before it of the same suite."""
    workspace = find_workspace(request)
    if workspace is None:
        return ExperimentList(experiments=[], problems=[])
    problems: list[str] = []
    by_suite: dict[Path, list[ExperimentFiles]] = {}
    for item in workspace.list_experiments(problems=problems):
        by_suite.setdefault(item.suite, []).append(item)
    rows: list[ExperimentRow] = []
    for suite, folder in workspace.group_suites().items():
        listed = by_suite.pop(folder.resolve(), [])
        try:
            rows.extend(_build_rows(suite, load_suite(folder), listed))
        except SuiteError as problem:
            problems.extend(f"{item.name}: its suite cannot be read: {problem}" for item in listed)
    for suite_folder, listed in by_suite.items():
        problems.extend(f"{item.name}: its suite {str(suite_folder)!r} is not there" for item in listed)
    rows.sort(key=lambda row: (-row.column.written_ns, row.column.name))
    return ExperimentList(
        experiments=rows[:limit], problems=[pages.format_text(problem) for problem in problems[:limit]]
    )


@router.get("/experiments/{name:path}", responses=_MISSING)
def experiment(
    name: str,
    request: Request,
    baseline: Annotated[
        str | None,
        Query(max_length=500, description="The one before it of the same suite by default; empty for none."),
    ] = None,
) -> ExperimentPage:
    """Return an experiment's cases with their verdicts and trials, beside those of a baseline."""
    workspace = find_workspace(request)
    listed = workspace.list_experiments() if workspace else []
    files = next((item for item in listed if item.name == name), None)
    if workspace is None or files is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"no experiment is named {name[:200]!r}")
    suite, folder = _get_suite(workspace, files)
    same_suite = [item for item in listed if item.head.get("suite") == files.head.get("suite")]
    others = [item for item in same_suite if item is not files]
    before = _find_baseline(files, others, baseline)
    ran = {trial.case for trial in files.trials}
    cases = [case for case in load_cases(folder) if case.id in ran]
    base = build_experiment_baseline(cases, before) if before else None
    found = _build_experiment(files, suite, cases, base)
    results = group_results(cases, files, group_earlier_results(cases, base))
    compared = group_results(cases, before, {}) if before else {}
    page = build_result_page(
        add_undecided(found.to_table(), files.trials), format_command(found), _group_failed_runs(found, name)
    )
    return ExperimentPage(
        **page.model_dump(),
        name=name,
        suite=suite,
        column=build_column(files, results, base),
        baseline=before.name if before else "",
        baselines=[other.name for other in others],
        rows=_build_grid(name, suite, before.name if before else "", results, compared)[:_MOST_ROWS],
    )


def _get_suite(workspace: Workspace, files: ExperimentFiles) -> tuple[str, Path]:
    """Return name and folder of the suite that an experiment ran."""
    suites = {folder.resolve(): (name, folder) for name, folder in workspace.group_suites().items()}
    if files.suite not in suites:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"the workspace has no suite {str(files.suite)[:500]!r}")
    return suites[files.suite]


def _find_baseline(
    files: ExperimentFiles, others: Sequence[ExperimentFiles], baseline: str | None
) -> ExperimentFiles | None:
    """Return the experiment to compare with: the one that is named, or the latest that is older."""
    if baseline is None:
        return next((other for other in others if other.written_ns < files.written_ns), None)
    named = next((other for other in others if other.name == baseline), None)
    if baseline and named is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"baseline: no experiment is named {baseline[:200]!r}")
    return named


def _build_rows(suite: str, cases: Sequence[Case], listed: Sequence[ExperimentFiles]) -> list[ExperimentRow]:
    """Return the experiments of a suite, the latest first, each beside the next older one."""
    before = [build_experiment_baseline(cases, item) for item in listed[1:]]
    rows = []
    # The oldest has none before it; a suite without experiments has no oldest.
    for files, base in zip(listed, [*before, None], strict=False):
        column = build_column(files, group_results(cases, files, {}), base)
        rows.append(ExperimentRow(suite=suite, baseline=base.origin if base else "", column=column))
    return rows


def _build_grid(
    name: str,
    suite: str,
    baseline: str,
    results: Mapping[str, CaseResult],
    base: Mapping[str, CaseResult],
) -> list[GridRow]:
    """Return the cases with their trials: flipped ones first, then by the gravity of their state."""
    rows = []
    for case_id, result in results.items():
        state, before = get_case_state(result), find_cell(base.get(case_id))
        case = build_case_row(result.case)
        is_other = before is not None and before.state is not state
        other = find_cell_reference(baseline, case_id, before) or find_frozen_reference(suite, case)
        trials = sorted(result.trials, key=lambda item: item.number)
        rows.append(
            GridRow(
                case=case,
                state=state,
                status=result.status,
                word=describe_status(state, result.status),
                trials=[_build_trial(name, trial, other) for trial in trials],
                cost_usd=compute_cost(trials),
                wall_s=sum(trial.wall_s for trial in trials),
                before=before,
                flipped=is_other or len(set(map(get_trial_state, result.trials))) > 1,
            )
        )
    return sorted(rows, key=lambda row: (not row.flipped, GRAVITY.index(row.state), row.case.id))


def _build_trial(experiment: str, trial: Trial, other: str | None) -> TrialCell:
    reference = build_trial_reference(experiment, trial.case, trial.number)
    return TrialCell(
        number=trial.number,
        state=get_trial_state(trial),
        layer_states=parse_layer_states(trial.layers),
        reason=pages.format_text(describe_trial(trial)),
        answer=pages.format_text(trial.answer or "")[:_LONGEST_ANSWER],
        cost_usd=trial.cost_usd,
        wall_s=trial.wall_s,
        tokens=trial.tokens,
        has_trace=bool(trial.trace_file),
        beside=build_run_address(other, reference) if trial.trace_file else "",
    )


def _build_experiment(
    files: ExperimentFiles, suite: str, cases: Sequence[Case], base: BaselineRates | None
) -> Experiment:
    """Return the trials of a folder with the cases that they are of, beside a baseline."""
    agent = files.head.get("agent")
    return Experiment(
        folder=files.name,
        agent=str(agent.get("target", "")) if isinstance(agent, dict) else "",
        suite_cases=tuple(cases),
        trials=files.trials,
        wanted=max((trial.number for trial in files.trials), default=1),
        suite=suite,
        results=files.results,
        baseline=base,
    )


def _group_failed_runs(experiment: Experiment, name: str) -> dict[str, list[ResultRun]]:
    """Return the runs of each case that did not pass and whose traces are kept."""
    return {
        case.case.id: [
            build_result_run(name, trial) for trial in case.trials if trial.trace_file and not trial.passed
        ]
        for case in experiment.cases
    }
