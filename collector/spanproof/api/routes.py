"""The paths of `/api/v1`: what each takes, and what it answers."""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.security import HTTPBearer

from spanproof.api import models, pages
from spanproof.api.problems import MEDIA_TYPE
from spanproof.store import Store
from spanproof.store.schema import DIMENSIONS
from spanproof.trace import Layer

_BEARER = HTTPBearer(auto_error=False, description="A reader's token, where the service demands one.")
_HOUR_NS = 3_600 * 10**9
_BUCKETS = 48

Dimension = Literal[
    "project", "service", "agent", "model", "prompt_version", "task", "language", "executor", "release"
]
Hours = Annotated[float, Query(gt=0, le=24 * 366, description="How far back, in hours.")]
Name = Annotated[str | None, Query(max_length=500)]


def _authorise(request: Request, _: Annotated[object, Depends(_BEARER)]) -> None:
    """Refuse a request without one of the application's tokens, where it has any."""
    settings = request.app.state.settings
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    # Each is compared, so that the time says nothing about which one was near.
    fits = [hmac.compare_digest(given.encode(), token.encode()) for token in settings.tokens]
    checked = bool(settings.tokens) or settings.accepts is not None
    if checked and not any(fits) and not (settings.accepts is not None and settings.accepts(given)):
        raise HTTPException(
            HTTPStatus.UNAUTHORIZED,
            "send one of the service's tokens as `authorization: Bearer …`",
            {"www-authenticate": "Bearer"},
        )


def _open_store(request: Request) -> Store:
    """Return the store that the application reads."""
    store: Store = request.app.state.open_store()
    return store


def _cohort_parameters(
    project: Name = None,
    service: Name = None,
    agent: Name = None,
    model: Name = None,
    prompt_version: Name = None,
    task: Name = None,
    language: Name = None,
    executor: Name = None,
    release: Name = None,
) -> Mapping[str, str]:
    """Return the dimensions that are given, with their values."""
    given = {
        "project": project, "service": service, "agent": agent, "model": model, "task": task,
        "release": release, "prompt_version": prompt_version, "language": language, "executor": executor,
    }  # fmt: skip
    return {name: value for name, value in given.items() if value is not None}


Cohort = Annotated[Mapping[str, str], Depends(_cohort_parameters)]
Opened = Annotated[Store, Depends(_open_store)]


def _problem(meaning: str) -> dict[str, Any]:
    return {"model": models.Problem, "content": {MEDIA_TYPE: {}}, "description": meaning}


router = APIRouter(
    prefix="/api/v1",
    dependencies=[Depends(_authorise)],
    responses={
        401: _problem("no valid token"),
        422: _problem("a parameter is not valid"),
        503: _problem("the store cannot be read"),
    },
)
_MISSING: dict[int | str, dict[str, Any]] = {404: _problem("there is none")}


@router.get("/overview")
def overview(store: Opened, cohort: Cohort, hours: Hours = 24.0) -> models.Overview:
    """Return verdicts of each layer over time, and why layers gave none."""
    start, end = _window(hours)
    bucket = max(1, (end - start) // _BUCKETS)
    counted = store.verdict_timeline(start_ns=start, end_ns=end, bucket_ns=bucket, cohort=cohort)
    rows = [models.Bucket(layer=layer, start_ns=at, rate=pages.rate(each)) for layer, at, each in counted]
    totals = {
        layer: pages.rate(store.fail_rate(layer, cohort=cohort, start_ns=start, end_ns=end, failing=0))
        for layer in Layer
    }
    reasons = store.reasons_not_judged(start_ns=start, end_ns=end, cohort=cohort)
    return models.Overview(
        start_ns=start,
        end_ns=end,
        bucket_ns=bucket,
        layers=totals,
        timeline=rows,
        not_judged=[
            models.Reason(
                outcome="errored" if outcome == "errored" else "skipped", reason=reason, times=times
            )
            for outcome, reason, times in reasons
        ],
    )


@router.get("/cohorts/{dimension}")
def cohorts(
    dimension: Dimension,
    store: Opened,
    cohort: Cohort,
    hours: Hours = 24.0,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> models.Cohorts:
    """Return verdicts by the values of one dimension, the commonest values first."""
    start, end = _window(hours)
    found: dict[str, dict[Layer, models.Rate]] = {}
    for value, layer, counted in store.verdicts_by(
        dimension, start_ns=start, end_ns=end, cohort=cohort, limit=limit
    ):
        found.setdefault(value, {})[layer] = pages.rate(counted)
    values = [models.CohortRates(value=value, layers=layers) for value, layers in found.items()]
    return models.Cohorts(dimension=dimension, values=values)


@router.get("/traces")
def traces(
    store: Opened,
    cohort: Cohort,
    hours: Annotated[float | None, Query(gt=0, le=24 * 366, description="How far back, in hours.")] = None,
    failing: Annotated[
        bool | None, Query(description="Only traces with (or without) a run that fails.")
    ] = None,
    layer: Annotated[Layer | None, Query(description="With `failing`: which layer fails.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
) -> models.TraceList:
    """Return evaluated traces, newest first."""
    if layer is not None and failing is not True:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY, "layer: it says which layer fails; add failing=true"
        )
    since = None if hours is None else time.time_ns() - int(hours * _HOUR_NS)
    rows = store.traces(
        since_ns=since,
        failing=layer if layer is not None else failing,
        limit=limit + 1,
        cohort=cohort,
        before=None if cursor is None else _read_cursor(cursor),
    )
    shown = rows[:limit]
    more = len(rows) > limit
    return models.TraceList(
        traces=[pages.trace_row(row) for row in shown],
        next=_write_cursor(shown[-1].start_ns, shown[-1].trace_id) if more else None,
    )


@router.get("/traces/{trace_id}", responses=_MISSING)
def trace(trace_id: str, store: Opened) -> models.TracePage:
    """Return one trace whole: its spans, and each run with steps, verdicts, evidence and claims."""
    evaluation = store.evaluation(_find(store, trace_id))
    if evaluation is None:
        raise _no_trace(trace_id)
    return pages.trace_page(evaluation, store.feedback(evaluation.trace.trace_id))


@router.get("/traces/{trace_id}/spans/{span_id}", responses=_MISSING)
def span(trace_id: str, span_id: str, store: Opened) -> models.SpanPage:
    """Return one span with its attributes, as they were received."""
    evaluation = store.evaluation(_find(store, trace_id))
    spans = evaluation.trace.spans if evaluation else ()
    found = next((each for each in spans if each.span_id == span_id), None)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"trace {trace_id[:64]!r} has no span {span_id[:64]!r}")
    return pages.span_page(found)


@router.get("/failures")
def failures(
    store: Opened,
    cohort: Cohort,
    hours: Hours = 24.0 * 7,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> models.FailureList:
    """Return clusters of failures with a run in the window, those with most runs first."""
    start, end = _window(hours)
    found = store.failure_clusters(start_ns=start, end_ns=end, cohort=cohort)
    shown = [pages.failure_cluster(each) for each in found[:limit]]
    return models.FailureList(start_ns=start, end_ns=end, failures=shown)


@router.get("/failures/{cluster_id}", responses=_MISSING)
def failure(
    cluster_id: str,
    store: Opened,
    cohort: Cohort,
    hours: Hours = 24.0 * 7,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> models.FailurePage:
    """Return one cluster of failures: its cause, the share of each cohort, runs that represent it."""
    start, end = _window(hours)
    found = store.failure_clusters(start_ns=start, end_ns=end, cohort=cohort)
    chosen = next((each for each in found if cluster_id in (each.id, *each.fingerprints)), None)
    if chosen is None:
        raise HTTPException(
            HTTPStatus.NOT_FOUND, f"there is no cluster {cluster_id[:64]!r} with a run in the window"
        )
    shares = {
        name: [
            pages.failure_share(each)
            for each in store.failure_shares(chosen, name, start_ns=start, end_ns=end)
            if each.value
        ]
        for name in DIMENSIONS
    }
    runs = store.failing_runs(chosen, start_ns=start, end_ns=end, limit=limit)
    return models.FailurePage(
        failure=pages.failure_cluster(chosen),
        shares={name: values for name, values in shares.items() if values},
        runs=[pages.failing_run(run) for run in runs],
    )


def _window(hours: float) -> tuple[int, int]:
    end = time.time_ns()
    return max(0, end - int(hours * _HOUR_NS)), end + 1


def _find(store: Store, given: str) -> str:
    """Return the id of the one trace that starts so."""
    if not given or len(given) > 32 or not set(given) <= set("0123456789abcdef"):
        raise _no_trace(given)
    found = store.trace_ids(given, limit=2)
    if len(found) != 1 and given not in found:
        raise _no_trace(given)
    return given if given in found else found[0]


def _no_trace(given: str) -> HTTPException:
    return HTTPException(HTTPStatus.NOT_FOUND, f"there is not one trace whose id starts with {given[:64]!r}")


def _write_cursor(start_ns: int, trace_id: str) -> str:
    return base64.urlsafe_b64encode(f"{start_ns}:{trace_id}".encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> tuple[int, str]:
    try:
        start, _, trace_id = (
            base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(":")
        )
        start_ns = int(start)
    except (binascii.Error, ValueError) as fault:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY, "cursor: give `next` of the page before"
        ) from fault
    if not 0 <= start_ns < 2**63:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, "cursor: give `next` of the page before")
    return start_ns, trace_id
