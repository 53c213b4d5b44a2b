"""OTLP over gRPC: the trace service on raw bytes; any other service is UNIMPLEMENTED.

Comes in: serialised requests, which grpc has decompressed and measured. Goes out: the answer of the acceptor,
or a status with the details that clients look for.
"""

from __future__ import annotations

import grpc

from spanproof.collector.receive.accept import Acceptor
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.telemetry import log
from spanproof.collector.wal_file import Encoding

_SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"
_PROTOCOL = "grpc"


class _TraceService:
    def __init__(self, acceptor: Acceptor) -> None:
        self._acceptor = acceptor

    async def export(self, body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        try:
            self._acceptor.authorise(_authorization(context))
            async with self._acceptor.admission.admitted():
                response = await self._acceptor.accept(_PROTOCOL, Encoding.PROTOBUF, body)
            return response.SerializeToString()
        except Refused as refusal:
            await self._refuse(context, refusal)
        except Exception:  # noqa: BLE001 - the last place before the client
            log.exception("a request over grpc failed")
            await self._refuse(
                context, Refused(Reason.INTERNAL, "internal error; the collector's log says more")
            )
        raise AssertionError("abort always raises")

    async def _refuse(self, context: grpc.aio.ServicerContext[bytes, bytes], refusal: Refused) -> None:
        self._acceptor.refused(_PROTOCOL, refusal, context.peer())
        details: list[tuple[str, str | bytes]] = [
            ("grpc-status-details-bin", refusal.status().SerializeToString())
        ]
        if refusal.retry_after_s is not None:
            # The Python exporter looks for the wait under this key and nowhere else.
            details.append(("google.rpc.retryinfo-bin", refusal.retry_info().SerializeToString()))
        await context.abort(refusal.grpc_code, refusal.message, tuple(details))


def grpc_server(acceptor: Acceptor) -> grpc.aio.Server:
    """A server with the trace service; it listens nowhere yet."""
    # Without a deserialiser a malformed body comes to us, and the answer is ours.
    export = grpc.unary_unary_rpc_method_handler(_TraceService(acceptor).export)
    return grpc.aio.server(
        handlers=[grpc.method_handlers_generic_handler(_SERVICE, {"Export": export})],
        options=[
            ("grpc.max_receive_message_length", acceptor.max_body_bytes),
            # Without this a second collector would share the port, and each get half of the spans.
            ("grpc.so_reuseport", 0),
        ],
    )


def _authorization(context: grpc.aio.ServicerContext[bytes, bytes]) -> str | None:
    for key, value in context.invocation_metadata() or ():
        if key == "authorization":
            return value if isinstance(value, str) else value.decode("latin-1")
    return None
