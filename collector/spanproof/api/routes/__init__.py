"""The paths of `/api/v1`, a file for each area: parameters and answers."""

from fastapi import APIRouter, Depends

from spanproof.api.access import authorise_reader, refuse_limited
from spanproof.api.known_parameters import PREFIX, refuse_unknown_parameters
from spanproof.api.problems import describe_problem
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
    dependencies=[Depends(authorise_reader), Depends(refuse_unknown_parameters)],
    responses={
        400: describe_problem("a parameter is unknown or cannot be read"),
        401: describe_problem("no valid token"),
        422: describe_problem("the body is not valid, or parameters do not fit together"),
        503: describe_problem("the store cannot be read"),
    },
)
_OF_NO_PROJECT = (alerts, rule_trials, runs, cases, suites, experiments, settings)
for area in (
    overview, live, traces, views, failures, alerts, rule_trials, runs, compare, sessions, boundary, cases,
    suites, experiments, replay, review, judges, settings,
):  # fmt: skip
    limits = [Depends(refuse_limited)] if area in _OF_NO_PROJECT else []
    router.include_router(area.router, dependencies=limits)

__all__ = ["router"]
