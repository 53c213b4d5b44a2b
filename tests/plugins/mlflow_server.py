"""MLflow on loopback, from an environment that holds it; its traces are in SQLite below a directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from free_port import free_port
from peer_servers import peer_server


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
    url = f"http://127.0.0.1:{port}"
    with peer_server(command, environment, f"{url}/health", directory):
        yield url
