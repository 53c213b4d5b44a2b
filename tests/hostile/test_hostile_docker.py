"""The hostile programs in containers: all contained, and told as in the jail, because the filter is the same.

What differs is the place, not the wall, and each difference has its reason below.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from docker_daemon import DockerDaemon

from spanproof.sandbox import Execution, Fixtures, Limits, Program
from spanproof.sandbox.har import exchanges_of
from spanproof.sandbox.registry import open_sandbox

from .machine import SECRET, Machine
from .snippets import HOSTILE

DIFFERS = {
    "rm -rf in bash": "the image has another tree below /usr/local",
}


@pytest.fixture(scope="module")
def results(machine: Machine, docker_daemon: DockerDaemon) -> dict[str, Execution]:
    settings = {"host": docker_daemon.host, "image": docker_daemon.image}
    with open_sandbox("docker", workers=2, settings=settings) as sandbox, ThreadPoolExecutor(2) as pool:

        def run(snippet: Any) -> Execution:
            limits = Limits(wall_s=snippet.timeout_s, cpu_s=snippet.timeout_s)
            calls = exchanges_of(snippet.recorded, snippet.name) if snippet.recorded else ()
            source = machine.filled(snippet.source, os.getpid())
            program = Program(snippet.language, source, limits=limits, fixtures=Fixtures(http=calls))
            return sandbox.run(program)

        return dict(zip((one.name for one in HOSTILE), pool.map(run, HOSTILE), strict=True))


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
        kind, fragment = snippet.told[0], machine.filled(snippet.told[1], os.getpid())
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
