"""Views of the list of traces that people keep for all readers of their project."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import Field

from spanproof.api import pages
from spanproof.api.access import PROJECT_WRITER, Opened
from spanproof.api.models import Answer, Nanoseconds
from spanproof.api.problems import build_problem
from spanproof.store.saved_views import SavedView

router = APIRouter()
_REFUSED: dict[int | str, dict[str, Any]] = {
    403: build_problem("this request may not write"),
    404: build_problem("there is none"),
    415: build_problem("the body is not JSON"),
}

ViewName = Annotated[str, Field(min_length=1, max_length=100)]
OfProject = Annotated[str | None, Query(max_length=500, description="Whose; of every project if not given.")]


class View(Answer):
    """A view of the list of traces."""

    project: str = Field(description="Whose it is; empty is a view of every project.")
    name: str
    query: str = Field(description="The query line: `name:value` filters and words.")
    author: str
    saved_ns: Nanoseconds


class ViewList(Answer):
    """Views, by name."""

    views: list[View]


class NewView(Answer):
    """A view to be kept; one of the same project and name is replaced."""

    name: ViewName
    query: Annotated[str, Field(min_length=1, max_length=2000)]
    author: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,50}$")] = "human"
    project: Annotated[
        str | None, Field(max_length=500, description="Whose; that of the token, else of every project.")
    ] = None


@router.get("/views")
def views(store: Opened, project: OfProject = None) -> ViewList:
    """Return the views of a project with those of every project, by name."""
    return ViewList(views=[_build_view(view) for view in store.views.list_views(project)])


@router.post("/views", status_code=201, responses=_REFUSED, dependencies=[PROJECT_WRITER])
def save_view(request: Request, new_view: NewView, store: Opened) -> View:
    """Keep a view for all readers of its project."""
    project = _get_project(request, new_view.project)
    view = SavedView(project, new_view.name, new_view.query, new_view.author, time.time_ns())
    store.views.write_view(view)
    return _build_view(view)


@router.delete("/views/{name}", responses=_REFUSED, dependencies=[PROJECT_WRITER])
def remove_view(request: Request, name: str, store: Opened, project: OfProject = None) -> View:
    """Remove a view."""
    wanted = _get_project(request, project)
    for view in store.views.list_views():
        if (view.project, view.name) == (wanted, name):
            store.views.remove_view(view)
            return _build_view(view)
    raise HTTPException(HTTPStatus.NOT_FOUND, f"{wanted or 'every project'} has no view {name[:100]!r}")


def _get_project(request: Request, project: str | None) -> str:
    """Return the project of a write; that of the token, where it has one.

    Raises:
        HTTPException: 403: another project than that of the token is named.
    """
    own: str | None = request.state.project
    if own is not None and project not in (None, own):
        raise HTTPException(HTTPStatus.FORBIDDEN, "this token writes for one project alone")
    return own or project or ""


def _build_view(view: SavedView) -> View:
    return View(
        project=pages.format_text(view.project),
        name=pages.format_text(view.name),
        query=pages.format_text(view.query),
        author=pages.format_text(view.author),
        saved_ns=view.saved_ns,
    )
