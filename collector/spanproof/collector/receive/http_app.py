"""OTLP over HTTP, and the two pages an operator asks for.

`POST /v1/traces` takes protobuf or JSON, plain, gzip or deflate; every refusal carries a `Status` in the
form the request came in. `GET /healthz` says whether requests are taken, `GET /metrics` what became of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import orjson
from google.protobuf import json_format
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from spanproof.collector.receive.accept import Acceptor
from spanproof.collector.receive.admission import Entry
from spanproof.collector.receive.body import form_of, too_large
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.telemetry import Telemetry, log
from spanproof.collector.wal.file import Encoding

_PROTOCOL = "http"
_PROTOBUF = "application/x-protobuf"
_JSON = "application/json"
_UNKNOWN = (
    "only /v1/traces takes exports here, /v1/scores scores; /v1/verdict and /v1/route need verdicts.enabled"
)
_BODY_S = 30.0
"""How long a body may take: a client that dawdles takes a place from one that does not."""
_DISCARD_FACTOR = 4
"""A body over the limit is read on up to this multiple: a client whose connection breaks while it sends sees
a network error, which it repeats, and not the 413 that tells it not to."""


def http_app(
    acceptor: Acceptor, telemetry: Telemetry, healthy: Callable[[], bool], more: Sequence[Route] = ()
) -> Starlette:
    """Return the application; `healthy` says whether requests are taken, `more` are further endpoints."""
    traces = _Traces(acceptor)

    async def healthz(_: Request) -> Response:
        well = healthy()
        body = orjson.dumps({"status": "ok" if well else "stopping"})
        return Response(body, 200 if well else 503, media_type=_JSON)

    async def metrics(request: Request) -> Response:
        body, content_type = telemetry.exposition(request.headers.get("accept", ""))
        return Response(body, headers={"content-type": content_type})

    return Starlette(
        routes=[
            Route("/v1/traces", traces.export, methods=["POST"]),
            Route("/healthz", healthz, methods=["GET"]),
            Route("/metrics", metrics, methods=["GET"]),
            *more,
        ],
        exception_handlers={
            404: traces.refuser(Reason.UNKNOWN_PATH, _UNKNOWN),
            405: traces.refuser(Reason.WRONG_METHOD, "this path takes another method"),
        },
    )


class _Traces:
    def __init__(self, acceptor: Acceptor) -> None:
        self._acceptor = acceptor

    async def export(self, request: Request) -> Response:
        try:
            return await self._export(request)
        except Refused as refusal:
            return self._refuse(request, refusal)
        except ClientDisconnect:
            return self._refuse(
                request, Refused(Reason.MALFORMED, "the client went away before its body ended")
            )
        except Exception:  # noqa: BLE001 - the last place before the client
            log.exception("a request over http failed")
            return self._refuse(
                request, Refused(Reason.INTERNAL, "internal error; the collector's log says more")
            )

    def refuser(self, reason: Reason, message: str) -> Callable[[Request, Exception], Awaitable[Response]]:
        """A handler for what the router refuses."""

        async def refuse(request: Request, _: Exception) -> Response:
            return self._refuse(request, Refused(reason, message))

        return refuse

    async def _export(self, request: Request) -> Response:
        self._acceptor.authorise(request.headers.get("authorization"))
        form = form_of(request.headers.get("content-type", ""))
        async with self._acceptor.admission.admitted() as entry:
            body = await _read(request, self._acceptor.max_body_bytes, entry)
            encoding = request.headers.get("content-encoding", "")
            answer = await self._acceptor.accept(_PROTOCOL, form, body, entry, encoding)
        if form is Encoding.JSON:
            return Response(json_format.MessageToJson(answer, indent=None), media_type=_JSON)
        return Response(answer.SerializeToString(), media_type=_PROTOBUF)

    def _refuse(self, request: Request, refusal: Refused) -> Response:
        peer = f"{request.client.host}:{request.client.port}" if request.client else "unknown"
        self._acceptor.refused(_PROTOCOL, refusal, peer)
        headers = {}
        if refusal.retry_after_s is not None:
            headers["retry-after"] = str(refusal.retry_after_s)
        if refusal.reason is Reason.UNAUTHENTICATED:
            headers["www-authenticate"] = "Bearer"
        if request.headers.get("content-type", "").startswith(_PROTOBUF):
            body, media_type = refusal.status().SerializeToString(), _PROTOBUF
        else:
            body, media_type = refusal.status_json(), _JSON
        return Response(body, refusal.http_status, headers, media_type)


async def _read(request: Request, limit: int, entry: Entry) -> bytes:
    """The body as it was sent, compressed or not.

    Raises:
        Refused: it is over the limit already before decompression, or does not come.
    """
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_S):
            async for part in request.stream():
                size += len(part)
                if size <= limit:
                    entry.grow(len(part))
                    parts.append(part)
                elif size > limit * _DISCARD_FACTOR:
                    break
                else:
                    parts.clear()
    except TimeoutError as slow:
        raise Refused(Reason.TOO_SLOW, f"the body did not come within {_BODY_S:g} s") from slow
    if size > limit:
        raise too_large(limit)
    return b"".join(parts)
