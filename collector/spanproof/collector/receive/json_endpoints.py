"""Endpoints that take a JSON document on the port of the OTLP receiver, and what they all check.

A body is bounded, also after decompression, and must say that it is JSON, which a page of another site cannot
send without being allowed to. Where others can reach the port a token is required, whatever the configuration
leaves open for spans; where they cannot and none is configured, a request must name this machine as its host.
Errors are a `Status`, as OTLP's endpoints give it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from spanproof.collector.receive import body as bodies
from spanproof.collector.receive.accept import Acceptor
from spanproof.collector.receive.admission import Entry
from spanproof.collector.receive.read_body import read_body
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.tenant import PROJECT_HEADER
from spanproof.collector.telemetry import Telemetry, log
from spanproof.collector.wal.file import Encoding
from spanproof.config.model import Role
from spanproof.evaluators.invalid import describe_error

_JSON = "application/json"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_FAULTS = 5
_B = TypeVar("_B", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class JsonEndpoints:
    """Makes endpoints.

    Attributes:
        acceptor: knows the tokens.
        on_loopback: whether only this machine reaches the port.
    """

    acceptor: Acceptor
    telemetry: Telemetry
    on_loopback: bool

    def build_post_route(
        self,
        path: str,
        answer: Callable[[bytes, str | None], Awaitable[bytes]],
        max_bytes: int,
        role: Role = Role.SEND,
    ) -> Route:
        """Return the endpoint that answers a document with a document.

        Args:
            path: of the endpoint; its last part is the `kind` of the metrics.
            answer: given the body, and the project of the token or of the header; may raise `Refused`.
            max_bytes: of the body, after decompression.
            role: that a token must have.
        """
        kind = path.rpartition("/")[2]

        async def endpoint(request: Request) -> Response:
            began = time.perf_counter()
            outcome = "answered"
            try:
                project = self._find_project(request, role)
                peer = request.client.host if request.client else ""
                with self.acceptor.admission.received(peer) as entry:
                    body = await self._read(request, max_bytes, entry)
                    return Response(await answer(body, project), media_type=_JSON)
            except Refused as refusal:
                outcome = refusal.reason.value
                return _build_refusal(refusal)
            except ClientDisconnect:
                outcome = Reason.MALFORMED.value
                return _build_refusal(Refused(Reason.MALFORMED, "the client left before its body ended"))
            except Exception:  # noqa: BLE001 - the last frame before the client
                outcome = Reason.INTERNAL.value
                log.exception("a request to %s failed", path)
                return _build_refusal(
                    Refused(Reason.INTERNAL, "internal error; the collector's log says more")
                )
            finally:
                self.telemetry.json_requests.labels(kind, outcome).inc()
                self.telemetry.json_seconds.labels(kind).observe(time.perf_counter() - began)

        return Route(path, endpoint, methods=["POST"])

    def _find_project(self, request: Request, role: Role) -> str | None:
        """Return the project that the request is limited to."""
        if not self.on_loopback and not self.acceptor.has_tokens:
            raise Refused(
                Reason.UNAUTHENTICATED,
                "the port can be reached by others: set `tokens`, or listen on loopback",
            )
        headers = request.headers
        project = self.acceptor.find_project(headers.get("authorization"), role, headers.get(PROJECT_HEADER))
        host = request.headers.get("host", "")
        if host.endswith("]"):
            name = host
        else:
            name = host.rpartition(":")[0] or host
        if not self.acceptor.has_tokens and name not in _LOOPBACK:
            # A site may point its own name at 127.0.0.1 and have a browser send whatever it likes.
            raise Refused(
                Reason.UNAUTHENTICATED, f"without `tokens` the host is {', '.join(sorted(_LOOPBACK))}"
            )
        return project

    async def _read(self, request: Request, most: int, entry: Entry) -> bytes:
        if bodies.parse_content_type(request.headers.get("content-type", "")) is not Encoding.JSON:
            raise Refused(Reason.UNSUPPORTED, "send application/json")
        too_large = Refused(Reason.TOO_LARGE, f"the body is larger than {most} bytes after decompression")
        body = await read_body(request, self.acceptor.limits, most, too_large, entry.add_bytes)
        try:
            return bodies.decode_body(
                body, request.headers.get("content-encoding", ""), most, entry.add_bytes
            )
        except Refused as refused:
            raise too_large if refused.reason is Reason.TOO_LARGE else refused from None


def parse_document(model: type[_B], body: bytes) -> _B:
    """Return the document of a body.

    Raises:
        Refused: it is not one; the message names the places.
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as invalid:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'body'}: {describe_error(fault)}"
            for fault in invalid.errors(include_url=False)[:_FAULTS]
        ]
        raise Refused(Reason.MALFORMED, "; ".join(faults)) from invalid


def _build_refusal(refusal: Refused) -> Response:
    if refusal.reason is Reason.UNAUTHENTICATED:
        headers = {"www-authenticate": "Bearer"}
    else:
        headers = {}
    if refusal.retry_after_s is not None:
        headers["retry-after"] = str(refusal.retry_after_s)
    return Response(refusal.encode_status(), refusal.http_status, headers, _JSON)
