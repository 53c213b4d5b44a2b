"""Arize Phoenix on loopback, from an environment that holds it; its data are in memory."""

from __future__ import annotations

import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from free_port import free_port
from waiting import becomes

_STARTS_WITHIN_S = 300


@contextmanager
def phoenix_server(python: Path, directory: Path) -> Iterator[str]:
    """Run Phoenix while this is open; yields its base URL.

    Args:
        python: the interpreter of the environment.
        directory: an empty one, for its home, its files and its log.
    """
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_WORKING_DIR": str(directory),
        "PHOENIX_SQL_DATABASE_URL": "sqlite:///:memory:",
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }
    log = directory / "phoenix.log"
    with log.open("w") as output:
        command = [str(python), "-m", "phoenix.server.main", "serve"]
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    try:
        up = becomes(
            lambda: server.poll() is not None or _answers(f"{url}/healthz"), _STARTS_WITHIN_S, pause_s=0.2
        )
        assert up, log.read_text()[-4000:]
        assert server.poll() is None, log.read_text()[-4000:]
        yield url
    finally:
        server.terminate()
        server.wait(120)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
