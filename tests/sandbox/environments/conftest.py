"""Package indexes of our own: a directory of wheels for pip, a registry on the loopback for npm."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import tarfile
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

import pytest
from wheelhouse import Wheels

from spanproof.sandbox import Sandbox
from spanproof.sandbox.backends.jail import build_sandbox as build_sandbox
from spanproof.sandbox.model import Tier
from spanproof.sandbox.registry import open_sandbox

TIER = os.environ.get("SPANPROOF_TESTED_TIER", "full")
"""See tests/contract/test_reduced_tier.py."""
run_in_build_sandbox = partial(build_sandbox.run_in_build_sandbox, demanded=Tier(TIER))


class Registry:
    """An npm registry."""

    def __init__(self) -> None:
        self.packages: dict[str, dict[str, bytes]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def add(
        self, name: str, version: str, files: Mapping[str, str], manifest: Mapping[str, object] | None = None
    ) -> None:
        """Publish a package."""
        described = {"name": name, "version": version, **(manifest or {})}
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            for path, text in {"package/package.json": json.dumps(described), **files}.items():
                entry = tarfile.TarInfo(path)
                entry.size = len(text.encode())
                tar.addfile(entry, io.BytesIO(text.encode()))
        self.packages.setdefault(name, {})[version] = buffer.getvalue()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _document(self, name: str) -> dict[str, object]:
        versions = {}
        for version, tarball in self.packages[name].items():
            with tarfile.open(fileobj=io.BytesIO(tarball)) as tar:
                file = tar.extractfile("package/package.json")
                assert file is not None
                manifest = json.loads(file.read())
            if "install" in str(manifest.get("scripts")):
                manifest["hasInstallScript"] = True
            digest = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
            address = f"{self.url}/tarballs/{name}/{version}"
            versions[version] = {**manifest, "dist": {"tarball": address, "integrity": f"sha512-{digest}"}}
        return {"name": name, "versions": versions, "dist-tags": {"latest": list(versions)[-1]}}

    def _handler(registry) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = unquote(self.path).strip("/")
                if path.startswith("tarballs/"):
                    name, _, version = path.removeprefix("tarballs/").rpartition("/")
                    self._answer(200, registry.packages[name][version], "application/octet-stream")
                elif path in registry.packages:
                    document = json.dumps(registry._document(path)).encode()
                    self._answer(200, document, "application/json")
                else:
                    self._answer(404, b'{"error": "Not found"}', "application/json")

            def _answer(self, status: int, body: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        return Handler


@pytest.fixture
def directory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where environments are kept.

    Programs of root's are another user in the reduced tier and must be able to enter it: so it is not below
    pytest's own directory, which every pytest that starts on the machine closes to others again.
    """
    with TemporaryDirectory(prefix="spanproof-environments-") as made:
        Path(made).chmod(0o711)
        place = Path(made, "environments")
        monkeypatch.setenv("SPANPROOF_ENVIRONMENTS", str(place))
        yield place


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheels:
    """The only place pip looks at."""
    place = tmp_path / "wheels"
    place.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    return Wheels(place)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """The only place npm looks at."""
    opened = Registry()
    monkeypatch.setenv("npm_config_registry", opened.url)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    yield opened
    opened.close()


@pytest.fixture
def sandbox(directory: Path) -> Iterator[Sandbox]:
    with open_sandbox("jail", settings={"tier": TIER}) as opened:
        yield opened
