"""Refuses parameters that a path does not have: one that is ignored would answer another question."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from http import HTTPStatus
from typing import Final

from fastapi import HTTPException, Request
from fastapi.routing import APIRoute

from spanproof.trace.dimensions import get_dimension

PREFIX: Final = "/api/v1"
"""What every path of the API begins with."""


def check_parameters(request: Request) -> None:
    """Refuse a request with a parameter that its path does not have.

    Raises:
        HTTPException: 400: the message names the parameter, and the nearest one.
    """
    parameters = _list_parameters(request)
    unknown = next((name for name in request.query_params if name not in parameters), None)
    if unknown is not None:
        raise HTTPException(HTTPStatus.BAD_REQUEST, _describe_unknown(unknown, parameters))


def _list_parameters(request: Request) -> frozenset[str]:
    """Return the parameters of the path that a request names, as the description of the API has them."""
    route: APIRoute = request.scope["route"]
    # Some versions of FastAPI name a route without the prefix of its router.
    path = PREFIX + route.path_format.removeprefix(PREFIX)
    described = request.app.openapi()["paths"][path][request.method.lower()]
    parameters = described.get("parameters", ())
    return frozenset(str(parameter["name"]) for parameter in parameters if parameter["in"] == "query")


def _describe_unknown(name: str, parameters: Collection[str]) -> str:
    shown = name[:100]
    near = difflib.get_close_matches(name, parameters, n=1)
    if near:
        return f"unknown parameter {shown!r}; did you mean {near[0]!r}?"
    if "where" in parameters and _is_dimension(name):
        return f"unknown parameter {shown!r}; did you mean 'where={shown}=VALUE'?"
    listed = ", ".join(sorted(parameters)) or "none"
    return f"unknown parameter {shown!r}; this path takes {listed}"


def _is_dimension(name: str) -> bool:
    try:
        get_dimension(name)
    except ValueError:
        return False
    return True
