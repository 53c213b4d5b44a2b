"""OTLP over gRPC: the trace service on raw bytes; any other service is UNIMPLEMENTED.

Comes in: serialised requests, which grpc has decompressed and measured. Goes out: the answer of the acceptor,
or a status with the details that clients look for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc

from spanproof.collector.receive.accept import Acceptor
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.telemetry import log
from spanproof.collector.wal.file import Encoding

_SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"
_PROTOCOL = "grpc"


class _TraceService:
    def __init__(self, acceptor: Acceptor) -> None:
        self._acceptor = acceptor

    async def export(
        self, messages: AsyncIterator[bytes], context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> bytes:
        try:
            self._acceptor.authorise(_authorization(context))
            async with self._acceptor.admission.admitted() as entry:
                body = await _only(messages, self._acceptor.max_body_bytes)
                entry.grow(len(body))
                response = await self._acceptor.accept(_PROTOCOL, Encoding.PROTOBUF, body, entry)
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
    # On the wire a call with one message is a stream of one. As a stream the call comes to us before its
    # message: who may not send is refused before memory is spent on what they send, and a message that grpc
    # refuses is counted. Without a deserialiser a malformed one comes to us too, and the answer is ours.
    export = grpc.stream_unary_rpc_method_handler(_TraceService(acceptor).export)
    return grpc.aio.server(
        handlers=[grpc.method_handlers_generic_handler(_SERVICE, {"Export": export})],
        options=[
            ("grpc.max_receive_message_length", acceptor.max_body_bytes),
            # Without this a second collector would share the port, and each get half of the spans.
            ("grpc.so_reuseport", 0),
        ],
    )


async def _only(messages: AsyncIterator[bytes], limit: int) -> bytes:
    """The call's one message.

    Raises:
        Refused: grpc did not let it through, and has told the client why.
    """
    async for message in messages:
        return message
    raise Refused(
        Reason.TOO_LARGE, f"the message is larger than {limit} bytes after decompression, or was damaged"
    )


def _authorization(context: grpc.aio.ServicerContext[bytes, bytes]) -> str | None:
    for key, value in context.invocation_metadata() or ():
        if key == "authorization":
            return value if isinstance(value, str) else value.decode("latin-1")
    return None
