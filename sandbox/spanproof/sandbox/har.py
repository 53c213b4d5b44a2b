"""HAR 1.2 as a tape: what a browser, mitmproxy or Playwright recorded, as calls a sandbox answers.

In: a file, or the decoded document. Out: `Exchange`s, in the order of the recording. The bodies of a HAR are
decoded and whole, so the headers that say otherwise (`Content-Encoding`, …) are left out. Entries that are
no finished calls of HTTP are left out too: those without an answer (status 0: the call failed then, and will
fail again), and other schemes (`ws:`, `data:`, `blob:`). A body that was not saved is an error, no guess.

Source: http://www.softwareishard.com/blog/har-12-spec/
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from pathlib import Path

from spanproof.sandbox.errors import BadFixture
from spanproof.sandbox.model import Exchange
from spanproof.sandbox.untrusted_files import UnsafeFileError, read_bounded

FILE_BYTES = 256 * 1024 * 1024
ENTRIES = 10_000
_CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
_LEFT_OUT = frozenset(("content-encoding", "content-length", "transfer-encoding"))


def load_har(path: Path) -> tuple[Exchange, ...]:
    """Read a HAR file.

    Raises:
        BadFixture: it is absent, too large, no JSON or no HAR; names the file, the entry, the field.
    """
    try:
        content = read_bounded(path, FILE_BYTES)
    except OSError as problem:
        raise BadFixture(f"{path}: cannot be read: {problem.strerror}; name a HAR file") from problem
    except UnsafeFileError as problem:
        raise BadFixture(f"{problem}: record less") from problem
    return parse_har(content, str(path))


def parse_har(content: bytes, origin: str) -> tuple[Exchange, ...]:
    """Return the calls of a HAR file's content; `origin` names it in errors.

    Raises:
        BadFixture: it is no JSON or no HAR; names the origin, the entry, the field.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise BadFixture(f"{origin}: not JSON: {problem}; export the recording as HAR 1.2") from problem
    return read_exchanges(document, origin)


def read_exchanges(document: object, origin: str) -> tuple[Exchange, ...]:
    """Return the calls of a decoded HAR document; `origin` names it in errors.

    Raises:
        BadFixture: it is no HAR; names the origin, the entry, the field.
    """
    root = _Node(origin, "", document)
    entries = root.get_member("log").get_member("entries")
    if not isinstance(entries.value, list):
        raise entries.build_error("a list of entries; export the recording as HAR 1.2")
    if len(entries.value) > ENTRIES:
        raise entries.build_error(f"at most {ENTRIES} entries, not {len(entries.value)}")
    found = (_find_exchange(entries.get_item(index)) for index in range(len(entries.value)))
    return tuple(one for one in found if one is not None)


class _Node:
    """A value of the document, and its path."""

    def __init__(self, origin: str, path: str, value: object) -> None:
        self._origin = origin
        self._path = path
        self.value = value

    def get_member(self, name: str) -> _Node:
        """Return a member that must be there."""
        if not isinstance(self.value, Mapping):
            raise self.build_error("an object")
        path = f"{self._path}.{name}" if self._path else name
        if name not in self.value:
            raise _Node(self._origin, path, None).build_error("there")
        return _Node(self._origin, path, self.value[name])

    def find_member(self, name: str) -> _Node | None:
        """Return a member that may be absent or null."""
        if isinstance(self.value, Mapping) and self.value.get(name) is None:
            return None
        return self.get_member(name)

    def get_item(self, index: int) -> _Node:
        """Return one of a list."""
        assert isinstance(self.value, list)
        return _Node(self._origin, f"{self._path}[{index}]", self.value[index])

    def get_text(self) -> str:
        """Return the value, which must be a text."""
        if not isinstance(self.value, str):
            raise self.build_error("a text")
        return self.value

    def get_number(self) -> int:
        """Return the value, which must be a whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.build_error("a whole number")
        return self.value

    def build_error(self, wanted: str) -> BadFixture:
        """Return what to raise where the value is not what it must be."""
        return BadFixture(f"{self._origin}: {self._path or 'the document'}: must be {wanted}")


def _find_exchange(entry: _Node) -> Exchange | None:
    request, response = entry.get_member("request"), entry.get_member("response")
    url, status = request.get_member("url").get_text(), response.get_member("status").get_number()
    if status == 0 or not url.lower().startswith(("http://", "https://")):
        return None
    return Exchange(
        method=request.get_member("method").get_text().upper(),
        url=url,
        status=status,
        headers=_read_headers(response.get_member("headers")),
        body=_read_body(response.get_member("content")),
        request_body=_find_request_body(request),
    )


def _read_headers(headers: _Node) -> tuple[tuple[str, str], ...]:
    if not isinstance(headers.value, list):
        raise headers.build_error("a list of names and values")
    nodes = (headers.get_item(index) for index in range(len(headers.value)))
    pairs = ((node.get_member("name").get_text(), node.get_member("value").get_text()) for node in nodes)
    # A name that starts with a colon is a field of HTTP/2's frames; Chrome joins repeated ones by newlines.
    return tuple(
        (name, line)
        for name, value in pairs
        if not name.startswith(":") and name.lower() not in _LEFT_OUT
        for line in value.split("\n")
    )


def _read_body(content: _Node) -> bytes:
    text = content.find_member("text")
    if text is None:
        size = content.find_member("size")
        if size is not None and size.get_number() > 0:
            raise content.build_error("saved with its text; export the recording with response bodies")
        return b""
    return _decode_text(content, text)


def _find_request_body(request: _Node) -> bytes | None:
    """Return the body the call must carry, where the recording has it in the one form it was sent in."""
    posted = request.find_member("postData")
    text = posted.find_member("text") if posted is not None else None
    if posted is None or text is None or not text.value:
        return None
    mime = posted.find_member("mimeType")
    if mime is not None and mime.get_text().lower().startswith("multipart/"):
        return None  # its boundaries are new with each call
    return _decode_text(posted, text)


def _decode_text(node: _Node, text: _Node) -> bytes:
    encoding, mime = node.find_member("encoding"), node.find_member("mimeType")
    if encoding is not None and encoding.value == "base64":
        try:
            return base64.b64decode(text.get_text(), validate=True)
        except (binascii.Error, ValueError) as problem:
            raise text.build_error(f"base64 ({problem})") from problem
    charset = _CHARSET.search(mime.get_text()) if mime is not None else None
    try:
        return text.get_text().encode(charset[1] if charset else "utf-8")
    except UnicodeEncodeError:
        return text.get_text().encode("utf-8", "surrogatepass")
    except (LookupError, UnicodeError) as problem:
        assert mime is not None
        raise mime.build_error(f"a charset that Python knows ({problem}); write charset=utf-8") from problem
