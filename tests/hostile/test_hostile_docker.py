"""The hostile programs in containers: all contained, with the record of the jail: the filter is the same.

Each difference has its reason below.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from docker_daemon import DockerDaemon
from run_once import RunOnce

from spanproof.sandbox import Execution, Fixtures, Limits, Program
from spanproof.sandbox.har import read_exchanges
from spanproof.sandbox.registry import open_sandbox

from .in_turn import NAMES, encode_rows
from .machine import SECRET, Machine, fill
from .reduced_differences import AIMED, Difference
from .run_in_turn import run_rows
from .snippets import WITHOUT_NODE

DIFFERENCES = {
    "rm -rf in bash": Difference("the image has another tree below /usr/local"),
    "a program by its descriptor alone": Difference("the image has no program that needs a privilege"),
    **dict.fromkeys(
        (
            "a pipe outside by mkfifo",
            "planting by tee into the interpreter",
            "shadow by perl",
            "a connection by perl",
            "a name looked up by a program of the system",
            "a shell that is left behind in a pipe",
            "a sort and a split that start programs",
        ),
        Difference("the image has no such program"),
    ),
    "a program that may be run and not be read": Difference(
        "the supervisor may not look into such a process: it is not started", ("process", "/program")
    ),
    "the machine's own settings beside those that are given": Difference(
        "a container shows the kernel's settings to whoever may read them", prints=r"(?:BREACH [^\n]*\n\n)*"
    ),
    **dict.fromkeys(
        ("pages of the machine by number", "what the kernel tells those who debug it"),
        Difference(
            "a container shows some of the kernel's lists, without its addresses, to whoever may read them",
            prints=r"(?:BREACH /(?:proc/(?:iomem|ioports|timer_list)|sys/fs/bpf)\n)*",
        ),
    ),
    **dict.fromkeys(
        AIMED,
        Difference(
            "a container has one process namespace: signals to numbers outside the run are refused",
            classes=frozenset({"unsafe_operation"}),
        ),
    ),
    "the memory of what started it": Difference("who started it has no number in a container"),
    "looking for what it was forked from": Difference(
        "a container has one process namespace: the zygote's number can be found out, and nothing else of it",
        prints=r"BREACH \{'(\d+)'\}\nBREACH \1\n",
    ),
}
"""By the snippet's name; `prints` is all that it may print, as a regular expression."""


@pytest.fixture(scope="module")
def results(machine: Machine, docker_daemon: DockerDaemon, run_once: RunOnce) -> dict[str, Any]:
    found: dict[str, Any] = run_once("hostile-docker", lambda: run_all(machine, docker_daemon))
    return found


def run_all(machine: Machine, docker_daemon: DockerDaemon) -> dict[str, Any]:
    """Run all in containers, and return what became of each by name, with what changed of this machine."""
    settings = {"host": docker_daemon.host, "image": docker_daemon.image}
    with open_sandbox("docker", workers=2, settings=settings) as sandbox, ThreadPoolExecutor(2) as pool:

        def run(snippet: Any) -> dict[str, Any]:
            limits = Limits(wall_s=snippet.timeout_s, cpu_s=snippet.timeout_s)
            calls = read_exchanges(snippet.recorded, snippet.name) if snippet.recorded else ()
            source = machine.filled(snippet.source, os.getpid())
            fixtures, tests = Fixtures(http=calls), snippet.tests
            program = Program(snippet.language, source, tests=tests, limits=limits, fixtures=fixtures)
            return encode(sandbox.run(program))

        found = dict(zip((one.name for one in WITHOUT_NODE), pool.map(run, WITHOUT_NODE), strict=True))
        return {
            "programs": found,
            "values": machine.values(os.getpid()),
            "secret": SECRET,
            "changes": machine.changes(),
        }


def encode(execution: Execution) -> dict[str, Any]:
    """Return what is judged of a run."""
    return {
        "stdout": execution.stdout,
        "output": execution.stdout + execution.stderr,
        "class": execution.failure_class.value,
        "attempts": [
            {"kind": each.kind.value, "target": each.target, "allowed": each.allowed}
            for each in execution.attempts
        ],
    }


@pytest.mark.parametrize("snippet", WITHOUT_NODE, ids=lambda snippet: snippet.name)
def test_a_hostile_snippet_is_contained_and_reported(snippet: Any, results: dict[str, Any]) -> None:
    result = results["programs"][snippet.name]
    expected = DIFFERENCES.get(snippet.name, snippet)
    if isinstance(expected, Difference) and expected.prints:
        assert re.fullmatch(expected.prints, result["stdout"])
    else:
        assert "BREACH" not in result["stdout"]
    assert results["secret"] not in result["output"]
    if expected.on_record:
        kind, fragment = expected.on_record[0], fill(expected.on_record[1], results["values"])
        assert [
            attempt
            for attempt in result["attempts"]
            if attempt["kind"] == kind
            and fragment in attempt["target"]
            and (kind == "process" or not attempt["allowed"])
        ], result
    if expected.classes:
        assert result["class"] in expected.classes, result


@pytest.fixture(scope="module")
def in_turn(docker_daemon: DockerDaemon, run_once: RunOnce) -> dict[str, Any]:
    found: dict[str, Any] = run_once("in-turn-docker", lambda: run_all_in_turn(docker_daemon))
    return found


def run_all_in_turn(docker_daemon: DockerDaemon) -> dict[str, Any]:
    """Run sessions and programs, each followed by a look around, in containers of one supervisor each."""
    settings = {"host": docker_daemon.host, "image": docker_daemon.image}
    with ExitStack() as stack:
        opened = [stack.enter_context(open_sandbox("docker", settings=settings)) for _ in range(3)]
        return dict(zip(NAMES, run_rows(opened, encode_rows()), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_the_next_program_sees_what_it_would_have_seen_first(name: str, in_turn: dict[str, Any]) -> None:
    assert in_turn[name]["next"] == {}


def test_ordinary_programs_between_hostile_ones_are_answered_rightly(docker_daemon: DockerDaemon) -> None:
    settings = ("--set", f"host={docker_daemon.host}", "--set", f"image={docker_daemon.image}")
    command = [sys.executable, str(Path(__file__).with_name("mixed_runs.py")), "80", "--backend", "docker"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*command, *settings], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert json.loads(done.stdout)["faults"] == []


def test_the_machine_is_as_it_was(results: dict[str, Any]) -> None:
    assert results["changes"] == []
