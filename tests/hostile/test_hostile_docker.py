"""The hostile programs in containers: all contained, with the record of the jail: the filter is the same.

Each difference has its reason below.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from docker_daemon import DockerDaemon

from spanproof.sandbox import Execution, Fixtures, Limits, Program
from spanproof.sandbox.har import exchanges_of
from spanproof.sandbox.registry import open_sandbox

from .machine import SECRET, Machine
from .reduced_differences import Difference
from .snippets import WITHOUT_NODE

DIFFERENCES = {
    "rm -rf in bash": Difference("the image has another tree below /usr/local"),
    "a program by its descriptor alone": Difference("the image has no program that needs a privilege"),
    "a pipe outside by mkfifo": Difference("the image has no such program"),
    "looking for what it was forked from": Difference(
        "a container has one process namespace: the zygote's number can be found out, and nothing else of it",
        prints=r"BREACH \{'(\d+)'\}\nBREACH \1\n",
    ),
}
"""By the snippet's name; `prints` is all that it may print, as a regular expression."""


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

        return dict(zip((one.name for one in WITHOUT_NODE), pool.map(run, WITHOUT_NODE), strict=True))


@pytest.mark.parametrize("snippet", WITHOUT_NODE, ids=lambda snippet: snippet.name)
def test_a_hostile_snippet_is_contained_and_reported(
    snippet: Any, machine: Machine, results: dict[str, Execution]
) -> None:
    execution = results[snippet.name]
    expected = DIFFERENCES.get(snippet.name, snippet)
    if isinstance(expected, Difference) and expected.prints:
        assert re.fullmatch(expected.prints, execution.stdout)
    else:
        assert "BREACH" not in execution.stdout
    assert SECRET not in execution.stdout + execution.stderr
    if expected.on_record:
        kind, fragment = expected.on_record[0], machine.filled(expected.on_record[1], os.getpid())
        assert [
            attempt
            for attempt in execution.attempts
            if attempt.kind == kind
            and fragment in attempt.target
            and (kind == "process" or not attempt.allowed)
        ], execution
    if expected.classes:
        assert execution.failure_class in expected.classes, execution


def test_the_machine_is_as_it_was(machine: Machine, results: dict[str, Execution]) -> None:
    assert machine.canary.read_text() == SECRET
    assert machine.reached == []
