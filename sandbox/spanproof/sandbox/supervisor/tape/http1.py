"""HTTP/1.1 as the tape speaks it: hostile bytes to requests, recorded answers to bytes.

In: bytes as they come, of any content. Out: whole requests, or `BadRequest` as soon as they cannot be one.
What is held is bounded by `HEAD_BYTES` and `BODY_BYTES`. Knows no sockets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus

from spanproof.sandbox.model import Exchange

HEAD_BYTES = 64 * 1024
BODY_BYTES = 8 * 1024 * 1024
_CHUNK_LINE_BYTES = 1024

_REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([\x21-\x7e]{1,16384}) HTTP/1\.([01])")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00\r\n]*?)[ \t]*")
_NO_BODY = frozenset((204, 304))
# Headers of a connection, not of an answer; and one that leads to HTTP/3, which no one speaks here.
_OURS = frozenset(
    "connection keep-alive proxy-connection transfer-encoding te trailer upgrade alt-svc".split()  # noqa: SIM905
)


class BadRequest(ValueError):  # noqa: N818 - names what arrived
    """What came is no request, or one over a bound."""


@dataclass(frozen=True, slots=True)
class Request:
    """One whole request.

    Attributes:
        target: as sent: a path with its query, or an absolute URL.
        keeps: whether the connection may serve another.
    """

    method: str
    target: str
    host: str
    body: bytes
    keeps: bool


@dataclass(frozen=True, slots=True)
class _Head:
    method: str
    target: str
    host: str
    keeps: bool
    length: int | None
    """Of the body in bytes; None where it comes in chunks."""
    waits: bool


class RequestReader:
    """Takes bytes as they come and gives the requests that are complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._body = bytearray()
        self._head: _Head | None = None
        self._trailer = False

    @property
    def held(self) -> int:
        """How many bytes wait here."""
        return len(self._buffer) + len(self._body)

    def add_bytes(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self._buffer += data

    def find_request(self) -> Request | None:
        """Return the next complete request, None while one is still on its way.

        Raises:
            BadRequest: it cannot become one.
        """
        if self._head is None:
            self._head = self._find_head()
        if self._head is None or not self._has_body(self._head):
            return None
        head, body = self._head, bytes(self._body)
        self._head, self._trailer = None, False
        self._body.clear()
        return Request(head.method, head.target, head.host, body, head.keeps)

    def waits_for_leave(self) -> bool:
        """Whether the client waits for permission to send its body; says so once."""
        if self._head is None or not self._head.waits:
            return False
        head = self._head
        self._head = _Head(head.method, head.target, head.host, head.keeps, head.length, waits=False)
        return True

    def _find_head(self) -> _Head | None:
        while self._buffer[:2] == b"\r\n":
            del self._buffer[:2]  # some clients end a body with one more
        end = self._buffer.find(b"\r\n\r\n", 0, HEAD_BYTES)
        if end < 0:
            if len(self._buffer) >= HEAD_BYTES:
                raise BadRequest(f"a head of more than {HEAD_BYTES} bytes")
            return None
        lines = bytes(self._buffer[:end]).split(b"\r\n")
        del self._buffer[: end + 4]
        return _parse_head(lines)

    def _has_body(self, head: _Head) -> bool:
        if head.length is None:
            return self._has_chunks()
        if len(self._buffer) < head.length:
            return False
        self._body += self._buffer[: head.length]
        del self._buffer[: head.length]
        return True

    def _has_chunks(self) -> bool:
        while True:
            line_end = self._buffer.find(b"\r\n", 0, _CHUNK_LINE_BYTES)
            if line_end < 0:
                if len(self._buffer) >= _CHUNK_LINE_BYTES:
                    raise BadRequest("a chunk without a size")
                return False
            line = bytes(self._buffer[:line_end])
            if self._trailer:
                del self._buffer[: line_end + 2]
                if not line:
                    return True
                continue
            size = _parse_chunk_size(line)
            if len(self._body) + size > BODY_BYTES:
                raise BadRequest(f"a body of more than {BODY_BYTES} bytes")
            end = line_end + 2 + size
            if size and len(self._buffer) < end + 2:
                return False
            if size and self._buffer[end : end + 2] != b"\r\n":
                raise BadRequest("a chunk that is longer than its size")
            self._body += self._buffer[line_end + 2 : end]
            del self._buffer[: end + 2 if size else end]
            self._trailer = size == 0


def _parse_chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip(b" \t")
    if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", digits):
        raise BadRequest("a chunk without a size")
    return int(digits, 16)


def _parse_head(lines: list[bytes]) -> _Head:
    first = _REQUEST_LINE.fullmatch(lines[0])
    if first is None:
        raise BadRequest("no request line")
    fields: dict[str, list[str]] = {}
    for line in lines[1:]:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise BadRequest("a header that is none")
        fields.setdefault(field[1].decode("ascii").lower(), []).append(field[2].decode("latin-1"))
    hosts = set(fields.get("host", [""]))
    if len(hosts) != 1:
        raise BadRequest("more than one host")
    connection = ",".join(fields.get("connection", [])).lower()
    keeps = "close" not in connection and (first[3] == b"1" or "keep-alive" in connection)
    waits = "100-continue" in ",".join(fields.get("expect", [])).lower()
    method, target = first[1].decode("ascii"), first[2].decode("ascii")
    return _Head(method, target, hosts.pop(), keeps, _find_length(fields), waits)


def _find_length(fields: dict[str, list[str]]) -> int | None:
    coding = ",".join(fields.get("transfer-encoding", [])).strip().lower()
    lengths = set(fields.get("content-length", []))
    if coding:
        if coding != "chunked" or lengths:
            raise BadRequest("a body whose length is given in two ways, or in one unknown")
        return None
    if not lengths:
        return 0
    text = lengths.pop()
    if lengths or not re.fullmatch("[0-9]{1,9}", text):
        raise BadRequest("a length that is none")
    if int(text) > BODY_BYTES:
        raise BadRequest(f"a body of more than {BODY_BYTES} bytes")
    return int(text)


def encode_answer(exchange: Exchange, method: str, *, keeps: bool) -> bytes:
    """Return a recorded answer as it goes over the wire, with a length of its own."""
    try:
        phrase = HTTPStatus(exchange.status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {exchange.status} {phrase}"]
    recorded_length = None
    for name, value in exchange.headers:
        if name.lower() == "content-length":
            recorded_length = value
        elif name.lower() not in _OURS:
            lines.append(f"{name}: {value}")
    body = exchange.body
    if method == "HEAD":
        length = recorded_length or str(len(body))
        body = b""
    else:
        length = str(len(body))
    if exchange.status in _NO_BODY:
        body = b""
    else:
        lines.append(f"Content-Length: {length}")
    lines.append(f"Connection: {'keep-alive' if keeps else 'close'}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
