"""The tests' own Docker daemon leaves no process, no mount and no group behind, however its users end."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import docker_daemon
import pytest
from waiting import becomes

pytestmark = pytest.mark.docker

PLUGINS = Path(docker_daemon.__file__).parent
TEST = """
import os, pathlib, signal
def test_it(docker_daemon):
    pathlib.Path({host_file!r}).write_text(docker_daemon.host)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def processes(word: str) -> set[int]:
    """All on this machine, but this one, that have a word in their command line."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in command:
                found.add(int(entry.name))
    return found


def ended(pid: int) -> bool:
    try:
        return b") Z " in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return True


def test_it_ends_when_a_worker_of_pytest_is_killed(tmp_path: Path) -> None:
    host_file = tmp_path / "host"
    (tmp_path / "test_killed.py").write_text(TEST.format(host_file=str(host_file)))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "1",
        "--max-worker-restart=0",
        "-p",
        "docker_daemon",
    ]
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    done = subprocess.run(
        [*command, "--basetemp", str(tmp_path / "base"), "test_killed.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "crashed" in done.stdout, done.stdout + done.stderr
    place = Path(host_file.read_text().removeprefix("unix://")).parent
    assert becomes(lambda: not processes(place.name) and not place.exists())
    assert docker_daemon.control_groups(place.name) == []


@pytest.mark.parametrize("victim", ["spawner", "its parent"])
def test_killing_its_reaper_ends_it_at_once_with_all_it_started(tmp_path: Path, victim: str) -> None:
    with (tmp_path / "dockerd.users").open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        parent = docker_daemon.start_reaper(tmp_path, "--no-image")
        assert becomes(lambda: (tmp_path / "dockerd.json").exists())
        place = Path(
            json.loads((tmp_path / "dockerd.json").read_text())["host"].removeprefix("unix://")
        ).parent
        started = processes(place.name)
        assert len(started) >= 2  # dockerd and containerd
        spawner = int(Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text())
        os.kill(spawner if victim == "spawner" else parent.pid, signal.SIGKILL)
        parent.wait()
        assert becomes(lambda: not started & processes(place.name))
        # It is the last to end: until then the kernel may not have put the others out of their groups.
        assert becomes(lambda: ended(spawner))
    docker_daemon.remove_leftovers()
    assert becomes(lambda: not place.exists())  # another run's spawner may be removing it just now
    assert docker_daemon.control_groups(place.name) == []
