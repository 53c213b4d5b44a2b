"""The built console: where it is, and its files as they are served."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import Request
from fastapi.responses import Response

STATIC: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".woff2": "font/woff2",
}
# Fonts are compressed already.
_COMPRESSED: Final = (".html", ".js", ".css")


@dataclass(frozen=True)
class Asset:
    """A file of the bundle, in memory: a page loads a dozen at once."""

    name: str
    body: bytes

    @cached_property
    def etag(self) -> str:
        """Return the name of this version of the file."""
        return f'"{sha256(self.body).hexdigest()[:16]}"'

    @cached_property
    def gzipped(self) -> bytes:
        """Return the file as it is sent to a browser that takes gzip."""
        return gzip.compress(self.body, mtime=0)

    def build_response(self, request: Request) -> Response:
        """Return the file as the browser takes it; what it has already is not sent again."""
        suffix = Path(self.name).suffix
        # The names of files are the same in every version: a browser checks whether its copy is current.
        headers = {"cache-control": "no-cache", "etag": self.etag, "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        if suffix in _COMPRESSED and "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(self.gzipped, headers=headers, media_type=_TYPES[suffix])
        return Response(self.body, headers=headers, media_type=_TYPES[suffix])


@cache
def load_assets() -> dict[str, Asset]:
    """Return the files of the bundle by name."""
    return {file.name: Asset(file.name, file.read_bytes()) for file in STATIC.iterdir()}
