"""Which runs, and what happened in one? Traces, spans, code, replays, scores with their history."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response

from spanproof.api import list_rows, models, pages, trace_pages
from spanproof.api.access import Opened
from spanproof.api.models.traces import SpanList, SpanPage, TracePage
from spanproof.api.parameters import (
    Cursor,
    Dimension,
    FirstStep,
    Hours,
    Limit,
    Project,
    build_not_found_error,
    compute_window,
    encode_cursor,
    find_cursor,
    get_trace_id,
)
from spanproof.api.problems import build_problem
from spanproof.api.query_line import QueryLineRoute, format_list_command
from spanproof.api.trace_export import MOST_EXPORTED, encode_csv, encode_parquet
from spanproof.api.trace_terms import Chosen, MaybeLayer, MaybeState
from spanproof.store.trace_list import TraceOrder
from spanproof.store.trace_listing import TraceListing
from spanproof.trace.dimensions import is_carried

router = APIRouter(route_class=QueryLineRoute)
_MISSING: dict[int | str, dict[str, Any]] = {
    404: build_problem("there is none"),
    409: build_problem("several projects have a trace with this id"),
}
_FILES: Final[dict[str, Any]] = {"text/csv": {}, "application/vnd.apache.parquet": {}}

_FORMATS: Final = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


@router.get("/traces")
def traces(
    request: Request,
    store: Opened,
    chosen: Chosen,
    state: MaybeState = None,
    layer: MaybeLayer = None,
    order: Annotated[TraceOrder, Query(description="What comes first.")] = TraceOrder.NEWEST,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> models.TraceList:
    """Return evaluated traces, newest first or in another order."""
    listing = TraceListing(store, chosen, order, (layer, [state]) if layer and state else None)
    shown, last = listing.fetch_page(find_cursor(cursor), limit)
    return models.TraceList(
        traces=[list_rows.build_trace_row(row) for row in shown],
        next=encode_cursor(*order.get_place(last)) if last else None,
        command=pages.format_text(format_list_command(request.query_params.multi_items())),
    )


@router.get("/facets")
def facets(
    store: Opened,
    chosen: Chosen,
    by: Annotated[list[Dimension], Query(max_length=10, description="Dimensions of the cohort.")] = [],  # noqa: B006
    limit: Annotated[int, Query(ge=1, le=100, description="Values of a dimension at most.")] = 8,
) -> models.Facets:
    """Return how many of the traces have each state, and each of the commonest values of dimensions."""
    names = list(dict.fromkeys(by))
    carried = next((name for name in names if is_carried(name)), None)
    if carried is not None:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, f"by: {carried!r} is no dimension of the cohort")
    found = store.browse.get_facets(chosen, names, limit)
    return models.Facets(
        traces=sum(found.states.values()),
        states=dict(found.states),
        facets=[
            models.Facet(
                dimension=name,
                values=[
                    models.FacetValue(value=pages.format_text(value), traces=times)
                    for value, times in found.values[name]
                ],
            )
            for name in names
        ],
    )


@router.get("/exports/{format}", response_class=Response, responses={200: {"content": _FILES}})
def export(
    format: Literal["csv", "parquet"],  # noqa: A002 - a part of the address
    store: Opened,
    chosen: Chosen,
    state: MaybeState = None,
    layer: MaybeLayer = None,
    order: Annotated[TraceOrder, Query(description="What comes first.")] = TraceOrder.NEWEST,
    limit: Annotated[int, Query(ge=1, le=MOST_EXPORTED, description="Rows at most.")] = MOST_EXPORTED,
) -> Response:
    """Return the traces of a list as a file, a row for each run."""
    listing = TraceListing(store, chosen, order, (layer, [state]) if layer and state else None)
    if format == "csv":
        content = encode_csv(listing, limit)
    else:
        content = encode_parquet(listing, limit)
    name = f'attachment; filename="traces.{format}"'
    return Response(content, media_type=_FORMATS[format], headers={"content-disposition": name})


@router.get("/traces/{trace_id}", responses=_MISSING)
def trace(trace_id: str, store: Opened, project: Project = None, first_step: FirstStep = 1) -> TracePage:
    """Return one trace: its spans, and each run with verdicts, evidence, claims and a page of its steps."""
    evaluation = store.evaluation(get_trace_id(store, trace_id, project), project)
    if evaluation is None:
        raise build_not_found_error(trace_id)
    feedback = store.feedback(evaluation.key)
    return trace_pages.build_trace_page(evaluation, feedback, trace_pages.get_steps(first_step))


@router.get("/traces/{trace_id}/spans", responses=_MISSING)
def spans(
    trace_id: str,
    store: Opened,
    project: Project = None,
    limit: Annotated[int, Query(ge=1, le=5000, description="Spans at most.")] = 1000,
    cursor: Cursor = None,
) -> SpanList:
    """Return a page of the spans of a trace that a collector received, as many as it may have."""
    found = store.received_spans(
        get_trace_id(store, trace_id, project), project, find_cursor(cursor), limit + 1
    )
    last = found[limit - 1] if len(found) > limit else None
    return SpanList(
        spans=[list_rows.build_received_span(item) for item in found[:limit]],
        next=encode_cursor(last.start_ns, last.span_id) if last else None,
    )


@router.get("/traces/{trace_id}/spans/{span_id}", responses=_MISSING)
def span(trace_id: str, span_id: str, store: Opened, project: Project = None) -> SpanPage:
    """Return one span with its attributes, as they were received."""
    evaluation = store.evaluation(get_trace_id(store, trace_id, project), project)
    spans = evaluation.trace.spans if evaluation else ()
    found = next((item for item in spans if item.span_id == span_id), None)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"trace {trace_id[:64]!r} has no span {span_id[:64]!r}")
    return trace_pages.build_span_page(found)


@router.get("/traces/{trace_id}/snippets/{snippet_id}", responses=_MISSING)
def snippet(trace_id: str, snippet_id: str, store: Opened, project: Project = None) -> models.Snippet:
    """Return one snippet: its code, what scanners say of it, the record and the replay."""
    evaluation = store.evaluation(get_trace_id(store, trace_id, project), project)
    found = pages.find_snippet(evaluation, snippet_id) if evaluation else None
    if found is None:
        raise HTTPException(
            HTTPStatus.NOT_FOUND, f"trace {trace_id[:64]!r} has no snippet {snippet_id[:64]!r}"
        )
    return found


@router.get(
    "/traces/{trace_id}/images/{image_id}",
    response_class=Response,
    responses={**_MISSING, **trace_pages.IMAGE_RESPONSE},
)
def image(trace_id: str, image_id: str, store: Opened, project: Project = None) -> Response:
    """Return the content of an image that a span of the trace holds."""
    evaluation = store.evaluation(get_trace_id(store, trace_id, project), project)
    return trace_pages.build_image_response(evaluation, image_id)


@router.get("/traces/{trace_id}/scores", responses=_MISSING)
def scores(
    trace_id: str,
    store: Opened,
    project: Project = None,
    history: Annotated[
        bool, Query(description="Also scores that a newer version of an evaluator has replaced.")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
) -> models.ScoreList:
    """Return the scores of one trace, with the versions of their evaluators."""
    cohort = {} if project is None else {"project": project}
    found = store.scores(
        trace_id=get_trace_id(store, trace_id, project), cohort=cohort, every_version=history
    )
    rows = [pages.build_versioned_score(score) for score, _ in zip(found, range(limit), strict=False)]
    return models.ScoreList(scores=rows)


@router.get("/snippets")
def snippets(
    store: Opened,
    hours: Hours = 24.0 * 7,
    verdict: Annotated[models.ScanVerdict | None, Query(description="What the scanners decided.")] = None,
    rule: Annotated[str | None, Query(max_length=200, description="A rule that fired.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> models.CodeList:
    """Return snippets of code, newest first."""
    rows = store.browse.list_snippets(
        start_ns=compute_window(hours)[0],
        verdict=verdict.value if verdict else None,
        rule=rule,
        limit=limit + 1,
        after=find_cursor(cursor),
    )
    last = rows[limit - 1] if len(rows) > limit else None
    return models.CodeList(
        snippets=[list_rows.build_code_row(row) for row in rows[:limit]],
        next=encode_cursor(*last.place) if last else None,
    )


@router.get("/replays")
def replays(
    store: Opened,
    hours: Hours = 24.0 * 7,
    failure_class: Annotated[str | None, Query(max_length=100, description="How the replay ended.")] = None,
    agrees: Annotated[bool | None, Query(description="Whether it agrees with the record.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> models.ReplayList:
    """Return replayed snippets, newest first."""
    rows = store.browse.list_replays(
        start_ns=compute_window(hours)[0],
        failure_class=failure_class,
        agrees=agrees,
        limit=limit + 1,
        after=find_cursor(cursor),
    )
    last = rows[limit - 1] if len(rows) > limit else None
    return models.ReplayList(
        replays=[list_rows.build_replay_row(row) for row in rows[:limit]],
        next=encode_cursor(*last.place) if last else None,
    )
