"""What a jail leaves that was killed with all that cleans up after it, `spanproof doctor --clean` removes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spanproof.sandbox import Program
from spanproof.sandbox.backends.jail.backend import JailSandbox
from spanproof.sandbox.backends.jail.leftovers import run_cleanup
from spanproof.sandbox.supervisor.reduced.home import build_home

KILLED = Path(__file__).with_name("killed_host.py")
CONTAINER = Path(__file__).parents[3] / "hostile/container.py"
USERS = ["root", "user", "groups"] if os.geteuid() == 0 else []
WHERE = ["here", *(pytest.param(user, marks=pytest.mark.machine) for user in USERS)]
"""This machine, and users of a container, in which the reduced tier is all there is."""


@pytest.mark.parametrize("where", WHERE)
def test_what_is_left_of_a_jail_that_was_killed_is_removed(where: str) -> None:
    command = [sys.executable, str(KILLED)]
    if where != "here":
        command = [sys.executable, str(CONTAINER), where, *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["still_there"] == [], done.stderr
    if where != "here":  # else the kernel ends all, and there may be no control groups
        assert any(line.startswith("directory ") for line in found["removed"])


def test_what_is_in_use_is_left_alone(tmp_path: Path) -> None:
    home = build_home(tmp_path)
    with JailSandbox() as sandbox:
        sandbox.run(Program("python", "pass"))
        removed = run_cleanup(tmp_path)
        assert not [line for line in removed if str(os.getpid()) in line or str(home) in line]
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"
    assert home.exists()


def test_two_that_clean_up_at_a_time_do_not_fail(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"spanproof-jail-{number}" / "1").mkdir(parents=True)
    with ThreadPoolExecutor(4) as pool:
        lines = [line for found in pool.map(run_cleanup, [tmp_path] * 8) for line in found]
    assert list(tmp_path.iterdir()) == []
    assert lines


def test_a_directory_of_the_dead_is_removed_however_it_was_closed(tmp_path: Path) -> None:
    left = tmp_path / "spanproof-jail-left"
    (left / "1" / "work").mkdir(parents=True)
    (left / "1").chmod(0)
    assert run_cleanup(tmp_path) == [f"directory {left}"] or not left.exists()
