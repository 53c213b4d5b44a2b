"""A proxy on loopback that gives an agent under test the HTTP answers of its case.

In: the recorded calls of a case's fixtures. Out: variables of the environment by which HTTP clients find the
proxy and trust it. Calls to recorded hosts are answered as a replay answers them, each once and no others;
calls to other hosts, such as the agent's model, go through.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from spanproof.sandbox import Exchange
from spanproof.sandbox.supervisor.tape import trust
from spanproof.sandbox.supervisor.tape.http1 import HEAD_BYTES
from spanproof.sandbox.supervisor.tape.recording import Recording
from spanproof.sandbox.supervisor.tape.server import Server, build_tls_context
from spanproof.sandbox.supervisor.tape.urls import Url
from spanproof.suites.requests import HttpRequest

_CONNECT = b"CONNECT "
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_UNREACHABLE = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_HEAD_S = 30.0
_PART_S = 0.005  # Between two looks at a head of which a part has come
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_READ_BYTES = 65536
# Of a request's body, as much as is compared.
_BODY_BYTES = 64 * 1024


class _NotedRecording(Recording):
    """A recording that notes each call, whether it has an answer or not."""

    def __init__(self, exchanges: Sequence[Exchange], requests: list[HttpRequest]) -> None:
        super().__init__(exchanges)
        self._requests = requests

    def find_exchange(self, method: str, url: Url, body: bytes) -> Exchange | None:
        """Return the first unused exchange of this request, and use it up; None where there is none."""
        found = super().find_exchange(method, url, body)
        text = body[:_BODY_BYTES].decode("utf-8", "replace")
        self._requests.append(HttpRequest(method, str(url), text, found is not None))
        return found


def _handle_attempt(target: str, *, allowed: bool) -> None:
    """Record nothing: the recording has."""


class FixtureProxy:
    """Answers recorded calls while the context is open.

    Attributes:
        environment: what the agent's process must have among its variables.
        authorities: the file of certificates that these variables name; None where nothing is encrypted.
        requests: calls to recorded hosts, in order.
    """

    def __init__(self, exchanges: Sequence[Exchange], folder: Path) -> None:
        """Listen on a free port of 127.0.0.1; certificates are written into the folder.

        Raises:
            UnsupportedFixtures: no certificate can be made for a recorded host.
        """
        self.requests: list[HttpRequest] = []
        recording = _NotedRecording(exchanges, self.requests)
        self._hosts = frozenset(url.host for url in recording.urls)
        encrypted = frozenset(url.host for url in recording.urls if url.scheme == "https")
        self.authorities = folder / "authorities.pem" if encrypted else None
        if self.authorities:
            context = _build_tls_context(encrypted, self.authorities)
        else:
            context = None
        self._server = Server(recording, context, {}, _handle_attempt)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._wake, self._woken = socket.socketpair()
        self._arrived: deque[tuple[socket.socket, str]] = deque()
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._run_server, self._run_calls)
        ]
        self.environment = self._build_environment()

    @property
    def refused(self) -> list[str]:
        """Calls to recorded hosts that have no answer, as `GET URL`."""
        return [str(request) for request in self.requests if not request.is_recorded]

    def __enter__(self) -> Self:
        """Begin to answer."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop; open connections are reset."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # which ends `accept`
        self._listener.close()
        self._wake.close()
        for thread in self._threads:
            thread.join()

    def _build_environment(self) -> dict[str, str]:
        proxy = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        direct = ",".join(host for host in _LOOPBACK if host not in self._hosts)
        named = {"http_proxy": proxy, "https_proxy": proxy, "no_proxy": direct}
        named |= {name.upper(): value for name, value in named.items()}
        return named | (dict.fromkeys(trust.VARIABLES, str(self.authorities)) if self.authorities else {})

    def _run_server(self) -> None:
        while True:
            try:
                stream, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._handle_stream, args=(stream,), daemon=True).start()

    def _handle_stream(self, stream: socket.socket) -> None:
        """Read where a connection is to lead, and lead it there."""
        try:
            stream.settimeout(_HEAD_S)
            host, port, is_tunnel = _read_destination(stream)
        except (OSError, ValueError):
            stream.close()
            return
        if host in self._hosts:
            with suppress(OSError):
                if is_tunnel:
                    stream.sendall(_ESTABLISHED)
                self._arrived.append((stream, f"{host}:{port}"))
                self._wake.send(b"+")
            return
        with closing(stream):
            _run_tunnel(stream, host, port, is_tunnel=is_tunnel)

    def _run_calls(self) -> None:
        """Serve the recorded calls until the context ends."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        poll.register(self._server, select.POLLIN)
        with closing(self._woken), closing(self._server):
            while True:
                for descriptor, _ in poll.poll():
                    if descriptor == self._woken.fileno() and not self._woken.recv(1024):
                        return
                while self._arrived:
                    self._server.handle_connection(*self._arrived.popleft())
                self._server.handle_waiting()


def _build_tls_context(hosts: frozenset[str], file: Path) -> ssl.SSLContext:
    """Return the TLS context of a server that is these hosts; write its authority beside the trusted ones."""
    identity = trust.build_identity(hosts)
    named = [os.environ.get(name, "") for name in trust.VARIABLES]
    authorities = next(
        (Path(bundle) for bundle in (*named, *trust.BUNDLES) if bundle and Path(bundle).is_file()), None
    )
    if authorities:
        trusted = authorities.read_text(encoding="utf-8", errors="replace")
    else:
        trusted = ""
    file.write_text(f"{trusted}\n{identity['authority']}", encoding="utf-8")
    return build_tls_context(identity["server"].encode("ascii"))


def _read_destination(stream: socket.socket) -> tuple[str, int, bool]:
    """Return host, port, and whether a tunnel is requested; what is no tunnel stays to be read.

    Raises:
        OSError: nothing came in time.
        ValueError: it is no request to a proxy.
    """
    until = time.monotonic() + _HEAD_S
    while True:
        head = stream.recv(HEAD_BYTES, socket.MSG_PEEK)
        is_tunnel = head.startswith(_CONNECT)
        end = head.find(b"\r\n\r\n" if is_tunnel else b"\r\n")
        if end >= 0:
            break
        if not head or len(head) == HEAD_BYTES or time.monotonic() > until:
            raise ValueError("no head of a request")
        time.sleep(_PART_S)
    _, target, _ = head.partition(b"\r\n")[0].decode("ascii").split(" ")
    url = urlsplit(f"//{target}" if is_tunnel else target)
    if url.hostname is None:
        raise ValueError("no host")
    if is_tunnel:
        stream.recv(end + 4)
    return url.hostname, url.port or (443 if is_tunnel else 80), is_tunnel


def _run_tunnel(stream: socket.socket, host: str, port: int, *, is_tunnel: bool) -> None:
    """Connect a client with the host it names, until either has ended."""
    with suppress(OSError):
        try:
            upstream = socket.create_connection((host, port), _HEAD_S)
        except OSError:
            stream.sendall(_UNREACHABLE)
            return
        with closing(upstream):
            if is_tunnel:
                stream.sendall(_ESTABLISHED)
            for side in (stream, upstream):
                side.settimeout(None)
            to_client = threading.Thread(target=_send_stream, args=(upstream, stream), daemon=True)
            to_client.start()
            _send_stream(stream, upstream)
            to_client.join()


def _send_stream(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_READ_BYTES):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
