"""`POST /v1/verdict` and `POST /v1/route`: what they take, and what they answer."""

from __future__ import annotations

import asyncio
import time

import orjson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.routing import Route

from spanproof.collector.receive import body as bodies
from spanproof.collector.receive.json_endpoints import JsonEndpoints, parse_document
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.telemetry import Telemetry
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
from spanproof.sandbox.scanners.model import Finding
from spanproof.store import StoreError


class VerdictService:
    """The two endpoints.

    Args:
        pool: scans.
        router: applies the rules of `routes`.
        max_bytes: of a request, after decompression.
    """

    def __init__(self, pool: ScanPool, router: Router, telemetry: Telemetry, *, max_bytes: int) -> None:
        self._pool = pool
        self._router = router
        self._telemetry = telemetry
        self._max_bytes = max_bytes
        telemetry.add_gauge(
            "spanproof_verdict_waiting_requests",
            "Requests for a verdict that wait for their answer.",
            lambda: pool.waiting,
        )

    def list_routes(self, endpoints: JsonEndpoints) -> list[Route]:
        """Return the endpoints."""
        return [
            endpoints.build_post_route("/v1/verdict", self._handle_verdict, self._max_bytes),
            endpoints.build_post_route("/v1/route", self._handle_route, self._max_bytes),
        ]

    async def _handle_verdict(self, body: bytes, _: str | None) -> bytes:
        began = time.perf_counter()
        try:
            scanned = await self._pool.scan(_build_job(parse_document(VerdictRequest, body)))
        except ScanFull as full:
            raise Refused(Reason.FULL, str(full)) from full
        self._telemetry.verdicts_given.labels(scanned.verdict).inc()
        return orjson.dumps(_as_row(scanned, int((time.perf_counter() - began) * 1e6)))

    async def _handle_route(self, body: bytes, project: str | None) -> bytes:
        request = parse_document(RouteRequest, body)
        if project is not None:
            request = request.model_copy(update={"project": project})
        try:
            route = await asyncio.to_thread(self._router.find_route, request)
        except StoreError as unreadable:
            raise Refused(Reason.UNAVAILABLE, f"the store cannot be read: {unreadable}") from unreadable
        self._telemetry.routes.labels(route.rule or "", route.action).inc()
        return route.model_dump_json().encode()


def _build_job(request: VerdictRequest) -> Job:
    if request.code is not None:
        subject = {**request.subject, "language": request.language}
        return SnippetJob(request.language, request.code, tuple(subject.items()))
    document = request.trace or {"resourceSpans": [{"scopeSpans": [{"spans": [request.span]}]}]}
    decoded: ExportTraceServiceRequest = bodies.decode_request(Encoding.JSON, orjson.dumps(document))
    return TraceJob(decoded.SerializeToString())


def _as_row(scanned: Scanned, elapsed_us: int) -> dict[str, object]:
    return {
        "verdict": scanned.verdict,
        "findings": [_build_finding_row(position, finding) for position, finding in scanned.findings],
        "findings_left_out": scanned.left_out,
        "snippets": [
            {"span_id": span_id or None, "language": language, "verdict": verdict}
            for span_id, language, verdict in scanned.snippets
        ],
        "elapsed_us": elapsed_us,
    }


def _build_finding_row(position: int, finding: Finding) -> dict[str, object]:
    return {
        "snippet": position,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "verdict": finding.verdict.value,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "message": _normalise_surrogates(finding.message),
        "remedy": _normalise_surrogates(finding.remedy),
        "cwe": finding.cwe,
        "fingerprint": finding.fingerprint,
    }


def _normalise_surrogates(text: str) -> str:
    """Return text without the lone surrogates that code may hold and JSON in UTF-8 cannot."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()
