"""Errors of the API, all in one form: `application/problem+json`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from spanproof.api.models import Problem
from spanproof.store import AmbiguousTrace, StoreError

MEDIA_TYPE = "application/problem+json"


def build_problem_response(
    status: HTTPStatus, detail: str, headers: dict[str, str] | None = None
) -> Response:
    """Return an error as a response."""
    body = Problem(title=status.phrase, status=status.value, detail=detail)
    return Response(body.model_dump_json(), status.value, headers, MEDIA_TYPE)


def build_problem(meaning: str) -> dict[str, Any]:
    """Return an error's entry in the description of the API."""
    return {"model": Problem, "content": {MEDIA_TYPE: {}}, "description": meaning}


def add_problem_handlers(app: FastAPI) -> None:
    """Answer each error in the one form."""

    async def of_request(_: Request, failure: Exception) -> Response:
        assert isinstance(failure, RequestValidationError)
        faults = (
            f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}" for error in failure.errors()
        )
        is_of_body = any(error["loc"][0] == "body" for error in failure.errors())
        if is_of_body:
            status = HTTPStatus.UNPROCESSABLE_ENTITY
        else:
            status = HTTPStatus.BAD_REQUEST
        return build_problem_response(status, "; ".join(faults))

    async def of_http(_: Request, failure: Exception) -> Response:
        assert isinstance(failure, HTTPException)
        headers = dict(failure.headers) if failure.headers else None
        return build_problem_response(HTTPStatus(failure.status_code), str(failure.detail), headers)

    async def of_store(_: Request, failure: Exception) -> Response:
        return build_problem_response(HTTPStatus.SERVICE_UNAVAILABLE, f"the store cannot be read: {failure}")

    async def of_trace(_: Request, failure: Exception) -> Response:
        return build_problem_response(HTTPStatus.CONFLICT, f"{failure}; add the parameter `project`")

    app.add_exception_handler(AmbiguousTrace, of_trace)
    app.add_exception_handler(RequestValidationError, of_request)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(StoreError, of_store)
