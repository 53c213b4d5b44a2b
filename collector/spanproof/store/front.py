"""A door for readers in other processes.

An embedded store belongs to one process, mostly a running server. This serves that store to others over
ClickHouse's HTTP interface, so that they read it by the very code that reads a server. It listens on the
loopback interface only, requires a password that is new each time and is in the store's lock file,
which its owner alone can read, and runs every query in ClickHouse's read-only mode. Only what a person
decides while the server runs may be changed: a silence or an acknowledgement of an alert, the state of a
cluster of failures; and traces may be deleted. It holds as much of the interface as the driver uses, and
nothing more.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import chdb

from spanproof.store.erase import deletions
from spanproof.store.layout import Layout
from spanproof.store.rollups import MARK
from spanproof.store.schema import ALERT_ACKNOWLEDGEMENTS, ALERT_SILENCES, FAILURE_TRIAGE, FINAL_SETTINGS

_MAX_REQUEST_BYTES = 16 * 1024 * 1024
_USER = "reader"
_NATIVE = re.compile(r"FORMAT\s+Native\s*$", re.IGNORECASE)
_SELECT = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)  # all that the engine streams
_CONNECT: Callable[[str], Any] = chdb.connect
_CODE = re.compile(r"Code: (\d+)")


class Front:
    """An embedded store served on a loopback port until it is closed.

    Attributes:
        url: DSN by which a reader reaches it, password included.
    """

    settings: tuple[str, ...] = (
        *(f"{name} = {value}" for name, value in FINAL_SETTINGS.items()),
        "readonly = 2",
    )
    """Set on each connection that reads; read-only last, as nothing can be set after it."""

    def __init__(self, data: Path, database: str) -> None:
        self._data = data
        tables = "|".join(table.name for table in (ALERT_SILENCES, ALERT_ACKNOWLEDGEMENTS, FAILURE_TRIAGE))
        # A row of values alone: without FROM and brackets there is nothing that it could read or call.
        self._insert = re.compile(
            rf"INSERT INTO {database}\.({tables}) \([\w, ]+\) SELECT (\{{\w+:\w+\}}(, )?)+"
        )
        mark = MARK.replace("{database}", database)
        self._statements = frozenset((*deletions(Layout(database)), mark))
        self._idle: list[Any] = []
        self._guard = threading.Lock()
        password = secrets.token_urlsafe(24)
        self._server = _Server(self, f"{_USER}:{password}")
        self.url = f"http://{_USER}:{password}@127.0.0.1:{self._server.server_port}/{database}"
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},
            name="spanproof-store-front",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving; a reader in the middle of a query loses its connection."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def answer(self, statement: bytes, parameters: Mapping[str, str]) -> tuple[str, Iterator[bytes]]:
        """Run a statement.

        Returns:
            The format of the answer, and the answer in pieces.

        Raises:
            RuntimeError: the engine refuses it.
        """
        sql = statement.decode("utf-8", "replace")
        if sql.strip() in self._statements or self._insert.fullmatch(sql.strip()):
            with self._guard, closing(_CONNECT(str(self._data))) as connection:
                connection.query(sql, "TabSeparated", params=dict(parameters))
            return "TabSeparated", iter(())
        kind = "Native" if _NATIVE.search(sql) else "TabSeparated"
        pieces = self._pieces(sql, kind, parameters)
        # The first piece is taken here, so that a refusal is sent before any header.
        return kind, chain([next(pieces, b"")], pieces)

    def _pieces(self, sql: str, kind: str, parameters: Mapping[str, str]) -> Iterator[bytes]:
        with self.connection() as connection:
            if kind == "Native" and _SELECT.match(sql):
                for chunk in connection.send_query(sql, kind, params=dict(parameters)):
                    yield chunk.bytes()
            else:
                yield connection.query(sql, kind, params=dict(parameters)).bytes() or b""

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """A connection of the engine for this thread alone."""
        with self._guard:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = _CONNECT(str(self._data))
            for setting in self.settings:
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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Answers are read at once: waiting for more to send would cost 40 ms each.
    disable_nagle_algorithm = True

    def __init__(self, front: Front, credentials: str) -> None:
        self.front = front
        self.credentials = credentials
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that goes away is no trouble of this process."""


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
        if not self._may_read():
            self.close_connection = True
            self._refuse(401, "Code: 516. wrong password", 516)
            return
        try:
            body = self._body()
        except ValueError as problem:
            self.close_connection = True
            self._refuse(400, f"the request cannot be read: {problem}")
            return
        fields = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        form = self._form(body)
        fields.update(form)
        statement = body
        if "query" in fields:
            # As in ClickHouse, a body that is no form goes on where the query of the address ends.
            statement = fields["query"].encode() + (b"\n" + body if body and not form else b"")
        parameters = {name[6:]: value for name, value in fields.items() if name.startswith("param_")}
        try:
            kind, pieces = self.server.front.answer(statement, parameters)
        except Exception as problem:  # noqa: BLE001 - every error of the engine goes to the client
            code = _CODE.search(str(problem))
            self._refuse(500, str(problem), int(code[1]) if code else None)
            return
        self._send(kind, pieces)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._chunked_body()
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= _MAX_REQUEST_BYTES:
            raise ValueError(f"a request has at most {_MAX_REQUEST_BYTES} bytes")
        return self.rfile.read(length)

    def _chunked_body(self) -> bytes:
        body = b""
        while length := int(self.rfile.readline(64), 16):
            if len(body) + length > _MAX_REQUEST_BYTES:
                raise ValueError(f"a request has at most {_MAX_REQUEST_BYTES} bytes")
            body += self.rfile.read(length)
            self.rfile.readline(2)
        self.rfile.readline(2)
        return body

    def _form(self, body: bytes) -> dict[str, str]:
        """Fields of a form, which is how the driver sends long parameters."""
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

    def _may_read(self) -> bool:
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "basic":
            return False
        try:
            return hmac.compare_digest(b64decode(given), self.server.credentials.encode())
        except ValueError:
            return False

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

    def _refuse(self, status: int, message: str, code: int | None = None) -> None:
        body = message.encode("utf-8", "replace")
        self.send_response(status)
        if code is not None:
            self.send_header("X-ClickHouse-Exception-Code", str(code))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
