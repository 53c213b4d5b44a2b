"""Parameters that several paths take: cohort, window, cursor."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, HTTPException, Query
from pydantic import AfterValidator, Field

from spanproof.store import Store
from spanproof.trace.dimensions import get_dimension

HOUR_NS = 3_600 * 10**9
# So many projects may have a trace with one id until another one that starts so is overlooked.
_MOST_PROJECTS = 100

Dimension = Annotated[
    str,
    AfterValidator(get_dimension),
    Field(description="Of the cohort, `session`, `user`, or `attribute:KEY`.", max_length=300),
]
Hours = Annotated[float, Query(gt=0, le=24 * 366, description="How far back, in hours.")]
MaybeHours = Annotated[float | None, Query(gt=0, le=24 * 366, description="How far back, in hours.")]
Name = Annotated[str | None, Query(max_length=500)]
Limit = Annotated[int, Query(ge=1, le=500, description="Rows at most.")]
Project = Annotated[
    str | None,
    Query(max_length=500, description="Of the trace, where several projects have one with this id."),
]
FirstStep = Annotated[
    int, Query(ge=1, le=10**7, description="Number of the first step of each run in the answer.")
]
OfProject = Annotated[str | None, Query(max_length=500, description="Only of this project.")]
Cursor = Annotated[str | None, Query(max_length=2000, description="`next` of the page before.")]


def _parse_cohort(
    project: Name = None,
    service: Name = None,
    agent: Name = None,
    model: Name = None,
    prompt_version: Name = None,
    task: Name = None,
    language: Name = None,
    executor: Name = None,
    release: Name = None,
    where: Annotated[
        list[str],
        Query(max_length=10, description="DIMENSION=VALUE; any dimension, as `attribute:tenant.id=acme`."),
    ] = [],  # noqa: B006
) -> Mapping[str, str]:
    """Return the dimensions that are given, with their values.

    Raises:
        HTTPException: 400: `where` is not of that form, or there is no such dimension.
    """
    values = {
        "project": project, "service": service, "agent": agent, "model": model, "task": task,
        "release": release, "prompt_version": prompt_version, "language": language, "executor": executor,
    }  # fmt: skip
    cohort = {name: value for name, value in values.items() if value is not None}
    for item in where:
        dimension, equals, value = item.partition("=")
        if not equals:
            raise _build_where_error(item, "write DIMENSION=VALUE")
        try:
            cohort[get_dimension(dimension)] = value
        except ValueError as problem:
            raise _build_where_error(item, str(problem)) from problem
    return cohort


def _build_where_error(condition: str, reason: str) -> HTTPException:
    return HTTPException(HTTPStatus.BAD_REQUEST, f"where {condition[:100]!r}: {reason}")


Cohort = Annotated[Mapping[str, str], Depends(_parse_cohort)]


def compute_window(hours: float) -> tuple[int, int]:
    """Return the first nanosecond of the last so many hours, and the first one after now."""
    end = time.time_ns()
    return max(0, end - int(hours * HOUR_NS)), end + 1


def get_trace_id(store: Store, id_start: str, project: str | None = None) -> str:
    """Return the id of the one trace that starts so.

    Raises:
        HTTPException: 404: none starts so, or several.
    """
    if not id_start or len(id_start) > 32 or not set(id_start) <= set("0123456789abcdef"):
        raise build_not_found_error(id_start)
    found = store.trace_ids(id_start, limit=_MOST_PROJECTS, project=project)
    if len(found) != 1 and id_start not in found:
        raise build_not_found_error(id_start)
    return id_start if id_start in found else found[0]


def build_not_found_error(id_start: str) -> HTTPException:
    """Return the error for an id of no trace."""
    return HTTPException(
        HTTPStatus.NOT_FOUND, f"there is not one trace whose id starts with {id_start[:64]!r}"
    )


def encode_cursor(at_ns: int, key: str) -> str:
    """Return the place after a row that is known by a time and a key."""
    return base64.urlsafe_b64encode(f"{at_ns}:{key}".encode()).decode().rstrip("=")


def find_cursor(cursor: str | None) -> tuple[int, str] | None:
    """Return the time and the key of the last row of the page before.

    Raises:
        HTTPException: 400: no page ended so.
    """
    if cursor is None:
        return None
    fault = HTTPException(HTTPStatus.BAD_REQUEST, "cursor: give `next` of the page before")
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        at, _, key = base64.urlsafe_b64decode(padded).decode().partition(":")
        at_ns = int(at)
    except (binascii.Error, ValueError) as problem:
        raise fault from problem
    if not 0 <= at_ns < 2**63:
        raise fault
    return at_ns, key
