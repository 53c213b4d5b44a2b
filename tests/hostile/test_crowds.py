"""The time limit holds whatever a program does: also where dozens of its processes want every processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.load, pytest.mark.alone]

HERE = Path(__file__).parent
WALLS = ["root", "user", "reduced-root", "reduced-user"] if os.geteuid() == 0 else ["user"]
GRACE_S = 3.0
"""Of a supervisor that waits for a processor among four crowds: with nothing done about it, it took 12."""


@pytest.mark.parametrize("wall", WALLS)
def test_crowds_in_several_supervisors_end_at_their_limit(wall: str) -> None:
    command = [sys.executable, str(HERE / "crowds.py")]
    if wall.startswith("reduced"):
        user = wall.removeprefix("reduced-")
        command = [sys.executable, str(HERE / "container.py"), user, *command, "--set", "tier=reduced"]
    elif wall == "user" and os.geteuid() == 0:
        command = [sys.executable, str(HERE / "unprivileged.py"), *command]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    for line in done.stdout.splitlines():
        found = json.loads(line)
        assert all(failed == "timeout" for _excess, failed in found["rows"]), found
        assert all(excess <= GRACE_S for excess, _failed in found["rows"]), found
