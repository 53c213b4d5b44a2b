"""Runs the demo's agents in a process of their own and reads what each answered.

The process is instrumented and exports over OTLP as any agent's would; it shares nothing with the collector
but the endpoint.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass

import orjson

_RUN_S = 180.0


class AgentsFailed(Exception):  # noqa: N818 - says what happened
    """The agents' process ended badly; the message holds the end of what it wrote."""


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One agent's run: its scenario, its trace, and what it answered or raised."""

    scenario: str
    trace_id: str
    answer: str
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
            runs.append(_read(line))
            report(runs[-1])
        ended = process.wait()
        late.cancel()
        log.seek(0)
        last = " / ".join(log.read().decode(errors="replace").strip().splitlines()[-3:])
    if ended:
        why = (
            f"exited with {ended}" if ended > 0 else f"were stopped by signal {-ended} ({_RUN_S:g} s allowed)"
        )
        raise AgentsFailed(f"the agents {why}: {last}")
    return runs


def _read(line: bytes) -> AgentRun:
    row = orjson.loads(line)
    return AgentRun(row["scenario"], row["trace_id"], row.get("answer", ""), row.get("error"))
