"""What the demo runs beside the collector: the agents' process, and a webhook that receives the alert."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_RUN_S = 180.0
_MAX_BODY = 1024 * 1024

Notifications = queue.Queue[dict[str, Any]]


class AgentsFailed(Exception):  # noqa: N818 - says what happened
    """The agents' process ended badly; the message holds the end of what it wrote."""


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One agent's run: its scenario, its trace, and what it answered or raised."""

    scenario: str
    trace_id: str
    answer: str = ""
    error: str | None = None


def run_agents(endpoint: str, report: Callable[[AgentRun], None]) -> list[AgentRun]:
    """Run every scenario against this OTLP/HTTP endpoint; `report` gets each as it ends.

    Raises:
        AgentsFailed: the process failed or took longer than three minutes.
    """
    command = [sys.executable, "-m", "spanproof.cli.demo.agents", "--endpoint", endpoint]
    runs: list[AgentRun] = []
    # Frameworks write a lot: a pipe that is not read would fill and block, a file does not.
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        late = threading.Timer(_RUN_S, process.kill)
        late.start()
        assert process.stdout is not None
        for line in process.stdout:
            runs.append(AgentRun(**json.loads(line)))
            report(runs[-1])
        ended = process.wait()
        late.cancel()
        log.seek(0)
        last = " / ".join(log.read().decode(errors="replace").strip().splitlines()[-3:])
    if ended:
        if ended > 0:
            why = f"exited with {ended}"
        else:
            why = f"were stopped by signal {-ended} ({_RUN_S:g} s allowed)"
        raise AgentsFailed(f"the agents {why}: {last}")
    return runs


@contextmanager
def opened_webhook() -> Iterator[tuple[str, Notifications]]:
    """Open an HTTP server on loopback, as a user's endpoint is; gives its URL and what it receives."""
    received = Notifications()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = min(int(self.headers.get("content-length", 0)), _MAX_BODY)
            received.put(json.loads(self.rfile.read(length)))
            self.send_response(204)
            self.end_headers()

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Log nothing: the demo prints what arrives."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, name="webhook", daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/alerts", received
        server.shutdown()
