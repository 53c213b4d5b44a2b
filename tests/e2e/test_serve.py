"""`spanproof serve` as an operator runs it: a process of its own, real agents over gRPC, SIGTERM, kill -9."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from waiting import wait_until


def cli(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "spanproof.cli", *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@contextmanager
def serving(directory: Path, *settings: str) -> Iterator[tuple[subprocess.Popen[str], Mapping[str, Any]]]:
    """A running `spanproof serve` on free ports, and what it said about where it listens."""
    options = [
        "receivers.grpc.port=0", "receivers.http.port=0", f"store.location={directory / 'store'}",
        f"wal.directory={directory / 'wal'}", "assembly.quiet_s=0.5", *settings,
    ]  # fmt: skip
    arguments = [argument for option in options for argument in ("--set", option)]
    with (directory / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "spanproof.cli", "serve", "--json", *arguments],
            stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (directory / "log").read_text()
        yield process, json.loads(line)
    finally:
        process.kill()
        process.wait()


def run_agent(where: Mapping[str, Any], protocol: str, scenario: str) -> str:
    """Run one of the demo's agents against the collector; returns its trace id."""
    endpoint = where["http"] if protocol == "http/protobuf" else f"http://{where['grpc']}"
    ran = subprocess.run(
        [sys.executable, "-m", "spanproof.cli.demo.agents", "--endpoint", endpoint,
         "--protocol", protocol, "--only", scenario],
        capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"}, timeout=120,
    )  # fmt: skip
    trace_id: str = json.loads(ran.stdout)["trace_id"]
    return trace_id


def wait_evaluated(where: Mapping[str, Any], count: int = 1) -> None:
    """Wait until a collector has stored this many traces: its metrics cost less than a list of the store."""

    def evaluated() -> float:
        with urllib.request.urlopen(f"{where['http']}/metrics") as answer:
            found = re.search(rb"^spanproof_traces_evaluated_total (\S+)", answer.read(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    wait_until(lambda: evaluated() >= count, f"{count} traces are evaluated")


def stored(directory: Path) -> dict[str, Mapping[str, Any]]:
    listed = cli("traces", "--store", str(directory / "store"), "--json")
    assert listed.returncode == 0, listed.stderr
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    return {row["trace_id"]: row for row in rows}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The folder of a collector that serves, and where it listens."""
    folder = tmp_path_factory.mktemp("first")
    with serving(folder) as (_, where):
        yield folder, where


def test_grpc_and_http_agents_are_evaluated_and_listed_while_it_serves(first) -> None:
    folder, where = first
    ids = {run_agent(where, "grpc", "misquote"), run_agent(where, "http/protobuf", "faithful")}
    wait_evaluated(where, 2)
    wait_until(lambda: ids <= set(stored(folder)))
    with urllib.request.urlopen(f"{where['http']}/metrics") as answer:
        assert b"spanproof_" in answer.read()


def test_a_taken_port_is_reported_and_another_one_is_used(first, tmp_path: Path) -> None:
    _, other = first
    taken = other["http"].rsplit(":", 1)[1]
    with serving(tmp_path, f"receivers.http.port={taken}") as (_, second):
        assert second["http"] != other["http"]
        assert any(taken in sentence for sentence in second["moved"])


def test_what_was_acknowledged_outlives_kill_9_and_is_drained_by_sigterm(tmp_path: Path) -> None:
    with serving(tmp_path, "assembly.quiet_s=30") as (process, where):
        killed = run_agent(where, "grpc", "misquote")
        process.send_signal(signal.SIGKILL)
        process.wait(120)
    with serving(tmp_path, "assembly.quiet_s=3") as (process, where):
        wait_evaluated(where)
        wait_until(lambda: killed in stored(tmp_path))
        drained = run_agent(where, "http/protobuf", "tools")
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    assert {killed, drained} <= set(stored(tmp_path))


def test_a_misspelt_setting_names_the_nearest_and_exits_2(tmp_path: Path) -> None:
    refused = cli("serve", "--set", "recievers.http.port=0", cwd=tmp_path)
    assert refused.returncode == 2
    assert "receivers" in refused.stderr
    assert "Traceback" not in refused.stderr
