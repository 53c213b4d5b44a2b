"""Hostile programs are contained, and what they tried is on_record: as root, and as a user without any right.

All snippets of a user run in one batch through the command line; each test then reads one result. What a
snippet says of itself is only half of the proof: the other half looks at this machine afterwards.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from control_groups import control_groups_of
from run_once import RunOnce

from .machine import ABSTRACT, SECRET, Machine, fill
from .reduced_differences import DIFFERENCES as REDUCED
from .snippets import HOSTILE

HERE = Path(__file__).parent
AS_ROOT = os.geteuid() == 0
WALLS = ["root", "user", "reduced-root", "reduced-user"] if AS_ROOT else ["user"]
"""Who starts the jail; `reduced`: in a container under Docker's default profile, where it is all there is."""


@dataclass
class Batch:
    """Results by snippet name, and what was left of them outside.

    Attributes:
        values: of the names in programs, such as where the file was that they must not reach.
        secret: what that file held.
        left: by kind, what is other than before: of the machine, mounts, processes, control groups.
    """

    wall: str
    results: dict[str, dict[str, Any]]
    values: dict[str, str]
    secret: str
    left: dict[str, list[str]]


@pytest.fixture(scope="module", params=WALLS)
def batch(
    request: pytest.FixtureRequest, machine: Machine, mounts: Callable[[], frozenset[str]], run_once: RunOnce
) -> Batch:
    return Batch(**run_once(f"hostile-{request.param}", lambda: _run_all(request.param, machine, mounts)))


def _run_all(wall: str, machine: Machine, mounts: Callable[[], frozenset[str]]) -> dict[str, Any]:
    before = mounts()
    host_pid = 2 if wall.startswith("reduced") else os.getpid()
    rows = [_row(snippet, machine, host_pid) for snippet in HOSTILE]
    pid, results = _run(rows, wall)
    left = {
        "machine": machine.changes(),
        "mounts": sorted(before ^ mounts()),
        "processes": _survivors(),
        "control groups": [str(each) for each in control_groups_of(pid)],
    }
    return {
        "wall": wall,
        "results": results,
        "values": machine.values(os.getpid()),
        "secret": SECRET,
        "left": left,
    }


def _survivors() -> list[str]:
    commands = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                commands.append((entry / "cmdline").read_text(errors="replace"))
    # Those of this process: another may have the same programs run just now.
    return [command for command in commands if f"survivor-of-{ABSTRACT}" in command]


def _row(snippet: Any, machine: Machine, host_pid: int) -> dict[str, Any]:
    return {
        "id": snippet.name,
        "language": snippet.language,
        "source": machine.filled(snippet.source, host_pid),
        "timeout_s": snippet.timeout_s,
        "http": snippet.recorded,
        "tests": snippet.tests,
    }


def _run(rows: list[dict[str, Any]], wall: str) -> tuple[int, dict[str, dict[str, Any]]]:
    command = [sys.executable, "-m", "spanproof.cli", "sandbox", "run", "--jsonl", "--workers", "2"]
    if wall.startswith("reduced"):
        user = wall.removeprefix("reduced-")
        command = [sys.executable, str(HERE / "container.py"), user, *command, "--set", "tier=reduced"]
    elif wall == "user" and AS_ROOT:
        command = [sys.executable, str(HERE / "unprivileged.py"), *command]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    environment = {**os.environ, "SPANPROOF_CANARY": SECRET, "PYTHONDONTWRITEBYTECODE": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment) as host:
        stdout, stderr = host.communicate(lines)
    answers = [json.loads(line) for line in stdout.splitlines()]
    assert len(answers) == len(rows), stderr[-2000:]
    return host.pid, {answer["id"]: answer for answer in answers}


@pytest.mark.parametrize("snippet", HOSTILE, ids=lambda snippet: snippet.name)
def test_a_hostile_snippet_is_contained_and_reported(snippet: Any, batch: Batch) -> None:
    result = batch.results[snippet.name]
    assert "error" not in result, result
    difference = REDUCED.get(snippet.name) if batch.wall.startswith("reduced") else None
    accepted = difference.prints if difference else ""
    assert "BREACH" not in (result["stdout"].replace(accepted, "") if accepted else result["stdout"])
    assert batch.secret not in result["stdout"] + result["stderr"]
    on_record, classes = snippet.on_record, snippet.classes
    if difference:
        on_record, classes = difference.on_record, difference.classes
    if on_record:
        kind, fragment = on_record[0], fill(on_record[1], batch.values)
        assert [
            attempt
            for attempt in result["attempts"]
            if attempt["kind"] == kind
            and fragment in attempt["target"]
            and (kind == "process" or not attempt["allowed"])
        ], result
    if classes:
        assert result["failure_class"] in classes, result


@pytest.mark.parametrize("kind", ["machine", "mounts", "processes", "control groups"])
def test_nothing_is_left_of_them(kind: str, batch: Batch) -> None:
    assert batch.left[kind] == []
