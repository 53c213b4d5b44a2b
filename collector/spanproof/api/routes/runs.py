"""One run beside another, of the store, of an experiment or of a suite; and the trials of experiments."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import Field

from spanproof.api import models, pages, trace_pages
from spanproof.api.access import Opened
from spanproof.api.alignment import StepChange, StepPair, list_step_pairs
from spanproof.api.models import Answer
from spanproof.api.models.traces import SpanPage, TracePage
from spanproof.api.parameters import FirstStep, Project, build_not_found_error, get_trace_id
from spanproof.api.problems import build_problem
from spanproof.api.recorded_runs import find_case_evaluation, load_trial_evaluation
from spanproof.api.routes.suites import find_workspace, get_suite, load_cases
from spanproof.api.run_addresses import build_run_address
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.store import Store
from spanproof.trace import GRAVITY

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {404: build_problem("there is none")}
_PARTS: Final = {
    StepChange.OUTPUT: "the same code gives another output",
    StepChange.CODE: "the code differs",
    StepChange.REMOVED: "a step is missing",
    StepChange.ADDED: "a step is new",
}
_Ref = Annotated[
    str,
    Query(
        min_length=1,
        max_length=1000,
        description=(
            "`traces/<id>` or `traces/<id>/<run>` of the store, `trials/<experiment>/<case>/<number>` or"
            " `cases/<suite>/<case>` of the workspace."
        ),
    ),
]


class AlignedSteps(Answer):
    """A step of each run, by number; null where the other run has none like it."""

    before: int | None
    after: int | None
    change: StepChange


class ComparedRun(Answer):
    """One of two runs."""

    reference: str
    name: str = Field(description="The reference in words.")
    path: str = Field(description="The console's page of it.")
    trace_id: str
    run: models.Run


class RunComparison(Answer):
    """Two runs, aligned by step."""

    sentence: str
    before: ComparedRun
    after: ComparedRun
    steps: list[AlignedSteps]


@router.get("/compare/runs", responses=_MISSING)
def compare_runs(
    request: Request, store: Opened, before: _Ref, after: _Ref, project: Project = None
) -> RunComparison:
    """Return two runs beside each other, their steps paired by how alike their code is."""
    old_trace, old = _get_run(request, store, before, project)
    new_trace, new = _get_run(request, store, after, project)
    pairs = list_step_pairs(old.run.steps, new.run.steps)
    shown_old, shown_new = pages.build_run(old), pages.build_run(new)
    return RunComparison(
        sentence=_describe_difference(shown_old, shown_new, pairs),
        before=_build_compared_run(before, old_trace, shown_old),
        after=_build_compared_run(after, new_trace, shown_new),
        steps=[AlignedSteps(before=pair.before, after=pair.after, change=pair.change) for pair in pairs],
    )


def _build_compared_run(reference: str, trace_id: str, run: models.Run) -> ComparedRun:
    """Return a run with its name and its page."""
    kind, _, rest = reference.partition("/")
    if kind == "traces":
        name, path = f"trace {trace_id[:12]}", f"/traces/{trace_id}?run={run.span_id}"
    elif kind == "cases":
        suite, _, case = rest.rpartition("/")
        name, path = (
            f"{case}, frozen run",
            f"/suites/{quote(suite, errors='replace')}/cases/{quote(case, errors='replace')}",
        )
    else:
        name, path = rest, build_run_address(None, reference)
    return ComparedRun(
        reference=reference, name=pages.format_text(name), path=path, trace_id=trace_id, run=run
    )


@router.get("/trials/{experiment:path}/{case}/{number}/spans/{span_id}", responses=_MISSING)
def trial_span(request: Request, experiment: str, case: str, number: int, span_id: str) -> SpanPage:
    """Return one span of a trial, as it was received."""
    evaluation = _get_trial(request, experiment, case, number)
    found = next((span for span in evaluation.trace.spans if span.span_id == span_id), None)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"the trial has no span {span_id[:64]!r}")
    return trace_pages.build_span_page(found)


@router.get(
    "/trials/{experiment:path}/{case}/{number}/images/{image_id}",
    response_class=Response,
    responses={**_MISSING, **trace_pages.IMAGE_RESPONSE},
)
def trial_image(request: Request, experiment: str, case: str, number: int, image_id: str) -> Response:
    """Return the content of an image that a span of a trial holds."""
    return trace_pages.build_image_response(_get_trial(request, experiment, case, number), image_id)


@router.get("/trials/{experiment:path}/{case}/{number}", responses=_MISSING)
def trial(request: Request, experiment: str, case: str, number: int, first_step: FirstStep = 1) -> TracePage:
    """Return the trace of one trial of an experiment, with the verdicts it was given."""
    evaluation = _get_trial(request, experiment, case, number)
    return trace_pages.build_trace_page(evaluation, (), trace_pages.get_steps(first_step))


def _get_trial(request: Request, experiment: str, case: str, number: int) -> TraceEvaluation:
    workspace = find_workspace(request)
    found = workspace.find_trial(experiment, case, number) if workspace else None
    evaluation = load_trial_evaluation(found[0].results, found[1]) if found else None
    if evaluation is None:
        raise HTTPException(
            HTTPStatus.NOT_FOUND,
            f"experiment {experiment[:200]!r} has no trace of trial {number} of {case[:200]!r}",
        )
    return evaluation


def _get_run(
    request: Request, store: Store, reference: str, project: str | None
) -> tuple[str, RunEvaluation]:
    """Return the run that a reference names with its trace's id; the gravest where the trace has several.

    Raises:
        HTTPException: 404: there is none; 422: it is no reference.
    """
    kind, _, rest = reference.partition("/")
    run_id: str | None = None
    evaluation: TraceEvaluation | None
    if kind == "traces":
        trace_id, _, wanted = rest.partition("/")
        run_id = wanted or None
        evaluation = store.evaluation(get_trace_id(store, trace_id, project), project)
    elif kind == "trials" and rest.count("/") >= 2 and rest.rpartition("/")[2].isdecimal():
        experiment, case, number = rest.rsplit("/", 2)
        evaluation = _get_trial(request, experiment, case, int(number[:9]))
    elif kind == "cases" and "/" in rest:
        suite, _, case = rest.rpartition("/")
        _, folder = get_suite(request, suite)
        evaluation = next(
            (find_case_evaluation(item) for item in load_cases(folder) if item.id == case), None
        )
    else:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"{reference[:200]!r} names no run: give traces/<id>, trials/<experiment>/<case>/<number> or"
            " cases/<suite>/<case>",
        )
    runs = evaluation.runs if evaluation else ()
    chosen = [run for run in runs if run_id is None or run.run.span_id == run_id]
    if evaluation is None or not chosen:
        raise (
            build_not_found_error(rest)
            if kind == "traces"
            else HTTPException(HTTPStatus.NOT_FOUND, f"{reference[:200]!r} has no run")
        )
    return evaluation.trace.trace_id, min(chosen, key=lambda run: GRAVITY.index(run.state))


def _describe_difference(before: models.Run, after: models.Run, pairs: list[StepPair]) -> str:
    """Return what became other, as a person would say it."""
    old = {score.layer: score.outcome.verdict for score in before.layers}
    new = {score.layer: score.outcome.verdict for score in after.layers}
    changes = [
        f"{layer.value} {old[layer].value} → {state.value}"
        for layer, state in new.items()
        if layer in old and old[layer] is not state
    ]
    verdicts = ", ".join(changes) or "the verdicts are the same"
    parted = next((pair for pair in pairs if pair.change is not StepChange.SAME), None)
    if parted is None:
        return f"{verdicts}; the runs are the same, step by step"
    number = parted.after if parted.after is not None else parted.before
    return f"{verdicts}; the runs part at step {number}: {_PARTS[parted.change]}"
