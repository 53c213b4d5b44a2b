"""One case: what a run must do, what became of it in each experiment, and its replay with edits."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import Field

from spanproof.api import models, pages
from spanproof.api.access import WRITER
from spanproof.api.editing import AlteredCase, EditableCall, EditableCode, list_editable, open_replay_sandbox
from spanproof.api.models import Answer, Nanoseconds
from spanproof.api.problems import build_problem
from spanproof.api.recorded_runs import find_case_evaluation
from spanproof.api.routes.suites import (
    CaseRow,
    Cell,
    build_case_row,
    find_cell,
    find_workspace,
    get_suite,
    group_earlier_results,
    group_results,
    load_cases,
)
from spanproof.api.run_addresses import build_frozen_reference, build_run_address, build_trial_reference
from spanproof.api.settings import ConsoleSettings
from spanproof.api.states import describe_trial, get_trial_state
from spanproof.api.workspace import ExperimentFiles
from spanproof.experiments import Trial
from spanproof.sandbox.policy_file import parse_policy
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.suites import Case, SuiteError, load_suite
from spanproof.suites.what_if import Alteration, get_frozen_run, run_altered
from spanproof.trace import State

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {404: build_problem("there is none")}
_REFUSED: dict[int | str, dict[str, Any]] = {
    **_MISSING,
    403: build_problem("this request may not write"),
    409: build_problem("nothing can be run here, or another replay is running"),
    415: build_problem("the body is not JSON"),
}
_MOST_TRIALS: Final = 100
_MOST_EXPERIMENTS: Final = 50


class Requirement(Answer):
    """What a trial was held against."""

    requirement: str
    holds: bool | None
    reason: str


class TrialRow(Answer):
    """One trial of a case."""

    number: int
    state: State
    verdict: str
    reason: str
    layers: dict[str, str]
    answer: str
    wall_s: float
    tokens: int
    cost_usd: float | None
    steps: int
    has_trace: bool = Field(description="Whether its trace is kept: `trials/<experiment>/<case>/<number>`.")
    requirements: list[Requirement]


class CaseHistory(Answer):
    """A case in one experiment."""

    experiment: str
    agent: str
    written_ns: Nanoseconds
    result: Cell
    trials: list[TrialRow]
    beside: str = Field(
        default="",
        description=(
            "The console's page of its run beside that of the experiment before, or beside the frozen run;"
            " empty where a trace is missing."
        ),
    )


class CasePage(Answer):
    """One case."""

    suite: str
    case: CaseRow
    frozen: models.Run | None = Field(description="The run it was promoted from, if any.")
    history: list[CaseHistory] = Field(description="The latest experiment first.")
    code: list[EditableCode]
    calls: list[EditableCall]
    can_replay: bool = Field(description="Whether this console has a sandbox.")


class AlteredReplay(Answer):
    """What came out."""

    replay: str
    steps: list[models.Step]


class FoundCase(Answer):
    """A case by its name."""

    suite: str
    id: str
    task: str


class FoundCases(Answer):
    """Cases whose id or task has some text."""

    cases: list[FoundCase]


def _format_searched_text(case: Case) -> str:
    return f"{case.id} {case.task or ''}".casefold()


@router.get("/cases")
def search_cases(
    request: Request,
    text: Annotated[str, Query(min_length=1, max_length=200, description="Part of the id or of the task.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> FoundCases:
    """Return cases of any suite whose id or task has a text, ignoring case."""
    workspace = find_workspace(request)
    suites = workspace.group_suites().items() if workspace else ()
    found = (
        FoundCase(suite=name, id=case.id, task=pages.format_text(case.task or ""))
        for name, folder in suites
        for case in _load_valid_cases(folder)
        if text.casefold() in _format_searched_text(case)
    )
    return FoundCases(cases=list(islice(found, limit)))


def _load_valid_cases(folder: Path) -> list[Case]:
    """Return the cases of a suite; none where it is broken, which the list of suites reports."""
    try:
        return load_suite(folder)
    except SuiteError:
        return []


@router.get("/suites/{name:path}/cases/{case}", responses=_MISSING)
def case_page(name: str, case: str, request: Request) -> CasePage:
    """Return one case with what became of it in every experiment."""
    workspace, folder = get_suite(request, name)
    found = _get_case(load_cases(folder), case, name)
    settings: ConsoleSettings = request.app.state.settings
    evaluation = find_case_evaluation(found)
    frozen = pages.build_run(evaluation.runs[0]) if evaluation and evaluation.runs else None
    code, calls = _list_editable_of(found)
    experiments = workspace.list_experiments(folder)[:_MOST_EXPERIMENTS]
    built = (_find_history(found, experiment) for experiment in experiments)
    return CasePage(
        suite=name,
        case=build_case_row(found),
        frozen=frozen,
        history=_add_addresses(name, found.id, frozen is not None, [entry for entry in built if entry]),
        code=code,
        calls=calls,
        can_replay=settings.open_sandbox is not None and bool(code),
    )


@router.post("/suites/{name:path}/cases/{case}/replay", responses=_REFUSED, dependencies=[WRITER])
def replay_case(name: str, case: str, altered: AlteredCase, request: Request) -> AlteredReplay:
    """Replay the frozen run of a case with other code or other tool results, in the sandbox.

    Nothing is judged, and nothing is written.
    """
    _, folder = get_suite(request, name)
    found = _get_case(load_cases(folder), case, name)
    settings: ConsoleSettings = request.app.state.settings
    try:
        with open_replay_sandbox(settings) as sandbox:
            change = Alteration(altered.sources, altered.results)
            evaluation = run_altered(found, change, _build_pipeline(settings), sandbox)
    except SuiteError as problem:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, pages.format_text(str(problem))) from problem
    shown = pages.build_run(evaluation)
    return AlteredReplay(replay=shown.replay, steps=shown.steps)


def _build_pipeline(settings: ConsoleSettings) -> Pipeline:
    """Return the scanners of the service's policy."""
    document = yaml.safe_load(settings.policy) if settings.policy.strip() else None
    return Pipeline(parse_policy(document, "of this service")) if document else Pipeline()


def _get_case(cases: list[Case], wanted: str, suite: str) -> Case:
    found = next((case for case in cases if case.id == wanted), None)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"suite {suite[:200]!r} has no case {wanted[:200]!r}")
    return found


def _find_history(case: Case, experiment: ExperimentFiles) -> CaseHistory | None:
    result = group_results([case], experiment, group_earlier_results([case], None)).get(case.id)
    if result is None:
        return None
    shown = find_cell(result)
    assert shown is not None, "the case was run"
    agent = experiment.head.get("agent")
    return CaseHistory(
        experiment=experiment.name,
        agent=pages.format_text(str(agent.get("target", "")) if isinstance(agent, dict) else str(agent)),
        written_ns=experiment.written_ns,
        result=shown,
        trials=[_build_trial(trial) for trial in result.trials[:_MOST_TRIALS]],
    )


def _add_addresses(
    suite: str, case: str, has_frozen: bool, history: Sequence[CaseHistory]
) -> list[CaseHistory]:
    """Return the experiments of a case, each with the page that shows it beside the one before."""
    frozen = build_frozen_reference(suite, case) if has_frozen else None
    # The oldest has none before it; a case without experiments has no oldest.
    return [
        entry.model_copy(update={"beside": _build_address(case, entry, earlier, frozen)})
        for entry, earlier in zip(history, [*history[1:], None], strict=False)
    ]


def _build_address(case: str, entry: CaseHistory, earlier: CaseHistory | None, frozen: str | None) -> str:
    """Return the page of an experiment's run beside an earlier one; empty where a trace is missing."""
    kept = [trial for trial in earlier.trials if trial.has_trace] if earlier else []
    before = build_trial_reference(earlier.experiment, case, kept[0].number) if earlier and kept else frozen
    shown = next((trial for trial in entry.trials if trial.state is not State.PASS), entry.trials[0])
    if before is None or not shown.has_trace:
        return ""
    return build_run_address(before, build_trial_reference(entry.experiment, case, shown.number))


def _build_trial(trial: Trial) -> TrialRow:
    return TrialRow(
        number=trial.number,
        state=get_trial_state(trial),
        verdict=trial.verdict.value,
        reason=pages.format_text(describe_trial(trial)),
        layers=dict(trial.layers),
        answer=pages.format_text(trial.answer or "")[:2000],
        wall_s=trial.wall_s,
        tokens=trial.tokens,
        cost_usd=trial.cost_usd,
        steps=trial.steps,
        has_trace=bool(trial.trace_file),
        requirements=[
            Requirement(
                requirement=pages.format_text(finding.requirement),
                holds=finding.holds,
                reason=pages.format_text(finding.reason),
            )
            for finding in trial.findings
        ],
    )


def _list_editable_of(case: Case) -> tuple[list[EditableCode], list[EditableCall]]:
    try:
        _, run = get_frozen_run(case)
    except SuiteError:
        return [], []
    return list_editable(run)
