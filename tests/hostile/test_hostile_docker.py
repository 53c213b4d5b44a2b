"""The hostile programs in containers: all contained, and told as in the jail, because the filter is the same.

What differs is the place, not the wall, and each difference has its reason below.
"""

from __future__ import annotations

import os
import runpy
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from docker_daemon import DockerDaemon

from spanproof.sandbox import Execution, Limits, Program
from spanproof.sandbox.registry import open_sandbox

HERE = Path(__file__).parent
HOSTILE = runpy.run_path(str(HERE / "snippets_hostile.py"), run_name="snippets_hostile")["HOSTILE"]
SECRET = "canary-3b9e"
DIFFERS = {
    "rm -rf in bash": "the image has another tree below /usr/local",
}
ABSTRACT = f"spanproof-docker-canary-{os.getpid()}"


@dataclass(frozen=True)
class Machine:
    canary: Path
    port: int
    reached: list[str]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    canary = tmp_path_factory.mktemp("host") / "canary.txt"
    canary.write_text(SECRET)
    canary.chmod(0o666)
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{ABSTRACT}")
        abstract.listen()
        found = Machine(canary, tcp.getsockname()[1], [])

        def note(server: socket.socket) -> None:
            while True:
                try:
                    found.reached.append(str(server.accept()[1]))
                except OSError:
                    return

        for server in (tcp, abstract):
            threading.Thread(target=note, args=(server,), daemon=True).start()
        yield found


@pytest.fixture(scope="module")
def results(machine: Machine, docker_daemon: DockerDaemon) -> dict[str, Execution]:
    settings = {"host": docker_daemon.host, "image": docker_daemon.image}
    with open_sandbox("docker", workers=2, settings=settings) as sandbox, ThreadPoolExecutor(2) as pool:

        def run(snippet: Any) -> Execution:
            limits = Limits(wall_s=snippet.timeout_s, cpu_s=snippet.timeout_s)
            return sandbox.run(Program(snippet.language, filled(snippet.source, machine), limits=limits))

        return dict(zip((one.name for one in HOSTILE), pool.map(run, HOSTILE), strict=True))


def filled(text: str, machine: Machine) -> str:
    values = {"canary": machine.canary, "port": machine.port, "host_pid": os.getpid(), "abstract": ABSTRACT}
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


@pytest.mark.parametrize("snippet", HOSTILE, ids=lambda snippet: snippet.name)
def test_a_hostile_snippet_is_contained_and_told(
    snippet: Any, machine: Machine, results: dict[str, Execution]
) -> None:
    execution = results[snippet.name]
    assert "BREACH" not in execution.stdout
    assert SECRET not in execution.stdout + execution.stderr
    if snippet.name in DIFFERS:
        return
    if snippet.told:
        kind, fragment = snippet.told[0], filled(snippet.told[1], machine)
        assert [
            attempt
            for attempt in execution.attempts
            if attempt.kind == kind and fragment in attempt.target and not attempt.allowed
        ], execution
    if snippet.classes:
        assert execution.failure_class in snippet.classes, execution


def test_the_machine_is_as_it_was(machine: Machine, results: dict[str, Execution]) -> None:
    assert machine.canary.read_text() == SECRET
    assert machine.reached == []
