"""The server behind every recorded address: in the supervisor's own process, out of the program's reach.

In: connections of the program: those that arrive at listeners, where every address of a network namespace
leads here, and those that the supervisor has made in the program's place. Out: recorded answers; what is not
recorded is reported and reset, which every client reports as a connection that failed. Nothing waits: each
turn does what can be done at once, so that a client that is slow, or many, holds up itself alone.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import select
import socket
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from spanproof.sandbox.supervisor.tape.http1 import BadRequest, Request, RequestReader, encode_answer
from spanproof.sandbox.supervisor.tape.recording import Recording
from spanproof.sandbox.supervisor.tape.urls import Url, read_url

if TYPE_CHECKING:
    import ssl  # at run time by the first supervisor that serves a tape: the master is not to carry it

CONNECTIONS = 64
"""At once; the oldest gives way to a new one."""
HELD_BYTES = 64 * 1024 * 1024
"""Of all requests that are still on their way."""
_ALWAYS_HELD_BYTES = 128 * 1024
_ACCEPTS_AT_ONCE = 16
_READS_AT_ONCE = 8
_READ_BYTES = 65536
_TLS_HANDSHAKE = b"\x16"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Note(Protocol):
    """Keeps an attempt."""

    def __call__(self, target: str, *, allowed: bool) -> None:
        """Record an attempt of the kind `network`."""


class _Over(Exception):  # noqa: N818 - a state of the connection
    """The connection has nothing more to say."""


class _Refused(Exception):  # noqa: N818 - a state of the connection
    """The request is not recorded: the connection is reset."""


class Server:
    """All listeners and connections of one run."""

    def __init__(
        self, recording: Recording, context: ssl.SSLContext | None, names: Mapping[str, str], note: Note
    ) -> None:
        """Serve a recording.

        Args:
            recording: what is there.
            context: with the certificate for the names; None where nothing is encrypted.
            names: of hosts by their address, for what arrives at a listener.
            note: takes each call, served or not.
        """
        self.recording = recording
        self.context = context
        self.note = note
        self._names = names
        self._run_polling = select.epoll()
        self._listeners: dict[int, socket.socket] = {}
        self._connections: dict[int, _Connection] = {}

    def add_listener(self, listener: socket.socket) -> None:
        """Take the connections that arrive there."""
        listener.settimeout(0)
        self._listeners[listener.fileno()] = listener
        self._run_polling.register(listener, select.EPOLLIN)

    def handle_connection(self, stream: socket.socket, destination: str) -> None:
        """Serve one end of a connection; the other is the program's.

        Args:
            stream: ours, from now on.
            destination: where the program believes it leads, for people.
        """
        if len(self._connections) >= CONNECTIONS:
            self._close_connection(next(iter(self._connections)), reset=True)
        stream.settimeout(0)
        self._connections[stream.fileno()] = _Connection(stream, destination, self)
        self._run_polling.register(stream.fileno(), select.EPOLLIN)

    def fileno(self) -> int:
        """Return the descriptor to poll."""
        return self._run_polling.fileno()

    def count_held_bytes(self) -> int:
        """Return the bytes of requests that are on their way."""
        return sum(connection.held for connection in self._connections.values())

    def _get_destination(self, stream: socket.socket) -> tuple[str, bool]:
        """Return where a connection was made to, for people, and whether it is a place of the recording."""
        address, port = stream.getsockname()[:2]
        address = address.removeprefix("::ffff:").partition("%")[0]
        host = self._names.get(address, f"[{address}]" if ":" in address else address)
        return f"{host}:{port}", address in self._names or ipaddress.ip_address(address).is_loopback

    def handle_waiting(self) -> None:
        """Serve what can be served at once."""
        for fd, _events in self._run_polling.poll(0):
            if fd in self._listeners:
                self._handle_listener(self._listeners[fd])
            elif fd in self._connections:
                self._handle_ready(fd, self._connections[fd])

    def close(self) -> None:
        """Close everything."""
        for fd in list(self._connections):
            self._close_connection(fd, reset=True)
        for listener in self._listeners.values():
            listener.close()
        self._listeners.clear()
        self._run_polling.close()

    def _handle_listener(self, listener: socket.socket) -> None:
        for _ in range(_ACCEPTS_AT_ONCE):
            try:
                stream, _address = listener.accept()
            except OSError:
                return
            destination, is_recorded = self._get_destination(stream)
            if is_recorded:
                self.handle_connection(stream, destination)
            else:  # no one who watches the calls has kept it away
                self.note(destination, allowed=False)
                _close_stream(stream, reset=True)

    def _handle_ready(self, fd: int, connection: _Connection) -> None:
        try:
            wanted = connection.handle_ready()
        except (_Over, OSError):
            self._close_connection(fd, reset=False)
        except _Refused:
            self._close_connection(fd, reset=True)
        except Exception:  # noqa: BLE001 - hostile bytes found a way: theirs alone is lost
            self.note(connection.destination, allowed=False)
            self._close_connection(fd, reset=True)
        else:
            self._run_polling.modify(fd, wanted)

    def _close_connection(self, fd: int, *, reset: bool) -> None:
        connection = self._connections.pop(fd)
        with contextlib.suppress(OSError):
            self._run_polling.unregister(fd)
        connection.close(reset=reset)


class _Connection:
    """One connection, from its first byte on."""

    def __init__(self, stream: socket.socket, destination: str, server: Server) -> None:
        self._stream = stream
        self._server = server
        self.destination = destination
        self._reader = RequestReader()
        self._out = memoryview(b"")
        self._scheme: str | None = None
        self._shaken = False
        self._ends = False

    @property
    def held(self) -> int:
        """Bytes of a request that is on its way."""
        return self._reader.held

    def handle_ready(self) -> int:
        """Process what can be processed at once; returns the events to wait for.

        Raises:
            OSError, _Over, _Refused: it is at its end.
        """
        import ssl

        try:
            if self._scheme is None:
                self._update_scheme()
            if self._scheme == "https" and not self._shaken:
                self._stream.do_handshake()  # type: ignore[attr-defined]  # wrapped when it began
                self._shaken = True
            self._handle_requests()
        except ssl.SSLWantReadError:
            return select.EPOLLIN
        except ssl.SSLWantWriteError:
            return select.EPOLLOUT
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            raise _Over from None
        except ssl.SSLError as failure:
            self._server.note(self.destination, allowed=False)
            raise _Refused from failure
        except BlockingIOError:
            return select.EPOLLOUT if self._out else select.EPOLLIN
        # It has had its turn; what it has read may be a whole request, which no event will announce.
        return select.EPOLLIN | select.EPOLLOUT

    def close(self, *, reset: bool) -> None:
        """Close it."""
        _close_stream(self._stream, reset=reset)

    def _update_scheme(self) -> None:
        """Detect by the first byte whether TLS is spoken; which port it is does not matter."""
        first = self._stream.recv(1, socket.MSG_PEEK)
        if not first:
            raise _Over
        if first != _TLS_HANDSHAKE:
            self._scheme = "http"
            return
        if self._server.context is None:
            self._server.note(self.destination, allowed=False)
            raise _Refused
        self._scheme = "https"
        self._stream = self._server.context.wrap_socket(
            self._stream, server_side=True, do_handshake_on_connect=False
        )

    def _handle_requests(self) -> None:
        """Send, and while nothing is left to send, read on; a turn at most, for others wait too."""
        for _ in range(_READS_AT_ONCE):
            while self._out:
                self._out = self._out[self._stream.send(self._out) :]
            if self._ends:
                raise _Over
            try:
                request = self._reader.find_request()
            except BadRequest as problem:
                self._server.note(self.destination, allowed=False)
                raise _Refused from problem
            if request is not None:
                self._handle_request(request)
            elif self._reader.waits_for_leave():
                self._out = memoryview(_CONTINUE)
            else:
                self._handle_readable()

    def _handle_readable(self) -> None:
        data = self._stream.recv(_READ_BYTES)
        if not data:
            raise _Over
        self._reader.add_bytes(data)
        if self.held > _ALWAYS_HELD_BYTES and self._server.count_held_bytes() > HELD_BYTES:
            self._server.note(self.destination, allowed=False)
            raise _Refused

    def _handle_request(self, request: Request) -> None:
        try:
            url = self._parse_url(request)
        except ValueError:
            self._server.note(self.destination, allowed=False)
            raise _Refused from None
        exchange = self._server.recording.find_exchange(request.method, url, request.body)
        self._server.note(f"{request.method} {url}", allowed=exchange is not None)
        if exchange is None:
            raise _Refused
        self._ends = not request.keeps
        self._out = memoryview(encode_answer(exchange, request.method, keeps=request.keeps))

    def _parse_url(self, request: Request) -> Url:
        if request.target.startswith("/"):
            return read_url(f"{self._scheme}://{request.host or self.destination}{request.target}")
        return read_url(request.target)


def _close_stream(stream: socket.socket, *, reset: bool) -> None:
    """Close a connection; reset, the client cannot take it for the end of an answer."""
    with contextlib.suppress(OSError):
        if reset:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with contextlib.suppress(OSError):
        stream.close()


def build_tls_context(certificate_pem: bytes) -> ssl.SSLContext:
    """Build what a server shows: a key and its certificates, from a file only this process can name."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    context.num_tickets = 0
    fd = os.memfd_create("certificate")
    try:
        os.write(fd, certificate_pem)
        context.load_cert_chain(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)
    return context
