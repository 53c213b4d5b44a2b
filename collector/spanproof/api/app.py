"""The application: `/api/v1`, its description, and the console's files.

Every answer is bounded, every list is paged, every error is a problem of RFC 9457. Writes come from the
console's own origin or carry a writer's token, so that no other site can make a browser send one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import Response

from spanproof.api.bundle import load_assets
from spanproof.api.problems import add_problem_handlers, build_problem_response
from spanproof.api.routes import router
from spanproof.api.settings import READ_BY_ALL, ConsoleSettings
from spanproof.store import Store

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
        " font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def build_app(open_store: Callable[[], Store], settings: ConsoleSettings = READ_BY_ALL) -> FastAPI:
    """Return the application.

    Args:
        open_store: returns the store that is read; called for each request.
        settings: who may read and write, and what is shown beside the store.
    """
    app = FastAPI(
        title="Spanproof",
        version=version("spanproof"),
        description="Verdicts on runs of agents that write code.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    add_problem_handlers(app)
    app.state.open_store, app.state.settings, app.state.doctor = open_store, settings, None
    app.include_router(router)

    @app.get("/api/v1/openapi.json", include_in_schema=False)
    def openapi() -> dict[str, Any]:
        return app.openapi()

    @app.get("/", include_in_schema=False)
    @app.get("/{path:path}", include_in_schema=False)
    async def files(request: Request, path: str = "") -> Response:
        if path.startswith("api/"):
            raise HTTPException(
                HTTPStatus.NOT_FOUND, f"/{path} is no path of the API; /api/v1/openapi.json lists them"
            )
        assets = load_assets()
        # Every other path is a view of the console, which reads the address itself.
        return assets.get(path, assets["index.html"]).build_response(request)

    @app.middleware("http")
    async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        host = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
        if settings.hosts and host not in settings.hosts:
            refused = f"this console answers to {', '.join(sorted(settings.hosts))}, not to {host[:100]!r}"
            return build_problem_response(HTTPStatus.MISDIRECTED_REQUEST, refused, dict(_HEADERS))
        response = await call_next(request)
        for name, value in _HEADERS.items():
            # A route may have a narrower policy of its own.
            response.headers.setdefault(name, value)
        return response

    return app
