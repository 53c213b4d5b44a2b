"""What would have come out? A stored run with other code or other results of tools, run again and judged."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import Field

from spanproof.api import models, pages
from spanproof.api.access import PROJECT_WRITER, Opened, read_token
from spanproof.api.editing import AlteredCase, EditableCall, EditableCode, list_editable, open_replay_sandbox
from spanproof.api.models import Answer, Nanoseconds
from spanproof.api.models.suites import Promoted
from spanproof.api.parameters import Project, build_not_found_error, get_trace_id
from spanproof.api.problems import build_problem
from spanproof.api.routes.suites import get_new_suite
from spanproof.api.settings import ConsoleSettings
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.store import Store
from spanproof.store.audit import AuditEvent
from spanproof.suites import SuiteError, iter_promotions
from spanproof.suites.what_if import Alteration, build_altered_trace, evaluate_altered

router = APIRouter()
_REFUSED: dict[int | str, dict[str, Any]] = {
    403: build_problem("this request may not write"),
    404: build_problem("there is none"),
    409: build_problem("nothing can be run here, another replay is running, or no case can be written"),
    415: build_problem("the body is not JSON"),
}
RunId = Annotated[str | None, Query(max_length=16, description="Which run; the first where not given.")]


class EditableRun(Answer):
    """What of a run can be changed before it is run again."""

    run_span_id: str
    code: list[EditableCode]
    calls: list[EditableCall]
    can_replay: bool = Field(description="Whether this console has a sandbox, and the run has code that ran.")


class AlteredRun(AlteredCase):
    """A run to be run again, and what is changed in it."""

    run_span_id: Annotated[str | None, Field(max_length=16, description="The first where not given.")] = None
    project: Annotated[str | None, Field(max_length=500)] = None
    suite: Annotated[
        str | None,
        Field(
            max_length=200,
            description="Keep it as a case of this suite, as a writer of all projects.",
        ),
    ] = None


class JudgedReplay(Answer):
    """What came out, judged by every layer."""

    run: models.Run
    case: Promoted | None = Field(description="The case that was kept, where a suite was named.")


class AuditRow(Answer):
    """Somebody had code run."""

    at_ns: Nanoseconds
    project: str
    actor: str = Field(description="The name of the token.")
    action: str
    subject: str = Field(description="The id of the trace.")
    detail: str


class AuditList(Answer):
    """Who had code run by hand, the newest first."""

    events: list[AuditRow]


@router.get("/traces/{trace_id}/editable", responses={404: _REFUSED[404]})
def editable(
    trace_id: str, request: Request, store: Opened, run: RunId = None, project: Project = None
) -> EditableRun:
    """Return the code and the results of tools of a run, as they can be changed."""
    settings: ConsoleSettings = request.app.state.settings
    _, found = _get_run(store, trace_id, run, project)
    code, calls = list_editable(found.run)
    return EditableRun(
        run_span_id=found.run.span_id,
        code=code,
        calls=calls,
        can_replay=settings.open_sandbox is not None and bool(code),
    )


@router.post("/traces/{trace_id}/replay", responses=_REFUSED, dependencies=[PROJECT_WRITER])
def replay(trace_id: str, altered: AlteredRun, request: Request, store: Opened) -> JudgedReplay:
    """Run a stored run again with other code or other results of tools, in the sandbox, and judge it.

    The limits and the policy are those of evaluation. The trace stays as it is; the request is audited.
    """
    settings: ConsoleSettings = request.app.state.settings
    token = read_token(request)
    if altered.suite is not None and not settings.may_write(token):
        raise HTTPException(HTTPStatus.FORBIDDEN, "suites are for writers of all projects")
    if altered.suite is not None:
        suite = get_new_suite(request, altered.suite)
    else:
        suite = None
    evaluation, found = _get_run(store, trace_id, altered.run_span_id, altered.project)
    change = Alteration(altered.sources, altered.results)
    event = AuditEvent(
        id=uuid4().hex,
        at_ns=time.time_ns(),
        project=evaluation.key.project,
        actor=settings.get_token_name(token),
        action="replay" if suite is None else "replay and save",
        subject=evaluation.trace.trace_id,
        detail=_describe_change(change, altered.suite),
    )
    # Before anything runs: what is not audited is not run.
    request.app.state.open_store().audit.write(event)
    try:
        with open_replay_sandbox(settings) as sandbox:
            engine = settings.make_engine(sandbox)
            judged = evaluate_altered(engine, evaluation.trace, found.run, change)
            if suite is None:
                kept = None
            else:
                kept = _evaluate_kept(engine, evaluation, judged, change)
    except SuiteError as problem:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, pages.format_text(str(problem))) from problem
    case = None
    if suite is not None and kept is not None:
        try:
            (promotion,) = iter_promotions([(kept, judged.run.span_id)], suite)
        except (SuiteError, OSError) as problem:
            raise HTTPException(HTTPStatus.CONFLICT, pages.format_text(str(problem))) from problem
        case = Promoted(
            case=promotion.case.id,
            change=promotion.change.value,
            trace_id=kept.trace.trace_id,
            same_as=promotion.same_as,
        )
    return JudgedReplay(run=pages.build_run(judged), case=case)


@router.get("/audit")
def audit(store: Opened, limit: Annotated[int, Query(ge=1, le=500)] = 100) -> AuditList:
    """Return who had code run by hand, the newest first."""
    return AuditList(
        events=[
            AuditRow(
                at_ns=event.at_ns,
                project=pages.format_text(event.project),
                actor=pages.format_text(event.actor),
                action=event.action,
                subject=event.subject,
                detail=pages.format_text(event.detail),
            )
            for event in store.audit.list_events(limit)
        ]
    )


def _get_run(
    store: Store, trace_id: str, run: str | None, project: str | None
) -> tuple[TraceEvaluation, RunEvaluation]:
    evaluation = store.evaluation(get_trace_id(store, trace_id, project), project)
    if evaluation is None:
        raise build_not_found_error(trace_id)
    found = next((item for item in evaluation.runs if run in (None, item.run.span_id)), None)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"trace {trace_id[:32]!r} has no run {(run or '')[:16]!r}")
    return evaluation, found


def _describe_change(change: Alteration, suite: str | None) -> str:
    parts = [f"code of {len(change.sources)}", f"results of {len(change.results)}"]
    kept = "" if suite is None else f"; kept in {suite}"
    return f"{' and '.join(parts)} changed{kept}"


def _evaluate_kept(
    engine: Engine, evaluation: TraceEvaluation, judged: RunEvaluation, change: Alteration
) -> TraceEvaluation:
    """Return the evaluation of the altered run as a trace of its own, which a case can hold."""
    return engine.evaluate(build_altered_trace(evaluation.trace, judged.run, change))
