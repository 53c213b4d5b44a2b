"""Runs both receivers in one event loop, in a thread of their own.

Comes in: where to listen and an acceptor. Goes out: the ports that were bound. Both sockets are bound before
anything is served, so a port that is taken is known at start; with `fallback_port` a free one is taken then.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import grpc
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.routing import Route

from spanproof.collector.receive.accept import Acceptor
from spanproof.collector.receive.connection import build_bounded_protocol
from spanproof.collector.receive.grpc_service import build_grpc_server
from spanproof.collector.receive.http_app import build_http_app
from spanproof.collector.receive.sockets import bind, format_host
from spanproof.collector.receive.tls import load_grpc_credentials, load_ssl_context
from spanproof.collector.telemetry import OneLineASecond, Telemetry
from spanproof.config.model import GrpcReceiver, HttpReceiver, Receivers

log = logging.getLogger(__name__)

# How long requests that are being received may take to end when the collector stops.
_GRACE_S = 5.0

_SPARING = OneLineASecond()


class PortTaken(OSError):  # noqa: N818 - says what happened
    """A port is taken, and `fallback_port` is off; the message names the key to change."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the collector listens: `host:port` for gRPC, a base URL for HTTP; None where disabled.

    Attributes:
        moved: for each port that was taken, a sentence that says which one is used instead.
    """

    grpc: str | None
    http: str | None
    moved: tuple[str, ...] = ()


class Receiver:
    """Both receivers together; `more` are further endpoints of the one for HTTP."""

    def __init__(
        self, where: Receivers, acceptor: Acceptor, telemetry: Telemetry, more: Sequence[Route] = ()
    ) -> None:
        self._where = where
        self._more = more
        self._acceptor = acceptor
        self._telemetry = telemetry
        self._ready = threading.Event()
        self._endpoints: Endpoints | None = None
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="spanproof-receive", daemon=True)

    def start(self) -> Endpoints:
        """Bind, serve, and say where.

        Raises:
            PortTaken: a port is taken and no other may be used.
            OSError: an address cannot be bound.
            TlsError: a certificate cannot be used.
        """
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        assert self._endpoints is not None
        return self._endpoints

    def stop(self) -> None:
        """Refuse new requests and let those inside finish. Safe to call twice."""
        if self._loop is not None and self._stopping is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            uvloop.run(self._run_servers())
        except BaseException as failure:
            if self._ready.is_set():
                log.exception("the receivers ended")
            self._failure = failure
        finally:
            self._ready.set()

    async def _run_servers(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        moved: list[str] = []
        web = self._start_http_server(moved)
        try:
            rpc = self._start_grpc_server(moved)
        except BaseException:
            if web is not None:
                web.close()
            raise
        if web is not None:
            await web.start()
        if rpc is not None:
            await rpc.server.start()
        self._endpoints = Endpoints(rpc.address if rpc else None, web.address if web else None, tuple(moved))
        self._ready.set()
        await self._stopping.wait()
        self._acceptor.admission.close()
        if rpc is not None:
            await rpc.server.stop(_GRACE_S)
        if web is not None:
            await web.stop()

    def _start_http_server(self, moved: list[str]) -> _Web | None:
        where = self._where.http
        if not where.enabled:
            return None
        context = load_ssl_context(where.tls)
        bound = bind(where.host, where.port)
        if bound is None:
            bound = bind(where.host, self._get_fallback_port("http", where))
            assert bound is not None
            moved.append(_describe_move("http", where, bound.getsockname()[1]))
        app = build_http_app(
            self._acceptor, self._telemetry, self._takes_requests, self._more, where.cors_origins
        )
        # It warns of each connection that does not speak HTTP.
        logging.getLogger("uvicorn.error").addFilter(_SPARING)
        scheme = "http" if context is None else "https"
        address = f"{scheme}://{format_host(where.host)}:{bound.getsockname()[1]}"
        return _Web(app, bound, address, build_bounded_protocol(self._acceptor.limits), context)

    def _start_grpc_server(self, moved: list[str]) -> _Rpc | None:
        where = self._where.grpc
        if not where.enabled:
            return None
        credentials = load_grpc_credentials(where.tls)
        server = build_grpc_server(self._acceptor)
        port = _listen(server, where.host, where.port, credentials)
        if port is None:
            port = _listen(server, where.host, self._get_fallback_port("grpc", where), credentials)
            assert port is not None
            moved.append(_describe_move("grpc", where, port))
        return _Rpc(server, f"{format_host(where.host)}:{port}")

    def _get_fallback_port(self, name: str, where: GrpcReceiver | HttpReceiver) -> int:
        if self._where.fallback_port:
            return 0
        raise PortTaken(
            f"port {where.port} of {where.host} is taken; "
            f"set receivers.{name}.port or receivers.fallback_port"
        )

    def _takes_requests(self) -> bool:
        return self._stopping is not None and not self._stopping.is_set() and self._acceptor.ready


@dataclass(frozen=True, slots=True)
class _Rpc:
    server: grpc.aio.Server
    address: str


class _Web:
    """uvicorn on a socket that is bound already."""

    def __init__(
        self,
        app: Starlette,
        bound: socket.socket,
        address: str,
        protocol: type[asyncio.Protocol],
        context: ssl.SSLContext | None,
    ) -> None:
        self.address = address
        self._bound = bound
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                loop="none",
                http=protocol,
                ssl_context_factory=None if context is None else lambda *_: context,
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=int(_GRACE_S),
            )
        )
        self._serving: asyncio.Task[None] | None = None

    def close(self) -> None:
        self._bound.close()

    async def start(self) -> None:
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._bound]))
        while not self._server.started and not self._serving.done():  # noqa: ASYNC110 - uvicorn has no event
            await asyncio.sleep(0.005)
        if self._serving.done():
            await self._serving

    async def stop(self) -> None:
        self._server.should_exit = True
        if self._serving is not None:
            await self._serving


def _describe_move(name: str, where: GrpcReceiver | HttpReceiver, port: int) -> str:
    return f"{name}: port {where.port} is taken, listening on {port} instead"


def _listen(
    server: grpc.aio.Server, host: str, port: int, credentials: grpc.ServerCredentials | None
) -> int | None:
    """Make the server listen and return the port; None where it is taken."""
    if port:
        # grpc reports only that binding failed, not why: a socket of our own has the reason.
        probe = bind(host, port)
        if probe is None:
            return None
        probe.close()
    try:
        address = f"{format_host(host)}:{port}"
        if credentials is not None:
            return server.add_secure_port(address, credentials)
        return server.add_insecure_port(address)
    except RuntimeError as refused:
        raise OSError(f"cannot listen on {host} port {port}: {refused}") from refused
