"""Who may read, and of which project, and who may write.

A request is authorised by a bearer token alone, never by a cookie, so that no other site can make a browser
send one. Where there are no tokens, on loopback, writes must come from the console's own origin.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final, NoReturn
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPBearer

from spanproof.api.settings import ConsoleSettings
from spanproof.store import Store

_BEARER: Final = HTTPBearer(auto_error=False, description="A token, where the service demands one.")
_OWN_SITE: Final = (None, "same-origin", "none")


def check_reader(request: Request, _: Annotated[object, Depends(_BEARER)]) -> None:
    """Refuse a request without a reader's or writer's token, where tokens are required."""
    settings: ConsoleSettings = request.app.state.settings
    grant = settings.find_reader(read_token(request))
    if grant is None:
        raise HTTPException(
            HTTPStatus.UNAUTHORIZED,
            "send one of the service's tokens as `authorization: Bearer …`",
            {"www-authenticate": "Bearer"},
        )
    request.state.project = grant.project


def may_still_read(request: Request) -> bool:
    """Return whether the token of a request that was authorised still grants the same."""
    settings: ConsoleSettings = request.app.state.settings
    grant = settings.find_reader(read_token(request))
    return grant is not None and grant.project == request.state.project


def check_unlimited(request: Request) -> None:
    """Refuse a reader of one project what is not of projects: settings, alerts, suites and experiments."""
    if request.state.project is not None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN, "this token reads one project alone, and what is here is of no project"
        )


def check_writer(request: Request) -> None:
    """Refuse a write without a writer's token, where tokens are required, or that another site sent."""
    _check_own_origin(request)
    settings: ConsoleSettings = request.app.state.settings
    if settings.may_write(read_token(request)):
        return
    _check_writer(settings)


def check_project_writer(request: Request) -> None:
    """Refuse a write to a project without a writer's token of it, or that another site sent."""
    _check_own_origin(request)
    settings: ConsoleSettings = request.app.state.settings
    if not settings.may_write(read_token(request), request.state.project):
        _check_writer(settings)


def _check_writer(settings: ConsoleSettings) -> NoReturn:
    if not settings.writers and settings.accepts is None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN, "this console is for reading: it has no writer's token (`console.writers`)"
        )
    raise HTTPException(HTTPStatus.FORBIDDEN, "this token reads only: send a writer's token of all projects")


def _check_own_origin(request: Request) -> None:
    """Refuse what a page of another site makes a browser send; programs send neither header."""
    origin = request.headers.get("origin")
    foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")
    if foreign or request.headers.get("sec-fetch-site") not in _OWN_SITE:
        raise HTTPException(HTTPStatus.FORBIDDEN, "only pages of this console may write")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    # A form of another site can send any other kind without a preflight request.
    if request.method != "DELETE" and kind != "application/json":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send the body as application/json")


def read_token(request: Request) -> str:
    """Return the bearer token of a request; empty where it has none."""
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def open_reader_store(request: Request) -> Store:
    """Return the store that the application reads, limited to the project of the reader's token, if any."""
    store: Store = request.app.state.open_store()
    project: str | None = request.state.project
    if project is None:
        return store
    return store.limited_to(project)


Opened = Annotated[Store, Depends(open_reader_store)]
WRITER: Final = Depends(check_writer)
PROJECT_WRITER: Final = Depends(check_project_writer)
