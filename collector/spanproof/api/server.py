"""The console's web server, in a thread of its own."""

from __future__ import annotations

import errno
import gc
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

import uvicorn

from spanproof.api.settings import READ_BY_ALL, ConsoleSettings
from spanproof.collector.receive.sockets import bind, format_host
from spanproof.collector.receive.tls import load_ssl_context
from spanproof.config.hosts import is_loopback
from spanproof.config.model import Tls
from spanproof.store import Store

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_GRACE_S = 3

# Objects made before the youngest are collected. An evaluation of 24,000 spans is a million of them, none
# in a cycle: with Python's 700 it takes 2.3 s of processor time to read instead of 1.4 s.
_YOUNG_OBJECTS = 20_000


class ConsoleServer:
    """Serves a store's API and console while the context is open."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        host: str,
        port: int,
        settings: ConsoleSettings = READ_BY_ALL,
        *,
        fall_back: bool = True,
        bound: socket.socket | None = None,
        tls: Tls | None = None,
        on_load: Callable[[], object] = lambda: None,
    ) -> None:
        """Bind the port.

        Args:
            open_store: returns the store that is read; called for each request.
            host: address to listen on.
            port: 0 takes any free one.
            settings: who may read and write, and what is shown; on loopback it answers to no other name.
            fall_back: whether a free port is taken where this one is taken.
            bound: a socket of `open_console_socket`; host and port are then not used.
            tls: of the listener; None: none.
            on_load: called once the application is loaded.

        Raises:
            OSError: the address cannot be bound.
            TlsError: a certificate cannot be used.
        """
        context = load_ssl_context(tls) if tls is not None else None
        if bound is not None:
            self._bound = bound
        else:
            self._bound = open_console_socket(host, port, fall_back=fall_back)
        self.url = f"{'https' if context else 'http'}://{format_host(host)}:{self._bound.getsockname()[1]}"
        if is_loopback(host):
            hosts = frozenset(("localhost", "127.0.0.1", "[::1]"))
        else:
            hosts = frozenset[str]()
        config = uvicorn.Config(
            _LazyApp(open_store, replace(settings, hosts=hosts), on_load),
            http="httptools",
            ssl_context_factory=None if context is None else lambda *_: context,
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="spanproof-console", daemon=True)

    def start(self) -> None:
        """Serve; returns at once: the port takes connections already."""
        self._thread.start()

    def close(self) -> None:
        """Stop serving. Safe to call twice."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(_GRACE_S + 2)
        self._bound.close()

    def wait(self) -> None:
        """Return when it was stopped."""
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self) -> None:
        self._server.run(sockets=[self._bound])


class _LazyApp:
    """The application, loaded at the first request.

    Its routes load most of the evaluators and of the experiments: a second of CPU, which a collector without
    a visitor to its console does not spend.
    """

    def __init__(
        self, open_store: Callable[[], Store], settings: ConsoleSettings, on_load: Callable[[], object]
    ) -> None:
        self._open_store = open_store
        self._settings = settings
        self._on_load = on_load
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            from spanproof.api.app import build_app

            self._app = build_app(self._open_store, self._settings)
            self._on_load()
        await self._app(scope, receive, send)


def update_garbage_thresholds() -> None:
    """Exempt what is loaded from garbage collections, which would hold up every request for 0.1 s."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)


def open_console_socket(host: str, port: int, *, fall_back: bool) -> socket.socket:
    """Return a listening socket for the console, of a free port where this one is taken and that is allowed.

    Raises:
        OSError: the address cannot be bound.
    """
    bound = bind(host, port)
    if bound is None and fall_back:
        bound = bind(host, 0)
    if bound is None:
        reason = f"cannot listen on {host} port {port}: {os.strerror(errno.EADDRINUSE)}"
        raise OSError(errno.EADDRINUSE, reason)
    return bound
