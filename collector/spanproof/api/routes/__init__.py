"""The paths of `/api/v1`, a file for each area: what each path takes, and what it answers."""

from fastapi import APIRouter, Depends

from spanproof.api.access import authorise_reader
from spanproof.api.problems import described
from spanproof.api.routes import (
    alerts,
    boundary,
    cases,
    compare,
    failures,
    live,
    overview,
    review,
    runs,
    sessions,
    settings,
    suites,
    traces,
)

router = APIRouter(
    prefix="/api/v1",
    dependencies=[Depends(authorise_reader)],
    responses={
        401: described("no valid token"),
        422: described("a parameter is not valid"),
        503: described("the store cannot be read"),
    },
)
for area in (
    overview, live, traces, failures, alerts, runs, compare, sessions, boundary, cases, suites, review,
    settings,
):  # fmt: skip
    router.include_router(area.router)

__all__ = ["router"]
