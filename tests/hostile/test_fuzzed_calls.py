"""Whatever system calls a program makes, its supervisor answers and stays; `fuzz_calls.py` makes more."""

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
CALLS = 8_000


@pytest.mark.parametrize("wall", WALLS)
def test_no_supervisor_is_lost_by_hostile_calls(wall: str) -> None:
    command = [sys.executable, str(HERE / "fuzz_calls.py"), str(CALLS)]
    if wall == "reduced":
        command = [sys.executable, str(HERE / "container.py"), "user", *command, "--set", "tier=reduced"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["calls"] >= CALLS
