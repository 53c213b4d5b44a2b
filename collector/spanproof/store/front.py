"""Serves an embedded store to other processes.

An embedded store belongs to one process, mostly a running server. Others reach it here over ClickHouse's HTTP
interface, by the very code that reaches a server. It listens on the loopback interface only. Passwords are
new each time and are in the store's lock file, which its owner alone can read: with one everything runs in
ClickHouse's read-only mode, with the other rows may be inserted and deleted as well. It holds as much of the
interface as the driver uses, and nothing more.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import chdb

from spanproof.store.query_settings import EMBEDDED_SETTINGS, FINAL_SETTINGS

_MAX_QUERY_BYTES = 16 * 1024 * 1024
_MAX_INSERT_BYTES = 256 * 1024 * 1024
_READER, _WRITER = "reader", "writer"
_WRITES = re.compile(rb"(INSERT INTO|ALTER TABLE [\w.]+ DELETE WHERE)\s")
_ROWS = re.compile(rb"(INSERT INTO [^\n]*) FORMAT (Native|Arrow)\n")  # as the driver writes it
_NATIVE = re.compile(r"FORMAT\s+Native\s*$", re.IGNORECASE)
_SELECT = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)  # all that the engine streams
_CONNECT: Callable[[str], Any] = chdb.connect
_CODE = re.compile(r"Code: (\d+)")


class Front:
    """An embedded store served on a loopback port until it is closed.

    Args:
        writing: settings of connections that write.

    Attributes:
        read_url: DSN by which a reader reaches it, password included.
        write_url: the same for a writer.
    """

    settings: tuple[str, ...] = (
        *(f"{name} = {value}" for name, value in {**FINAL_SETTINGS, **EMBEDDED_SETTINGS}.items()),
        "readonly = 2",
    )
    """Set on each connection that reads; read-only last, as nothing can be set after it."""

    def __init__(self, data: Path, database: str, writing: Mapping[str, Any] = MappingProxyType({})) -> None:
        self._data = data
        self._readers = _Pool(data, self.settings)
        self._writers = _Pool(data, tuple(f"{name} = {value}" for name, value in writing.items()))
        passwords = {user: secrets.token_urlsafe(24) for user in (_READER, _WRITER)}
        self._server = _Server(self, passwords)
        self.read_url, self.write_url = (
            f"http://{user}:{password}@127.0.0.1:{self._server.server_port}/{database}"
            for user, password in passwords.items()
        )
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},
            name="spanproof-store-front",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving; a client in the middle of a query loses its connection."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._readers.close()
        self._writers.close()

    def run_statement(
        self, statement: bytes, parameters: Mapping[str, str], *, may_write: bool
    ) -> tuple[str, Iterator[bytes]]:
        """Run a statement; in read-only mode, but for a writer's insert or deletion of rows.

        Returns:
            The format of the answer, and the answer in pieces.

        Raises:
            RuntimeError: the engine refuses it.
        """
        if may_write and _WRITES.match(statement):
            self._write(statement, parameters)
            return "TabSeparated", iter(())
        sql = statement.decode("utf-8", "replace")
        kind = "Native" if _NATIVE.search(sql) else "TabSeparated"
        pieces = self._iter_answer(sql, kind, parameters)
        # The first piece is taken here, so that a refusal is sent before any header.
        return kind, chain([next(pieces, b"")], pieces)

    def _write(self, statement: bytes, parameters: Mapping[str, str]) -> None:
        rows = _ROWS.match(statement)
        with self._writers.lease() as connection:
            if rows is None:
                connection.query(statement.decode(), "TabSeparated", params=dict(parameters))
                return
            # The engine takes rows of a binary format out of a file only.
            with NamedTemporaryFile(prefix="spanproof-insert-") as file:
                file.write(memoryview(statement)[rows.end() :])
                file.flush()
                sql = f"{rows[1].decode()} FROM INFILE '{file.name}' FORMAT {rows[2].decode()}"
                connection.query(sql, "TabSeparated", params=dict(parameters))

    def _iter_answer(self, sql: str, kind: str, parameters: Mapping[str, str]) -> Iterator[bytes]:
        with self._readers.lease() as connection:
            if kind == "Native" and _SELECT.match(sql):
                for chunk in connection.send_query(sql, kind, params=dict(parameters)):
                    yield chunk.bytes()
            else:
                yield connection.query(sql, kind, params=dict(parameters)).bytes() or b""


class _Pool:
    """Connections of the engine with the same settings, each leased by one thread at a time."""

    def __init__(self, data: Path, settings: Sequence[str]) -> None:
        self._data = data
        self._settings = settings
        self._idle: list[Any] = []
        self._guard = threading.Lock()

    @contextmanager
    def lease(self) -> Iterator[Any]:
        """Give a connection to this thread alone."""
        with self._guard:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = _CONNECT(str(self._data))
            for setting in self._settings:
                connection.query(f"SET {setting}", "TabSeparated")
        whole = False
        try:
            yield connection
            whole = True
        finally:
            if whole:
                with self._guard:
                    self._idle.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        """Close the connections that are not leased."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Answers are read at once: waiting for more to send would cost 40 ms each.
    disable_nagle_algorithm = True

    def __init__(self, front: Front, passwords: Mapping[str, str]) -> None:
        self.front = front
        self.passwords = passwords
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore an error: a client that goes away is no trouble of this process."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    timeout = 300  # seconds after which a silent connection is closed
    server: _Server

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it has above
        """Log nothing: queries hold what users look at."""

    def _handle(self) -> None:
        user = self._find_user()
        if user is None:
            self.close_connection = True
            self._send_error(401, "Code: 516. wrong password", 516)
            return
        try:
            body = self._read_body(_MAX_INSERT_BYTES if user == _WRITER else _MAX_QUERY_BYTES)
        except ValueError as problem:
            self.close_connection = True
            self._send_error(400, f"the request cannot be read: {problem}")
            return
        fields = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        form = self._parse_form(body)
        fields.update(form)
        statement = body
        if "query" in fields:
            # As in ClickHouse, a body that is no form goes on where the query of the address ends.
            statement = fields["query"].encode() + (b"\n" + body if body and not form else b"")
        parameters = {name[6:]: value for name, value in fields.items() if name.startswith("param_")}
        try:
            kind, pieces = self.server.front.run_statement(statement, parameters, may_write=user == _WRITER)
        except Exception as problem:  # noqa: BLE001 - every error of the engine goes to the client
            code = _CODE.search(str(problem))
            self._send_error(500, str(problem), int(code[1]) if code else None)
            return
        self._send(kind, pieces)

    def _read_body(self, most: int) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._read_chunked_body(most)
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= most:
            raise ValueError(f"a request has at most {most} bytes")
        return self.rfile.read(length)

    def _read_chunked_body(self, most: int) -> bytes:
        body = bytearray()
        while length := int(self.rfile.readline(64), 16):
            if len(body) + length > most:
                raise ValueError(f"a request has at most {most} bytes")
            body += self.rfile.read(length)
            self.rfile.readline(2)
        self.rfile.readline(2)
        return bytes(body)

    def _parse_form(self, body: bytes) -> dict[str, str]:
        """Return the fields of a form, which is how the driver sends long parameters."""
        kind = self.headers.get("Content-Type", "")
        if not kind.startswith("multipart/form-data"):
            return {}
        message = BytesParser().parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
        fields = {}
        for part in message.walk():
            name = part.get_param("name", header="content-disposition")
            content = part.get_payload(decode=True)
            if isinstance(name, str) and isinstance(content, bytes):
                fields[name] = content.decode("utf-8", "replace")
        return fields

    def _find_user(self) -> str | None:
        """Return whose password the request has; None where it has none."""
        kind, _, credentials = self.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "basic":
            return None
        try:
            user, _, password = b64decode(credentials).decode().partition(":")
        except ValueError:
            return None
        expected = self.server.passwords.get(user, "")
        if expected and hmac.compare_digest(password.encode(), expected.encode()):
            return user
        return None

    def _send(self, kind: str, pieces: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("X-ClickHouse-Format", kind)
        self.send_header("X-ClickHouse-Timezone", "UTC")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            if piece:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _send_error(self, status: int, message: str, code: int | None = None) -> None:
        body = message.encode("utf-8", "replace")
        self.send_response(status)
        if code is not None:
            self.send_header("X-ClickHouse-Exception-Code", str(code))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
