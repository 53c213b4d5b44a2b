"""Did the agent do what its suite requires? One experiment: cases that did not pass first, and why."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException, Request

from spanproof.api.problems import describe_problem
from spanproof.api.result_pages import (
    ResultPage,
    ResultRun,
    build_result_page,
    build_result_run,
    format_command,
)
from spanproof.api.routes.suites import find_workspace, load_cases
from spanproof.api.workspace import ExperimentFiles, Workspace
from spanproof.experiments import Experiment

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {404: describe_problem("there is none")}


@router.get("/experiments/{name:path}", responses=_MISSING)
def experiment(name: str, request: Request) -> ResultPage:
    """Return an experiment's cases with their verdicts, as `spanproof suite run --html` writes them."""
    workspace = find_workspace(request)
    files = next((each for each in workspace.experiments() if each.name == name), None) if workspace else None
    if workspace is None or files is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"no experiment is named {name[:200]!r}")
    found = _load_experiment(workspace, files)
    return build_result_page(found.to_table(), format_command(found), _list_failed_runs(found, name))


def _load_experiment(workspace: Workspace, files: ExperimentFiles) -> Experiment:
    """Return the trials of a folder with the cases that they are of."""
    wanted = Path(str(files.head.get("suite", "")))
    suites = {folder.resolve(): (name, folder) for name, folder in workspace.suites().items()}
    if wanted not in suites:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"the workspace has no suite {str(wanted)[:500]!r}")
    suite, folder = suites[wanted]
    ran = {trial.case for trial in files.trials}
    cases = tuple(case for case in load_cases(folder) if case.id in ran)
    agent = files.head.get("agent")
    return Experiment(
        folder=files.name,
        agent=str(agent.get("target", "")) if isinstance(agent, dict) else "",
        suite_cases=cases,
        trials=files.trials,
        wanted=max((trial.number for trial in files.trials), default=1),
        suite=suite,
        results=files.results,
    )


def _list_failed_runs(experiment: Experiment, name: str) -> dict[str, list[ResultRun]]:
    """Return the runs of each case that did not pass and whose traces are kept."""
    return {
        case.case.id: [
            build_result_run(name, trial) for trial in case.trials if trial.trace_file and not trial.passed
        ]
        for case in experiment.cases
    }
