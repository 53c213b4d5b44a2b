"""`POST /v1/verdict` and `POST /v1/route`, on the port of the OTLP receiver.

Comes in: JSON. Goes out: a verdict or a route, else a `Status` as OTLP's endpoints give it. Where others can
reach the port a token is required, whatever the configuration leaves open for spans.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import orjson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from spanproof.collector.receive import body as bodies
from spanproof.collector.receive.accept import Acceptor
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.telemetry import Telemetry, log
from spanproof.collector.verdicts.model import (
    Job,
    RouteRequest,
    Scanned,
    SnippetJob,
    TraceJob,
    VerdictRequest,
)
from spanproof.collector.verdicts.pool import ScanFull, ScanPool
from spanproof.collector.verdicts.router import Router
from spanproof.collector.wal.file import Encoding
from spanproof.evaluators.invalid import in_words
from spanproof.sandbox.scanners.model import Finding
from spanproof.store import StoreError

_JSON = "application/json"
_BODY_S = 5.0
_B = TypeVar("_B", bound=BaseModel)


class VerdictService:
    """The two endpoints.

    Args:
        pool: scans.
        router: applies the rules of `routes`.
        max_bytes: of a request, after decompression.
        tokens_required: whether the port is reachable by others and so needs a token.
    """

    def __init__(
        self, pool: ScanPool, router: Router, telemetry: Telemetry, *, max_bytes: int, tokens_required: bool
    ) -> None:
        self._pool = pool
        self._router = router
        self._telemetry = telemetry
        self._max_bytes = max_bytes
        self._tokens_required = tokens_required
        telemetry.gauge(
            "spanproof_verdict_waiting_requests",
            "Requests for a verdict that have no answer yet.",
            lambda: pool.waiting,
        )

    def routes(self, acceptor: Acceptor) -> list[Route]:
        """Return the endpoints; `acceptor` knows the tokens."""
        return [
            Route("/v1/verdict", self._endpoint(acceptor, "verdict", self._verdict), methods=["POST"]),
            Route("/v1/route", self._endpoint(acceptor, "route", self._route), methods=["POST"]),
        ]

    def _endpoint(
        self, acceptor: Acceptor, name: str, answer: Callable[[bytes], Awaitable[bytes]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            began = time.perf_counter()
            outcome = "answered"
            try:
                if self._tokens_required and not acceptor.has_tokens:
                    raise Refused(  # noqa: TRY301 - answered like any refusal
                        Reason.UNAUTHENTICATED,
                        "the port can be reached by others: set `tokens`, or listen on loopback",
                    )
                acceptor.authorise(request.headers.get("authorization"))
                return Response(await answer(await self._read(request)), media_type=_JSON)
            except Refused as refusal:
                outcome = refusal.reason.value
                return _refuse(refusal)
            except ClientDisconnect:
                outcome = Reason.MALFORMED.value
                return _refuse(Refused(Reason.MALFORMED, "the client left before its body ended"))
            except Exception:  # noqa: BLE001 - the last frame before the client
                outcome = Reason.INTERNAL.value
                log.exception("a request for a %s failed", name)
                return _refuse(Refused(Reason.INTERNAL, "internal error; the collector's log says more"))
            finally:
                self._telemetry.verdict_requests.labels(name, outcome).inc()
                self._telemetry.verdict_seconds.labels(name).observe(time.perf_counter() - began)

        return endpoint

    async def _read(self, request: Request) -> bytes:
        if bodies.form_of(request.headers.get("content-type", "")) is not Encoding.JSON:
            raise Refused(Reason.UNSUPPORTED, "send application/json")
        parts, size = [], 0
        try:
            async with asyncio.timeout(_BODY_S):
                async for part in request.stream():
                    size += len(part)
                    if size > self._max_bytes:
                        raise self._too_large()
                    parts.append(part)
        except TimeoutError as slow:
            raise Refused(Reason.TOO_SLOW, f"the body did not come within {_BODY_S:g} s") from slow
        encoding = request.headers.get("content-encoding", "")
        return bodies.unpack(b"".join(parts), encoding, self._max_bytes)

    def _too_large(self) -> Refused:
        return Refused(
            Reason.TOO_LARGE, f"the body is larger than {self._max_bytes} bytes; raise verdicts.max_bytes"
        )

    async def _verdict(self, body: bytes) -> bytes:
        began = time.perf_counter()
        try:
            scanned = await self._pool.scan(_job_of(_parse(VerdictRequest, body)))
        except ScanFull as full:
            raise Refused(Reason.FULL, str(full)) from full
        self._telemetry.verdicts.labels(scanned.verdict).inc()
        return orjson.dumps(_as_row(scanned, int((time.perf_counter() - began) * 1e6)))

    async def _route(self, body: bytes) -> bytes:
        request = _parse(RouteRequest, body)
        try:
            route = await asyncio.to_thread(self._router.route, request)
        except StoreError as unreadable:
            raise Refused(Reason.UNAVAILABLE, f"the store cannot be read: {unreadable}") from unreadable
        self._telemetry.routes.labels(route.rule or "", route.action).inc()
        return route.model_dump_json().encode()


def _parse(model: type[_B], body: bytes) -> _B:
    try:
        return model.model_validate_json(body)
    except ValidationError as invalid:
        faults = [
            f"{'.'.join(map(str, each['loc'])) or 'body'}: {in_words(each)}"
            for each in invalid.errors(include_url=False)[:5]
        ]
        raise Refused(Reason.MALFORMED, "; ".join(faults)) from invalid


def _job_of(request: VerdictRequest) -> Job:
    if request.code is not None:
        subject = {**request.subject, "language": request.language}
        return SnippetJob(request.language, request.code, tuple(subject.items()))
    document = request.trace or {"resourceSpans": [{"scopeSpans": [{"spans": [request.span]}]}]}
    decoded: ExportTraceServiceRequest = bodies.decode(Encoding.JSON, orjson.dumps(document))
    return TraceJob(decoded.SerializeToString())


def _as_row(scanned: Scanned, elapsed_us: int) -> dict[str, object]:
    return {
        "verdict": scanned.verdict,
        "findings": [_finding_row(position, finding) for position, finding in scanned.findings],
        "findings_left_out": scanned.left_out,
        "snippets": [
            {"span_id": span_id or None, "language": language, "verdict": verdict}
            for span_id, language, verdict in scanned.snippets
        ],
        "elapsed_us": elapsed_us,
    }


def _finding_row(position: int, finding: Finding) -> dict[str, object]:
    return {
        "snippet": position,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "verdict": finding.verdict.value,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "message": _clean(finding.message),
        "remedy": _clean(finding.remedy),
        "cwe": finding.cwe,
        "fingerprint": finding.fingerprint,
    }


def _clean(text: str) -> str:
    """Code may hold lone surrogates, which JSON in UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _refuse(refusal: Refused) -> Response:
    headers = {"www-authenticate": "Bearer"} if refusal.reason is Reason.UNAUTHENTICATED else {}
    if refusal.retry_after_s is not None:
        headers["retry-after"] = str(refusal.retry_after_s)
    return Response(refusal.status_json(), refusal.http_status, headers, _JSON)
