"""OTLP over HTTP, and the pages that an operator and an orchestrator read.

`POST /v1/traces`, `/v1/logs` and `/v1/metrics` take protobuf or JSON, plain, gzip, zstd or deflate; every
refusal carries a `Status` in the form the request came in. `GET /livez` says that the process answers,
`GET /readyz` whether requests are taken, `GET /metrics` what became of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import orjson
from google.protobuf import json_format
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from spanproof.collector.receive.accept import Acceptor, Sent
from spanproof.collector.receive.body import build_too_large_refusal, parse_content_type
from spanproof.collector.receive.read_body import read_body
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.signals import Signal
from spanproof.collector.receive.tenant import PROJECT_HEADER
from spanproof.collector.telemetry import Telemetry, log
from spanproof.collector.wal.file import Encoding
from spanproof.config.model import Role

_PROTOCOL = "http"
_PROTOBUF = "application/x-protobuf"
_JSON = "application/json"
_UNKNOWN = (
    "only /v1/traces, /v1/logs and /v1/metrics take exports here, /v1/scores scores; /v1/verdict and "
    "/v1/route need verdicts.enabled"
)
_CORS_AGE_S = 7200


def build_http_app(
    acceptor: Acceptor,
    telemetry: Telemetry,
    ready: Callable[[], bool],
    more: Sequence[Route] = (),
    cors_origins: Sequence[str] = (),
) -> Starlette:
    """Return the application.

    Args:
        acceptor: takes the requests.
        telemetry: its metrics are shown.
        ready: whether requests are taken.
        more: further endpoints.
        cors_origins: whose pages may send.
    """
    exports = [_Export(acceptor, signal) for signal in Signal]

    async def livez(_: Request) -> Response:
        return Response(b'{"status":"ok"}', media_type=_JSON)

    async def readyz(_: Request) -> Response:
        well = ready()
        body = orjson.dumps({"status": "ok" if well else "not ready"})
        return Response(body, 200 if well else 503, media_type=_JSON)

    async def metrics(request: Request) -> Response:
        body, content_type = telemetry.encode_metrics(request.headers.get("accept", ""))
        return Response(body, headers={"content-type": content_type})

    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(cors_origins),
        allow_methods=["POST"],
        allow_headers=["authorization", "content-type", "content-encoding", PROJECT_HEADER],
        max_age=_CORS_AGE_S,
    )
    return Starlette(
        routes=[
            *(Route(export.signal.path, export.export, methods=["POST"]) for export in exports),
            Route("/livez", livez, methods=["GET"]),
            Route("/readyz", readyz, methods=["GET"]),
            Route("/metrics", metrics, methods=["GET"]),
            *more,
        ],
        middleware=[cors] if cors_origins else [],
        exception_handlers={
            404: exports[0].build_refuser(Reason.UNKNOWN_PATH, _UNKNOWN),
            405: exports[0].build_refuser(Reason.WRONG_METHOD, "this path takes another method"),
        },
    )


class _Export:
    def __init__(self, acceptor: Acceptor, signal: Signal) -> None:
        self._acceptor = acceptor
        self.signal = signal

    async def export(self, request: Request) -> Response:
        try:
            return await self._handle_export(request)
        except Refused as refusal:
            return self._build_refusal(request, refusal)
        except ClientDisconnect:
            return self._build_refusal(
                request, Refused(Reason.MALFORMED, "the client went away before its body ended")
            )
        except Exception:  # noqa: BLE001 - the last place before the client
            log.exception("a request over http failed")
            return self._build_refusal(
                request, Refused(Reason.INTERNAL, "internal error; the collector's log says more")
            )

    def build_refuser(
        self, reason: Reason, message: str
    ) -> Callable[[Request, Exception], Awaitable[Response]]:
        """Return a handler for what the router refuses."""

        async def refuse(request: Request, _: Exception) -> Response:
            return self._build_refusal(request, Refused(reason, message))

        return refuse

    async def _handle_export(self, request: Request) -> Response:
        acceptor, headers = self._acceptor, request.headers
        project = acceptor.find_project(headers.get("authorization"), Role.SEND, headers.get(PROJECT_HEADER))
        form = parse_content_type(headers.get("content-type", ""))
        most = acceptor.limits.max_body_bytes
        with acceptor.admission.received(request.client.host if request.client else "") as entry:
            body = await read_body(
                request, acceptor.limits, most, build_too_large_refusal(most), entry.add_bytes
            )
            encoding = headers.get("content-encoding", "")
            async with acceptor.admission.admitted():
                sent = Sent(_PROTOCOL, self.signal, form, body, encoding, project)
                answer = await acceptor.handle_request(sent, entry)
        if form is Encoding.JSON:
            return Response(json_format.MessageToJson(answer, indent=None), media_type=_JSON)
        return Response(answer.SerializeToString(), media_type=_PROTOBUF)

    def _build_refusal(self, request: Request, refusal: Refused) -> Response:
        if request.client:
            peer = f"{request.client.host}:{request.client.port}"
        else:
            peer = "unknown"
        self._acceptor.record_refusal(_PROTOCOL, refusal, peer)
        headers = {}
        if refusal.retry_after_s is not None:
            headers["retry-after"] = str(refusal.retry_after_s)
        if refusal.reason is Reason.UNAUTHENTICATED:
            headers["www-authenticate"] = "Bearer"
        if request.headers.get("content-type", "").startswith(_PROTOBUF):
            body, media_type = refusal.build_status().SerializeToString(), _PROTOBUF
        else:
            body, media_type = refusal.encode_status(), _JSON
        return Response(body, refusal.http_status, headers, media_type)
