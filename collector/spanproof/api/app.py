"""The application: `/api/v1`, its description, and the console's files.

Every answer is bounded, every list is paged, every error is a problem of RFC 9457. It reads alone: no request
changes anything, so there is nothing that another site could make a browser do.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import FileResponse, Response
from fastapi.security import HTTPBearer

from spanproof.api import models, pages
from spanproof.api.problems import MEDIA_TYPE, add_problems, problem
from spanproof.store import Store
from spanproof.trace import Layer

STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_BEARER = HTTPBearer(auto_error=False, description="A reader's token, where the service demands one.")
_HOUR_NS = 3_600 * 10**9
_MOST_BUCKETS = 100

Dimension = Literal[
    "project", "service", "agent", "model", "prompt_version", "task", "language", "executor", "release"
]
Hours = Annotated[float, Query(gt=0, le=24 * 366, description="How far back, in hours.")]
Name = Annotated[str | None, Query(max_length=500)]
TraceId = Annotated[str, "32 lower-case hex digits, or the start of them"]


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Who may read.

    Attributes:
        tokens: one of which each request of the API must carry as `authorization: Bearer …`; empty: no check.
        hosts: names under which it may be called, for a console on loopback: a request under the name of
            another site (DNS rebinding) is refused. Empty: no check.
    """

    tokens: Sequence[str] = ()
    hosts: frozenset[str] = frozenset()


def make_app(open_store: Callable[[], Store], settings: ConsoleSettings = ConsoleSettings()) -> FastAPI:
    """Return the application.

    Args:
        open_store: returns the store that is read; called for each request.
        settings: who may read.
    """
    app = FastAPI(
        title="Spanproof",
        version=version("spanproof"),
        description="Verdicts on runs of agents that write code. Read-only.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    add_problems(app)
    app.include_router(_router(open_store, settings))

    @app.get("/api/v1/openapi.json", include_in_schema=False)
    def openapi() -> dict[str, Any]:
        return app.openapi()

    @app.get("/", include_in_schema=False)
    @app.get("/{path:path}", include_in_schema=False)
    def files(path: str = "") -> Response:
        if path.startswith("api/"):
            raise HTTPException(
                HTTPStatus.NOT_FOUND, f"/{path} is no path of the API; /api/v1/openapi.json lists them"
            )
        known = {each.name: each for each in STATIC.glob("*.*")}
        # Every other path is a view of the console, which reads the address itself.
        file = known.get(path, STATIC / "index.html")
        return FileResponse(file, media_type=_TYPES.get(file.suffix))

    @app.middleware("http")
    async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        host = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
        if settings.hosts and host not in settings.hosts:
            refused = f"this console answers to {', '.join(sorted(settings.hosts))}, not to {host[:100]!r}"
            return problem(HTTPStatus.MISDIRECTED_REQUEST, refused, dict(_HEADERS))
        response = await call_next(request)
        response.headers.update(_HEADERS)
        return response

    return app


def _router(open_store: Callable[[], Store], settings: ConsoleSettings) -> APIRouter:
    def authorise(request: Request, _: Annotated[object, Depends(_BEARER)]) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        # Each is compared, so that the time says nothing about which one was near.
        fits = [hmac.compare_digest(given, token.encode()) for token in settings.tokens]
        if settings.tokens and not any(fits):
            raise HTTPException(
                HTTPStatus.UNAUTHORIZED,
                "send one of the service's tokens as `authorization: Bearer …`",
                {"www-authenticate": "Bearer"},
            )

    said: dict[int | str, dict[str, Any]] = {
        code: {"model": models.Problem, "content": {MEDIA_TYPE: {}}, "description": meaning}
        for code, meaning in (
            (401, "no valid token"), (422, "a parameter is not valid"), (503, "the store cannot be read"),
        )
    }  # fmt: skip
    missing: dict[int | str, dict[str, Any]] = {
        404: {"model": models.Problem, "content": {MEDIA_TYPE: {}}, "description": "there is none"}
    }
    router = APIRouter(prefix="/api/v1", dependencies=[Depends(authorise)], responses=said)

    @router.get("/overview")
    def overview(cohort: Cohort, hours: Hours = 24.0) -> models.Overview:
        """Return verdicts of each layer over time, and why layers gave none."""
        store, (start, end) = open_store(), _window(hours)
        bucket = max(1, (end - start) // 48)
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
        cohort: Cohort,
        hours: Hours = 24.0,
        limit: Annotated[int, Query(ge=1, le=200)] = 20,
    ) -> models.Cohorts:
        """Return verdicts by the values of one dimension, the commonest values first."""
        start, end = _window(hours)
        found: dict[str, dict[Layer, models.Rate]] = {}
        for value, layer, counted in open_store().verdicts_by(
            dimension, start_ns=start, end_ns=end, cohort=cohort, limit=limit
        ):
            found.setdefault(value, {})[layer] = pages.rate(counted)
        values = [models.CohortRates(value=value, layers=layers) for value, layers in found.items()]
        return models.Cohorts(dimension=dimension, values=values)

    @router.get("/traces")
    def traces(
        cohort: Cohort,
        hours: Annotated[
            float | None, Query(gt=0, le=24 * 366, description="How far back, in hours.")
        ] = None,
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
        rows = open_store().traces(
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

    @router.get("/traces/{trace_id}", responses=missing)
    def trace(trace_id: str) -> models.TracePage:
        """Return one trace whole: its spans, and each run with steps, verdicts, evidence and claims."""
        store = open_store()
        evaluation = store.evaluation(_find(store, trace_id))
        if evaluation is None:
            raise _no_trace(trace_id)
        return pages.trace_page(evaluation, store.feedback(evaluation.trace.trace_id))

    @router.get("/traces/{trace_id}/spans/{span_id}", responses=missing)
    def span(trace_id: str, span_id: str) -> models.SpanPage:
        """Return one span with its attributes, as they were received."""
        store = open_store()
        evaluation = store.evaluation(_find(store, trace_id))
        spans = evaluation.trace.spans if evaluation else ()
        found = next((each for each in spans if each.span_id == span_id), None)
        if found is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, f"trace {trace_id[:64]!r} has no span {span_id[:64]!r}")
        return pages.span_page(found)

    return router


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
