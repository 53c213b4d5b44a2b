"""The paths of `/api/v1`, a file for each area: parameters and answers."""

from fastapi import APIRouter, Depends

from spanproof.api.access import check_reader, check_unlimited
from spanproof.api.known_parameters import PREFIX, check_parameters
from spanproof.api.problems import build_problem
from spanproof.api.routes import (
    alerts,
    boundary,
    cases,
    compare,
    experiments,
    failures,
    judges,
    live,
    overview,
    replay,
    review,
    rule_trials,
    runs,
    sessions,
    settings,
    suites,
    traces,
    views,
)

router = APIRouter(
    prefix=PREFIX,
    dependencies=[Depends(check_reader), Depends(check_parameters)],
    responses={
        400: build_problem("a parameter is unknown or cannot be read"),
        401: build_problem("no valid token"),
        422: build_problem("the body is not valid, or parameters do not fit together"),
        503: build_problem("the store cannot be read"),
    },
)
_OF_NO_PROJECT = (alerts, rule_trials, runs, cases, suites, experiments, settings)
for area in (
    overview, live, traces, views, failures, alerts, rule_trials, runs, compare, sessions, boundary, cases,
    suites, experiments, replay, review, judges, settings,
):  # fmt: skip
    limits = [Depends(check_unlimited)] if area in _OF_NO_PROJECT else []
    router.include_router(area.router, dependencies=limits)

__all__ = ["router"]
