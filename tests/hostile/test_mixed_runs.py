"""Hostile programs leave nothing that an ordinary one notices; `mixed_runs.py` runs more of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.load

HERE = Path(__file__).parent
WALLS = ["full", "reduced"] if os.geteuid() == 0 else ["full"]


@pytest.mark.parametrize("wall", WALLS)
def test_ordinary_programs_between_hostile_ones_are_answered_rightly(wall: str) -> None:
    command = [sys.executable, str(HERE / "mixed_runs.py"), "120"]
    if wall == "reduced":
        command = [sys.executable, str(HERE / "container.py"), "user", *command, "--set", "tier=reduced"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert json.loads(done.stdout)["faults"] == []
