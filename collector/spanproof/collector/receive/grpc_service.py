"""OTLP over gRPC: the services of the three signals on raw bytes; any other service is UNIMPLEMENTED.

Comes in: serialised requests, which grpc has decompressed and measured. Goes out: the answer of the acceptor,
or a status with the details that clients look for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc

from spanproof.collector.receive.accept import Acceptor, Sent
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.signals import SHAPES, Signal
from spanproof.collector.receive.tenant import PROJECT_HEADER
from spanproof.collector.telemetry import log
from spanproof.collector.wal.file import Encoding
from spanproof.config.model import Role

_PROTOCOL = "grpc"
_HANDSHAKE_MS = 10_000
_METADATA_BYTES = 64 * 1024


class _Service:
    def __init__(self, acceptor: Acceptor, signal: Signal) -> None:
        self._acceptor = acceptor
        self._signal = signal

    async def export(
        self, messages: AsyncIterator[bytes], context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> bytes:
        try:
            return await self._handle_export(messages, context)
        except Refused as refusal:
            await self._send_refusal(context, refusal)
        except Exception:  # noqa: BLE001 - the last place before the client
            log.exception("a request over grpc failed")
            await self._send_refusal(
                context, Refused(Reason.INTERNAL, "internal error; the collector's log says more")
            )
        raise AssertionError("abort always raises")

    async def _handle_export(
        self, messages: AsyncIterator[bytes], context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> bytes:
        acceptor = self._acceptor
        project = acceptor.find_project(
            _find_metadata(context, "authorization"), Role.SEND, _find_metadata(context, PROJECT_HEADER)
        )
        with acceptor.admission.received(_without_port(context.peer())) as entry:
            body = await self._read_message(messages)
            entry.add_bytes(len(body))
            async with acceptor.admission.admitted():
                sent = Sent(_PROTOCOL, self._signal, Encoding.PROTOBUF, body, project=project)
                return (await acceptor.handle_request(sent, entry)).SerializeToString()

    async def _read_message(self, messages: AsyncIterator[bytes]) -> bytes:
        """Return the call's one message.

        Raises:
            Refused: it does not come, or grpc did not let it through and has answered the client.
        """
        limits = self._acceptor.limits
        try:
            async with asyncio.timeout(limits.body_timeout_s):
                async for message in messages:
                    return message
        except TimeoutError as slow:
            raise Refused(
                Reason.TOO_SLOW, f"the message did not come within {limits.body_timeout_s:g} s"
            ) from slow
        raise Refused(
            Reason.TOO_LARGE,
            f"the message is larger than {limits.max_body_bytes} bytes after decompression, or was damaged",
        )

    async def _send_refusal(self, context: grpc.aio.ServicerContext[bytes, bytes], refusal: Refused) -> None:
        self._acceptor.record_refusal(_PROTOCOL, refusal, context.peer())
        details: list[tuple[str, str | bytes]] = [
            ("grpc-status-details-bin", refusal.build_status().SerializeToString())
        ]
        if refusal.retry_after_s is not None:
            # The Python exporter looks for the wait under this key and nowhere else.
            details.append(("google.rpc.retryinfo-bin", refusal.build_retry_info().SerializeToString()))
        try:
            await context.abort(refusal.grpc_code, refusal.message, tuple(details))
        except grpc.aio.InternalError:
            # The call is over: grpc has answered it, or the client is gone. grpc would log an error of ours
            # with its stack, each time.
            raise asyncio.CancelledError from None


def build_grpc_server(acceptor: Acceptor) -> grpc.aio.Server:
    """Return a server with the services; it listens nowhere yet."""
    # On the wire a call with one message is a stream of one. As a stream the call comes to us before its
    # message: who may not send is refused before memory is spent on what they send, and a message that grpc
    # refuses is counted. Without a deserialiser a malformed one comes to us too, and the answer is ours.
    services = {
        SHAPES[signal].service: grpc.stream_unary_rpc_method_handler(_Service(acceptor, signal).export)
        for signal in Signal
    }
    return grpc.aio.server(
        handlers=[
            grpc.method_handlers_generic_handler(name, {"Export": handler})
            for name, handler in services.items()
        ],
        options=[
            ("grpc.max_receive_message_length", acceptor.limits.max_body_bytes),
            ("grpc.max_metadata_size", _METADATA_BYTES),
            ("grpc.server_handshake_timeout_ms", _HANDSHAKE_MS),
            # One connection must not have more messages in the making than one address may.
            ("grpc.max_concurrent_streams", acceptor.limits.max_connections_per_peer),
            # Without this a second collector would share the port, and each get half of the spans.
            ("grpc.so_reuseport", 0),
        ],
    )


def _without_port(peer: str) -> str:
    """Return the address of `ipv4:10.0.0.7:51234`, without its port."""
    return peer.rpartition(":")[0] or peer


def _find_metadata(context: grpc.aio.ServicerContext[bytes, bytes], name: str) -> str | None:
    for key, value in context.invocation_metadata() or ():
        if key == name:
            if isinstance(value, str):
                return value
            return value.decode("latin-1")
    return None
