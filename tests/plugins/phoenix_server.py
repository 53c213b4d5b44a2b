"""Arize Phoenix on loopback, from an environment that holds it; its data are in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from free_port import free_port
from peer_servers import peer_server


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
    command = [str(python), "-m", "phoenix.server.main", "serve"]
    url = f"http://127.0.0.1:{port}"
    with peer_server(command, environment, f"{url}/healthz", directory):
        yield url
