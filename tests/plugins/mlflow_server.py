"""MLflow on loopback, from an environment that holds it; its traces are in SQLite below a directory."""

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
def mlflow_server(python: Path, directory: Path) -> Iterator[str]:
    """Run MLflow while this is open; yields its base URL.

    Args:
        python: the interpreter of the environment.
        directory: an empty one, for its home, its database and its log.
    """
    port = free_port()
    environment = {
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "HOME": str(directory),
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    command = [
        str(python), "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
        "--backend-store-uri", f"sqlite:///{directory / 'mlflow.db'}",
        "--default-artifact-root", str(directory / "artifacts"),
    ]  # fmt: skip
    log = directory / "mlflow.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, env=environment, cwd=directory, stdout=output, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{port}"
    try:
        up = becomes(
            lambda: server.poll() is not None or _answers(f"{url}/health"), _STARTS_WITHIN_S, pause_s=0.2
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
