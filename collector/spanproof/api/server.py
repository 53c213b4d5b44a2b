"""The console's web server, in a thread of its own."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable
from ipaddress import ip_address
from types import TracebackType
from typing import Self

import uvicorn

from spanproof.api.app import ConsoleSettings, make_app
from spanproof.store import Store

_GRACE_S = 3


class ConsoleServer:
    """Serves a store's API and console while the context is open."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        host: str,
        port: int,
        tokens: tuple[str, ...] = (),
        *,
        fall_back: bool = True,
    ) -> None:
        """Bind the port.

        Args:
            open_store: returns the store that is read; called for each request.
            host: address to listen on.
            port: 0 takes any free one.
            tokens: one of which each request of the API must carry; none means no check.
            fall_back: whether a free port is taken where this one is taken.

        Raises:
            OSError: the address cannot be bound.
        """
        self._bound = _bind(host, port, fall_back=fall_back)
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self._bound.getsockname()[1]}"
        hosts = frozenset(("localhost", "127.0.0.1", "[::1]")) if _is_loopback(host) else frozenset[str]()
        config = uvicorn.Config(
            make_app(open_store, ConsoleSettings(tokens, hosts)),
            http="httptools",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="spanproof-console", daemon=True)

    def start(self) -> None:
        """Serve; returns at once: the port takes connections already."""
        self._thread.start()

    def stop(self) -> None:
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
        self.stop()

    def _serve(self) -> None:
        self._server.run(sockets=[self._bound])


def _bind(host: str, port: int, *, fall_back: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(128)
    except OSError as refused:
        bound.close()
        if refused.errno == errno.EADDRINUSE and fall_back and port:
            return _bind(host, 0, fall_back=False)
        raise OSError(refused.errno, f"cannot listen on {host} port {port}: {refused.strerror}") from refused
    return bound


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
